/** A payload too large for a history, through a real server: offloaded, fetched, replayed, and missed when it is gone. */
import { randomBytes } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { createMemoryStore } from '../helpers/scripted';
import type { KeyRing } from '../../src/adapters/encryption';
import {
  awaitQuestion,
  connectClient,
  startQuestion,
  type GateClient,
  type StartQuestion,
} from '../../src/workers/client';
import { initialState } from '../../src/search/run';
import { OFFLOAD_BYTES, payloadFolder, payloadOwner } from '../../src/workers/external-storage';
import { createDataConverter } from '../../src/workers/payloads';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { testTemporal, unique, withWorkers } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';
import { scriptedSettings, scriptedSteps } from './scripted-steps';

const SECRET = 'Zyxwora Quillonbrack';

async function searchWith(ring: KeyRing | null, large: Partial<StartQuestion> = {}) {
  const store = createMemoryStore();
  const dataConverter = createDataConverter(ring, store);
  const searchId = unique('q');
  const database = unique('db');
  // Half of it remains after compression, since it is no text that repeats itself.
  const padding = { padding: SECRET + randomBytes(300_000).toString('hex') };
  const batch = { store, readAnswer: async () => null };
  const steps = scriptedSteps({});
  const history = await withWorkers({ steps, batch, databases: [database], dataConverter }, async () => {
    const gate: GateClient = await connectClient({ ...testTemporal(), dataConverter });
    try {
      await startQuestion(gate, {
        ...{ searchId, modelTimeoutMs: 5_000, queues: questionQueues(database), label: 'x' },
        settings: { ...scriptedSettings(), ...(large.state ? {} : padding) },
        ...large,
      });
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
      return await gate.client.workflow.getHandle(questionWorkflowId(searchId)).fetchHistory();
    } finally {
      await gate.close();
    }
  });
  const folder = payloadFolder('default', questionWorkflowId(searchId));
  const replay = () => Worker.runReplayHistory({ workflowBundle: testTemporal().bundle, dataConverter }, history);
  return { store, searchId, history, folder, replay };
}

const bytesOf = (value: unknown): number => {
  if (value instanceof Uint8Array) return value.length;
  return value !== null && typeof value === 'object'
    ? Object.values(value).reduce<number>((sum, one) => sum + bytesOf(one), 0)
    : 0;
};

describe('a payload of 600 KB', () => {
  let large: Awaited<ReturnType<typeof searchWith>>;
  let key: string;
  beforeAll(async () => {
    large = await searchWith(null);
    const [first, ...others] = await large.store.list(large.folder);
    expect(others).toEqual([]);
    key = first ?? '';
  });

  test('leaves a reference in the history and is fetched by worker, client and replay', async () => {
    const { store, searchId, history, replay } = large;
    expect(key).toMatch(/^payloads\/default\/question-q-[0-9a-f]{8}\/sha256\/[0-9a-f]{64}$/);
    expect(payloadOwner((await store.get(key))!)).toBe(questionWorkflowId(searchId));
    expect(bytesOf(history)).toBeLessThan(100_000);
    await replay();
  });

  test.each([
    ['damaged', () => large.store.put(key, '{}', { overwrite: true })],
    ['missing', () => large.store.delete(key)],
  ])('that is %s is an error that names it and never an empty value', async (what, harm) => {
    await harm();
    await expect(large.replay()).rejects.toThrow(`${key} is ${what}`);
  });
});

test('the state of a long search, which is small once compressed, is not offloaded with each checkpoint', async () => {
  const event = { iteration: 1, kind: 'step-failed' as const, subject: 'i1.t0.plan', detail: 'no usable plan' };
  const state = { ...initialState('q', Date.now()), events: Array.from({ length: 5_000 }, () => event) };
  expect(JSON.stringify(state).length).toBeGreaterThan(2 * OFFLOAD_BYTES);
  const { store, replay } = await searchWith(null, { state });
  expect(await store.list('payloads/')).toEqual([]);
  await replay();
});

test('with encryption the codec comes first: what is offloaded is encrypted', async () => {
  const { store, folder, replay } = await searchWith(ringOf('k1'));
  const [key] = await store.list(folder);
  const { data } = JSON.parse((await store.get(key!))!) as { data: string };
  expect(Buffer.from(data, 'base64').includes(SECRET)).toBe(false);
  await replay();
});

test('an id that is no plain segment is written as its hash', () => {
  expect(payloadFolder('default', 'question-q-1')).toBe('payloads/default/question-q-1/');
  expect(payloadFolder('default', 'a/../b')).toMatch(/^payloads\/default\/id-[0-9a-f]{64}\/$/);
  expect(payloadFolder('name space', 'x'.repeat(200))).toMatch(/^payloads\/id-[0-9a-f]{64}\/id-[0-9a-f]{64}\/$/);
});
