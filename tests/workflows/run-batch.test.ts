import { activityInfo } from '@temporalio/activity';
import type { Payload } from '@temporalio/common';
import { createMemoryStore } from '../helpers/scripted';
import { batchResultKey, writeBatchManifest, type BatchPorts } from '../../src/activities/batch';
import type { BatchEntry, BatchResult } from '../../src/domain/ports/batch';
import { ModelError } from '../../src/domain/ports';
import type { AnswerSummary } from '../../src/domain/ports/step-parts';
import {
  awaitBatch,
  awaitQuestion,
  cancelWorkflow,
  connectClient,
  signalBatch,
  startBatch,
  startQuestion,
  type GateClient,
} from '../../src/workers/client';
import { batchPause, batchProgress, isPaused } from '../../src/workers/workflow-views';
import { dataConverter } from '../../src/workers/payloads';
import { createGateWorkers, type WorkersOptions, type WorkerSteps } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { batchWorkflowId, questionWorkflowId } from '../../src/workflows/ids';
import type { RunBatchInput } from '../../src/workflows/run-batch';
import { quietLogger, testTemporal, unique, withClient, withWorkers } from '../helpers/temporal';
import { holdAt } from './hold';
import { dispatched, scriptedSettings, scriptedSteps, type Script } from './scripted-steps';

const store = createMemoryStore();
const answers = new Map<string, AnswerSummary>();
const readAnswer: BatchPorts['readAnswer'] = (searchId) => Promise.resolve(answers.get(searchId) ?? null);

/** The steps of each batch on the worker that most tests share. */
const scripts = new Map<string, WorkerSteps>();
const shared = unique('db');
let gate: GateClient;
let end: () => Promise<void>;
beforeAll(async () => {
  quietLogger();
  gate = await connectClient(testTemporal());
  const steps = dispatched((searchId) => scripts.get(searchId.replace(/-\d+$/, ''))!);
  const batch = { store, readAnswer };
  const workers = await createGateWorkers({ ...testTemporal(), graceMs: 200, steps, batch, databases: [shared] });
  const running = workers.run();
  end = async () => {
    workers.stop();
    await running;
    await gate.close();
  };
});
afterAll(() => end());

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
};

class Fixture {
  readonly database: string;
  readonly batchId = unique('b');
  readonly entries: BatchEntry[];
  /** Steps by search id, and how many searches worked at the same time. */
  readonly calls = new Map<string, string[]>();
  mostAtOnce = 0;

  /** `own`: on workers of its own. */
  constructor(
    readonly size: number,
    readonly own = false,
  ) {
    this.database = own ? unique('db') : shared;
    const queues = questionQueues(this.database);
    this.entries = Array.from({ length: size }, (_, n) => ({
      ...{ n, searchId: `${this.batchId}-${String(n)}`, label: `question ${String(n)}`, taskQueues: queues },
    }));
  }

  count(step: string): number {
    return [...this.calls.values()].flat().filter((name) => name === step).length;
  }

  get plans(): number {
    return this.count('plan');
  }

  steps(onStep: Script['onStep'] = () => undefined) {
    const active = new Set<string>();
    return scriptedSteps({
      operators: 1,
      onStep: async (call) => {
        const { searchId, name } = call;
        this.calls.set(searchId, [...(this.calls.get(searchId) ?? []), name]);
        active.add(searchId);
        this.mostAtOnce = Math.max(this.mostAtOnce, active.size);
        try {
          await onStep(call);
        } finally {
          if (name === 'finish') active.delete(searchId);
        }
      },
      onFinish: (summary) => void answers.set(summary.id, summary),
    });
  }

  async run<T>(
    steps: WorkerSteps,
    work: (gate: GateClient) => Promise<T>,
    more: Pick<WorkersOptions, 'dataConverter' | 'maxModelCalls'> = {},
  ): Promise<T> {
    if (this.own)
      return withWorkers({ steps, batch: { store, readAnswer }, databases: [this.database], ...more }, work);
    scripts.set(this.batchId, steps);
    return work(gate);
  }

  async start(gate: GateClient, pageSize = 10, eventsPerRun = 100, more: Partial<RunBatchInput> = {}): Promise<void> {
    const { pages } = await writeBatchManifest(store, this.batchId, this.entries, pageSize);
    const question = {
      settings: scriptedSettings({ maxPlans: 1, cMin: 1 }),
      modelTimeoutMs: 5_000,
      iterationsPerRun: 20,
    };
    const input = {
      batchId: this.batchId,
      concurrency: 5,
      total: this.size,
      pages,
      question,
      eventsPerRun,
      resume: null,
      ...more,
    };
    await startBatch(gate, input, questionQueues(this.database).workflow, 'a batch');
  }

