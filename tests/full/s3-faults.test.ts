/** What a bucket does to us: outages are `unavailable` and retried, wrong settings are one line that names them. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { createS3Store, type S3Options } from '../../src/adapters/s3/store';
import { sharedS3Server, startS3Server, type S3Server } from '../helpers/s3-server';

let server: S3Server;
beforeAll(async () => {
  server = await sharedS3Server();
  server.createBucket('the-bucket');
}, 600_000);

const optionsFor = (changed: Partial<S3Options> = {}): S3Options => {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  return { bucket: 'the-bucket', endpoint, region, credentials: { accessKeyId, secretAccessKey }, ...changed };
};

test.each<[string, () => Partial<S3Options>, RegExp]>([
  [
    'a bucket that does not exist',
    () => ({ bucket: 'no-such-bucket' }),
    /^the bucket "no-such-bucket" does not exist .*correct GATE_STORE$/,
  ],
  [
    'an unknown key',
    () => ({ credentials: { accessKeyId: 'nobody', secretAccessKey: 'hush-hush' } }),
    /does not accept the key .* correct AWS_ACCESS_KEY_ID/,
  ],
  [
    'a wrong secret',
    () => ({ credentials: { accessKeyId: server.accessKeyId, secretAccessKey: 'hush-hush' } }),
    /does not accept the key .* correct AWS_ACCESS_KEY_ID/,
  ],
])('%s is no outage: one line with the setting to change, no secret', async (_claim, changed, line) => {
  const store = createS3Store(optionsFor(changed()));
  for (const work of [
    () => store.put('a', 'x'),
    () => store.put('a', 'x', { overwrite: true }),
    () => store.get('a'),
    () => store.list(''),
  ]) {
    const error = (await work().catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ name: 'StoreError', code: 'misconfigured' });
    expect(error.message).toMatch(line);
    expect(error.message).not.toMatch(/hush|\n/);
  }
});

test('a bucket that may only be read serves its objects and names the rights that writing needs', async () => {
  await createS3Store(optionsFor()).put('kept', 'x');
  await server.createUser('reader-access', 'reader-secret');
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  const allowed = { Effect: 'Allow', Principal: ['reader-access'] };
  const Statement = [
    { ...allowed, Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::the-bucket/*'] },
    { ...allowed, Action: ['s3:ListBucket'], Resource: ['arn:aws:s3:::the-bucket'] },
  ];
  await client.send(
    new PutBucketPolicyCommand({ Bucket: 'the-bucket', Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
  );
  client.destroy();
  const store = createS3Store(
    optionsFor({ credentials: { accessKeyId: 'reader-access', secretAccessKey: 'reader-secret' } }),
  );
  expect(await store.get('kept')).toBe('x');
  expect(await store.list('')).toContain('kept');
  for (const work of [
    () => store.put('new', 'x'),
    () => store.put('kept', 'y', { overwrite: true }),
    () => store.delete('kept'),
  ])
    await expect(work()).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/may not be written to .* allow s3:GetObject, s3:PutObject/) as string,
    });
  expect(await store.get('kept')).toBe('x');
});

test('a server that is down is an outage, and the same store works again when it is back', async () => {
  const own = await startS3Server();
  try {
    own.createBucket('the-bucket');
    const store = createS3Store(optionsFor({ endpoint: own.endpoint }));
    await store.put('a', 'x');
    await own.kill();
    const started = Date.now();
    for (const work of [() => store.put('b', 'x'), () => store.get('a'), () => store.list('')])
      await expect(work()).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('cannot be reached (ECONNREFUSED)') as string,
      });
    expect(Date.now() - started).toBeLessThan(10_000);
    await own.restart();
    expect(await store.get('a')).toBe('x');
    await store.put('b', 'y');
  } finally {
    await own.stop();
  }
});

/** A server of its own, so that the answer of a real outage can be had at will. */
async function withAnswers(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
  work: (endpoint: string) => Promise<void>,
): Promise<void> {
  const http = createServer((request, response) => {
    response.setHeader('content-type', 'application/xml');
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => answer(request, body, response));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}

const xml = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>m</Message></Error>`;

test.each<[number, string, string, string]>([
  [503, 'SlowDown', 'unavailable', 'SlowDown'],
  [500, 'InternalError', 'unavailable', 'InternalError'],
  [403, 'RequestTimeTooSkewed', 'misconfigured', 'clock'],
  [403, 'ExpiredToken', 'misconfigured', 'does not accept the key'],
  [301, 'PermanentRedirect', 'misconfigured', 'set AWS_REGION'],
  [507, 'InsufficientStorage', 'full', 'No space left'],
  [501, 'NotImplemented', 'misconfigured', 'conditional writes'],
])('HTTP %d %s is %s', async (status, code, expected, text) => {
  await withAnswers(
    (_request, _body, response) => response.writeHead(status).end(xml(code)),
    async (endpoint) => {
      await expect(createS3Store(optionsFor({ endpoint })).put('a', 'x')).rejects.toMatchObject({
        ...{ name: 'StoreError', code: expected },
        message: expect.stringContaining(text) as string,
      });
    },
  );
});

test('a server that accepts and says nothing is given up in time', async () => {
  await withAnswers(
    () => undefined,
    async (endpoint) => {
      const store = createS3Store(optionsFor({ endpoint, requestTimeoutMs: 300 }));
      const started = Date.now();
      await expect(store.get('a')).rejects.toMatchObject({ code: 'unavailable' });
      expect(Date.now() - started).toBeLessThan(5_000);
    },
  );
});

test('a connection that is cut in the middle of an answer is an outage', async () => {
  await withAnswers(
    ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf'),
    async (endpoint) => {
      await expect(createS3Store(optionsFor({ endpoint })).get('a')).rejects.toMatchObject({ code: 'unavailable' });
    },
  );
});

test('a key that a killed server left half written, taken and yet not there, is written anew', async () => {
  let kept: string | null = null;
  await withAnswers(
    ({ method, headers }, body, response) => {
      if (method === 'GET' && kept === null) response.writeHead(404).end(xml('NoSuchKey'));
      else if (method === 'GET') response.end(kept);
      else if (headers['if-none-match'] === '*') response.writeHead(412).end(xml('PreconditionFailed'));
      else {
        kept = body;
        response.end();
      }
    },
    (endpoint) => createS3Store(optionsFor({ endpoint })).put('a', 'the text'),
  );
  expect(kept).toContain('the text');
});

test('no key anywhere is one line', async () => {
  // In a process of its own: where AWS tools look for keys is the whole environment.
  const script = `
    const { createS3Store } = require('./src/adapters/s3/store');
    createS3Store({ bucket: 'the-bucket', endpoint: ${JSON.stringify(server.endpoint)} })
      .get('a').catch((error) => process.stdout.write(error.code + ' ' + error.message));`;
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', AWS_EC2_METADATA_DISABLED: 'true' };
  const child = spawn(process.execPath, ['--import', 'tsx', '-e', script], { cwd: join(__dirname, '../..'), env });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  expect(out).toMatch(/^misconfigured no key for s3:\/\/the-bucket .*set AWS_ACCESS_KEY_ID/);
});

test('two hundred puts at the same time all arrive', async () => {
  const store = createS3Store(optionsFor({ prefix: 'many' }));
  await Promise.all(Array.from({ length: 200 }, (_, index) => store.put(`k/${index}`, `text ${index}`)));
  expect(await store.list('k/')).toHaveLength(200);
  const texts = await Promise.all(Array.from({ length: 200 }, (_, index) => store.get(`k/${index}`)));
  expect(texts).toEqual(Array.from({ length: 200 }, (_, index) => `text ${index}`));
});

test('a server killed in the middle of puts leaves whole objects or none', async () => {
  const own = await startS3Server();
  try {
    own.createBucket('the-bucket');
    const store = createS3Store(optionsFor({ endpoint: own.endpoint }));
    const text = (index: number): string => `${index} `.repeat(300_000);
    await store.put('warm', 'x');
    const outcomes: boolean[] = [];
    const stored = (): number => outcomes.filter(Boolean).length;
    // Eight at a time, each until one fails.
    const putting = async (index: number): Promise<void> => {
      outcomes[index] = await store.put(`big/${index}`, text(index)).then(
        () => true,
        () => false,
      );
      if (outcomes[index]) await putting(index + 8);
    };
    const all = Promise.all(Array.from({ length: 8 }, (_, index) => putting(index)));
    while (stored() < 3) await new Promise((resolve) => setImmediate(resolve));
    await own.kill();
    await all;
    await own.restart();
    const found = await Promise.all(Array.from(outcomes, (_, index) => store.get(`big/${index}`)));
    expect(outcomes.filter((wasStored) => !wasStored)).not.toEqual([]);
    found.forEach((kept, index) => {
      if (outcomes[index] || kept !== null) expect(kept).toBe(text(index));
    });
  } finally {
    await own.stop();
  }
});

test('more than a thousand keys are listed page by page', async () => {
  // The server keeps an object as a file: so many puts would only take long.
  const folder = join(server.folder, 'data', 'the-bucket', 'pages', 'k');
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < 1_050; index += 1) writeFileSync(join(folder, String(index).padStart(4, '0')), '');
  const keys = await createS3Store(optionsFor({ prefix: 'pages' })).list('k/');
  expect(keys).toHaveLength(1_050);
  expect(keys.at(-1)).toBe('k/1049');
});
