import fc from '../../helpers/property';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { initialState } from '../../../src/search/run';
import { CompressingCodec } from '../../../src/workers/payloads';

const codec = new CompressingCodec(false);
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const through = async (value: unknown): Promise<unknown> => {
  const [encoded] = await codec.encode([payloadOf(value)]);
  const [decoded] = await codec.decode([encoded as Payload]);
  return defaultPayloadConverter.fromPayload(decoded as Payload);
};

test('any JSON value comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      expect(await through(value)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  const large = { rows: Array.from({ length: 500 }, (_, n) => ({ n, name: `operator ${String(n)}` })) };
  expect(await through(large)).toEqual(large);
});

test('a state and what is too long to be read take a fraction of their size', async () => {
  const state = { ...initialState('q-0', 0), trajectories: rows(40) };
  for (const value of [state, { searchId: 'q-0', state }, rows(1_000)]) {
    const payload = payloadOf(value);
    const [encoded] = await codec.encode([payload]);
    expect(encoded?.data?.length).toBeLessThan((payload.data?.length ?? 0) / 4);
  }
});

test('a state that is given to a local activity stays as it is: it never enters a history', async () => {
  const payload = payloadOf({ ...initialState('q-0', 0), trajectories: rows(40) });
  const context = { type: 'activity' as const, namespace: 'default' };
  expect(await codec.encode([payload], { ...context, isLocal: true })).toEqual([payload]);
  expect(await codec.encode([payload], { ...context, isLocal: false })).not.toEqual([payload]);
});

test('what a person reads in the UI stays plain: inputs and results of steps, the answer, current details', async () => {
  const readable = [
    { position: 'i1.plan' },
    { kind: 'ok', value: { plan: { operators: rows(60) } } },
    { id: 'q-0', answer: '4', sql: 'SELECT 1 '.repeat(300) },
    { definition: { type: 'answerQuestion' }, currentDetails: '| operator | state |\n'.repeat(700) },
  ].map(payloadOf);
  expect(await codec.encode(readable)).toEqual(readable);
});

function rows(count: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({ id: `t${String(n)}`, status: 'open', depth: n }));
}
