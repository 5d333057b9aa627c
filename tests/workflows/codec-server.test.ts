/** The real `temporal` CLI shows through the codec server what the history only refers to. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createEncryptedStore } from '../../src/adapters/encryption';
import { createMemoryStore } from '../helpers/scripted';
import { userFolders } from '../../src/config/folders';
import type { ObjectStore } from '../../src/domain/ports';
import { connectClient } from '../../src/workers/client';
import { startCodecServer } from '../../src/workers/codec-server';
import { storedPayloads } from '../../src/workers/external-storage';
import { createDataConverter, forListing } from '../../src/workers/payloads';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { testTemporal, unique } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';

const SECRET = 'Zyxwora Quillonbrack';
const run = promisify(execFile);

interface ShownHistory {
  readonly events: readonly {
    readonly workflowExecutionStartedEventAttributes?: { readonly input: { readonly payloads: { data: string }[] } };
  }[];
}

/** Its beginning: more would fill the terminal of whoever sees this test fail. */
function firstInput({ events }: ShownHistory): string {
  const data = events[0]?.workflowExecutionStartedEventAttributes?.input.payloads[0]?.data ?? '';
  return Buffer.from(data, 'base64').toString().slice(0, 200);
}

/** A workflow that nobody works on, whose input is too large for its history; what the CLI shows of it. */
async function shown(look: (show: () => Promise<string>, store: ObjectStore) => Promise<void>): Promise<void> {
  const ring = ringOf('k1');
  const store = createEncryptedStore(createMemoryStore(), ring);
  const dataConverter = createDataConverter(ring, store);
  const { address } = testTemporal();
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const codecs = forListing(dataConverter).payloadCodecs ?? [];
  const server = await startCodecServer({
    ...{ codecs, stored: storedPayloads(store), port: 0, origins: [], token: null },
  });
  const gate = await connectClient({ ...testTemporal(), dataConverter });
  try {
    const workflowId = unique('large');
    const args = [{ name: SECRET, padding: randomBytes(200_000).toString('hex') }];
    const handle = await gate.client.workflow.start('nobody', { workflowId, taskQueue: unique('nobody'), args });
    try {
      await look(async () => {
        const at = ['--address', address, '--workflow-id', workflowId, '--codec-endpoint', server.url];
        const options = { env: { ...process.env, HOME: '/nonexistent' }, maxBuffer: 64 * 1024 * 1024 };
        const { stdout } = await run(binary, ['workflow', 'show', '--output', 'json', ...at], options);
        return firstInput(JSON.parse(stdout) as ShownHistory);
      }, store);
    } finally {
      await handle.terminate();
    }
  } finally {
    await gate.close();
    await server.close();
  }
}

test('an encrypted input of 400 KB that lies in the store is shown in plain, and named when it is gone', async () => {
  await shown(async (show, store) => {
    expect(await show()).toContain(`{"name":"${SECRET}"`);
    const [key = ''] = await store.list('payloads/');
    await store.delete(key);
    expect(await show()).toContain(`[${key} is missing from the store`);
  });
});
