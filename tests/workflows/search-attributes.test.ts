/** What the lists of the Temporal UI show of a search, on a real server; and that nothing needs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { msToTs } from '@temporalio/common/lib/time';
import { writeBatchManifest } from '../../src/activities/batch';
import { createMemoryStore } from '../../src/adapters/scripted';
import { ModelError } from '../../src/ports';
import {
  awaitBatch,
  awaitQuestion,
  cancelWorkflow,
  connectClient,
  startBatch,
  startQuestion,
  type GateClient,
  type StartQuestion,
} from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { createDataConverter } from '../../src/workers/payloads';
import { createGateWorkers, type WorkersOptions } from '../../src/workers/run-worker';
import { hasSearchAttributes } from '../../src/workers/search-attributes';
import { questionQueues } from '../../src/workers/task-queues';
import { batchWorkflowId, questionWorkflowId } from '../../src/workflows/ids';
import { quietLogger, testTemporal, unique } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';
import { testProcess } from '../unit/cli/test-io';
import { noBatch, scriptedSettings, scriptedSteps, type Script } from './scripted-steps';

interface Given extends Partial<Pick<WorkersOptions, 'dataConverter' | 'batch'>> {
  readonly namespace?: string;
}

async function working<T>(
  script: Script,
  work: (gate: GateClient, asked: StartQuestion) => Promise<T>,
  given: Given = {},
): Promise<T> {
  quietLogger();
  const database = unique('db');
  const to = { ...testTemporal(), ...given };
  const gate = await connectClient(to);
  const workers = await createGateWorkers({
    ...{ batch: noBatch, ...to, databases: [database], graceMs: 200 },
    steps: scriptedSteps(script),
  });
  const running = workers.run();
  try {
    return await work(gate, {
      ...{ searchId: unique('q'), settings: scriptedSettings(), modelTimeoutMs: 5_000, database },
      ...{ queues: questionQueues(database), label: `${database}: how many refunds?` },
    });
  } finally {
    workers.stop();
    await running;
    await gate.close();
  }
}

function promised(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

async function attributesOf({ client }: GateClient, workflowId: string): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await client.workflow.getHandle(workflowId).describe();
  const ours = typedSearchAttributes.getAll().filter(({ key }) => key.name.startsWith('Gate'));
  return Object.fromEntries(ours.map(({ key, value }) => [key.name, value]));
}

async function detailsOf({ client }: GateClient, searchId: string): Promise<string> {
  const handle = client.workflow.getHandle(questionWorkflowId(searchId));
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

/** The list of the UI follows a moment later. */
async function listed({ client }: GateClient, query: string): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    if (ids.length > 0 || tries === 100) return ids;
    await sleep(100);
  }
}

test('a search is listed with its question and state, and found by them', async () => {
  await working({}, async (gate, asked) => {
    await startQuestion(gate, asked);
    await awaitQuestion(gate, asked.searchId);
    const id = questionWorkflowId(asked.searchId);
    expect(await attributesOf(gate, id)).toEqual({
      ...{
        GateQuestion: 'how many refunds?',
        GateDatabase: asked.database,
        GateMethod: 'gate',
        GateStatus: 'answered',
      },
      ...{ GateIteration: expect.any(Number) as number, GateCalls: expect.any(Number) as number, GateCostUsd: 0 },
    });
    const query = `GateDatabase = "${asked.database ?? ''}" AND GateQuestion = "refunds" AND GateStatus = "answered" AND GateCalls > 1`;
    expect(await listed(gate, query)).toEqual([id]);
    // One event at the end of a short search: histories stay small.
    const { events } = await gate.client.workflow.getHandle(id).fetchHistory();
    expect(events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes)).toHaveLength(1);
  });
});

test('with encryption on neither question nor database can be read from them', async () => {
  const dataConverter = createDataConverter(ringOf('k1'));
  await working(
    {},
    async (gate, asked) => {
      await startQuestion(gate, asked);
      await awaitQuestion(gate, asked.searchId);
      const shown = await attributesOf(gate, questionWorkflowId(asked.searchId));
      expect(Object.keys(shown).sort()).toEqual([
        ...['GateCalls', 'GateCostUsd', 'GateIteration', 'GateMethod', 'GateStatus'],
      ]);
    },
    { dataConverter },
  );
});

