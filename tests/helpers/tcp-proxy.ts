/**
 * A TCP proxy that counts what clients send, so that a server can be stopped, or a connection dropped, in the middle of the n-th
 * request: the moment comes before the bytes are handed on.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Pieces that clients have sent: about one per statement. */
  sent(): number;
  /** `act` runs when that many have been sent in all, before the last of them is handed on. */
  at(count: number, act: () => void): void;
  /** Drops what is connected, as a firewall does: nothing more is handed on, and neither side is told. */
  forget(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  let sent = 0;
  let due: { readonly count: number; readonly act: () => void } | null = null;
  const open = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    // Either side gone, or the server not there: so is the other.
    for (const [one, other] of [
      [upstream, client],
      [client, upstream],
    ] as const) {
      const end = (): unknown => forgotten.has(one) || other.destroy();
      one.once('close', end).on('error', end);
    }
    client.on('data', (chunk) => {
      sent += 1;
      if (due !== null && sent >= due.count) {
        const { act } = due;
        due = null;
        act();
      }
      if (!forgotten.has(client)) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => forgotten.has(upstream) || client.write(chunk));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => sent,
    at: (count, act) => (due = { count, act }),
    forget: () => open.forEach((socket) => forgotten.add(socket)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
