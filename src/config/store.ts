/**
 * The setting `store`: a folder, or a bucket of Amazon S3 or a compatible server; `GATE_STORE` names either and goes
 * before the file. Keys of a bucket come from where AWS tools look, or from variables that the file names; they are
 * never written into the configuration.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sha256 } from '../sha256';
import type { Folders } from './folders';
import { BUCKET, BUCKET_RULE, type Bucket, type ConfigFile } from './schema';
import { holdsLogin, Secret, type Place } from './secrets';

export type StoreConfig =
  | { readonly kind: 'directory'; readonly directory: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Without slashes at its ends; may be empty. */
      readonly prefix: string;
      readonly endpoint: string | null;
      readonly region: string | null;
      readonly forcePathStyle: boolean | null;
      readonly profile: string | null;
      /** Null: as AWS tools find them. */
      readonly credentials: Secret<StoreCredentials> | null;
    };

interface StoreCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Paths of the file are relative to it, `GATE_STORE` to the working directory. */
export function storeOf(
  entry: ConfigFile['store'],
  { cwd, dataFolder }: { readonly cwd: string; readonly dataFolder: string },
  at: Place,
): StoreConfig {
  if (entry.directory !== undefined && entry.s3 !== undefined) {
    at.problems.push(`${at.where}: store: set directory or s3, not both`);
  }
  const given = at.env['GATE_STORE'] || null;
  const url = given === null ? null : bucketUrl(given, at);
  if (url !== null) return bucketOf({ ...entry.s3, ...url }, at);
  if (given !== null) return folderAt(resolve(cwd, given), 'GATE_STORE', at);
  if (entry.s3 !== undefined) return bucketOf(entry.s3, at);
  if (entry.directory !== undefined)
    return folderAt(resolve(at.base, entry.directory), `${at.where}: store.directory`, at);
  return { kind: 'directory', directory: join(dataFolder, 'store') };
}

/** What is there already must be a folder: a store in a file would look empty, and fail when it is first written. */
function folderAt(directory: string, source: string, { problems }: Place): StoreConfig {
  let at = directory;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  if (existsSync(at) && !statSync(at).isDirectory())
    problems.push(`${source}: ${at} is a file; a store is a folder (or s3://BUCKET/PREFIX): give another path`);
  return { kind: 'directory', directory };
}

/** A path, or `s3://bucket/prefix`: for messages, and to tell whether two processes use one store. */
export function storeLocation(store: StoreConfig): string {
  if (store.kind === 'directory') return store.directory;
  const at = store.endpoint === null ? '' : ` at ${store.endpoint}`;
  return `s3://${store.bucket}${store.prefix === '' ? '' : `/${store.prefix}`}${at}`;
}

/** Where the embedded Temporal has its files, and where its program is found. */
export interface EmbeddedPlace {
  readonly cache: string;
  readonly home: string;
}

/**
 * The embedded Temporal lies with its store, so that whoever uses the store finds it. No key of the store leads to a name that
 * begins with a dot. A bucket has no place for it: its server belongs to the user's state folder.
 */
export function embeddedPlace(config: { readonly folders: Folders; readonly store: StoreConfig }): EmbeddedPlace {
  const { folders, store } = config;
  const home =
    store.kind === 'directory'
      ? join(store.directory, '.temporal')
      : join(folders.state, 'temporal', sha256(storeLocation(store)).slice(0, 12));
  return { cache: folders.cache, home };
}

/** Null for a path. */
function bucketUrl(given: string, { problems }: Place): { bucket: string; prefix: string } | null {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/i.exec(given) ?? [];
  if (scheme === '') return null;
  const [bucket = '', ...prefix] = rest.split('/');
  if (scheme.toLowerCase() !== 's3' || !BUCKET.test(bucket)) {
    const shown = given.replace(/\/\/[^/]*@/, '//***@');
    problems.push(`GATE_STORE: '${shown}' is not a store; give a folder or s3://BUCKET/PREFIX (${BUCKET_RULE})`);
  }
  return { bucket, prefix: prefix.join('/') };
}

function bucketOf(s3: Bucket, at: Place): StoreConfig {
  const endpoint = s3.endpoint ?? (at.env['AWS_ENDPOINT_URL_S3'] || at.env['AWS_ENDPOINT_URL'] || null);
  if (endpoint !== null && !URL.canParse(endpoint)) {
    at.problems.push(`AWS_ENDPOINT_URL_S3: '${endpoint}' is not a URL; for example http://127.0.0.1:7070`);
  } else if (holdsLogin(endpoint)) {
    at.problems.push(
      `${at.where}: the endpoint of the store holds a user name or password; give the keys as AWS tools find them`,
    );
  }
  const prefix = (s3.prefix ?? '').replace(/^\/+|\/+$/g, '');
  if (prefix.split('/').some((segment) => segment === '..' || segment === '.') || prefix.includes('//')) {
    at.problems.push(`${at.where}: store: '${prefix}' is not a valid prefix; give plain segments joined by /`);
  }
  return {
    kind: 's3',
    bucket: s3.bucket,
    prefix,
    endpoint,
    region: s3.region ?? (at.env['AWS_REGION'] || at.env['AWS_DEFAULT_REGION'] || null),
    forcePathStyle: s3.forcePathStyle ?? null,
    profile: s3.profile ?? (at.env['AWS_PROFILE'] || null),
    credentials: credentialsOf(s3, at),
  };
}

function credentialsOf(s3: Bucket, { where, env, problems }: Place): Secret<StoreCredentials> | null {
  const named = s3.accessKeyIdEnv !== undefined || s3.secretAccessKeyEnv !== undefined;
  const [id, secret] = [s3.accessKeyIdEnv ?? 'AWS_ACCESS_KEY_ID', s3.secretAccessKeyEnv ?? 'AWS_SECRET_ACCESS_KEY'];
  const [accessKeyId, secretAccessKey] = [env[id], env[secret]];
  if (!accessKeyId || !secretAccessKey) {
    if (named) problems.push(`${where}: store.s3: set the variables ${id} and ${secret}`);
    return null;
  }
  // A profile that the file names goes before variables, which may belong to something else.
  if (!named && s3.profile !== undefined) return null;
  const sessionToken = (!named && env['AWS_SESSION_TOKEN']) || undefined;
  return new Secret({ accessKeyId, secretAccessKey, sessionToken });
}
