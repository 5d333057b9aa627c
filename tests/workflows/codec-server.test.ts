/** The real `temporal` CLI shows through the codec server what the history holds encrypted. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { userFolders } from '../../src/config/folders';
import { connectClient } from '../../src/workers/client';
import { startCodecServer } from '../../src/workers/codec-server';
import { createDataConverter, forListing } from '../../src/workers/payloads';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { testTemporal, unique } from '../helpers/temporal';
import { ringOf } from '../unit/adapters/encryption/keys';

const INPUT = { name: 'Zyxwora Quillonbrack' };

interface ShownHistory {
  readonly events: readonly {
    readonly workflowExecutionStartedEventAttributes?: { readonly input: { readonly payloads: { data: string }[] } };
  }[];
}

test('an encrypted input is shown in plain', async () => {
  const dataConverter = createDataConverter(ringOf('k1'));
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const codecs = forListing(dataConverter).payloadCodecs ?? [];
  const server = await startCodecServer({ codecs, port: 0, origins: [], token: null });
  const gate = await connectClient({ ...testTemporal(), dataConverter });
  const workflowId = unique('encrypted');
  try {
    const started = { workflowId, taskQueue: unique('nobody'), args: [INPUT] };
    const handle = await gate.client.workflow.start('nobody', started);
    const at = ['--address', testTemporal().address, '--workflow-id', workflowId, '--codec-endpoint', server.url];
    const options = { env: { ...process.env, HOME: '/nonexistent' } };
    const { stdout } = await promisify(execFile)(binary, ['workflow', 'show', '--output', 'json', ...at], options);
    const { events } = JSON.parse(stdout) as ShownHistory;
    const data = events[0]?.workflowExecutionStartedEventAttributes?.input.payloads[0]?.data ?? '';
    expect(JSON.parse(Buffer.from(data, 'base64').toString())).toEqual(INPUT);
    await handle.terminate();
  } finally {
    await gate.close();
    await server.close();
  }
});
