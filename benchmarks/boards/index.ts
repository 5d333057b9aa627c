/** The public benchmarks by name, each loaded when it is asked for: the help of a command names them all. */
import type { Benchmark } from '../benchmark';

export const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  questions: async () => (await import('./questions')).questions,
  ehrsql2024: async () => (await import('./ehrsql2024')).ehrsql2024,
  bird: async () => (await import('./bird')).bird,
  'bird-mini-dev': async () => (await import('./bird')).birdMiniDev,
  'spider2-lite': async () => (await import('./spider2')).spider2Lite,
  'spider2-snow': async () => (await import('./spider2')).spider2Snow,
  'livesqlbench-base-lite': async () => (await import('./livesqlbench')).livesqlbenchBaseLite,
  'livesqlbench-base-full': async () => (await import('./livesqlbench')).livesqlbenchBaseFull,
  'livesqlbench-large': async () => (await import('./livesqlbench')).livesqlbenchLarge,
  'ls-hard': async () => (await import('./livesqlbench')).lsHard,
};
