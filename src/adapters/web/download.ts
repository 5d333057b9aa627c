/**
 * A file from the public web, over HTTPS alone, written as it comes. Every hop passes the checks of `connection.ts`; a file larger
 * than its limit is refused, and what is not whole is not left behind under its name.
 */
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { WebError } from '../../domain/ports';
import {
  checkedUrl,
  ownNetworks,
  refused,
  type Loopback,
  type Networks,
  exchange,
  systemResolve,
  type Resolve,
} from './connection';
import { redirectOf } from './pages';

const REDIRECTS = 5;

export interface DownloadOptions {
  readonly to: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
  /** For tests only. */
  readonly loopback?: Loopback;
  readonly networks?: Networks;
}

export async function download(
  address: string,
  { to, maxBytes, signal, resolve = systemResolve, loopback, networks = ownNetworks }: DownloadOptions,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const part = `${to}.part`;
  const shared = { signal, maxBytes, accept: '*/*', resolve, loopback: loopback ?? null, networks };
  let url = httpsUrl(address, loopback);
  try {
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      const file = await open(part, 'w');
      const hash = createHash('sha256');
      let bytes = 0;
      const sink = async (chunk: Buffer): Promise<void> => {
        bytes += chunk.length;
        if (bytes > maxBytes) throw refused(`${url.host} sends more than ${Math.round(maxBytes / 1e6)} MB`);
        hash.update(chunk);
        await file.writeFile(chunk);
      };
      const answer = await exchange(url, { ...shared, sink }).finally(() => file.close());
      const target = redirectOf(answer);
      if (target === null) {
        if (answer.status < 200 || answer.status >= 300) throw statusError(answer.status, url);
        await rename(part, to);
        return { sha256: hash.digest('hex'), bytes };
      }
      url = httpsUrl(URL.canParse(target) ? target : new URL(target, url).href, loopback);
    }
    throw refused(`more than ${REDIRECTS} redirects`);
  } finally {
    await rm(part, { force: true });
  }
}

function httpsUrl(text: string, loopback: Loopback | undefined): URL {
  const url = checkedUrl(text, loopback ?? null);
  if (url.protocol !== 'https:') throw refused(`${url.host} is asked for without HTTPS`);
  return url;
}

function statusError(status: number, url: URL): WebError {
  return new WebError(status >= 500 ? 'server-error' : 'not-found', `${url.host} answered ${status}`);
}
