/** A client that is closed while it waits for Temporal, with a TCP proxy in front of the server that can be cut. */
import { connectClient } from '../../src/workers/client';
import { startTcpProxy } from '../helpers/tcp-proxy';
import { testTemporal, unique, withClient } from '../helpers/temporal';

/** Waits through the proxy for a workflow that no worker serves. */
async function waiting() {
  const [host = '', port = ''] = testTemporal().address.split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  const gate = await connectClient({ ...testTemporal(), address: `${host}:${String(proxy.port)}` });
  const workflowId = unique('nobody');
  await withClient(({ client }) => client.workflow.start('none', { workflowId, taskQueue: workflowId }));
  const ended = gate.client.workflow
    .getHandle(workflowId)
    .result()
    .then(
      () => 'completed',
      (error: unknown) => error,
    );
  // The long poll is on its way once a later call has been answered on the same connection.
  await gate.client.workflow.getHandle(workflowId).describe();
  return { proxy, close: () => gate.close(), ended };
}

describe('a client closed while a long poll is open', () => {
  test('throws nothing past its callers when its server goes right after', async () => {
    const { proxy, close, ended } = await waiting();
    await close();
    await proxy.close();
    expect(await ended).toBeInstanceOf(Error);
  });

  test('throws nothing past its callers when its server went before', async () => {
    const { proxy, close, ended } = await waiting();
    await proxy.close();
    await close();
    expect(await ended).toBeInstanceOf(Error);
  });
});
