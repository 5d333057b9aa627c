/** The names of metrics follow Prometheus' conventions, and their labels stay few. */
import { METRICS } from '../../../../src/workers/telemetry/metrics';

test.each(Object.entries(METRICS))('%s is named and labelled as Prometheus recommends', (name, { kind, help }) => {
  expect(name).toMatch(/^gate_[a-z]+(_[a-z]+)*$/);
  expect(name.endsWith('_total')).toBe(kind === 'counter');
  if (kind !== 'counter') expect(name).toMatch(/_(seconds|dollars)$/);
  expect(help).not.toBe('');
});
