import { startQuestion, awaitKept, awaitQuestion, cancelWorkflow, type GateClient } from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { questionView } from '../../src/workers/workflow-views';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { ModelError, WebError } from '../../src/domain/ports';
import { holdAt } from './hold';
import { scriptedSettings, scriptedWorker, type Run, type Script, type StepCall } from './scripted-steps';

const { ask } = scriptedWorker();

const historyOf = async ({ gate, searchId }: Pick<Run, 'gate' | 'searchId'>) => {
  const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
  return { events: (await handle.fetchHistory()).events ?? [], description: await handle.describe() };
};

const text = (payload: { data?: Uint8Array | null } | null | undefined) =>
  JSON.parse(Buffer.from(payload?.data ?? []).toString()) as string;

test('a question is answered, every step once, with progress to query', async () => {
  const calls: string[] = [];
  await ask({ onStep: ({ position }) => void calls.push(position) }, async (run) => {
    const ended = await awaitQuestion(run.gate, run.searchId);
    expect(ended).toMatchObject({
      kind: 'completed',
      value: { id: run.searchId, status: 'answered', sql: 'SELECT 1' },
    });
    expect(new Set(calls).size).toBe(calls.length);
    expect(await questionView(run.gate, run.searchId, 'progress')).toMatchObject({
      candidates: expect.any(Number) as number,
    });
    const handle = run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId));
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toMatch(/^#### db-\w+: how many refunds\?\n/);
    expect(currentDetails).toMatch(/\*\*answered\*\* \(ended by iterations\)/);
    expect(currentDetails).toMatch(/\*\*Usage\*\* \d+ model calls/);
  });
});

test('the ReAct method runs over the same activities', async () => {
  await ask(
    { queries: 2 },
    async (run) => {
      const ended = await awaitQuestion(run.gate, run.searchId);
      expect(ended).toMatchObject({
        kind: 'completed',
        value: { status: 'answered', endedBy: 'finished', usage: { llmCalls: 3 } },
      });
    },
    { settings: scriptedSettings({}, 'react') },
  );
});

test('every activity has a summary that a person can read', async () => {
  await ask({}, async (run) => {
    await awaitQuestion(run.gate, run.searchId);
    const { events } = await historyOf(run);
    const steps = events.filter(
      (event) => event.activityTaskScheduledEventAttributes ?? event.markerRecordedEventAttributes,
    );
    const summaries = steps.map((event) => text(event.userMetadata?.summary));
    expect(summaries.slice(0, 6)).toEqual([
      'read the schema',
      'iter 1 · plan',
      'iter 1 · propose a probe for op_1 (attempt 1)',
      'iter 1 · probe op_1 (attempt 1)',
      'iter 1 · ground op_1 (attempt 1)',
      'iter 1 · settle op_1 (attempt 1)',
    ]);
    expect(summaries.at(-1)).toMatch(/^final record: answered \(/);
  });
});

describe('what a search proved of its answer', () => {
  const settings = scriptedSettings({ layer: 'on' });
  const kept = (run: Run) => awaitKept(run.gate, run.searchId);

  test('is counted once more and read after the answer is stored, once, and the record is told', async () => {
    const calls: string[] = [];
    await ask(
      { onStep: ({ position }) => void calls.push(position) },
      async (run) => {
        expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({
          value: { status: 'answered', keeping: true },
        });
        expect(await kept(run)).toEqual({ kind: 'completed', value: { kept: 1, notKept: null } });
      },
      { settings },
    );
    expect(calls.slice(-4)).toEqual(['finish', 'keep.restate', 'keep', 'amend']);
    expect(new Set(calls).size).toBe(calls.length);
  });

  test('is no part of the wait for the answer: it comes while the reading hangs', async () => {
    const hold = holdAt('keep');
    await ask(
      { onStep: hold.onStep },
      async (run) => {
        await hold.reached;
        expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ value: { status: 'answered' } });
        expect((await historyOf(run)).description.status.name).toBe('COMPLETED');
        hold.release();
        expect(await kept(run)).toMatchObject({ value: { kept: 1 } });
      },
      { settings },
    );
  });

  test('is given up after some tries, with the reason', async () => {
    let tries = 0;
    const onStep = ({ name }: StepCall) => {
      if (name !== 'keep') return;
      tries += 1;
      throw new ModelError('rate-limited', 'slow down', { retryAfterMs: 1 });
    };
    await ask(
      { onStep },
      async (run) => {
        expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ value: { status: 'answered' } });
        expect(await kept(run)).toMatchObject({
          value: { kept: 0, notKept: expect.stringMatching('slow down') as string },
        });
      },
      { settings },
    );
    expect(tries).toBe(5);
  });

  test('is not read where the search is paused as it ends', async () => {
    const hold = holdAt('i1.t0.plan');
    const positions: string[] = [];
    const last = { ...settings, iterations: 1 };
    await ask(
      {
        operators: 1,
        onStep: async (call) => {
          positions.push(call.position);
          if (call.name === 'ground') await steerQuestion(gateOf(), call.searchId, { kind: 'pause', author: 'ada' });
          await hold.onStep(call);
        },
      },
      async (run) => {
        gateOf = () => run.gate;
        hold.release();
        expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ value: { status: 'answered' } });
      },
      { settings: last },
    );
    expect(positions.slice(-2)).toEqual(['finish', 'amend']);
    expect(positions).not.toContain('keep');
  });
  let gateOf: () => GateClient = () => {
    throw new Error('not asked yet');
  };
});

