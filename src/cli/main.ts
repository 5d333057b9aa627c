#!/usr/bin/env node
/** The command `gate`. */
import { runAsProcess } from './as-process';
import { GATE } from './program';

runAsProcess(GATE);