  /** Runs it on the shared worker, to its end. */
  async asked(steps: WorkerSteps, ...more: [pageSize?: number, eventsPerRun?: number, more?: Partial<RunBatchInput>]) {
    scripts.set(this.batchId, steps);
    await this.start(gate, ...more);
    return awaitBatch(gate, this.batchId);
  }

  async results(): Promise<BatchResult[]> {
    const keys = await store.list(`batches/${this.batchId}/results/`);
    return Promise.all(keys.map(async (key) => JSON.parse((await store.get(key)) ?? '') as BatchResult));
  }
}

test('thirty questions run five at a time over three pages and two continued runs, each answered once', async () => {
  const fixture = new Fixture(30);
  await fixture.run(fixture.steps(), async (gate) => {
    await fixture.start(gate);
    const handle = gate.client.workflow.getHandle(batchWorkflowId(fixture.batchId));
    const first = (await handle.describe()).runId;
    const ended = await awaitBatch(gate, fixture.batchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { done: 30, counts: { answered: 30 }, inFlight: [] } });
    expect((await handle.describe()).runId).not.toBe(first);
  });
  expect(fixture.mostAtOnce).toBeLessThanOrEqual(5);
  expect(fixture.mostAtOnce).toBeGreaterThan(1);
  expect(fixture.plans).toBe(30);
  const results = await fixture.results();
  expect(results.map((result) => result.n)).toEqual(Array.from({ length: 30 }, (_, n) => n));
});

test('a question that infrastructure fails is recorded apart and the batch goes on', async () => {
  const fixture = new Fixture(4);
  const bad = fixture.entries[1]?.searchId;
  const steps = fixture.steps(({ searchId, name }) => {
    if (searchId === bad && name === 'plan') throw new ModelError('authentication', 'no key');
  });
  const ended = await fixture.asked(steps);
  expect(ended).toMatchObject({ kind: 'completed', value: { counts: { answered: 3, 'infrastructure-failure': 1 } } });
  const failed = JSON.parse((await store.get(batchResultKey(fixture.batchId, 1))) ?? '') as BatchResult;
  expect(failed.outcome).toEqual({
    ...{ kind: 'infrastructure-failure', type: 'ModelError.authentication' },
    message: 'no key: check OPENAI_API_KEY',
  });
});

test('three questions that the endpoint fails in a row end the batch, which says why and leaves the others unasked', async () => {
  const fixture = new Fixture(12);
  const steps = fixture.steps(({ name }) => {
    if (name === 'plan') throw new ModelError('bad-answer', 'a web page, not a completion');
  });
  const ended = await fixture.asked(steps, 4, 100, { concurrency: 2 });
  expect(ended).toMatchObject({
    kind: 'completed',
    value: { done: 3, inFlight: [], held: 'a web page, not a completion: check OPENAI_BASE_URL' },
  });
  expect(fixture.calls.size).toBe(3);
  // Three tries each.
  expect(fixture.plans).toBe(9);
});

test('an endpoint that only fails is tried for as long as the setting says', async () => {
  const fixture = new Fixture(1);
  const steps = fixture.steps(({ name }) => {
    if (name === 'plan') throw new ModelError('server-error', 'HTTP 500');
  });
  await fixture.run(steps, async (gate) => {
    const question = { settings: scriptedSettings({ maxPlans: 1, cMin: 1 }), modelTimeoutMs: 1, iterationsPerRun: 20 };
    await fixture.start(gate, 4, 100, { question: { ...question, modelOutageMs: 0 } });
    const ended = await awaitBatch(gate, fixture.batchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { held: 'HTTP 500' } });
  });
  expect(fixture.plans).toBeGreaterThan(3);
});

test('an endpoint that answers again lets further questions start', async () => {
  const fixture = new Fixture(8);
  const bad = new Set(fixture.entries.slice(0, 2).map(({ searchId }) => searchId));
  const steps = fixture.steps(({ searchId, name }) => {
    if (bad.has(searchId) && name === 'plan') throw new ModelError('authentication', 'no key');
  });
  const ended = await fixture.asked(steps, 4, 100, { concurrency: 2 });
  expect(ended).toMatchObject({ kind: 'completed', value: { done: 8, counts: { answered: 6 } } });
  expect((ended as { value: object }).value).not.toHaveProperty('held');
});

