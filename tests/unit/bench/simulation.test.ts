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

test('one slot serves one call at a time', () => {
  const { seconds, mostProcesses } = simulate({ ...world, processes: { ...world.processes, slots: 1 } });
  expect(mostProcesses).toBe(1);
  expect(seconds).toBeCloseTo(45 * 2.1, 6);
});

test('calibrated on 60 searches at once it predicts 200 as they were measured, within 15 %', () => {
  const file = join(__dirname, 'measured-load.json');
  const [calibration, load] = JSON.parse(readFileSync(file, 'utf8')) as [MeasuredLoad, MeasuredLoad];
  for (const ratio of Object.values(agreement(predict(calibration, load), figuresOf(load)))) {
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
  }
});
