/**
 * Which URLs and network addresses pages may be fetched from: only plainly public web sites.
 *
 * 1. A URL is checked as written and as parsed: a spelling that hides an address is refused even if the address is allowed.
 * 2. Addresses are allowed by range: IPv4 and IPv6 must be ordinary global unicast. So addresses that embed an IPv4
 *    address (mapped, 6to4, NAT64, Teredo) are refused.
 * 3. Names are checked twice: here, and by every address that they resolve to (`connection.ts`).
 * 4. Networks of this machine are refused even if their addresses are public: with IPv6 a printer at home has a public
 *    address, and from this machine one can reach what a firewall hides from others.
 */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { WebError } from '../../ports';

/** For tests only: ports of this machine that serve as the web. */
export interface Loopback {
  readonly ports: ReadonlySet<number>;
  /** The certificate authority that their certificates are of. */
  readonly ca?: string;
}

export const LONGEST_URL = 2_000;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Last labels of names that mean this machine, its network or its cloud, whatever they resolve to. */
const PRIVATE_NAMES = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'arpa'],
  ...['test', 'invalid', 'example', 'onion', 'alt'],
];
/** Addresses in a public range that serve a cloud's own machines. */
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
  // Some resolvers take a last label of digits for an address.
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

/** Throws unless every address that a host resolved to is public. */
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