test('a cancellation that meets the end of a short step fails no workflow task', async () => {
  for (let tries = 0; tries < 20; tries++) {
    const asked: Promise<unknown>[] = [];
    // What matters is that it was asked.
    const tooLate = (): void => undefined;
    let isFirst = true;
    const onStep = async ({ name }: StepCall): Promise<void> => {
      if (!isFirst || (name !== 'propose' && name !== 'probe')) return;
      const { gate, searchId } = await started;
      const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
      // The answer to a query ends a workflow task, so that the next one tells the cancellation while the short step runs.
      if (name === 'propose') {
        for (let n = 0; n < 5; n++) asked.push(handle.query('progress').catch(tooLate));
        await new Promise((resolve) => setTimeout(resolve, tries % 10));
        return;
      }
      isFirst = false;
      await handle.cancel();
      await new Promise((resolve) => setTimeout(resolve, tries % 10));
    };
    let start: (run: Run) => void = () => undefined;
    const started = new Promise<Run>((resolve) => (start = resolve));
    await ask({ onStep }, async (run) => {
      start(run);
      const ended = await awaitQuestion(run.gate, run.searchId);
      expect(ended).toMatchObject({ kind: 'completed', value: { status: 'cancelled', endedBy: 'cancel' } });
      const { events } = await historyOf(run);
      const failures = events.flatMap(
        ({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? [],
      );
      // The server's own, where the cancellation arrives with the end of the workflow.
      expect(failures.filter((message) => message !== 'UnhandledCommand')).toEqual([]);
    });
    await Promise.all(asked);
  }
});

test('a cancelled question completes with its best answer so far and without another model call', async () => {
  const hold = holdAt('i2.t1.s1.a1.ground');
  await ask({ onStep: hold.onStep }, async (run) => {
    await hold.reached;
    const before = hold.calls.length;
    await cancelWorkflow(run.gate, questionWorkflowId(run.searchId));
    const ended = await awaitQuestion(run.gate, run.searchId);
    expect(ended).toMatchObject({ kind: 'completed', value: { status: 'cancelled', endedBy: 'cancel' } });
    const after = hold.calls.slice(before).map(({ name }) => name);
    expect(after.filter((name) => ['plan', 'propose', 'ground', 'select', 'evaluate'].includes(name))).toEqual([]);
    expect((await historyOf(run)).description.status.name).toBe('COMPLETED');
    // The step hears of it with its next heartbeat.
    const signal = hold.calls.find(({ position }) => position === 'i2.t1.s1.a1.ground')?.signal;
    while (signal?.aborted !== true) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

test('a search continues as new between iterations and goes on where it was', async () => {
  const calls: string[] = [];
  await ask(
    { operators: 5, onStep: ({ position }) => void calls.push(position) },
    async (run) => {
      const first = await run.gate.client.workflow.getHandle(questionWorkflowId(run.searchId)).describe();
      const ended = await awaitQuestion(run.gate, run.searchId);
      expect(ended).toMatchObject({ kind: 'completed', value: { id: run.searchId, status: 'answered' } });
      const last = await historyOf(run);
      expect(last.description.runId).not.toBe(first.runId);
      // The server does not carry the summary of a workflow over to its next run; the memo it does.
      expect(last.description.memo).toMatchObject({ label: `${run.database}: how many refunds?` });
      expect(calls.filter((position) => position === 'prepare')).toHaveLength(1);
      expect(new Set(calls).size).toBe(calls.length);
    },
    { iterationsPerRun: 2, settings: scriptedSettings({ iterations: 8 }) },
  );
});

test('what no retry can mend fails the workflow at once with the line that says what to change, after the final record', async () => {
  const attempts: string[] = [];
  const records: unknown[] = [];
  const onStep = ({ name }: StepCall) => {
    attempts.push(name);
    if (name === 'plan') throw new ModelError('authentication', 'the endpoint refused the key');
  };
  await ask({ onStep, onFinish: (summary) => void records.push(summary) }, async (run) => {
    const ended = await awaitQuestion(run.gate, run.searchId);
    expect(ended).toEqual({ kind: 'failed', message: 'the endpoint refused the key: check OPENAI_API_KEY' });
    expect(attempts).toEqual(['prepare', 'plan', 'finish']);
    expect(records).toMatchObject([
      { status: 'failed', endedBy: 'error', reason: 'the endpoint refused the key: check OPENAI_API_KEY' },
    ]);
    expect((await historyOf(run)).description.status.name).toBe('FAILED');
  });
});

test('a 429 is retried after the delay that the server named', async () => {
  const times: number[] = [];
  const onStep = ({ name }: StepCall) => {
    if (name !== 'plan') return;
    times.push(Date.now());
    if (times.length === 1) throw new ModelError('rate-limited', 'slow down', { retryAfterMs: 1800 });
  };
  await ask({ onStep }, async (run) => {
    expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ kind: 'completed' });
  });
  // The policy's own first delay is one second.
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1790);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThan(60_000);
});

test('asking again joins the running search', async () => {
  const hold = holdAt('plan');
  const settings = scriptedSettings({ maxPlans: 1 });
  await ask(
    { onStep: hold.onStep },
    async ({ gate, searchId, database }) => {
      await hold.reached;
      const queues = questionQueues(database);
      const again = await startQuestion(gate, { searchId, settings, modelTimeoutMs: 5_000, queues, label: 'x' });
      hold.release();
      expect(again.workflowId).toBe(questionWorkflowId(searchId));
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
      expect(hold.calls.filter(({ name }) => name === 'plan')).toHaveLength(1);
    },
    { settings },
  );
});

test.each([
  ['each call of react', { lookups: 2, queries: 3 }, { rounds: 5 }, 'react', 'search the web', ['i1.web', 'i2.web']],
  ['what a search looks up', { lookups: 2 }, { lookups: 4 }, 'fast', 'fetch a page', ['i1.t0.w1', 'i1.t0.w2']],
] as const)(
  'the web is an activity of its own, tried again when the site does not answer: %s',
  async (_who, script, overrides, method, label, [first, second]) => {
    const tried: string[] = [];
    const onStep = ({ name, position }: StepCall) => {
      if (name !== 'web') return;
      tried.push(position);
      if (tried.length === 1) throw new WebError('connection', 'ECONNRESET');
    };
    const work = async (run: Run) => {
      expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ value: { status: 'answered' } });
      const { events } = await historyOf(run);
      const web = events.filter(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'useWeb',
      );
      expect(web.map((event) => text(event.userMetadata?.summary))).toEqual([
        expect.stringMatching(`^iter 1 · ${label}$`),
        expect.stringMatching(`^iter [12] · ${label}$`),
      ]);
    };
    await ask({ ...script, onStep }, work, { settings: scriptedSettings(overrides, method) });
    expect(tried).toEqual([first, first, second]);
  },
);

test('a search of 40 model calls keeps its history small', async () => {
  let calls = 0;
  // Three plans of six operators, one operator an iteration: the longest way there is.
  const script: Script = { operators: 6, padding: 120, onFinish: ({ usage }) => void (calls = usage.llmCalls) };
  await ask(
    script,
    async (run) => {
      expect(await awaitQuestion(run.gate, run.searchId)).toMatchObject({ kind: 'completed' });
      const { historySize = 0, historyLength } = (await historyOf(run)).description;
      expect(calls).toBeGreaterThanOrEqual(35);
      // Design D3.
      expect(historySize / calls).toBeLessThan(8 * 1024);
      expect(historyLength / calls).toBeLessThan(15);
    },
    { settings: scriptedSettings({ iterations: 14, cMin: 3 }) },
  );
});
