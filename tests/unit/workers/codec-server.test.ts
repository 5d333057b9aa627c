import { request } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { startCodecServer, type CodecServer, type CodecServerOptions } from '../../../src/workers/codec-server';
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
  const server = await startCodecServer({ codecs, port: 0, origins: [UI], token: null, ...more });
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

const wire = ({ metadata, data }: Payload) => ({
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
  server.allow(UI);
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
