/**
 * How one logs in to Snowflake, from the configuration: a key pair, a token (programmatic access or OAuth) or a password.
 * Secrets are named, by variable or file, and never written into the configuration itself; one that is missing is an error
 * only when the database is used.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Place } from './folders';
import { Secret } from './secrets';

const name = z.string().min(1);

export const SnowflakeEntry = z.strictObject({
  /** PEM; its passphrase, if it has one, by variable or file. */
  privateKeyFile: name.optional(),
  privateKeyEnv: name.optional(),
  passphraseEnv: name.optional(),
  passphraseFile: name.optional(),
  tokenEnv: name.optional(),
  tokenFile: name.optional(),
  /** `pat` (default): programmatic access token. */
  tokenKind: z.enum(['pat', 'oauth']).optional(),
  passwordEnv: name.optional(),
  passwordFile: name.optional(),
  /** In place of https://ACCOUNT.snowflakecomputing.com, for a private link or a proxy; plain http only to this machine. */
  accessUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Go on, statement by statement behind the server's compiler, with a role that could write. */
  allowPrivilegedRole: z.boolean().optional(),
  /** Functions of the database that statements may call, as `schema.name`; built-in ones that only read always may. */
  functions: z.array(name).optional(),
});

export type SnowflakeLogin<Text> =
  | { readonly kind: 'key'; readonly privateKey: Text; readonly passphrase: Text | null }
  | { readonly kind: 'token'; readonly token: Text; readonly tokenKind: 'pat' | 'oauth' }
  | { readonly kind: 'password'; readonly password: Text };

export interface SnowflakeAccess {
  /** `url`: nothing is configured, so that the URL must hold the password. */
  readonly login: SnowflakeLogin<Secret> | { readonly kind: 'url' } | { readonly kind: 'unset'; readonly fix: string };
  readonly accessUrl: string | null;
  readonly allowPrivilegedRole: boolean;
  readonly functions: readonly string[];
}

export function snowflakeAccess(entry: z.infer<typeof SnowflakeEntry> | undefined, at: Place): SnowflakeAccess {
  const given = entry ?? {};
  return {
    login: loginOf(given, at),
    accessUrl: given.accessUrl ?? null,
    allowPrivilegedRole: given.allowPrivilegedRole ?? false,
    functions: given.functions ?? [],
  };
}

const WAYS = ['privateKeyFile', 'privateKeyEnv', 'tokenEnv', 'tokenFile', 'passwordEnv', 'passwordFile'] as const;

function loginOf(entry: z.infer<typeof SnowflakeEntry>, at: Place): SnowflakeAccess['login'] {
  const ways = WAYS.filter((way) => entry[way] !== undefined);
  const [way] = ways;
  if (way === undefined) return { kind: 'url' };
  if (ways.length > 1) at.problems.push(`${at.where}: set one way to log in (set: ${ways.join(', ')})`);
  const secret = read(way, entry[way] ?? '', at);
  if (secret.kind === 'unset') return secret;
  if (way.startsWith('token')) return { kind: 'token', token: secret.text, tokenKind: entry.tokenKind ?? 'pat' };
  if (way.startsWith('password')) return { kind: 'password', password: secret.text };
  const [key] = (['passphraseEnv', 'passphraseFile'] as const).filter((each) => entry[each] !== undefined);
  if (key === undefined) return { kind: 'key', privateKey: secret.text, passphrase: null };
  const passphrase = read(key, entry[key] ?? '', at);
  if (passphrase.kind === 'unset') return passphrase;
  return { kind: 'key', privateKey: secret.text, passphrase: passphrase.text };
}

type Read = { readonly kind: 'set'; readonly text: Secret } | { readonly kind: 'unset'; readonly fix: string };

function read(key: string, value: string, at: Place): Read {
  if (key.endsWith('Env')) {
    const text = at.env[value];
    return text ? { kind: 'set', text: new Secret(text) } : { kind: 'unset', fix: `set the variable ${value}` };
  }
  const path = resolve(at.base, value);
  if (!existsSync(path)) return { kind: 'unset', fix: `write the secret into ${path}` };
  try {
    return { kind: 'set', text: new Secret(readFileSync(path, 'utf8').trim()) };
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    at.problems.push(`${at.where}.${key}: cannot read ${path} (${code})`);
    return { kind: 'unset', fix: `make ${path} readable` };
  }
}