test('a cancelled batch starts nothing more and completes; run again, it goes on and pays nothing twice', async () => {
  const fixture = new Fixture(12, true);
  const late = new Set(fixture.entries.slice(4).map(({ searchId }) => searchId));
  const hold = holdAt(({ name, searchId }) => name === 'propose' && late.has(searchId));
  await fixture.run(fixture.steps(hold.onStep), async (gate) => {
    await fixture.start(gate, 4);
    await until(() => Promise.resolve(fixture.count('finish') >= 4));
    await cancelWorkflow(gate, batchWorkflowId(fixture.batchId));
    const ended = await awaitBatch(gate, fixture.batchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { stopping: true, inFlight: [] } });
    const { done, counts } = ended.kind === 'completed' ? ended.value : { done: 0, counts: { cancelled: 0 } };
    expect(done).toBeLessThan(12);
    expect(counts.cancelled).toBeGreaterThan(0);
  });
  const before = (await fixture.results()).filter(
    ({ outcome }) => outcome?.kind === 'answer' && outcome.status === 'answered',
  );
  const plansBefore = new Map(before.map(({ searchId }) => [searchId, fixture.calls.get(searchId)?.length]));
  await fixture.run(fixture.steps(), async (gate) => {
    await fixture.start(gate, 4);
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({
      kind: 'completed',
      value: { counts: { answered: 12 } },
    });
  });
  for (const [searchId, calls] of plansBefore) expect(fixture.calls.get(searchId)).toHaveLength(calls ?? 0);
});

test('a batch whose worker stopped in the middle goes on with the next worker', async () => {
  const fixture = new Fixture(8, true);
  const counting = fixture.steps();
  await fixture.run(counting, async (gate) => {
    await fixture.start(gate, 4);
    await until(() => Promise.resolve(fixture.count('finish') >= 3));
  });
  await fixture.run(counting, async (gate) => {
    const ended = await awaitBatch(gate, fixture.batchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { counts: { answered: 8 } } });
    expect(await batchProgress(gate, fixture.batchId)).toMatchObject({ total: 8, done: 8 });
  });
  expect(fixture.plans).toBeLessThanOrEqual(8 + 5);
});

test('a continued batch of more questions in flight than its worker has places leaves places for their steps', async () => {
  const fixture = new Fixture(12, true);
  const work = async (gate: GateClient): Promise<void> => {
    await fixture.start(gate, 6, 5, { concurrency: 6 });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 12 } } });
  };
  await fixture.run(fixture.steps(), work, { maxModelCalls: 2 });
  expect(fixture.plans).toBe(12);
});

const NOTHING_DONE = {
  ...{ answered: 0, unanswerable: 0, abstained: 0, cancelled: 0, failed: 0 },
  'infrastructure-failure': 0,
};

/** Until no question is in flight. */
async function idle(gate: GateClient, batchId: string): Promise<number> {
  for (;;) {
    const { inFlight, done } = await batchProgress(gate, batchId);
    if (inFlight.length === 0) return done;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a paused batch starts nothing while those in flight finish, and stays paused with the next worker', async () => {
  const fixture = new Fixture(16, true);
  const late = new Set(fixture.entries.slice(8).map(({ searchId }) => searchId));
  // So that some are left, however late the pause comes.
  const hold = holdAt(({ name, searchId }) => name === 'plan' && late.has(searchId));
  const steps = fixture.steps(hold.onStep);
  let done = 0;
  await fixture.run(steps, async (gate) => {
    await fixture.start(gate, 2, 10);
    await until(() => Promise.resolve(fixture.count('finish') > 0));
    await signalBatch(gate, fixture.batchId, 'pause', { author: 'ann', now: false });
    hold.release();
    done = await idle(gate, fixture.batchId);
    expect(await batchPause(gate, fixture.batchId)).toEqual({ author: 'ann', now: false });
    expect(done).toBeLessThan(16);
  });
  await fixture.run(steps, async (gate) => {
    expect(await batchProgress(gate, fixture.batchId)).toMatchObject({ done, paused: true, inFlight: [] });
    await signalBatch(gate, fixture.batchId, 'resume', { author: 'ann' });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { done: 16, counts: { answered: 16 } } });
  });
  expect(fixture.plans).toBe(16);
});

test('a pause with now reaches the questions in flight, which go on when the batch is resumed', async () => {
  const fixture = new Fixture(8);
  const hold = holdAt('plan', 5);
  await fixture.run(fixture.steps(hold.onStep), async (gate) => {
    await fixture.start(gate);
    await hold.reached;
    await signalBatch(gate, fixture.batchId, 'pause', { author: 'ann', now: true });
    for (const { searchId } of fixture.entries.slice(0, 5)) await until(() => isPaused(gate, searchId));
    hold.release();
    expect(await batchProgress(gate, fixture.batchId)).toMatchObject({ done: 0, paused: true });
    await signalBatch(gate, fixture.batchId, 'resume', { author: 'ann' });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 8 } } });
    expect(await isPaused(gate, fixture.entries[0]?.searchId ?? '')).toBe(false);
  });
  expect(fixture.plans).toBe(8);
});

