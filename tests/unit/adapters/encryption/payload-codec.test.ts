import fc from '../../../helpers/property';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { EncryptingCodec } from '../../../../src/adapters/encryption';
import { ringOf } from './keys';

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const encode = async (codec: EncryptingCodec, value: unknown): Promise<Payload> =>
  (await codec.encode([payloadOf(value)]))[0]!;
const decode = async (codec: EncryptingCodec, payload: Payload): Promise<unknown> =>
  defaultPayloadConverter.fromPayload((await codec.decode([payload]))[0]!);
const rawText = ({ metadata, data }: Payload): string =>
  Buffer.concat([...Object.values(metadata ?? {}), data ?? new Uint8Array()]).toString('latin1');

const codec = new EncryptingCodec(ringOf('k1'));

test('any payload comes back as it was, and nothing of it is readable meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), fc.uint8Array({ maxLength: 200 }), async (value, bytes) => {
      const marked = { secret: 'Semper Fidelis', value };
      const sealed = await encode(codec, marked);
      expect(rawText(sealed)).not.toMatch(/secret|Semper|json\/plain/);
      expect(await decode(codec, sealed)).toEqual(JSON.parse(JSON.stringify(marked)));
      expect(Buffer.from((await decode(codec, await encode(codec, bytes))) as Uint8Array)).toEqual(Buffer.from(bytes));
    }),
    { numRuns: 60 },
  );
});

test('undefined, an empty payload and metadata of all kinds survive', async () => {
  expect(await decode(codec, await encode(codec, undefined))).toBeUndefined();
  const odd: Payload = { metadata: { encoding: Buffer.from('json/plain'), messageType: Buffer.from('ü') }, data: null };
  const [back] = await codec.decode(await codec.encode([odd]));
  expect(Buffer.from(back!.metadata!['messageType']!).toString()).toBe('ü');
  expect(back!.data).toHaveLength(0);
});

test('the same value never looks the same twice', async () => {
  const [one, other] = [await encode(codec, 'x'), await encode(codec, 'x')];
  expect(Buffer.from(one.data!).equals(Buffer.from(other.data!))).toBe(false);
});

test('what is encrypted already, and plain payloads on the way back, are left alone', async () => {
  const sealed = await encode(codec, 'x');
  expect((await codec.encode([sealed]))[0]).toBe(sealed);
  const plain = payloadOf('x');
  expect((await codec.decode([plain]))[0]).toBe(plain);
});

test('after a rotation the new key encrypts and the old one still decrypts', async () => {
  const before = await encode(codec, 'x');
  const rotated = new EncryptingCodec(ringOf('k2', 'k1'));
  expect(await decode(rotated, before)).toBe('x');
  const after = await encode(rotated, 'y');
  expect(rawText(after)).toContain('k2#');
  await expect(decode(codec, after)).rejects.toMatchObject({
    name: 'StoreError',
    code: 'wrong-key',
    message:
      'encrypted with key \'k2\', which is not configured here: add it to "encryption.keys" of the configuration',
  });
});

test('another key under the same id is told apart from damage', async () => {
  const sealed = await encode(codec, 'x');
  await expect(decode(new EncryptingCodec(ringOf('k1=other')), sealed)).rejects.toMatchObject({
    code: 'wrong-key',
    message: expect.stringMatching(
      /^encrypted with another key named 'k1' .* correct it in "encryption.keys"/,
    ) as string,
  });
});

test('any changed bit, a cut message and a key reference of its own are refused', async () => {
  const sealed = await encode(codec, { answer: 42 });
  const length = sealed.data!.length;
  await fc.assert(
    fc.asyncProperty(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const data = Uint8Array.from(sealed.data!);
      data[at] = data[at]! ^ flip;
      await expect(decode(codec, { ...sealed, data })).rejects.toMatchObject({ code: 'corrupt' });
    }),
  );
  for (const end of [0, 5, 27, length - 1]) {
    const cut = { ...sealed, data: sealed.data!.subarray(0, end) };
    await expect(decode(codec, cut)).rejects.toMatchObject({ code: 'corrupt' });
  }
});

test('without keys nothing is encrypted, and what is encrypted names the key it needs', async () => {
  const none = new EncryptingCodec(null);
  const plain = payloadOf('x');
  expect((await none.encode([plain]))[0]).toBe(plain);
  await expect(decode(none, await encode(codec, 'x'))).rejects.toThrow("encrypted with key 'k1'");
});

test('a listing shows which key an entry needs instead of failing', async () => {
  const listing = new EncryptingCodec(null, true);
  expect(await decode(listing, await encode(codec, 'x'))).toMatch(/^\[encrypted with key 'k1', which is not/);
});
