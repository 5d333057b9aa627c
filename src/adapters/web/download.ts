/**
 * A file from the public web, over HTTPS alone, written as it comes. Every hop passes the checks of `connection.ts`; a file larger
 * than its limit is refused, and what is not whole is not left behind under its name.
 */
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { checkStatus, exchange, follow, INTERNET, refused, type Reach } from './connection';

export interface DownloadOptions {
  readonly to: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly reach?: Reach;
}

export async function download(
  address: string,
  { to, maxBytes, signal, reach = INTERNET }: DownloadOptions,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const part = `${to}.part`;
  const file = await open(part, 'w');
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const { url, answer } = await follow(address, reach, (hop) => {
      if (hop.protocol !== 'https:') throw refused(`${hop.host} is asked for without HTTPS`);
      const sink = async (chunk: Buffer): Promise<void> => {
        bytes += chunk.length;
        if (bytes > maxBytes) throw refused(`${hop.host} sends more than ${Math.round(maxBytes / 1e6)} MB`);
        hash.update(chunk);
        await file.writeFile(chunk);
      };
      return exchange(hop, { signal, maxBytes, accept: '*/*', reach, sink });
    });
    checkStatus(answer, url.host);
    await file.close();
    await rename(part, to);
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    await file.close();
    await rm(part, { force: true });
  }
}
