/** The public benchmarks by name, each loaded when it is asked for: the help of a command names them all. */
import type { Benchmark } from '../benchmark';

export const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {};
