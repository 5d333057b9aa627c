import { request } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { ExternalStorageRunner } from '@temporalio/common/lib/internal-non-workflow';
import { createEncryptedStore } from '../../../src/adapters/encryption';
import { createMemoryStore } from '../../helpers/scripted';
import { StoreError, type ObjectStore } from '../../../src/domain/ports';
import { startCodecServer, type CodecServer, type CodecServerOptions } from '../../../src/workers/codec-server';
import { externalStorage, storedPayloads } from '../../../src/workers/external-storage';
import { createDataConverter, forListing } from '../../../src/workers/payloads';
import { ringOf } from '../adapters/encryption/keys';

const UI = 'http://127.0.0.1:8833';
const started: CodecServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

const codecsOf = (ring: Parameters<typeof createDataConverter>[0]) =>
  forListing(createDataConverter(ring)).payloadCodecs ?? [];

async function serve(more: Partial<CodecServerOptions> = {}): Promise<CodecServer> {
  const codecs = codecsOf(ringOf('k1'));
  const stored = storedPayloads(createMemoryStore());
  const server = await startCodecServer({ codecs, stored, port: 0, origins: [UI], token: null, ...more });
  started.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

/** Not `fetch`, which forbids a Host of one's own. */
function ask(url: string, body: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const wire = ({ metadata, data, externalPayloads }: Payload) => ({
  ...(externalPayloads?.length ? { externalPayloads: [{ sizeBytes: '1' }] } : {}),
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});
const valueOf = (answer: Answer, index = 0): unknown => {
  const { payloads } = JSON.parse(answer.body) as { payloads: { data: string }[] };
  return JSON.parse(Buffer.from(payloads[index]!.data, 'base64').toString()) as unknown;
};

const VALUE = { question: 'how many?', rows: Array.from({ length: 300 }, (_, n) => ({ n })) };

test('what was encoded is decoded again, compressed and encrypted as the server stores it', async () => {
  const { url } = await serve();
  const encoded = await ask(`${url}/encode`, { payloads: [wire(defaultPayloadConverter.toPayload(VALUE))] });
  expect(encoded.body).not.toContain(Buffer.from('how many').toString('base64').slice(0, 8));
  expect(encoded.body.length).toBeLessThan(JSON.stringify(VALUE).length);
  expect(valueOf(await ask(`${url}/decode`, encoded.body))).toEqual(VALUE);
});

test('without keys it still decodes what is compressed, and names the key that the rest needs', async () => {
  const { url } = await serve({ codecs: codecsOf(null) });
  const state = { startedAtMs: 0, rows: VALUE.rows };
  const [compressed] = await createDataConverter(null).payloadCodecs![0]!.encode([
    defaultPayloadConverter.toPayload(state),
  ]);
  const [sealed] = await createDataConverter(ringOf('k1')).payloadCodecs![1]!.encode([
    defaultPayloadConverter.toPayload('x'),
  ]);
  const answer = await ask(`${url}/namespaces/default/decode`, { payloads: [wire(compressed!), wire(sealed!)] });
  expect(valueOf(answer)).toEqual(state);
  expect(valueOf(answer, 1)).toMatch(/^\[encrypted with key 'k1', which is not configured here/);
});

test('the UI is told that it may ask, with the headers it sends', async () => {
  const { url } = await serve();
  const asked = { origin: UI, 'access-control-request-headers': 'content-type,x-namespace' };
  const { status, headers } = await ask(`${url}/decode`, '', asked, 'OPTIONS');
  expect(status).toBe(204);
  expect(headers).toMatchObject({
    'access-control-allow-origin': UI,
    'access-control-allow-headers': expect.stringContaining('x-namespace') as string,
  });
  const answer = await ask(`${url}/decode`, { payloads: [] }, { origin: UI });
  expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': UI } });
});

test.each([
  ['another origin', { origin: 'http://evil.example' }, 403, '--origin http://evil.example'],
  ['a name that points at this machine', { host: 'evil.example:8834' }, 421, 'not asked by that name'],
])('%s is refused and reads nothing', async (_what, headers, status, why) => {
  const { url } = await serve();
  const answer = await ask(`${url}/decode`, { payloads: [] }, headers);
  expect(answer.status).toBe(status);
  expect(answer.body).toContain(why);
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
});

test('an origin that becomes known later is answered from then on', async () => {
  const server = await serve({ origins: [] });
  expect((await ask(`${server.url}/decode`, { payloads: [] }, { origin: UI })).status).toBe(403);
  server.allow(`${UI}/`);
  expect((await ask(`${server.url}/decode`, { payloads: [] }, { origin: UI })).status).toBe(200);
});

test('with a token, every request has to carry it', async () => {
  const { url } = await serve({ token: 'let-me-in' });
  expect((await ask(`${url}/decode`, { payloads: [] })).status).toBe(401);
  expect((await ask(`${url}/decode`, { payloads: [] }, { authorization: 'Bearer other' })).status).toBe(401);
  expect((await ask(`${url}/decode`, { payloads: [] }, { authorization: 'Bearer let-me-in' })).status).toBe(200);
});

test.each([
  ['GET', '/decode', '', 404],
  ['POST', '/other', '{}', 404],
  ['POST', '/decode', 'not json', 400],
  ['POST', '/decode', '{"payloads": 3}', 400],
])('%s %s with %j is answered by %i', async (method, path, body, status) => {
  const { url } = await serve();
  expect((await ask(`${url}${path}`, body, {}, method)).status).toBe(status);
});

describe('payloads that lie in the store', () => {
  /** As a worker does it: through the codecs, then into the store; what stays in the history is a reference. */
  async function offloaded(value: unknown, store: ObjectStore): Promise<Payload> {
    const { payloadCodecs = [] } = createDataConverter(ringOf('k1'));
    let payloads = [defaultPayloadConverter.toPayload(value)];
    for (const codec of payloadCodecs) payloads = await codec.encode(payloads);
    const target = { kind: 'workflow', namespace: 'default', id: 'question-q-1' } as const;
    const [reference] = await new ExternalStorageRunner(externalStorage(store, 1)).store(payloads, { target });
    return reference!;
  }
  const encrypted = () => createEncryptedStore(createMemoryStore(), ringOf('k1'));

  test.each(['decode', 'namespaces/default/decode', 'download'])(
    'are fetched and decoded by POST to /%s, in their places among the others',
    async (path) => {
      const store = encrypted();
      const { url } = await serve({ stored: storedPayloads(store) });
      const references = [await offloaded(VALUE, store), await offloaded('second', store)].map(wire);
      const answer = await ask(`${url}/${path}`, { payloads: references });
      expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
      expect([valueOf(answer), valueOf(answer, 1)]).toEqual([VALUE, 'second']);
    },
  );

  test('are left as they are where the UI asks for that, with the size that it shows', async () => {
    const store = encrypted();
    const { url } = await serve({ stored: storedPayloads(store) });
    const reference = wire(await offloaded(VALUE, store));
    const sealed = await ask(`${url}/encode`, { payloads: [wire(defaultPayloadConverter.toPayload('plain'))] });
    const { payloads } = JSON.parse(sealed.body) as { payloads: object[] };
    const answer = await ask(`${url}/decode?preserveStorageRefs=true`, { payloads: [reference, ...payloads] });
    const shown = JSON.parse(answer.body) as { payloads: unknown[] };
    expect(shown.payloads[0]).toEqual({ ...reference, externalPayloads: [{ sizeBytes: '1' }] });
    expect(valueOf(answer, 1)).toBe('plain');
  });

  test.each<[string, (store: ObjectStore, key: string) => Promise<void>, RegExp, number]>([
    ['gone', (store, key) => store.delete(key), /^\[payloads\/.* is missing from the store: restore it/, 404],
    ['damaged', (store, key) => store.put(key, '{}', { overwrite: true }), /^\[payloads\/.* is damaged/, 500],
    [
      'too large',
      (store, key) => store.put(key, 'x'.repeat(70 * 1024 * 1024), { overwrite: true }),
      /^\[payloads\/.* has 70\.0 MB, more than the 16\.0 MB left to show here/,
      413,
    ],
  ])('one that is %s is a text in its place, and an error as a file', async (_what, harm, says, status) => {
    const store = createMemoryStore();
    const { url } = await serve({ stored: storedPayloads(store) });
    const [lost, kept] = [await offloaded({ a: 1 }, store), await offloaded({ b: 2 }, store)];
    const { claimData } = JSON.parse(Buffer.from(lost.data!).toString()) as { claimData: { key: string } };
    await harm(store, claimData.key);
    const answer = await ask(`${url}/decode`, { payloads: [wire(lost), wire(kept)] });
    expect(valueOf(answer)).toMatch(says);
    expect(valueOf(answer, 1)).toEqual({ b: 2 });
    expect((await ask(`${url}/download`, { payloads: [wire(lost)] })).status).toBe(status);
  });

  test('with a key missing here, or no store to reach, the text says so', async () => {
    const store = createMemoryStore();
    const reference = wire(await offloaded(VALUE, createEncryptedStore(store, ringOf('k1'))));
    const other = await serve({ stored: storedPayloads(createEncryptedStore(store, ringOf('k2'))) });
    expect(valueOf(await ask(`${other.url}/decode`, { payloads: [reference] }))).toMatch(/encrypted with key 'k1'/);
    const down = () => Promise.reject(new StoreError('unavailable', 'the store cannot be reached'));
    const off = await serve({ stored: storedPayloads({ ...store, entries: down, get: down }) });
    expect(valueOf(await ask(`${off.url}/decode`, { payloads: [reference] }))).toBe('[the store cannot be reached]');
    expect((await ask(`${off.url}/download`, { payloads: [reference] })).status).toBe(503);
  });

  test.each([
    ['outside of payloads/', 'gate-object-store', 'runs/q-1/result.json'],
    ['of another store', 'somebody-elses', 'payloads/x'],
  ])('a reference to an object %s reads nothing', async (_what, driverName, key) => {
    const store = createMemoryStore();
    await store.put(key, 'secret');
    const { url } = await serve({ stored: storedPayloads(store) });
    const forged = {
      metadata: {
        encoding: Buffer.from('json/protobuf'),
        messageType: Buffer.from('temporal.api.sdk.v1.ExternalStorageReference'),
      },
      data: Buffer.from(JSON.stringify({ driverName, claimData: { key } })),
    };
    expect(valueOf(await ask(`${url}/decode`, { payloads: [wire(forged)] }))).toMatch(
      /outside of payloads|which gate does not read/,
    );
  });

  test('what is no reference is not downloaded', async () => {
    const { url } = await serve();
    const payload = wire(defaultPayloadConverter.toPayload('x'));
    expect((await ask(`${url}/download`, { payloads: [payload] })).status).toBe(400);
  });
});
