/** Lines of JSON in a file that only grows: each is one write at its end, so that several processes may append. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { OutletError } from '../../ports/drift';
import { errorCode } from './keys';

/** Nothing else is appended to: the path comes from a schedule. */
export const LOG_NAME = /\.jsonl$/;

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;

/** Throws `OutletError`. */
export async function appendLine(path: string, json: string): Promise<void> {
  if (!LOG_NAME.test(path)) throw new OutletError('refused', `${path}: name a file that ends in .jsonl`);
  try {
    const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      const info = await file.stat();
      if (!info.isFile()) throw new OutletError('refused', `${path} is no regular file: name another one`);
      await file.write(`${json}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof OutletError || code === null) throw error;
    if (code === 'ELOOP') throw new OutletError('refused', `${path} is a link: name the file itself`);
    const fix = code === 'ENOENT' ? 'make its folder' : 'check its permissions';
    throw new OutletError('not-here', `${path} cannot be written on the worker's machine (${code}): ${fix}`, {
      cause: error,
    });
  }
}
