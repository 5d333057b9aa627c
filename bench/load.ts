/**
 * 200 searches at a time, with everything on this machine: the embedded server, `gate ops worker` as one process, the model
 * server as another, the asked database and this process, which starts them. What limits it is read from the times that
 * each process spent on a processor. GATE_BENCH_ENGINE=postgresql asks PostgreSQL instead of SQLite;
 * GATE_BENCH_PROFILE=FOLDER leaves the worker's CPU profiles there.
 */
import { loadavg } from 'node:os';
import type { Dialect } from '../src/domain';
import type { GateClient } from '../src/workers/client';
import { questionWorkflowId } from '../src/workflows/ids';
import { bench, median, quantile, say, SHORT, type Figure } from './figure';
import { withLoadWorld, type AskedSearch, type Uses } from './world/load-world';
import { benchSearches } from './world/searches';

const CONCURRENT = SHORT ? 60 : 200;
const MODEL_MS = 500;
const ENGINE: Dialect = process.env['GATE_BENCH_ENGINE'] === 'postgresql' ? 'postgresql' : 'sqlite';

const searches = (name: string, count: number) => benchSearches({ shape: 'usual', count, engine: ENGINE, name });

function measureLoad(): Promise<readonly Figure[]> {
  return withLoadWorld({ engine: ENGINE, modelMs: MODEL_MS }, async (world) => {
    // One search alone first: connections, schema and bundle are there before the clock starts.
    await world.ask(searches('warm', 1));
    await world.resetLedger();
    const before = world.uses();
    const startedAt = performance.now();
    const asked = await world.ask(searches('load', CONCURRENT));
    const seconds = (performance.now() - startedAt) / 1000;
    const after = world.uses();
    const { billed: calls } = await world.ledger();
    const { failedTasks, bytesPerCall } = await readHistories(world.gate, asked);
    report(before, after, { seconds, calls });
    const each = asked.map((one) => one.seconds);
    const how = `${CONCURRENT} searches at once on ${ENGINE}, model at ${MODEL_MS} ms, ${calls} calls in ${seconds.toFixed(0)} s`;
    return [
      {
        name: 'load: model calls per second',
        value: calls / seconds,
        unit: '1/s',
        atLeast: 40,
        how,
      },
      {
        name: 'load: memory of the worker',
        value: (after['worker']?.peakBytes ?? 0) / 2 ** 30,
        unit: 'GB',
        atMost: 1.5,
        how: 'peak resident set of its process',
      },
      {
        name: 'load: failed workflow tasks',
        value: failedTasks.length,
        unit: '',
        atMost: 0,
        how: ['failed or timed out, in all histories', ...new Set(failedTasks)].join('; '),
      },
      {
        ...{ name: 'load: history per model call', value: bytesPerCall / 1024, unit: 'KB', atMost: 4 },
        how: 'history bytes / model calls, median over the searches',
      },
      ...[
        ['median', 0.5],
        ['95th percentile', 0.95],
      ].map(([name, share]) => ({
        ...{ name: `load: a search, ${name}`, value: quantile(each, Number(share)), unit: 's' },
        how: 'from start to answer',
      })),
    ];
  });
}

async function readHistories(gate: GateClient, asked: readonly AskedSearch[]) {
  const failedTasks: string[] = [];
  const perCall: number[] = [];
  for (const { searchId, calls } of asked) {
    const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
    const { events } = await handle.fetchHistory();
    for (const event of events ?? []) {
      const failed = event.workflowTaskFailedEventAttributes;
      const late = event.workflowTaskTimedOutEventAttributes;
      if (failed) failedTasks.push(failed.failure?.message ?? `cause ${String(failed.cause)}`);
      if (late) failedTasks.push(LATE[Number(late.timeoutType)] ?? 'timed out');
    }
    perCall.push(((await handle.describe()).historySize ?? 0) / calls);
  }
  return { failedTasks, bytesPerCall: median(perCall) };
}

/** Temporal's types of timeouts. */
const LATE: Readonly<Record<number, string>> = { 1: 'not done in time', 2: 'not begun in time' };

/** Who had the processors: the first place to look when the rate is too low. Per call it says what the machine's load hides. */
function report(
  before: Uses,
  after: Uses,
  { seconds, calls }: { readonly seconds: number; readonly calls: number },
): void {
  const shares = Object.entries(after).map(([name, use]) => {
    const own = use.cpuSeconds - (before[name]?.cpuSeconds ?? 0);
    // The starter's children are the others.
    const children = name === 'starter' ? 0 : use.childCpuSeconds - (before[name]?.childCpuSeconds ?? 0);
    return { name, own, children };
  });
  const each = (spent: number): string => `${(spent / seconds).toFixed(2)} (${((1000 * spent) / calls).toFixed(1)} ms)`;
  const texts = shares.flatMap(({ name, own, children }) => [
    `${name} ${each(own)}`,
    ...(children > 0.05 ? [`children of ${name} ${each(children)}`] : []),
  ]);
  const all = shares.reduce((sum, { own, children }) => sum + own + children, 0);
  say(
    `processors used (per model call): ${texts.join(', ')}; together ${each(all)}; load average ${loadavg()[0]?.toFixed(0) ?? ''}`,
  );
}

bench(measureLoad);
