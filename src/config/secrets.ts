/** Secrets of the configuration: wraps them, reads them, and finds secrets in places where they must not be. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { inspect } from 'node:util';

/** A value that does not print: only `reveal()` gives it. */
export class Secret<T = string> {
  readonly #value: T;
  constructor(value: T) {
    this.#value = value;
  }
  reveal(): T {
    return this.#value;
  }
  toString(): string {
    return '[secret]';
  }
  toJSON(): string {
    return '[secret]';
  }
  [inspect.custom](): string {
    return '[secret]';
  }
}

/** The content of the file. Null if it cannot be read, which is reported for `place`. */
export function secretFile(path: string, place: string, problems: string[]): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(`${place}: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return null;
  }
}

interface Keyed {
  readonly baseUrl?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/** The key file of an endpoint, relative to `base`; null where it has none. */
export function endpointKey(
  { apiKeyFile }: Keyed,
  place: string,
  at: { readonly base: string; readonly problems: string[] },
): string | null {
  if (apiKeyFile === undefined) return null;
  return secretFile(resolve(at.base, apiKeyFile), `${place}.apiKeyFile`, at.problems);
}

/** Reports a key with characters that no HTTP header can hold: the network error would quote the key. */
export function checkKey(key: string, source: string, problems: string[]): void {
  if (/^[\u0021-\u007e]+$/.test(key)) return;
  problems.push(`${source}: holds a line break, a space or another character that no key has: copy the key again`);
}

/** Whether a URL holds a password, in its login or in a parameter. Paths of files and names of variables are no secrets. */
export function holdsPassword(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  const secret = /pass|secret|token|key$/i;
  const named = /^sslkey$|(file|env|kind)$/i;
  return password !== '' || [...searchParams.keys()].some((name) => secret.test(name) && !named.test(name));
}

/** Whether an address holds a login. That is not allowed, because addresses appear in messages. */
export function holdsLogin({ baseUrl }: Keyed): boolean {
  if (baseUrl === undefined) return false;
  const { username, password } = new URL(baseUrl);
  return username !== '' || password !== '';
}
