/**
 * The time that `parallelism` saves: one durable search with 4 and with 1, at the same number of model calls. Probes rarely
 * decide here, so several trajectories stay open and can be expanded at the same time.
 */
import type { ObjectStore } from '../src/ports';
import { DEFAULT_BUDGETS } from '../src/config/presets';
import { printFigures, SHORT, say, type Figure } from './figure';
import { withGateWorld } from './world/gate-world';
import { benchSearches } from './world/searches';

const CALLS = SHORT ? 96 : 192;
const MODEL_MS = 500;
const LEAST_ITERATIONS = 8;
const RATES = { doubt: 1, wrong: 0.5, inconclusive: 0.8, immaterial: 0 };

async function measureParallel(): Promise<readonly Figure[]> {
  return withGateWorld({ latencyMs: MODEL_MS, rates: RATES }, async ({ ask, store }) => {
    const run = async (parallelism: number) => {
      const budgets = { ...DEFAULT_BUDGETS, costUsd: null, llmCalls: CALLS };
      const overrides = { parallelism, budgets, iterations: 200, cMin: 200, cMax: 200, maxPlans: 200 };
      const name = `parallel-${parallelism}`;
      const [input] = benchSearches({ shape: 'long', count: 1, engine: 'sqlite', name, overrides });
      if (input === undefined) throw new Error('no search to run');
      const { summary, ms } = await ask(input);
      const iterations = await countIterations(store, input.searchId);
      say(
        `parallelism ${parallelism}: ${summary.usage.llmCalls} calls, ${iterations} iterations, ${(ms / 1000).toFixed(1)} s`,
      );
      return { ms, calls: summary.usage.llmCalls, iterations };
    };
    const wide = await run(4);
    const narrow = await run(1);
    const perCall = (one: typeof wide): number => one.ms / one.calls;
    const iterations = Math.min(wide.iterations, narrow.iterations);
    const calls = wide.calls === narrow.calls ? String(wide.calls) : `${wide.calls} and ${narrow.calls}`;
    return [
      {
        ...{ name: 'parallelism 4 / 1', value: perCall(wide) / perCall(narrow), unit: 'times', atMost: 0.5 },
        how: `wall time per model call, ${calls} calls of ${MODEL_MS} ms`,
      },
      {
        ...{ name: 'parallelism 4: iterations', value: iterations, unit: '', atMost: null, atLeast: LEAST_ITERATIONS },
        how: 'of the shorter of the two searches',
      },
    ];
  });
}

async function countIterations(store: ObjectStore, searchId: string): Promise<number> {
  return (await store.list(`runs/${searchId}/checkpoint/`)).length;
}

printFigures(measureParallel());
