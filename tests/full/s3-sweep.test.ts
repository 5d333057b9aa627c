/**
 * The moment between the two requests of a deletion in a bucket, on a real S3 server: a proxy lets a search take up the
 * object right before the server gets the DELETE.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEncryptedStore, createKeyRing, KEY_BYTES } from '../../src/adapters/encryption';
import { createS3Store } from '../../src/adapters/s3';
import { sweepObjects } from '../../src/cli/gc-sweep';
import type { ObjectStore } from '../../src/ports';
import { sha256 } from '../../src/sha256';
import { createRunStore } from '../../src/steps';
import { findVersitygw, sharedS3Server, type S3Server } from '../helpers/s3-server';

let s3: S3Server;
beforeAll(() => findVersitygw(), 600_000);
beforeAll(async () => {
  s3 = await sharedS3Server();
});

const RING = createKeyRing([{ id: 'k1', key: Buffer.alloc(KEY_BYTES, 1) }]);
const GRACE_MS = 2_000;
const PROFILES = {
  schemaVersion: 1 as const,
  profiles: [
    {
      ...{ table: 't', column: 'c'.repeat(9_000), examined: 1, nulls: 0, distinct: 1, min: null, max: null },
      ...{ top: [], patterns: [], remarks: [] },
    },
  ],
};

/** Passes everything on as it is, signature included, and calls `before` ahead of each request of the method. */
async function proxyTo(port: number, method: string, before: () => Promise<void>) {
  const server = createServer((incoming, outgoing) => {
    void (incoming.method === method ? before() : Promise.resolve()).then(() => {
      const { url: path, headers } = incoming;
      const passed = request({ host: '127.0.0.1', port, path, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(passed);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((closed) => server.close(closed)),
  };
}

function storeAt(endpoint: string, bucket: string, encrypted: boolean): ObjectStore {
  const { region, accessKeyId, secretAccessKey } = s3;
  const store = createS3Store({ bucket, endpoint, region, credentials: { accessKeyId, secretAccessKey } });
  return encrypted ? createEncryptedStore(store, RING) : store;
}

test.each([
  ['plain', false],
  ['encrypted', true],
])('an object taken up between the look at its age and its deletion is not lost (%s)', async (bucket, encrypted) => {
  s3.createBucket(bucket);
  const writer = storeAt(s3.endpoint, bucket, encrypted);
  await createRunStore({ ...writer }, 'q-1', sha256).put('profile', 'p', PROFILES);
  await writer.delete('runs/q-1/profile/p.json');
  // The server keeps whole seconds.
  await sleep(GRACE_MS + 1_500);
  let taken = 0;
  const proxy = await proxyTo(s3.port, 'DELETE', async () => {
    taken += 1;
    if (taken === 1) await createRunStore({ ...writer }, 'q-2', sha256).put('profile', 'p', PROFILES);
  });
  try {
    const sweeper = storeAt(proxy.endpoint, bucket, encrypted);
    const sweep = { nowMs: Date.now(), dryRun: false, without: new Set<string>(), graceMs: GRACE_MS };
    expect((await sweepObjects(sweeper, sweep)).removed).toHaveLength(1);
    expect(taken).toBe(1);
    expect(await writer.list('objects/')).toEqual([]);
    expect(await createRunStore({ ...writer }, 'q-2', sha256).get('profile', 'p')).toEqual(PROFILES);
    expect(await writer.list('objects/')).toHaveLength(1);
    await sleep(GRACE_MS + 1_500);
    await sweepObjects(sweeper, { ...sweep, nowMs: Date.now() });
    expect(await writer.list('swept/')).toEqual([]);
    expect(await createRunStore({ ...writer }, 'q-2', sha256).get('profile', 'p')).toEqual(PROFILES);
  } finally {
    await proxy.close();
  }
});
