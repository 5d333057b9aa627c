import fc from 'fast-check';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { CompressingCodec } from '../../../src/workers/payloads';

const codec = new CompressingCodec();
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

test('a small value stays readable, a large one takes a fraction of its size', async () => {
  const small = payloadOf({ position: 'i1.plan' });
  expect(await codec.encode([small])).toEqual([small]);
  const large = payloadOf(Array.from({ length: 100 }, (_, n) => ({ id: `t${String(n)}`, status: 'open', depth: n })));
  const [encoded] = await codec.encode([large]);
  expect(encoded?.data?.length).toBeLessThan((large.data?.length ?? 0) / 4);
});
