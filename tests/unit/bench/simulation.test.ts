/** The simulation behind `bench scale`: what queueing theory says must come out of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agreement, figuresOf, predict, type MeasuredLoad } from '../../../bench/world/scale-model';
import { simulate, type World } from '../../../bench/world/simulation';

const forever = Number.POSITIVE_INFINITY;
const world: World = {
  ...{ seed: 7, arrivals: { atOnce: 30 }, calls: [1, 2], model: { medianSeconds: 2, sigma: 0 } },
  ...{ cpuSeconds: { inTurn: 0.1, beside: 0 }, sharedCores: null },
  processes: { most: 1, slots: 100, startSeconds: 0, lifetimeSeconds: forever, idleSeconds: forever },
  shards: { count: 4, secondsPerCall: 0 },
};

test('one process computes one thing after another: its calls take at least their sum', () => {
  const { calls, seconds } = simulate(world);
  expect(calls).toBe(45);
  expect(seconds).toBeGreaterThanOrEqual(45 * 0.1);
  expect(seconds).toBeLessThan(45 * 0.1 + 2 * 2.1);
});

test('one slot serves one call at a time', () => {
  const { seconds, mostProcesses } = simulate({ ...world, processes: { ...world.processes, slots: 1 } });
  expect(mostProcesses).toBe(1);
  expect(seconds).toBeCloseTo(45 * 2.1, 6);
});

test('the same seed gives the same day, another one another', () => {
  const day: World = { ...world, arrivals: { perDay: 2_000, sharpness: 2 }, model: { medianSeconds: 2, sigma: 0.5 } };
  expect(simulate(day)).toEqual(simulate(day));
  expect(simulate({ ...day, seed: 8 }).each).not.toEqual(simulate(day).each);
});

test('a day has its questions, and Little is right about how many are in flight', () => {
  const day: World = { ...world, arrivals: { perDay: 20_000, sharpness: 0 }, calls: [1] };
  const { each, processSeconds } = simulate({
    ...day,
    processes: { ...day.processes, slots: 1, most: 50, idleSeconds: 1 },
  });
  expect(Math.abs(each.length / 20_000 - 1)).toBeLessThan(0.03);
  // Every call holds a slot of its own for 2.1 s; what is beyond is idle time.
  expect(processSeconds).toBeGreaterThan(each.length * 2.1);
});

test('processes end with their life and when idle, and every question is answered', () => {
  const short = { most: 50, slots: 2, startSeconds: 1, lifetimeSeconds: 60, idleSeconds: 5 };
  const { each, starts } = simulate({ ...world, arrivals: { perDay: 20_000, sharpness: 0 }, processes: short });
  expect(Math.abs(each.length / 20_000 - 1)).toBeLessThan(0.03);
  expect(starts).toBeGreaterThan(86_400 / 61);
});

test('calibrated on 60 searches at once it predicts 200 as they were measured, within 15 %', () => {
  const file = join(__dirname, 'measured-load.json');
  const [calibration, load] = JSON.parse(readFileSync(file, 'utf8')) as [MeasuredLoad, MeasuredLoad];
  for (const ratio of Object.values(agreement(predict(calibration, load), figuresOf(load)))) {
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
  }
});
