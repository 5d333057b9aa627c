/** Hexadecimal SHA-256: the hash that steps, stores and ids share. Apart, so that using it loads nothing else. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export async function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash, { signal });
  return hash.digest('hex');
}
