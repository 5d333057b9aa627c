#!/usr/bin/env node
/** The command `gate-bench`. */
import { runAsProcess } from '../src/cli/as-process';
import { GATE_BENCH } from './program';

runAsProcess(GATE_BENCH);
