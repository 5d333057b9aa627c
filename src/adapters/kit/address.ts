/** What the URLs of servers have in common, and the lines for those that cannot be used. */
import { readFileSync } from 'node:fs';
import { SqlEngineError } from '../../domain/ports/sql-engine';

export const wrong = (message: string): SqlEngineError => new SqlEngineError('not-configured', message);

export function refuseUnknown(parameters: URLSearchParams, known: readonly string[]): void {
  const unknown = [...parameters.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw wrong(`the database URL has ${unknown.join(', ')}, which is unknown: allowed are ${known.join(', ')}`);
}

/** Of the file that a setting names. */
export function fileText(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw wrong(`cannot read ${setting} ${path} (${code}): correct the path`);
  }
}

/** Requests hold secrets, so plain http is allowed only to this machine. `setting`: what gave the address. */
export function refuseClearText(setting: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong(`${setting} ${address} is no http(s) URL`);
  if (url.protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw wrong(`${setting} ${url.origin} would send secrets in the clear: write https://`);
}
