/** The public benchmarks, by name. */
import type { Benchmark } from '../benchmark';

export const BENCHMARKS: readonly Benchmark[] = [];
