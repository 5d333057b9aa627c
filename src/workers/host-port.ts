import { isIPv6 } from 'node:net';

/** As in a URL: an address of IPv6 stands in brackets. */
export function hostPort(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
