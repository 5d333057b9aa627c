/**
 * How long a worker takes to rebuild a search from its history, as after every lost cache: a real history of about 1,000
 * events, replayed with the prebuilt bundle in a process that is already running.
 */
import { OwnThreadWorker } from '../src/workers/own-thread-worker';
import { dataConverter } from '../src/workers/payloads';
import { workflowBundle } from '../src/workers/workflow-bundle';
import { questionWorkflowId } from '../src/workflows/ids';
import { bench, median, SHORT, type Figure } from './figure';
import { withLoadWorld } from './world/load-world';
import { benchSearches } from './world/searches';

const EVENTS = 1_000;
const RUNS = SHORT ? 3 : 7;

async function measureReplay(): Promise<readonly Figure[]> {
  // Long enough for the events wanted, in one run.
  const world = { engine: 'sqlite', modelMs: 0, iterationsPerRun: 10_000 } as const;
  const overrides = { iterations: 105, cMin: 150, cMax: 150, maxPlans: 150 };
  const history = await withLoadWorld(world, async ({ ask, gate }) => {
    const [asked] = await ask(
      benchSearches({ shape: 'endless', count: 1, engine: 'sqlite', name: 'replay', overrides }),
    );
    return gate.client.workflow.getHandle(questionWorkflowId(asked?.searchId ?? '')).fetchHistory();
  });
  const events = history.events?.length ?? 0;
  if (events < EVENTS * 0.8) throw new Error(`a history of ${events} events is too short for this figure`);
  const bundle = workflowBundle();
  const times: number[] = [];
  const cpuTimes: number[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    await OwnThreadWorker.runReplayHistory({ workflowBundle: bundle, dataConverter }, history);
    times.push((performance.now() - startedAt) / 1000);
    const { user, system } = process.cpuUsage(before);
    cpuTimes.push((user + system) / 1e6);
  }
  const seconds = median(times.slice(1));
  return [
    {
      ...{ name: 'replay of 1,000 events', value: (seconds * EVENTS) / events, unit: 's', atMost: 1 },
      how: `${events} events in ${seconds.toFixed(2)} s (${median(cpuTimes.slice(1)).toFixed(2)} s of processor time), median of ${RUNS}, the bundle's loading included`,
    },
  ];
}

bench(measureReplay);
