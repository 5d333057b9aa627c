/** A client that is closed while it waits for Temporal, with a TCP proxy in front of the server that can be cut. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connectClient } from '../../src/workers/client';
import { testTemporal, unique, withClient } from '../helpers/temporal';

interface Proxy {
  readonly address: string;
  /** Resolves when all its connections are gone; nothing answers any more. */
  cut(): Promise<void>;
}

async function proxyToTemporal(): Promise<Proxy> {
  const { address } = testTemporal();
  const [host = '', port = ''] = address.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(port), host);
    for (const socket of [inward, outward]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    inward.pipe(outward).pipe(inward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cut: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Waits through the proxy for a workflow that no worker serves. */
async function waiting(): Promise<{ proxy: Proxy; close: () => Promise<void>; ended: Promise<unknown> }> {
  const proxy = await proxyToTemporal();
  const gate = await connectClient({ ...testTemporal(), address: proxy.address });
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
    await proxy.cut();
    expect(await ended).toBeInstanceOf(Error);
  });

  test('throws nothing past its callers when its server went before', async () => {
    const { proxy, close, ended } = await waiting();
    await proxy.cut();
    await close();
    expect(await ended).toBeInstanceOf(Error);
  });
});
