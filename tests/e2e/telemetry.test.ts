/** What a process tells of its work: metrics that say the same as the records of searches, and the trace of a question. */
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import type { AnswerRecord } from '../../src/domain';
import { eventually } from '../helpers/engine';
import { freePort } from '../helpers/free-port';
import type { GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { startTraceCollector, type CollectedSpan } from '../helpers/trace-collector';
import { sampleUser } from './sample-user';

const QUESTION = 'How many drivers are there?';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
});
afterEach(async () => {
  await model.close();
  data.close();
});

/** The names from a span up to the beginning of its trace. */
function lineage(spans: readonly CollectedSpan[], span: CollectedSpan): string[] {
  const parent = spans.find(({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId);
  return [span.name, ...(parent === undefined ? [] : lineage(spans, parent))];
}

async function askDetached(home: GateHome, question: string, db: string): Promise<AnswerRecord> {
  const { out } = await home.here(['ask', question, '--db', db, '--detach', '--json']);
  const { id } = JSON.parse(out) as { id: string };
  return JSON.parse((await home.here(['show', id, '--wait', '--json'])).out) as AnswerRecord;
}

/** The sum of a metric's series that have these labels. */
function sumOf(text: string, metric: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const series = text.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  const matching = series.filter((line) => wanted.every((label) => line.includes(label)));
  return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

test('the metrics of a worker are the usage of the searches that it answered', async () => {
  const { home, db } = sampleUser(data, model.baseUrl);
  const port = await freePort();
  const worker = home.start(['ops', 'worker', '--metrics-port', String(port)]);
  expect(await worker.said(/Ctrl-C stops/)).toContain(`metrics on http://127.0.0.1:${String(port)}/metrics\n`);
  const { usage, status, endedBy } = await askDetached(home, QUESTION, db);
  const metrics = async () => (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
  // The worker counts it a moment after its record is stored.
  const counted = (text: string) => sumOf(text, 'gate_searches_total', { status, ended_by: endedBy }) === 1;
  const text = await eventually(metrics, counted);
  expect(sumOf(text, 'gate_search_duration_seconds_count', { status })).toBe(1);
  expect(usage.llmCalls).toBeGreaterThan(0);
  expect(sumOf(text, 'gate_model_calls_total', { outcome: 'ok' })).toBe(usage.llmCalls);
  expect(sumOf(text, 'gate_model_call_duration_seconds_count')).toBe(usage.llmCalls);
  expect(sumOf(text, 'gate_model_tokens_total', { direction: 'input' })).toBe(usage.promptTokens);
  expect(sumOf(text, 'gate_model_tokens_total', { direction: 'output' })).toBe(usage.completionTokens);
  expect(sumOf(text, 'gate_model_call_cost_dollars_sum')).toBeCloseTo(usage.costUsd, 9);
  expect(sumOf(text, 'gate_sql_statements_total', { database: db })).toBe(usage.sqlExecutions);
  expect(sumOf(text, 'gate_sql_duration_seconds_sum', { database: db })).toBeCloseTo(usage.sqlMs / 1000, 6);
  expect(sumOf(text, 'gate_step_retries_total')).toBe(0);
  expect(sumOf(text, 'gate_cold_starts_total')).toBe(1);
  expect(sumOf(text, 'temporal_worker_task_slots_available', { worker_type: 'ActivityWorker' })).toBeGreaterThan(0);
  // Neither what was asked, nor of which file, nor under which id.
  for (const secret of ['drivers', '.sqlite', 'q-', 'SELECT']) expect(text).not.toContain(secret);
  worker.child.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('a port for metrics that is taken, and a host that is no address, are one line each', async () => {
  const { home } = sampleUser(data, model.baseUrl);
  const { port } = new URL(model.baseUrl);
  const refused = await home.run(['ops', 'worker', '--metrics-port', port]);
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(
    /^gate: no metrics on 127\.0\.0\.1:\d+ \(.*Address already in use.*\): choose another --metrics-port or --listen\n$/,
  );
  const wrong = await home.here(['ops', 'worker', '--metrics-port', '9464', '--listen', 'everywhere']);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('give an IP address') as string });
});

test('one trace leads from the client through workflow and activities to the model and the database', async () => {
  const { home, db } = sampleUser(data, model.baseUrl);
  const collector = await startTraceCollector();
  const worker = home.start(['ops', 'worker'], {
    ...collector.env,
    GATE_LOG_FORMAT: 'json',
    OTEL_SERVICE_NAME: 'gate-worker',
  });
  await worker.said(/Ctrl-C stops/);
  model.failNext('server-error');
  const asked = await home.run(['ask', QUESTION, '--db', db, '--detach', '--json'], collector.env);
  const { id } = JSON.parse(asked.out) as { id: string };
  const { usage } = JSON.parse((await home.here(['show', id, '--wait', '--json'])).out) as AnswerRecord;
  const { traceId } = JSON.parse((await home.here(['show', id, '--json'])).out) as { traceId: string };
  expect((await home.here(['show', id])).out).toContain(`Trace   ${traceId}\n`);
  worker.child.kill('SIGTERM');
  const { code, err } = await worker.ended;
  const lines = err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { message: string; level: string });
  expect(code).toBe(0);
  // A slow machine has more to say of its start; all else is of the one call that failed.
  expect(lines.filter(({ level }) => level !== 'info')).toMatchObject([
    { level: 'warn', searchId: id, step: 'callModel', attempt: 1, error: 'ModelError.server-error' },
  ]);
  const told = lines.filter(({ level }) => level === 'info').map(({ message }) => message);
  expect(told).toContainEqual(expect.stringMatching(/^serving /));
  expect(told.at(-1)).toContain('stop');
  await collector.close();

  const { spans } = collector;
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const roots = spans.filter((span) => span.parentSpanId === '');
  expect(roots).toMatchObject([{ name: 'StartWorkflow:answerQuestion', service: 'gate' }]);
  expect(spans.filter((span) => span.service !== 'gate-worker')).toEqual(roots);
  const top = ['RunWorkflow:answerQuestion', 'StartWorkflow:answerQuestion'];
  const calls = spans.filter(({ name }) => name.startsWith('chat '));
  expect(calls.filter(({ failed }) => failed)).toMatchObject([
    { attributes: { 'error.type': 'ModelError.server-error' } },
  ]);
  expect(calls).toHaveLength(usage.llmCalls + 1);
  for (const call of calls) expect(lineage(spans, call).slice(1)).toEqual(['RunActivity:callModel', ...top]);
  const sql = spans.filter(({ name }) => name === `SELECT ${db}`);
  const statements = sql.reduce((sum, { attributes }) => sum + Number(attributes['gate.statements']), 0);
  expect(statements).toBe(usage.sqlExecutions);
  for (const run of sql) {
    const [, activity = '', ...above] = lineage(spans, run);
    expect(activity).toMatch(/^RunActivity:/);
    expect(above).toEqual(top);
  }
  // Every step of the history is there, and no text of the question, its SQL or its answer.
  expect(spans.map(({ name }) => name)).toContain('RunActivity:finishSearch');
  for (const secret of [QUESTION, 'drivers', 'COUNT', 'test-key', home.folder])
    expect(collector.text()).not.toContain(secret);
});

test('a collector that does not answer costs one line, and a protocol that is not offered is told', async () => {
  const { home, db } = sampleUser(data, model.baseUrl);
  const nobody = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(await freePort())}` };
  const asked = await home.run(['ask', QUESTION, '--db', db], nobody);
  expect(asked.code).toBe(0);
  expect(asked.err.match(/traces are not delivered: .*; check OTEL_EXPORTER_OTLP_ENDPOINT/g)).toHaveLength(1);
  const refused = await home.run(['ask', QUESTION, '--db', db, '--fresh'], {
    ...nobody,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/^gate: OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' is not offered; give http\/protobuf/m);
});

test('with JSON as format an error is a line of JSON too, and another format is told', async () => {
  const { home } = sampleUser(data, model.baseUrl);
  const taken = new URL(model.baseUrl).port;
  const refused = await home.here(['ops', 'worker', '--health-port', taken], { GATE_LOG_FORMAT: 'json' });
  const { level, message } = JSON.parse(refused.err) as { level: string; message: string };
  expect([refused.code, level]).toEqual([1, 'error']);
  expect(message).toMatch(/the port is in use; choose another/);
  const wrong = await home.here(['ops', 'worker'], { GATE_LOG_FORMAT: 'xml' });
  expect(wrong).toMatchObject({ code: 2, err: "gate: GATE_LOG_FORMAT: 'xml' is not allowed; give text or json\n" });
});
