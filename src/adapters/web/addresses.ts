/**
 * Which URLs and network addresses a page may be fetched from: only what is plainly a public web site.
 *
 * 1. A URL is judged as it is written and as it is parsed: spellings that hide an address are refused even where the
 *    address would be allowed.
 * 2. An address is allowed by range, not refused by list: IPv4 and IPv6 must be ordinary global unicast, so whatever
 *    embeds an IPv4 address (mapped, 6to4, NAT64, Teredo) is out.
 * 3. Names are judged twice: here, and by every address that they resolve to (`connection.ts`).
 * 4. A network that this machine is part of is no public web site either, even by public addresses: with IPv6 a printer at
 *    home has one, and this machine's own reaches what a firewall keeps from others.
 */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { WebError } from '../../ports';

/** Set by tests alone: ports of this machine that stand in for the web. */
export interface Loopback {
  readonly ports: ReadonlySet<number>;
}

export const LONGEST_URL = 2_000;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Names that mean this machine, its network or its cloud, whatever a resolver says. */
const PRIVATE_NAMES = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'arpa'],
  ...['test', 'invalid', 'example', 'onion', 'alt'],
];
/** Public by range, but a cloud's own service for its machines. */
const CLOUD_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Throws `WebError` with one line that says what is wrong. */
export function checkedUrl(text: string, loopback: Loopback | null = null): URL {
  if (text.length > LONGEST_URL) throw refused('the URL is longer than 2,000 characters');
  if (/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\]/.test(text)) {
    throw refused('the URL has spaces, backslashes or invisible characters');
  }
  if (!URL.canParse(text)) throw refused('this is no absolute URL; write http:// or https:// and a host');
  const url = new URL(text);
  if (!(url.protocol in PORTS)) throw refused(`only http and https are fetched, not ${url.protocol.slice(0, 20)}`);
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined || authority === '') throw refused('write two slashes and a host after the scheme');
  if (authority.includes('@')) throw refused('a URL with a user name or password is not fetched');
  const port = url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port);
  checkHost(url.hostname, authority.replace(/:\d*$/, ''), loopback?.ports.has(port) ?? false);
  if (port !== 80 && port !== 443 && !(loopback?.ports.has(port) ?? false)) {
    throw refused(`port ${port} is not fetched, only 80 and 443`);
  }
  url.hash = '';
  return url;
}

/** `hostname` as parsed, `written` as it stands in the URL. */
function checkHost(hostname: string, written: string, isTestPort: boolean): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) {
    if (isIP(host) === 4 && written !== host) throw refused('write an IPv4 address as four decimal numbers');
    if (!isPublicAddress(host) && !(isTestPort && host === '127.0.0.1')) throw refused(`${host} is no public address`);
    return;
  }
  if (host.endsWith('.')) throw refused('write the host without the dot at its end');
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (labels.length < 2 || PRIVATE_NAMES.includes(last)) throw refused(`${host} is no public host name`);
  // A last label of digits is an address in some resolver's eyes.
  if (/^(\d+|0x[0-9a-f]*)$/i.test(last)) throw refused(`${host} is no public host name`);
  if (host.length > 253 || labels.some((label) => !/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) {
    throw refused('the host is no valid DNS name');
  }
}

export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_ADDRESSES.has(parsed.toString())) return false;
  if (parsed.kind() === 'ipv4') return true;
  const [first = 0] = (parsed as ipaddr.IPv6).parts;
  return first >> 13 === 1 && !embedsAddress((parsed as ipaddr.IPv6).parts);
}

/** ISATAP: an interface id that tunnels to the IPv4 address in its last half. */
function embedsAddress(parts: readonly number[]): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;
}

/** In CIDR notation. */
export type Networks = () => readonly string[];

export const ownNetworks: Networks = () =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? []));

/** What a host resolved to; all of it has to be public, or the name is not to be trusted. */
export function checkAddresses(
  host: string,
  addresses: readonly string[],
  isTestPort: boolean,
  networks: Networks,
): void {
  if (addresses.length === 0) throw new WebError('not-found', `${host} has no address`);
  const judged = addresses.filter((address) => !(isTestPort && address === '127.0.0.1'));
  const bad = judged.find((address) => !isPublicAddress(address));
  if (bad !== undefined) throw refused(`${host} resolves to ${bad}, which is no public address`);
  const near = judged.find((address) => isWithin(address, networks()));
  if (near !== undefined) throw refused(`${host} resolves to ${near}, which is in a network of this machine`);
}

function isWithin(address: string, networks: readonly string[]): boolean {
  const parsed = ipaddr.parse(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}

export function refused(message: string): WebError {
  return new WebError('refused', message);
}