test('a server without them runs searches and batches all the same, and is told of them once', async () => {
  const namespace = unique('plain');
  const store = createMemoryStore();
  await connectClient(testTemporal()).then(async (gate) => {
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await gate.client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await gate.close();
  });
  await working(
    {},
    async (gate, asked) => {
      expect(await hasSearchAttributes(gate.client)).toBe(false);
      await startQuestion(gate, asked);
      expect(await awaitQuestion(gate, asked.searchId)).toMatchObject({ kind: 'completed' });
      expect(await attributesOf(gate, questionWorkflowId(asked.searchId))).toEqual({});

      const [batchId, searchId] = [unique('b'), unique('q')];
      const entry = { n: 0, searchId, label: 'one', taskQueues: asked.queues };
      const { pages } = await writeBatchManifest(store, batchId, [entry], 10);
      const question = { settings: asked.settings, modelTimeoutMs: 5_000, iterationsPerRun: 20 };
      const input = { batchId, concurrency: 1, total: 1, pages, question, eventsPerRun: 100, resume: null };
      await startBatch(gate, input, asked.queues.workflow, 'a batch');
      expect(await awaitBatch(gate, batchId)).toMatchObject({ kind: 'completed', value: { counts: { answered: 1 } } });

      const names = [...['GateQuestion', 'GateDatabase', 'GateMethod', 'GateStatus', 'GateProgress'], 'GateIteration'];
      const all = [...names, 'GateCalls', 'GateCostUsd'];
      const process = testProcess({ TEMPORAL_ADDRESS: testTemporal().address, TEMPORAL_NAMESPACE: namespace });
      const setup = await process.gate('ops', 'temporal', 'setup', '--json');
      expect(setup).toMatchObject({ code: 0, err: '' });
      expect(JSON.parse(setup.out)).toMatchObject({ namespace, added: all, present: [] });
      for (let tries = 0; tries < 100 && !(await freshlyKnown(namespace)); tries += 1) await sleep(100);
      expect((await process.gate('ops', 'temporal', 'setup')).out).toMatch(
        /^registered before: GateQuestion, .*\nSearches that/,
      );
      const again = { ...asked, searchId: unique('q') };
      await startQuestion(gate, again);
      expect(await awaitQuestion(gate, again.searchId)).toMatchObject({ kind: 'completed' });
    },
    { namespace, batch: { ...noBatch, store } },
  );
});

async function freshlyKnown(namespace: string): Promise<boolean> {
  const gate = await connectClient({ ...testTemporal(), namespace });
  try {
    return await hasSearchAttributes(gate.client);
  } finally {
    await gate.close();
  }
}

test('a batch shows its title and how far it is, its questions what they ask', async () => {
  const store = createMemoryStore();
  await working(
    {},
    async (gate, { queues, settings, database }) => {
      const batchId = unique('b');
      const entries = [0, 1].map((n) => ({
        ...{ n, searchId: unique('q'), label: `${database ?? ''}: question ${n}`, taskQueues: queues },
        ...(database && { database }),
      }));
      const { pages } = await writeBatchManifest(store, batchId, entries, 10);
      const question = { settings, modelTimeoutMs: 5_000, iterationsPerRun: 20 };
      const input = { batchId, concurrency: 2, total: 2, pages, question, eventsPerRun: 100, resume: null };
      await startBatch(gate, input, queues.workflow, 'a batch');
      await awaitBatch(gate, batchId);
      expect(await attributesOf(gate, batchWorkflowId(batchId))).toEqual({
        ...{ GateQuestion: 'a batch', GateMethod: 'gate', GateStatus: 'completed', GateProgress: '2 of 2' },
      });
      expect(await attributesOf(gate, questionWorkflowId(entries[1]!.searchId))).toMatchObject({
        ...{ GateQuestion: 'question 1', GateDatabase: database, GateStatus: 'answered' },
      });
    },
    { batch: { ...noBatch, store } },
  );
});

