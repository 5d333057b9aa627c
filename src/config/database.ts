/** A database of the configuration: its address, which may come from a variable or a file, how one logs in, its ceilings. */
import { resolve } from 'node:path';
import { serverOfUrl } from './places';
import type { DatabaseEntry } from './schema';
import { holdsPassword, lateSecret, Secret, type Place } from './secrets';

export type SnowflakeLogin =
  | { readonly kind: 'key'; readonly privateKey: string; readonly passphrase: string | null }
  | { readonly kind: 'token'; readonly token: string; readonly tokenKind: 'pat' | 'oauth' }
  | { readonly kind: 'password'; readonly password: string };

type SnowflakeEntry = DatabaseEntry['snowflake'];
type BigQueryEntry = DatabaseEntry['bigquery'];
const ADDRESS = ['url', 'urlEnv', 'urlFile', 'path'] as const;

export interface DatabaseConfig extends Omit<DatabaseEntry, (typeof ADDRESS)[number] | 'snowflake' | 'bigquery'> {
  /** `unset`: an error only when the database is used. */
  readonly address:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'url'; readonly url: Secret }
    | { readonly kind: 'unset'; readonly fix: string };
  /** Read by Snowflake databases only. */
  readonly snowflake: Pick<SnowflakeEntry, 'accessUrl' | 'allowPrivilegedRole' | 'functions'> & {
    /** `fix`: it is not set, which is an error when the database is used. null: nothing is configured, so that the URL must hold it. */
    readonly login: Secret<SnowflakeLogin> | { readonly fix: string } | null;
  };
  /** Read by BigQuery databases only. `key`: as `login` of Snowflake. */
  readonly bigquery: Omit<BigQueryEntry, 'keyFile' | 'keyEnv'> & {
    readonly key: Secret | { readonly fix: string } | null;
  };
}

export function databaseOf(entry: DatabaseEntry, at: Place): DatabaseConfig {
  const { url: _url, urlEnv: _env, urlFile: _file, path: _path, snowflake, bigquery, ...rest } = entry;
  const { accessUrl, allowPrivilegedRole, functions } = snowflake;
  const given = ADDRESS.filter((key) => entry[key] !== undefined);
  if (given.length !== 1)
    at.problems.push(`${at.where}: set exactly one of ${ADDRESS.join(', ')} (set: ${given.join(', ') || 'none'})`);
  const address = addressOf(entry, at);
  checkSettings(entry, address, at);
  const login = loginOf(snowflake, { ...at, where: `${at.where}.snowflake` });
  const docs = entry.docs.map((path) => resolve(at.base, path));
  const { keyFile: _keyFile, keyEnv: _keyEnv, ...settings } = bigquery;
  const key = keyOf(bigquery, { ...at, where: `${at.where}.bigquery` });
  const own = { login, accessUrl, allowPrivilegedRole, functions };
  return { ...rest, docs, address, snowflake: own, bigquery: { ...settings, key } };
}

function keyOf({ keyFile, keyEnv }: BigQueryEntry, at: Place): DatabaseConfig['bigquery']['key'] {
  if (keyFile !== undefined && keyEnv !== undefined)
    at.problems.push(`${at.where}: set one of keyFile and keyEnv (set: both)`);
  const [way, name] = keyFile === undefined ? ['keyEnv', keyEnv] : ['keyFile', keyFile];
  if (name === undefined) return null;
  const key = lateSecret(way, name, 'secret', at);
  return typeof key === 'string' ? new Secret(key) : key;
}

function addressOf({ path, url, urlEnv, urlFile }: DatabaseEntry, at: Place): DatabaseConfig['address'] {
  if (path !== undefined) return { kind: 'path', path: resolve(at.base, path) };
  if (url !== undefined && holdsPassword(url))
    at.problems.push(
      `${at.where}.url: holds a password; put the URL into an environment variable and name it in urlEnv`,
    );
  const [key, name] = urlEnv === undefined ? ['urlFile', urlFile] : ['urlEnv', urlEnv];
  const found = url ?? (name === undefined ? { fix: `set ${ADDRESS.join(', ')}` } : lateSecret(key, name, 'URL', at));
  return typeof found === 'string' ? { kind: 'url', url: new Secret(found) } : { kind: 'unset', ...found };
}

/** Refuses settings that the engine of the database does not have, because they would protect nothing. */
function checkSettings(
  { maxPlanCost, maxScanBytes, role, schemas }: DatabaseEntry,
  address: DatabaseConfig['address'],
  { where, problems }: Place,
): void {
  if (address.kind === 'unset') return;
  const kind = address.kind === 'url' ? serverOfUrl(address.url.reveal()) : null;
  const isScanned = kind === 'snowflake' || kind === 'bigquery';
  const instead = isScanned ? 'set maxScanBytes' : kind === 'postgresql' ? 'set maxPlanCost' : 'leave it out';
  if (maxPlanCost !== null && kind !== 'postgresql')
    problems.push(`${where}.maxPlanCost: only PostgreSQL has it; ${instead}`);
  if (maxScanBytes !== null && !isScanned)
    problems.push(`${where}.maxScanBytes: only Snowflake and BigQuery have it; ${instead}`);
  if (role !== null && kind !== 'postgresql' && kind !== 'snowflake')
    problems.push(`${where}.role: only PostgreSQL and Snowflake have it; leave it out`);
  if (schemas.length > 0 && address.kind === 'path')
    problems.push(`${where}.schemas: only a database of a server has it; leave it out`);
}

const WAYS = ['privateKeyFile', 'privateKeyEnv', 'tokenEnv', 'tokenFile', 'passwordEnv', 'passwordFile'] as const;

/** A key pair, a token (programmatic access or OAuth) or a password. */
function loginOf(entry: SnowflakeEntry, at: Place): DatabaseConfig['snowflake']['login'] {
  const ways = WAYS.filter((way) => entry[way] !== undefined);
  const [way] = ways;
  if (way === undefined) return null;
  if (ways.length > 1) at.problems.push(`${at.where}: set one way to log in (set: ${ways.join(', ')})`);
  const secret = lateSecret(way, entry[way] ?? '', 'secret', at);
  if (typeof secret !== 'string') return secret;
  if (way.startsWith('token')) return new Secret({ kind: 'token', token: secret, tokenKind: entry.tokenKind });
  if (way.startsWith('password')) return new Secret({ kind: 'password', password: secret });
  const key = (['passphraseEnv', 'passphraseFile'] as const).find((each) => entry[each] !== undefined);
  const passphrase = key === undefined ? null : lateSecret(key, entry[key] ?? '', 'secret', at);
  if (passphrase !== null && typeof passphrase !== 'string') return passphrase;
  return new Secret({ kind: 'key', privateKey: secret, passphrase });
}