async function runOf(gate: GateClient, { batchId }: Fixture): Promise<string> {
  return (await gate.client.workflow.getHandle(batchWorkflowId(batchId)).describe()).runId;
}

test('a pause that arrives as a batch continues as new reaches the questions that it carries over', async () => {
  const fixture = new Fixture(3, true);
  const both = holdAt('plan', 2);
  const inFlight = fixture.entries.slice(0, 2);
  await fixture.run(fixture.steps(both.onStep), async (gate) => {
    await fixture.start(gate, 2, 100, { concurrency: 2 });
    await both.reached;
  });
  // No worker has the next run before it is paused: its first task holds the pause, and its history is long already.
  let first = '';
  await withClient(async (gate) => {
    await gate.client.workflow.getHandle(batchWorkflowId(fixture.batchId)).terminate('replaced');
    await fixture.start(gate, 2, 4, { resume: { page: 1, counts: NOTHING_DONE, inFlight } });
    first = await runOf(gate, fixture);
    await signalBatch(gate, fixture.batchId, 'pause', { author: 'ann', now: true });
    await signalBatch(gate, fixture.batchId, 'pause', { author: 'bob', now: false });
    expect(await batchPause(gate, fixture.batchId)).toEqual({ author: 'bob', now: true });
  });
  const planned = holdAt('plan');
  await fixture.run(fixture.steps(planned.onStep), async (gate) => {
    await until(async () => (await runOf(gate, fixture)) !== first);
    for (const { searchId } of inFlight) await until(() => isPaused(gate, searchId));
    expect(await batchPause(gate, fixture.batchId)).toEqual({ author: 'bob', now: true });
    planned.release();
    await signalBatch(gate, fixture.batchId, 'resume', { author: 'ann' });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 3 } } });
  });
});

test('a cancellation that arrives as a batch is about to continue as new ends it', async () => {
  const fixture = new Fixture(6, true);
  let reached: () => void = () => undefined;
  let release: () => void = () => undefined;
  const working = new Promise<void>((resolve) => (reached = resolve));
  const cancelled = new Promise<void>((resolve) => (release = resolve));
  // Holds the task in which the first page arrives, starts its question, and finds the history long.
  const holding = {
    encode: (payloads: Payload[]) => Promise.resolve(payloads),
    decode: async (payloads: Payload[]) => {
      if (payloads.some(({ data }) => String(Buffer.from(data ?? [])).startsWith('{"entries":'))) {
        reached();
        await cancelled;
      }
      return payloads;
    },
  };
  const payloadCodecs = [...(dataConverter.payloadCodecs ?? []), holding];
  const work = async (gate: GateClient): Promise<void> => {
    await fixture.start(gate, 1, 8, { concurrency: 1 });
    await working;
    await cancelWorkflow(gate, batchWorkflowId(fixture.batchId));
    release();
    const ended = await awaitBatch(gate, fixture.batchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { stopping: true, done: 1, inFlight: [] } });
  };
  await fixture.run(fixture.steps(), work, { dataConverter: { ...dataConverter, payloadCodecs } });
});

test('a paused batch that is cancelled ends', async () => {
  const fixture = new Fixture(6);
  await fixture.run(fixture.steps(), async (gate) => {
    await fixture.start(gate, 10, 100, { pause: { author: 'ann', now: false } });
    expect(await batchPause(gate, fixture.batchId)).toEqual({ author: 'ann', now: false });
    await cancelWorkflow(gate, batchWorkflowId(fixture.batchId));
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { done: 0, stopping: true } });
  });
});

test('only the positions that are given are asked', async () => {
  const fixture = new Fixture(6);
  await fixture.run(fixture.steps(), async (gate) => {
    await fixture.start(gate, 4, 100, { only: [1, 5] });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 2 } } });
  });
  expect([...fixture.calls.keys()].sort()).toEqual([1, 5].map((n) => fixture.entries[n]?.searchId));
});

