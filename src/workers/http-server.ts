import type { Server } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';

/** Port 0: a free one. It rejects where the port is in use. */
export async function listenOn(server: Server, host: string, port: number) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${hostPort(host, (server.address() as AddressInfo).port)}`,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** As in a URL: an address of IPv6 stands in brackets. */
export function hostPort(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
