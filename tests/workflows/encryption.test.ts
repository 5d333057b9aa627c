/** What Temporal does with workers that lack a key, on a real server: nothing fails, nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EncryptingCodec } from '../../src/adapters/encryption';
import { awaitQuestion, connectClient, startQuestion, type GateClient } from '../../src/workers/client';
import { describeQuestion, questionView, runningQuestions } from '../../src/workers/workflow-views';
import { createDataConverter } from '../../src/workers/payloads';
import { createGateWorkers } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { ModelError } from '../../src/domain/ports';
import { quietLogger, testTemporal, unique } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';
import { holdAt } from './hold';
import { noBatch as batch, scriptedSettings, scriptedSteps, type Script } from './scripted-steps';

const SECRET = 'Zyxwora Quillonbrack';
const K1 = createDataConverter(ringOf('k1'));
const K2 = createDataConverter(ringOf('k2'));
const PLAIN = createDataConverter(null);

async function withClient<T>(dataConverter: typeof K1, work: (gate: GateClient) => Promise<T>): Promise<T> {
  const gate = await connectClient({ ...testTemporal(), dataConverter });
  try {
    return await work(gate);
  } finally {
    await gate.close();
  }
}

async function working<T>(
  dataConverter: typeof K1,
  database: string,
  script: Script,
  work: () => Promise<T>,
): Promise<T> {
  quietLogger();
  const workers = await createGateWorkers({
    ...{ ...testTemporal(), dataConverter, batch, databases: [database], graceMs: 200 },
    steps: scriptedSteps(script),
  });
  const running = workers.run();
  try {
    return await work();
  } finally {
    workers.stop();
    await running;
  }
}

const begin = (gate: GateClient, searchId: string, database: string) =>
  startQuestion(gate, {
    ...{ searchId, settings: scriptedSettings(), modelTimeoutMs: 5_000, queues: questionQueues(database) },
    ...{ label: `db · ${SECRET}?`, details: SECRET },
  });

const historyOf = async ({ client }: GateClient, searchId: string) =>
  client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();

/** Bytes of the history as the server sends them. */
const rawOf = (history: unknown): string => {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('latin1'));
    else if (typeof value === 'string') texts.push(value);
    else if (value !== null && typeof value === 'object') Object.values(value).forEach(walk);
  };
  walk(history);
  return texts.join('\n');
};

test('a worker without the key fails the tasks it cannot read and no workflow; one with the key then finishes it', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  await withClient(K1, async (gate) => {
    await begin(gate, searchId, database);
    await working(PLAIN, database, {}, async () => {
      const failed = async () =>
        (await historyOf(gate, searchId)).events?.find((event) => event.workflowTaskFailedEventAttributes);
      while ((await failed()) === undefined) await sleep(50);
      await sleep(500);
      expect((await describeQuestion(gate, searchId))?.status).toBe('RUNNING');
      expect((await failed())?.workflowTaskFailedEventAttributes?.failure?.message).toMatch(
        /^encrypted with key 'k1', which is not configured here: add it to "encryption.keys"/,
      );
    });
    await working(K1, database, {}, async () => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    });
    expect(rawOf(await historyOf(gate, searchId))).not.toContain(SECRET);
  });
});

test('a step given to a worker without the key is given out again, and is done by one that has it', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  await withClient(K1, async (gate) => {
    await begin(gate, searchId, database);
    // The first worker is stopped in the middle of a step, which is then retried by whoever polls.
    const hold = holdAt('plan');
    await working(K1, database, { onStep: hold.onStep }, () => hold.reached);
    await working(PLAIN, database, {}, async () => {
      const unreadable = async () => {
        const description = await describeQuestion(gate, searchId);
        return description?.pending.some(({ lastFailure }) => lastFailure?.includes("encrypted with key 'k1'"));
      };
      while (!(await unreadable())) await sleep(50);
      expect((await describeQuestion(gate, searchId))?.status).toBe('RUNNING');
    });
    await working(K1, database, {}, async () => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    });
  });
});

test.each([
  ['are readable with the key only', K1, false],
  // Proves that this test can see them.
  ['would be readable without the failure converter', { payloadCodecs: K1.payloadCodecs }, true],
])('messages of failures, of steps and of the workflow, %s', async (_what, converter, readable) => {
  const [database, searchId] = [unique('db'), unique('q')];
  const onStep: Script['onStep'] = ({ name }) => {
    if (name === 'plan') throw new ModelError('bad-request', `no answer to ${SECRET}`);
  };
  await withClient(converter, async (gate) => {
    await begin(gate, searchId, database);
    await working(converter, database, { onStep }, async () => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({
        kind: 'failed',
        message: expect.stringContaining(SECRET) as string,
      });
    });
    const history = await historyOf(gate, searchId);
    expect(history.events?.some((event) => event.workflowExecutionFailedEventAttributes)).toBe(true);
    expect(rawOf(history).includes(SECRET)).toBe(readable);
  });
});

test('a listing shows what it can and names the key of what it cannot; a question of its own is one clear line', async () => {
  const [database, searchId] = [unique('db'), unique('q')];
  await withClient(K1, async (gate) => {
    await begin(gate, searchId, database);
    const labelOf = async (one: GateClient) => (await describeQuestion(one, searchId))?.label;
    expect(await labelOf(gate)).toBe(`db · ${SECRET}?`);
    await withClient(PLAIN, async (other) => {
      expect(await labelOf(other)).toMatch(/^\[encrypted with key 'k1', which is not configured here/);
      expect((await runningQuestions(other)).length).toBeGreaterThan(0);
    });
    await working(K1, database, {}, async () => {
      await awaitQuestion(gate, searchId);
      expect(await questionView(gate, searchId, 'progress')).toMatchObject({ iteration: expect.any(Number) as number });
      await withClient(K2, async (other) => {
        await expect(questionView(other, searchId, 'progress')).rejects.toThrow("encrypted with key 'k1'");
        await expect(awaitQuestion(other, searchId)).rejects.toThrow("encrypted with key 'k1'");
      });
    });
  });
});

test('the codec comes after compression, so that an encrypted state is still small', async () => {
  const [compress, encrypt] = K1.payloadCodecs ?? [];
  expect(encrypt).toBeInstanceOf(EncryptingCodec);
  const data = Buffer.from(JSON.stringify(Array.from({ length: 400 }, (_, n) => ({ id: `t${String(n)}` }))));
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data };
  const sealed = await encrypt!.encode(await compress!.encode([payload]));
  expect(sealed[0]?.data?.length).toBeLessThan(data.length / 4);
});
