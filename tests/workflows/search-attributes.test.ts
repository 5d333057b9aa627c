/** What the lists of the Temporal UI show of a search, on a real server; and that nothing needs it. */
import { msToTs } from '@temporalio/common/lib/time';
import { writeBatchManifest } from '../../src/activities/batch';
import { ModelError } from '../../src/domain/ports';
import {
  awaitBatch,
  awaitQuestion,
  cancelWorkflow,
  connectClient,
  startBatch,
  type GateClient,
} from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { createDataConverter } from '../../src/workers/payloads';
import { hasSearchAttributes } from '../../src/workers/search-attributes';
import { questionQueues } from '../../src/workers/task-queues';
import { batchWorkflowId, questionWorkflowId } from '../../src/workflows/ids';
import { eventually } from '../helpers/engine';
import { testTemporal, unique, withClient } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';
import { testProcess } from '../unit/cli/test-io';
import { holdAt } from './hold';
import { noBatch, scriptedSettings, scriptedWorker, startScriptedWorker, type Script } from './scripted-steps';

const worker = scriptedWorker();

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
  const look = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };
  return eventually(look, (ids) => ids.length > 0);
}

test('a search is listed with its question and state, and found by them', async () => {
  await worker.ask({}, async ({ gate, searchId, database }) => {
    await awaitQuestion(gate, searchId);
    const id = questionWorkflowId(searchId);
    expect(await attributesOf(gate, id)).toEqual({
      ...{ GateQuestion: 'how many refunds?', GateDatabase: database, GateMethod: 'fast', GateStatus: 'answered' },
      ...{ GateIteration: expect.any(Number) as number, GateCalls: expect.any(Number) as number, GateCostUsd: 0 },
    });
    const query = `GateDatabase = "${database}" AND GateQuestion = "refunds" AND GateStatus = "answered" AND GateCalls > 1`;
    expect(await listed(gate, query)).toContain(id);
    // One event at the end, and one for each ten seconds until then: histories stay small.
    const { events } = await gate.client.workflow.getHandle(id).fetchHistory();
    const told = events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes) ?? [];
    const [began = 0, ended = 0] = [0, -1].map((at) => Number(events?.at(at)?.eventTime?.seconds));
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(told.length).toBeLessThanOrEqual(1 + (ended - began + 1) / 10);
  });
});

describe('with encryption on', () => {
  const encrypted = scriptedWorker({}, { dataConverter: createDataConverter(ringOf('k1')) });

  test('neither question nor database can be read from them', async () => {
    await encrypted.ask({}, async ({ gate, searchId }) => {
      await awaitQuestion(gate, searchId);
      const shown = Object.keys(await attributesOf(gate, questionWorkflowId(searchId)));
      expect(shown.sort()).toEqual(['GateCalls', 'GateCostUsd', 'GateIteration', 'GateMethod', 'GateStatus']);
    });
  });
});

/** Runs a batch of two questions to its end. */
async function runBatch(gate: GateClient, database: string) {
  const batchId = unique('b');
  const entries = [0, 1].map((n) => ({
    ...{ n, searchId: unique('q'), label: `${database}: question ${n}`, database },
    taskQueues: questionQueues(database),
  }));
  const { pages } = await writeBatchManifest(noBatch.store, batchId, entries, 10);
  const question = { settings: scriptedSettings(), modelTimeoutMs: 5_000, iterationsPerRun: 20 };
  const input = { batchId, concurrency: 2, total: 2, pages, question, eventsPerRun: 100, resume: null };
  await startBatch(gate, input, questionQueues(database).workflow, 'a batch');
  return { batchId, entries, ended: await awaitBatch(gate, batchId) };
}

test('a server without them runs searches and batches all the same, and is told of them once', async () => {
  const namespace = unique('plain');
  await withClient(({ client }) =>
    client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') }),
  );
  const plain = await startScriptedWorker({}, { namespace });
  try {
    await plain.ask({}, async ({ gate, searchId, database }) => {
      expect(await hasSearchAttributes(gate.client)).toBe(false);
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
      expect(await attributesOf(gate, questionWorkflowId(searchId))).toEqual({});
      expect((await runBatch(gate, database)).ended).toMatchObject({ value: { counts: { answered: 2 } } });

      const names = [...['GateQuestion', 'GateDatabase', 'GateMethod', 'GateStatus', 'GateProgress'], 'GateIteration'];
      const all = [...names, 'GateCalls', 'GateCostUsd'];
      const process = testProcess({ TEMPORAL_ADDRESS: testTemporal().address, TEMPORAL_NAMESPACE: namespace });
      const setup = await process.gate('ops', 'temporal', 'setup', '--json');
      expect(setup).toMatchObject({ code: 0, err: '' });
      expect(JSON.parse(setup.out)).toMatchObject({ namespace, added: all, present: [] });
      await eventually(() => freshlyKnown(namespace));
      expect((await process.gate('ops', 'temporal', 'setup')).out).toMatch(
        /^registered before: GateQuestion, .*\nSearches that/,
      );
    });
    await plain.ask({}, async ({ gate, searchId }) =>
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' }),
    );
  } finally {
    await plain.end();
  }
});

