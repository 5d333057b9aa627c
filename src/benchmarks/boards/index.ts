/** The public benchmarks, by name. */
import type { Benchmark } from '../benchmark';
import { spider2Lite, spider2Snow } from './spider2';

export const BENCHMARKS: readonly Benchmark[] = [spider2Lite, spider2Snow];
