/**
 * 200 searches at a time, with everything on this machine: the embedded server, `gate ops worker` as one process, the model
 * server as another, the asked database and this process, which starts them. What limits it is read from the times that
 * each process spent on a processor. Then 1,000 at a time with a model slow enough that all of them wait for it at once.
 * GATE_BENCH_ENGINE=postgresql asks PostgreSQL instead of SQLite; GATE_BENCH_PROFILE=FOLDER leaves the worker's CPU profiles
 * there.
 */
import { loadavg } from 'node:os';
import type { Dialect } from '../src/domain';
import type { GateClient } from '../src/workers/client';
import { questionWorkflowId } from '../src/workflows/ids';
import { bench, median, part, quantile, say, SHORT, type Figure } from './figure';
import { withLoadWorld, type AskedSearch, type Uses } from './world/load-world';
import { benchSearches } from './world/searches';

const ENGINE: Dialect = process.env['GATE_BENCH_ENGINE'] === 'postgresql' ? 'postgresql' : 'sqlite';

const searches = (name: string, count: number) => benchSearches({ shape: 'usual', count, engine: ENGINE, name });

async function measureLoad(): Promise<readonly Figure[]> {
  const [usual, most] = SHORT ? [30, 60] : [200, 1_000];
  await part('at once', () => load(usual, 500, 40));
  await part('in flight', () => load(most, SHORT ? 500 : 10_000));
  return [];
}

function load(count: number, modelMs: number, atLeast?: number): Promise<Figure[]> {
  return withLoadWorld({ engine: ENGINE, modelMs }, async (world) => {
    // One search alone first: connections, schema and bundle are there before the clock starts.
    await world.ask(searches('warm', 1));
    await world.resetLedger();
    const before = world.uses();
    const startedAt = performance.now();
    const asked = await world.ask(searches('load', count));
    const seconds = (performance.now() - startedAt) / 1000;
    const after = world.uses();
    const { billed: calls, maxInFlight } = await world.ledger();
    const { failedTasks, bytesPerCall } = await readHistories(world.gate, asked);
    report(before, after, { seconds, calls });
    const each = asked.map((one) => one.seconds);
    const figure = (name: string, value: number, unit: string, how: string, atMost?: number): Figure => ({
      ...{ name: `load of ${count}: ${name}`, value, unit, how, atMost },
    });
    const how = `${ENGINE}, model at ${modelMs} ms, ${calls} calls in ${seconds.toFixed(0)} s, ${maxInFlight} at the same time`;
    const memory = (after['worker']?.peakBytes ?? 0) / 2 ** 30;
    const failures = ['failed or timed out, in all histories', ...new Set(failedTasks)].join('; ');
    return [
      { ...figure('model calls per second', calls / seconds, '1/s', how), atLeast },
      figure('memory of the worker', memory, 'GB', 'peak resident set of its process', 1.5),
      figure('failed workflow tasks', failedTasks.length, '', failures, 0),
      figure('history per model call', bytesPerCall / 1024, 'KB', 'history bytes / model calls, median', 4),
      figure('a search, median', quantile(each, 0.5), 's', 'from start to answer'),
      figure('a search, 95th percentile', quantile(each, 0.95), 's', 'from start to answer'),
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
