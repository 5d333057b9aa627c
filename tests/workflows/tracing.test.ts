/** Traces through workflows: continued runs and batches, with OpenTelemetry itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { OwnThreadWorker } from '../../src/workers/own-thread-worker';
import { writeBatchManifest } from '../../src/activities/batch';
import { awaitBatch, awaitQuestion, startBatch, type GateClient } from '../../src/workers/client';
import { questionQueues } from '../../src/workers/task-queues';
import { describeQuestion } from '../../src/workers/workflow-views';
import { dataConverter } from '../../src/workers/payloads';
import { telemetry, traceSinks } from '../../src/workers/telemetry/tracing';
import { openTelemetry } from '../../src/workers/telemetry/opentelemetry';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testTemporal, unique, withClient } from '../helpers/temporal';
import { noBatch, scriptedSettings, scriptedWorker, type Run } from './scripted-steps';

const exporter = new InMemorySpanExporter();
const said: string[] = [];

beforeAll(async () => {
  telemetry.tracing = await openTelemetry({}, (line) => said.push(line), exporter);
});
afterAll(() => {
  telemetry.tracing = null;
  expect(said).toEqual([]);
});

const worker = scriptedWorker();
const SETTINGS = scriptedSettings({ maxPlans: 1, cMin: 1 });

interface Ended extends Pick<ReadableSpan, 'name' | 'attributes' | 'links'> {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | null;
  readonly failed: boolean;
}

async function spansOf(traceId: string): Promise<readonly Ended[]> {
  await telemetry.tracing?.flush();
  const spans = exporter.getFinishedSpans().map((span): Ended => {
    const { name, attributes, links, status } = span;
    const failed = status.code === SpanStatusCode.ERROR;
    return { name, attributes, links, ...span.spanContext(), parent: span.parentSpanContext?.spanId ?? null, failed };
  });
  return spans.filter((span) => span.traceId === traceId);
}

/** The sink is told of a workflow's end after the answer. */
async function untilTold(name: string, traceId: string): Promise<void> {
  const isEnd = (span: Ended): boolean => span.name === name && span.attributes['gate.outcome'] === 'completed';
  while (!(await spansOf(traceId)).some(isEnd)) await sleep(20);
}

async function traceOf(gate: GateClient, searchId: string): Promise<string> {
  return (await describeQuestion(gate, searchId))?.traceId ?? '';
}

test('the runs of a search that continues as new are one trace, and its history replays', async () => {
  const asked = { settings: SETTINGS, modelTimeoutMs: 30_000, iterationsPerRun: 1 };
  const work = async ({ gate, searchId }: Run): Promise<void> => {
    expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
    const traceId = await traceOf(gate, searchId);
    await untilTold('RunWorkflow:answerQuestion', traceId);
    const spans = await spansOf(traceId);
    const [root, ...others] = spans.filter(({ parent }) => parent === null);
    expect([root?.name, others]).toEqual(['StartWorkflow:answerQuestion', []]);
    const runs = spans.filter(({ name }) => name === 'RunWorkflow:answerQuestion');
    const outcomes = runs.map(({ attributes }) => attributes['gate.outcome']);
    expect(outcomes.length).toBeGreaterThan(2);
    expect(outcomes.at(-1)).toBe('completed');
    expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['continued-as-new']));
    expect(runs.every(({ parent, failed }) => parent === root?.spanId && !failed)).toBe(true);
    const ids = new Set(runs.map(({ spanId }) => spanId));
    const steps = spans.filter(({ name }) => name.startsWith('RunActivity:'));
    expect(steps.length).toBeGreaterThan(runs.length);
    expect(steps.every(({ parent }) => ids.has(parent ?? ''))).toBe(true);

    const before = spans.length;
    const history = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();
    const replayer = { workflowBundle: testTemporal().bundle, dataConverter, sinks: traceSinks };
    await OwnThreadWorker.runReplayHistory(replayer, history);
    expect(await spansOf(root?.traceId ?? '')).toHaveLength(before);
  };
  await worker.ask({}, work, asked);
});

test('each question of a batch has a trace of its own, linked to the trace of the batch', async () => {
  const batchId = unique('b');
  const searches = [unique('q'), unique('q')];
  const entries = searches.map((searchId, n) => ({
    ...{ n, searchId, label: 'x' },
    taskQueues: { workflow: questionQueues(worker.database).workflow },
  }));
  await writeBatchManifest(noBatch.store, batchId, entries, 10);
  await withClient(async (gate) => {
    const question = { settings: SETTINGS, modelTimeoutMs: 30_000, iterationsPerRun: 20 };
    const queue = questionQueues(worker.database).workflow;
    const input = { batchId, total: 2, pages: 1, concurrency: 2, question, eventsPerRun: 1_000, resume: null };
    const handle = await startBatch(gate, input, queue, 'x');
    expect(await awaitBatch(gate, batchId)).toMatchObject({ kind: 'completed', value: { done: 2 } });
    const batchTrace = String((await handle.describe()).memo?.['traceId']);
    await untilTold('RunWorkflow:runBatch', batchTrace);
    const ofBatch = await spansOf(batchTrace);
    const [run] = ofBatch.filter(({ name }) => name === 'RunWorkflow:runBatch');
    expect(ofBatch.some(({ name }) => name === 'RunActivity:callModel')).toBe(false);
    const traces = await Promise.all(searches.map((searchId) => traceOf(gate, searchId)));
    expect(new Set([...traces, run?.traceId]).size).toBe(3);
    for (const traceId of traces) {
      await untilTold('RunWorkflow:answerQuestion', traceId);
      const roots = (await spansOf(traceId)).filter(({ parent }) => parent === null);
      expect(roots).toMatchObject([
        { name: 'RunWorkflow:answerQuestion', links: [{ context: { traceId: run?.traceId, spanId: run?.spanId } }] },
      ]);
      expect((await spansOf(traceId)).some(({ name }) => name === 'RunActivity:callModel')).toBe(true);
    }
  });
});
