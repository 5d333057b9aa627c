/**
 * Loads of 60 and 200 searches are measured; the simulation, calibrated on the first, predicts the second and is held
 * against it. Then it says what a million questions a day need (docs/scale.md). `-- --short` simulates without measuring.
 */
import { availableParallelism } from 'node:os';
import { bench, quantile, say, SHORT, type Figure } from './figure';
import { withLoadWorld } from './world/load-world';
import { machineCpuSeconds } from './world/process-use';
import { aDay, agreement, figuresOf, predict, PROCESSES, QUESTION, sum, type MeasuredLoad } from './world/scale-model';
import { benchSearches } from './world/searches';

async function measureScale(): Promise<readonly Figure[]> {
  const checked = SHORT ? [] : await check();
  return [...checked, ...Object.keys(PROCESSES).flatMap(extrapolated)];
}

async function check(): Promise<readonly Figure[]> {
  const [calibration, load] = [await measured(60), await measured(200)];
  for (const one of [calibration, load]) say(JSON.stringify(one));
  const [predicted, met] = [predict(calibration, load), figuresOf(load)];
  return Object.entries(agreement(predicted, met)).map(([name, ratio]) => ({
    ...{
      name: `scale: 200 searches, predicted / measured: ${name}`,
      value: ratio,
      unit: '',
      atMost: 1.15,
      atLeast: 0.85,
    },
    how: `${predicted[name as keyof typeof predicted].toFixed(2)} / ${met[name as keyof typeof met].toFixed(2)}; others left ${calibration.cores.toFixed(2)} cores while 60 were asked, ${load.cores.toFixed(2)} while 200 were`,
  }));
}

function measured(searches: number): Promise<MeasuredLoad> {
  const inputs = (name: string, count: number) => benchSearches({ shape: 'usual', count, engine: 'sqlite', name });
  return withLoadWorld({ engine: 'sqlite', modelMs: 500 }, async (world) => {
    await world.ask(inputs('warm', 1));
    const [before, machineBefore, startedAt] = [world.uses(), machineCpuSeconds(), performance.now()];
    const asked = await world.ask(inputs('load', searches));
    const seconds = (performance.now() - startedAt) / 1000;
    const [after, machineAfter] = [world.uses(), machineCpuSeconds()];
    // This process's children are the others, and counted as such.
    const used = (of: 'cpuSeconds' | 'mainCpuSeconds' | 'childCpuSeconds', parts: readonly string[]): number =>
      sum(parts.map((part) => (after[part]?.[of] ?? 0) - (before[part]?.[of] ?? 0)));
    const own = used('cpuSeconds', Object.keys(after)) + used('childCpuSeconds', ['worker']);
    const inTurn = used('mainCpuSeconds', ['worker']);
    const each = asked.map((one) => one.seconds);
    return {
      ...{ searches, calls: asked.map(({ calls }) => calls), seconds },
      ...{ medianSeconds: quantile(each, 0.5), p95Seconds: quantile(each, 0.95) },
      cpu: { inTurn, beside: own - inTurn },
      cores: availableParallelism() - Math.max(0, machineAfter - machineBefore - own) / seconds,
    };
  });
}

function extrapolated(name: string): readonly Figure[] {
  const processes = PROCESSES[name];
  if (processes === undefined) return [];
  const day = aDay(1_000_000, processes);
  const mean = day.each.length / 86_400;
  const rows: readonly (readonly [string, number, string])[] = [
    ['questions in the busiest minute', day.begun.minute, '1/s'],
    ['model calls in the busiest minute', day.ended.minute, '1/s'],
    ['questions in flight at most', day.mostInFlight, ''],
    ['actions of Temporal, mean', mean * QUESTION.actions, '1/s'],
    ['actions of Temporal, busiest minute', day.begun.minute * QUESTION.actions, '1/s'],
    ['writes of the store, busiest minute', day.begun.minute * QUESTION.writes, '1/s'],
    ['busiest of 512 shards, share of its time', day.busiestShard, ''],
    ['processes at most', day.mostProcesses, ''],
    ['processes started', day.starts, ''],
    ['hours of processes', day.processSeconds / 3600, 'h'],
    ['a question, median', quantile(day.each, 0.5), 's'],
    ['a question, 95th percentile', quantile(day.each, 0.95), 's'],
  ];
  return rows.map(([what, value, unit]) => ({
    ...{ name: `scale: a million a day, ${name}: ${what}`, value, unit, how: 'simulated, not measured' },
  }));
}

bench(measureScale);
