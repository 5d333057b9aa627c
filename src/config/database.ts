/** A database of the configuration: its address, which may come from a variable or a file, how one logs in, its ceilings. */
import { resolve } from 'node:path';
import type { DatabaseEntry } from './schema';
import { holdsPassword, lateSecret, Secret, type LateSecret, type Place } from './secrets';

export type SnowflakeLogin<Text> =
  | { readonly kind: 'key'; readonly privateKey: Text; readonly passphrase: Text | null }
  | { readonly kind: 'token'; readonly token: Text; readonly tokenKind: 'pat' | 'oauth' }
  | { readonly kind: 'password'; readonly password: Text };

type SnowflakeEntry = DatabaseEntry['snowflake'];

export interface DatabaseConfig extends Pick<DatabaseEntry, 'id' | 'role' | 'schemas' | 'access' | 'docs'> {
  /** `unset`: an error only when the database is used. */
  readonly address:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'url'; readonly url: Secret }
    | { readonly kind: 'unset'; readonly fix: string };
  /** null: the engine's default, and no ceilings. */
  readonly limits: Pick<DatabaseEntry, 'maxConnections' | 'maxPlanCost' | 'maxScanBytes'>;
  /** Read by Snowflake databases only. */
  readonly snowflake: Pick<SnowflakeEntry, 'accessUrl' | 'allowPrivilegedRole' | 'functions'> & {
    /** `url`: nothing is configured, so that the URL must hold the password. */
    readonly login:
      SnowflakeLogin<Secret> | { readonly kind: 'url' } | { readonly kind: 'unset'; readonly fix: string };
  };
}

export function databaseOf(entry: DatabaseEntry, at: Place): DatabaseConfig {
  const { id, role, schemas, access, docs, maxConnections, maxPlanCost, maxScanBytes, snowflake } = entry;
  const { accessUrl, allowPrivilegedRole, functions } = snowflake;
  const given = (['url', 'urlEnv', 'urlFile', 'path'] as const).filter((key) => entry[key] !== undefined);
  if (given.length !== 1)
    at.problems.push(`${at.where}: set exactly one of url, urlEnv, urlFile, path (set: ${given.join(', ') || 'none'})`);
  const address = addressOf(entry, at);
  checkCeilings(entry, address, at);
  const login = loginOf(snowflake, { ...at, where: `${at.where}.snowflake` });
  return {
    address,
    id,
    role,
    schemas,
    access,
    docs: docs.map((path) => resolve(at.base, path)),
    limits: { maxConnections, maxPlanCost, maxScanBytes },
    snowflake: { login, accessUrl, allowPrivilegedRole, functions },
  };
}

function addressOf({ path, url, urlEnv, urlFile }: DatabaseEntry, at: Place): DatabaseConfig['address'] {
  if (path !== undefined) return { kind: 'path', path: resolve(at.base, path) };
  if (url !== undefined) {
    if (holdsPassword(url))
      at.problems.push(
        `${at.where}.url: holds a password; put the URL into an environment variable and name it in urlEnv`,
      );
    return { kind: 'url', url: new Secret(url) };
  }
  if (urlEnv === undefined && urlFile === undefined) return { kind: 'unset', fix: 'set url, urlEnv, urlFile or path' };
  const found =
    urlEnv === undefined ? lateSecret('urlFile', urlFile ?? '', 'URL', at) : lateSecret('urlEnv', urlEnv, 'URL', at);
  return found.kind === 'set' ? { kind: 'url', url: found.text } : found;
}

/** Refuses ceilings that the engine of the database does not support, because they would protect nothing. */
function checkCeilings(
  { maxPlanCost, maxScanBytes }: DatabaseEntry,
  address: DatabaseConfig['address'],
  { where, problems }: Place,
): void {
  if (address.kind === 'unset') return;
  const isSnowflake = address.kind === 'url' && /^snowflake:/i.test(address.url.reveal());
  const isPostgres = address.kind === 'url' && /^postgres(ql)?:/i.test(address.url.reveal());
  if (maxPlanCost !== null && !isPostgres)
    problems.push(`${where}.maxPlanCost: only PostgreSQL has it; ${isSnowflake ? 'set maxScanBytes' : 'leave it out'}`);
  if (maxScanBytes !== null && !isSnowflake)
    problems.push(`${where}.maxScanBytes: only Snowflake has it; ${isPostgres ? 'set maxPlanCost' : 'leave it out'}`);
}

const WAYS = ['privateKeyFile', 'privateKeyEnv', 'tokenEnv', 'tokenFile', 'passwordEnv', 'passwordFile'] as const;

/** A key pair, a token (programmatic access or OAuth) or a password. */
function loginOf(entry: SnowflakeEntry, at: Place): DatabaseConfig['snowflake']['login'] {
  const ways = WAYS.filter((way) => entry[way] !== undefined);
  const [way] = ways;
  if (way === undefined) return { kind: 'url' };
  if (ways.length > 1) at.problems.push(`${at.where}: set one way to log in (set: ${ways.join(', ')})`);
  const read = (key: (typeof WAYS)[number] | 'passphraseEnv' | 'passphraseFile'): LateSecret =>
    lateSecret(key, entry[key] ?? '', 'secret', at);
  const secret = read(way);
  if (secret.kind === 'unset') return secret;
  if (way.startsWith('token')) return { kind: 'token', token: secret.text, tokenKind: entry.tokenKind };
  if (way.startsWith('password')) return { kind: 'password', password: secret.text };
  const [key] = (['passphraseEnv', 'passphraseFile'] as const).filter((each) => entry[each] !== undefined);
  if (key === undefined) return { kind: 'key', privateKey: secret.text, passphrase: null };
  const passphrase = read(key);
  return passphrase.kind === 'unset'
    ? passphrase
    : { kind: 'key', privateKey: secret.text, passphrase: passphrase.text };
}
