/** What the URLs of servers have in common, and the lines for those that cannot be used. */
import { readFileSync } from 'node:fs';
import { SqlEngineError } from '../../domain/ports/sql-engine';

export const wrong = (message: string, cause?: unknown): SqlEngineError =>
  new SqlEngineError('not-configured', message, { cause });

/** The URL of a server, decoded. `known`: the parameters that it may have; left out: any. Throws a line that says what to change. */
export function readUrl(text: string, scheme: RegExp, example: string, known?: readonly string[]) {
  if (!scheme.test(text) || !URL.canParse(text)) throw wrong(`the database URL is not valid: write ${example}`);
  const url = new URL(text);
  const parameters = url.searchParams;
  const unknown = known === undefined ? [] : [...parameters.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw wrong(`the database URL has ${unknown.join(', ')}, which is unknown: allowed are ${known?.join(', ')}`);
  try {
    const [host = '', user = '', password = ''] = [url.hostname, url.username, url.password].map(decodeURIComponent);
    const path = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
    return { url, host, user, password, path, parameters };
  } catch (error) {
    throw wrong('the database URL has a % that does not encode a character: write % as %25', error);
  }
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