async function freshlyKnown(namespace: string): Promise<boolean> {
  const gate = await connectClient({ ...testTemporal(), namespace });
  try {
    return await hasSearchAttributes(gate.client);
  } finally {
    await gate.close();
  }
}

test('a batch shows its title and how far it is, its questions what they ask', () =>
  withClient(async (gate) => {
    const { batchId, entries } = await runBatch(gate, worker.database);
    expect(await attributesOf(gate, batchWorkflowId(batchId))).toEqual({
      ...{ GateQuestion: 'a batch', GateMethod: 'fast', GateStatus: 'completed', GateProgress: '2 of 2' },
    });
    expect(await attributesOf(gate, questionWorkflowId(entries[1]!.searchId))).toMatchObject({
      ...{ GateQuestion: 'question 1', GateDatabase: worker.database, GateStatus: 'answered' },
    });
  }));

test('a paused search is listed as paused, one that goes on as running', async () => {
  const hold = holdAt('ground');
  await worker.ask({ onStep: hold.onStep }, async ({ gate, searchId }) => {
    await hold.reached;
    const id = questionWorkflowId(searchId);
    await steerQuestion(gate, searchId, { kind: 'pause', author: 'ada' });
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'paused' });
    await steerQuestion(gate, searchId, { kind: 'resume', author: 'ada' });
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'running' });
    hold.release();
    await awaitQuestion(gate, searchId);
    expect(await attributesOf(gate, id)).toMatchObject({ GateStatus: 'answered' });
  });
});

describe('whoever opens a search that is over sees how it ended', () => {
  test.each(['fast', 'react'] as const)('answered and out of budget (%s)', async (method) => {
    const settings = scriptedSettings({}, method);
    await worker.ask(
      { operators: 1, queries: 1 },
      async ({ gate, searchId, database }) => {
        await awaitQuestion(gate, searchId);
        const details = await detailsOf(gate, searchId);
        expect(details).toContain(`#### ${database}: how many refunds?`);
        expect(details).toMatch(/\*\*answered\*\* \(ended by \w+\)/);
        expect(details).toContain('SELECT 1');
      },
      { settings },
    );
    await worker.ask(
      {},
      async ({ gate, searchId }) => {
        await awaitQuestion(gate, searchId);
        expect(await detailsOf(gate, searchId)).toMatch(/\*\*abstained\*\* \(ended by budget:llmCalls\)/);
        expect(await attributesOf(gate, questionWorkflowId(searchId))).toMatchObject({ GateStatus: 'abstained' });
      },
      { settings: { ...settings, budgets: { ...settings.budgets, llmCalls: 1 } } },
    );
  });

  test.each([
    ['cancelled', 'cancel'],
    ['stopped', 'stop'],
  ] as const)('%s', async (_, endedBy) => {
    const hold = holdAt('ground');
    await worker.ask({ onStep: hold.onStep }, async ({ gate, searchId }) => {
      await hold.reached;
      if (endedBy === 'cancel') await cancelWorkflow(gate, questionWorkflowId(searchId));
      else await steerQuestion(gate, searchId, { kind: 'stop', author: 'ada' });
      const ended = await awaitQuestion(gate, searchId);
      const status = ended.kind === 'completed' ? ended.value.status : 'failed';
      expect(await detailsOf(gate, searchId)).toContain(`**${status}** (ended by ${endedBy})`);
      expect(await attributesOf(gate, questionWorkflowId(searchId))).toMatchObject({ GateStatus: status });
    });
  });

  test.each(['plan', 'finish'])('failed in %s, also where no record could be written', async (fails) => {
    const onStep: Script['onStep'] = ({ name }) => {
      if (name === fails) throw new ModelError('authentication', `no ${name}`);
    };
    await worker.ask({ onStep }, async ({ gate, searchId }) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'failed' });
      const details = await detailsOf(gate, searchId);
      expect(details).toContain('**failed**');
      expect(details).toContain(`**Reason** no ${fails}`);
      expect(await attributesOf(gate, questionWorkflowId(searchId))).toMatchObject({ GateStatus: 'failed' });
    });
  });
});
