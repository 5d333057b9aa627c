/** The names of metrics follow Prometheus' conventions, and their labels stay few. */
import { noopMetricMeter, type MetricCounter, type MetricMeter, type MetricTags } from '@temporalio/common';
import { createMetrics, METRICS } from '../../../../src/workers/telemetry/metrics';

test.each(Object.entries(METRICS))('%s is named and labelled as Prometheus recommends', (name, { kind, help }) => {
  expect(name).toMatch(/^gate_[a-z]+(_[a-z]+)*$/);
  expect(name.endsWith('_total')).toBe(kind === 'counter');
  if (kind !== 'counter') expect(name).toMatch(/_(seconds|dollars)$/);
  expect(help).not.toBe('');
});

test('the hundred and first model, and those after it, are one', () => {
  const seen = new Map<string, number>();
  const count = (value: number, { model }: MetricTags = {}): void =>
    void seen.set(String(model), (seen.get(String(model)) ?? 0) + value);
  const meter = Object.create(noopMetricMeter) as MetricMeter;
  const noop = noopMetricMeter.createCounter('');
  meter.createCounter = () => Object.assign(Object.create(noop) as MetricCounter, { add: count });
  const metrics = createMetrics(meter);
  for (let round = 0; round < 2; round += 1)
    for (let n = 0; n < 120; n += 1) metrics.add('gate_journal_hits_total', { role: 'plan', model: `m${String(n)}` });
  expect(seen.size).toBe(101);
  expect([seen.get('m0'), seen.get('m99'), seen.get('other')]).toEqual([2, 2, 40]);
});
