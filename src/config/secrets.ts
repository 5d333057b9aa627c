/** Secrets of the configuration: wraps them, reads them, and finds secrets in places where they must not be. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import type { Environment } from './folders';

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

/** What a setting is read with. */
export interface Place {
  /** The configuration file, or the setting in it, for messages. */
  readonly where: string;
  /** The folder that relative paths start from. */
  readonly base: string;
  readonly env: Environment;
  /** Mistakes are added to it. */
  readonly problems: string[];
}

/** The content of the file. Null if it cannot be read, which is reported for `setting`. */
export function secretFile(path: string, setting: string, { problems }: Place): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(`${setting}: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return null;
  }
}

/** A secret that is missed only when it is used. `key`: the setting that names it, `…Env` or `…File`. */
export function lateSecret(
  key: string,
  name: string,
  what: 'URL' | 'secret',
  at: Place,
): string | { readonly fix: string } {
  const path = resolve(at.base, name);
  const isVariable = key.endsWith('Env');
  const text = isVariable ? at.env[name] : existsSync(path) && secretFile(path, `${at.where}.${key}`, at);
  return text || { fix: isVariable ? `set the variable ${name}` : `write the ${what} into ${path}` };
}

/**
 * The key of an endpoint, and where it is looked for. A key with characters that no HTTP header can hold is a mistake: the error
 * of the network would quote the key.
 */
export function endpointKey(
  { apiKeyEnv: variable, apiKeyFile }: { readonly apiKeyEnv: string; readonly apiKeyFile?: string },
  setting: string,
  at: Place,
): { readonly apiKey: Secret | null; readonly source: string } {
  const file = apiKeyFile === undefined ? null : resolve(at.base, apiKeyFile);
  const given = at.env[variable]?.trim();
  const key = given || (file !== null && secretFile(file, `${setting}.apiKeyFile`, at));
  if (key && !/^[\u0021-\u007e]+$/.test(key))
    at.problems.push(
      `${given ? variable : `${setting}.apiKeyFile`}: holds a line break, a space or another character that no key has: copy the key again`,
    );
  return { apiKey: key ? new Secret(key) : null, source: file === null ? variable : `${variable} or ${file}` };
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
export function holdsLogin(url: string | null): boolean {
  if (url === null) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