test('a paused search is listed as paused, one that goes on as running', async () => {
  const hold = promised();
  const asks = promised();
  const onStep: Script['onStep'] = async ({ name }) => {
    if (name !== 'ground') return;
    asks.resolve();
    await hold.promise;
  };
  await working({ onStep }, async (gate, asked) => {
    await startQuestion(gate, asked);
    await asks.promise;
    const id = questionWorkflowId(asked.searchId);
    await steerQuestion(gate, asked.searchId, { kind: 'pause', author: 'ada' });
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'paused' });
    await steerQuestion(gate, asked.searchId, { kind: 'resume', author: 'ada' });
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'running' });
    hold.resolve();
    await awaitQuestion(gate, asked.searchId);
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'answered' });
  });
});

describe('whoever opens a search that is over sees how it ended', () => {
  test.each(['fast', 'react'] as const)('answered (%s)', async (method) => {
    await working({ operators: 1, queries: 1 }, async (gate, asked) => {
      await startQuestion(gate, { ...asked, settings: scriptedSettings({}, method) });
      await awaitQuestion(gate, asked.searchId);
      const details = await detailsOf(gate, asked.searchId);
      expect(details).toContain(`#### ${asked.label}`);
      expect(details).toMatch(/\*\*answered\*\* \(ended by \w+\)/);
      expect(details).toContain('SELECT 1');
    });
  });

  test.each(['fast', 'react'] as const)('out of budget (%s)', async (method) => {
    const budgets = { ...scriptedSettings().budgets, llmCalls: 1 };
    await working({}, async (gate, asked) => {
      await startQuestion(gate, { ...asked, settings: scriptedSettings({ budgets }, method) });
      await awaitQuestion(gate, asked.searchId);
      expect(await detailsOf(gate, asked.searchId)).toMatch(/\*\*abstained\*\* \(ended by budget:llmCalls\)/);
      expect(await attributesOf(gate, questionWorkflowId(asked.searchId))).toMatchObject({ GateStatus: 'abstained' });
    });
  });

  test.each([
    ['cancelled', 'cancel'],
    ['stopped', 'stop'],
  ] as const)('%s', async (_, endedBy) => {
    const asks = promised();
    const onStep: Script['onStep'] = async ({ name, signal }) => {
      if (name !== 'ground') return;
      asks.resolve();
      await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('cut off'))));
    };
    await working({ onStep }, async (gate, asked) => {
      await startQuestion(gate, asked);
      await asks.promise;
      if (endedBy === 'cancel') await cancelWorkflow(gate, questionWorkflowId(asked.searchId));
      else await steerQuestion(gate, asked.searchId, { kind: 'stop', author: 'ada' });
      const ended = await awaitQuestion(gate, asked.searchId);
      const status = ended.kind === 'completed' ? ended.value.status : 'failed';
      expect(await detailsOf(gate, asked.searchId)).toContain(`**${status}** (ended by ${endedBy})`);
      expect(await attributesOf(gate, questionWorkflowId(asked.searchId))).toMatchObject({ GateStatus: status });
    });
  });

  test('failed, also where no record could be written', async () => {
    for (const fails of ['plan', 'finish']) {
      const onStep: Script['onStep'] = ({ name }) => {
        if (name === fails) throw new ModelError('authentication', `no ${name}`);
      };
      await working({ onStep }, async (gate, asked) => {
        await startQuestion(gate, asked);
        expect(await awaitQuestion(gate, asked.searchId)).toMatchObject({ kind: 'failed' });
        const details = await detailsOf(gate, asked.searchId);
        expect(details).toContain('**failed**');
        expect(details).toContain(`**Reason** no ${fails}`);
        expect(await attributesOf(gate, questionWorkflowId(asked.searchId))).toMatchObject({ GateStatus: 'failed' });
      });
    }
  });
});