test('a question that follows another starts once that one has ended; what follows others does not wait for it', async () => {
  const fixture = new Fixture(5);
  const ids = fixture.entries.map(({ searchId }) => searchId);
  const after = [undefined, undefined, ids[0], ids[1], ids[2]];
  for (const [n, entry] of fixture.entries.entries()) fixture.entries[n] = { ...entry, after: after[n] };
  let release: () => void = () => undefined;
  const otherEnded = new Promise<void>((resolve) => (release = resolve));
  const order: string[] = [];
  const steps = fixture.steps(async ({ searchId, name }) => {
    const n = ids.indexOf(searchId);
    if (name === 'plan' || name === 'finish') order.push(`${name} ${n}`);
    if (name === 'plan' && n === 0) await otherEnded;
    if (name === 'finish' && n === 3) release();
  });
  const ended = await fixture.asked(steps);
  expect(ended).toMatchObject({ kind: 'completed', value: { counts: { answered: 5 } } });
  expect(order.filter((step) => !/[13]$/.test(step))).toEqual([0, 2, 4].flatMap((n) => [`plan ${n}`, `finish ${n}`]));
});

test('another concurrency is heard while the batch runs, and by the runs that it continues as', async () => {
  const fixture = new Fixture(12);
  const waiting: (() => void)[] = [];
  const steps = fixture.steps(({ name }) => {
    if (name !== 'plan') return;
    // Four have to plan at the same time.
    return new Promise<void>((go) => {
      waiting.push(go);
      if (waiting.length === 4) for (const one of waiting.splice(0)) one();
    });
  });
  await fixture.run(steps, async (gate) => {
    await fixture.start(gate, 2, 10, { concurrency: 1 });
    const handle = gate.client.workflow.getHandle(batchWorkflowId(fixture.batchId));
    const first = (await handle.describe()).runId;
    await signalBatch(gate, fixture.batchId, 'concurrency', { concurrency: 4 });
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 12 } } });
    expect((await handle.describe()).runId).not.toBe(first);
  });
  expect(fixture.mostAtOnce).toBe(4);
});

test('a lower concurrency lets those in flight finish, and starts the others so many at a time', async () => {
  const fixture = new Fixture(8);
  const five = fixture.entries.slice(0, 5).map(({ searchId }) => searchId);
  const hold = holdAt('plan', 5);
  const open = new Set<string>();
  const withOthers: number[] = [];
  const steps = fixture.steps(async (call) => {
    const { searchId, name } = call;
    if (name === 'finish') open.delete(searchId);
    if (name === 'plan' && !five.includes(searchId)) withOthers.push(open.add(searchId).size);
    else if (name === 'plan') open.add(searchId);
    await hold.onStep(call);
  });
  await fixture.run(steps, async (gate) => {
    await fixture.start(gate);
    await hold.reached;
    await signalBatch(gate, fixture.batchId, 'concurrency', { concurrency: 1 });
    expect(await batchProgress(gate, fixture.batchId)).toMatchObject({ done: 0 });
    hold.release();
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 8 } } });
  });
  expect(withOthers).toEqual([1, 1, 1]);
});

test('a person who asks a worker that a batch fills waits for no more of its steps than run already', async () => {
  const fixture = new Fixture(8, true);
  const person = unique('q');
  const order: string[] = [];
  const priorities = new Map<string, number>();
  const hold = holdAt('plan');
  const steps = fixture.steps(async (call) => {
    if (call.name !== 'plan') return;
    order.push(call.searchId);
    priorities.set(call.searchId, activityInfo().priority?.priorityKey ?? 3);
    await hold.onStep(call);
  });
  const work = async (gate: GateClient): Promise<void> => {
    await fixture.start(gate, 10, 100, { concurrency: 8 });
    await hold.reached;
    const handleOf = (searchId: string) => gate.client.workflow.getHandle(questionWorkflowId(searchId));
    const isWaiting = async (searchId: string) =>
      ((await handleOf(searchId).describe()).raw.pendingActivities ?? []).length > 0;
    for (const { searchId } of fixture.entries) await until(() => isWaiting(searchId).catch(() => false));
    const settings = scriptedSettings({ maxPlans: 1, cMin: 1 });
    const asked = { searchId: person, settings, modelTimeoutMs: 5_000, label: 'asked by a person' };
    await startQuestion(gate, { ...asked, queues: questionQueues(fixture.database) });
    await until(() => isWaiting(person));
    hold.release();
    await awaitQuestion(gate, person);
    expect(await awaitBatch(gate, fixture.batchId)).toMatchObject({ value: { counts: { answered: 8 } } });
  };
  await fixture.run(steps, work, { maxModelCalls: 1 });
  expect(order.indexOf(person)).toBe(1);
  // By which calls wait for the model's limits (`composition.ts`).
  expect(priorities.get(person)).toBe(3);
  expect(fixture.entries.map(({ searchId }) => priorities.get(searchId))).toEqual(Array(8).fill(4));
});
