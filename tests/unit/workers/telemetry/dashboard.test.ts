/** The dashboard and the alerts ask for metrics and labels that a worker has, each by a name that it registers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { METRICS, type MetricName } from '../../../../src/workers/telemetry/metrics';

const root = join(__dirname, '../../../..');
const read = (file: string): string => readFileSync(join(root, 'infra', file), 'utf8');
const dashboard = JSON.parse(read('grafana/gate.json')) as {
  panels: { type: string; title: string; targets?: { expr: string }[] }[];
};
const alerts = parse(read('prometheus/alerts.yaml')) as { groups: { rules: { alert: string; expr: string }[] }[] };
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
];
/** Of Temporal's own, seen in a worker's answer. */
const TEMPORAL = [
  'temporal_worker_task_slots_used',
  'temporal_worker_task_slots_available',
  'temporal_activity_execution_failed',
  'temporal_activity_schedule_to_start_latency_bucket',
];

const registered = new Set(
  Object.entries(METRICS).flatMap(([name, { kind }]) =>
    kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  ),
);

test.each(queries)('%s asks for metrics and labels that there are', (_, expr) => {
  const names = expr.match(/\b(gate|temporal)_[a-z_]+/g) ?? [];
  expect(names.filter((name) => !registered.has(name) && !TEMPORAL.includes(name))).toEqual([]);
  expect(names.length + (/\bup\b/.exec(expr)?.length ?? 0)).toBeGreaterThan(0);
  const own = names.filter((name) => registered.has(name)).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
  const known = new Set(own.flatMap((name) => [...METRICS[name as MetricName].labels] as string[]));
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
  const matched = [...expr.matchAll(/[{,]\s*([a-z_]+)(?==|!=)/g)].map(([, label = '']) => label);
  const scraped = ['job', 'instance', 'le', ...(names.some((name) => TEMPORAL.includes(name)) ? OF_TEMPORAL : [])];
  expect([...grouped, ...matched].filter((label) => !known.has(label) && !scraped.includes(label))).toEqual([]);
});

const OF_TEMPORAL = ['worker_type', 'task_queue', 'activity_type'];

test('every metric of a worker is on the dashboard', () => {
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
  expect(Object.keys(METRICS).filter((name) => !shown.includes(name))).toEqual([]);
});
