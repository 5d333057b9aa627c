/** The conversation with which the default begins, as a workflow: what it survives, and what ends it. */
import type { SearchState } from '../../src/domain';
import { awaitQuestion, cancelWorkflow } from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { questionWorkflowId } from '../../src/workflows/ids';
import { holdAt } from './hold';
import { lookingSettings, scriptedWorker, type Run, type Script } from './scripted-steps';

const worker = scriptedWorker({ modelTimeoutMs: 30_000 });
const ask: typeof worker.ask = (script, work, more) =>
  worker.ask(script, work, { settings: lookingSettings(), ...more });

const summaryOf = async ({ gate, searchId }: Run) => {
  const ended = await awaitQuestion(gate, searchId);
  if (ended.kind !== 'completed') throw new Error(ended.message);
  return ended.value;
};

test('a look and a commit that holds are the answer, each step once and readable', async () => {
  const positions: string[] = [];
  await ask({ conversation: ['look'], onStep: ({ position }) => void positions.push(position) }, async (run) => {
    expect(await summaryOf(run)).toMatchObject({ status: 'answered', endedBy: 'settled', usage: { llmCalls: 2 } });
    const handle = run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId));
    const events = (await handle.fetchHistory()).events ?? [];
    const steps = events.filter(
      (event) => event.activityTaskScheduledEventAttributes ?? event.markerRecordedEventAttributes,
    );
    const readable = steps.map(
      ({ userMetadata }) => JSON.parse(Buffer.from(userMetadata?.summary?.data ?? []).toString()) as string,
    );
    expect(readable).toEqual([
      'read the schema',
      'iter 1 · look or commit (turn 1)',
      'iter 1 · look',
      'iter 2 · look or commit (turn 2)',
      'iter 2 · decide the claims',
      'final record: answered (settled)',
    ]);
  });
  expect(positions).toEqual([
    ...['prepare', 'i1.look', 'i1.look#look.queries'],
    ...['i2.look', 'i2.look.commit0', 'finish'],
  ]);
});

test('it continues as new in the middle of the conversation, at the hand-over and in the search, and repeats nothing', async () => {
  const positions: string[] = [];
  const states: SearchState[] = [];
  const script: Script = {
    ...{ conversation: ['look', 'returned', 'returned', 'returned'], operators: 2 },
    onStep: ({ position }) => void positions.push(position),
    onFinish: (_summary, state) => void states.push(state),
  };
  await ask(
    script,
    async (run) => {
      const first = await run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId)).describe();
      expect(await summaryOf(run)).toMatchObject({ id: run.searchId, status: 'answered' });
      const last = await run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId)).describe();
      expect(last.runId).not.toBe(first.runId);
    },
    { iterationsPerRun: 1 },
  );
  expect(positions.filter((position) => position === 'prepare')).toHaveLength(1);
  expect(new Set(positions).size).toBe(positions.length);
  expect(positions.filter((position) => /look$/.test(position))).toEqual(['i1.look', 'i2.look', 'i3.look', 'i4.look']);
  // The search goes on with the plan of the last commit, and its operators are what it tests.
  expect(positions.find((position) => position.endsWith('propose'))).toBe('i5.t3.s1.a1.r1.propose');
  const [state] = states;
  expect(state?.looking).toMatchObject({ phase: 'search', returned: 3 });
  expect(state?.looking?.turns).toHaveLength(4);
});

test('cancelled during a look it answers with the last commit, although that went back, and asks no model', async () => {
  const hold = holdAt('i2.look');
  await ask({ conversation: ['returned', 'look'], onStep: hold.onStep }, async (run) => {
    await hold.reached;
    const before = hold.calls.length;
    await cancelWorkflow(run.gate, questionWorkflowId(run.searchId));
    expect(await summaryOf(run)).toMatchObject({ status: 'cancelled', endedBy: 'cancel', sql: 'SELECT 1' });
    expect(hold.calls.slice(before).map(({ name }) => name)).toEqual(['finish']);
  });
});

test('cancelled before the first commit it has no answer', async () => {
  const hold = holdAt('i1.look#look.queries');
  await ask({ conversation: ['look'], onStep: hold.onStep }, async (run) => {
    await hold.reached;
    await cancelWorkflow(run.gate, questionWorkflowId(run.searchId));
    expect(await summaryOf(run)).toMatchObject({ status: 'cancelled', endedBy: 'cancel', sql: null });
  });
});

test('stop gives up the look under way and answers with the last commit', async () => {
  const hold = holdAt('i2.look');
  await ask({ conversation: ['returned', 'look'], onStep: hold.onStep }, async (run) => {
    await hold.reached;
    expect(await steerQuestion(run.gate, run.searchId, { kind: 'stop', author: 'ada' })).toMatchObject({
      kind: 'applied',
    });
    expect(await summaryOf(run)).toMatchObject({ status: 'answered', endedBy: 'stop', sql: 'SELECT 1' });
    expect(hold.calls.at(-1)?.name).toBe('finish');
  });
});

test.each([
  ['in the conversation', 2],
  ['at the hand-over', 3],
  ['in the search', 4],
])('a budget that ends %s leaves the last commit as the answer', async (_when, llmCalls) => {
  const settings = lookingSettings();
  const limited = { ...settings, budgets: { ...settings.budgets, llmCalls } };
  const names: string[] = [];
  const conversation = ['returned', 'returned', 'returned'] as const;
  await ask(
    { conversation, onStep: ({ name }) => void names.push(name) },
    async (run) => {
      expect(await summaryOf(run)).toMatchObject({
        ...{ status: 'answered', endedBy: 'budget:llmCalls', sql: 'SELECT 1' },
        usage: { llmCalls },
      });
    },
    { settings: limited },
  );
  expect(names.at(-1)).toBe('finish');
});

test('a hint during the conversation is told with the next turn', async () => {
  const hold = holdAt('i1.look#look.queries');
  await ask({ conversation: ['look'], onStep: hold.onStep }, async (run) => {
    await hold.reached;
    const told = await steerQuestion(run.gate, run.searchId, { kind: 'hint', author: 'ada', text: 'gaps are seconds' });
    expect(told).toEqual({ kind: 'applied', remarkId: 'h1', heard: 'next-call' });
    hold.release();
    expect(await summaryOf(run)).toMatchObject({ status: 'answered' });
    const handle = run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId));
    const events = (await handle.fetchHistory()).events ?? [];
    const inputs = events
      .flatMap((event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? [])
      .map(({ data }) => Buffer.from(data ?? []).toString());
    const asked = inputs.filter((input) => input.includes('"role":'));
    expect(asked.filter((input) => input.includes('"remarks":["h1"]'))).toEqual([
      expect.stringContaining('"position":"i2.look"'),
    ]);
  });
});

test('a model that keeps no format goes on with single queries, in the same search', async () => {
  const positions: string[] = [];
  const conversation = ['look', 'unusable'] as const;
  await ask({ conversation, queries: 1, onStep: ({ position }) => void positions.push(position) }, async (run) => {
    expect(await summaryOf(run)).toMatchObject({ status: 'answered', endedBy: 'finished', usage: { llmCalls: 7 } });
  });
  expect(positions).toEqual([
    ...['prepare', 'i1.look', 'i1.look#look.queries'],
    ...['i2.look', 'i2.look', 'i2.look', 'i2.look'],
    ...['i3.react', 'i3.tool', 'i4.react', 'i4.final0', 'finish'],
  ]);
});
