/**
 * An object store in a bucket, of Amazon or any compatible server.
 *
 * 1. Writing a new key is conditional (`If-None-Match: *`): of two writers one wins and the other compares. So a write that
 *    is repeated because its first answer was lost finds its own text and succeeds.
 * 2. A bucket shows whole objects only. Every object has a checksum, which the SDK checks on reading and writing.
 * 3. Keys are encoded like the paths of the local store, so a folder can be copied to a bucket and back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type * as ClientS3 from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { StoreError, type ObjectEntry, type ObjectStore } from '../../domain/ports';
import { assertKey, fromPathSegment, isListable, toPathSegments } from '../local/keys';
import { isGarbled, isNoSuchKey, isTaken, isThere, toStoreError } from './errors';

export interface S3Options {
  readonly bucket: string;
  /** Without leading and trailing slashes; empty: the whole bucket. */
  readonly prefix?: string;
  /** Address of an S3 server other than Amazon's. */
  readonly endpoint?: string | null;
  /** Default: found as AWS tools do; `us-east-1` with `endpoint`, since other servers have no regions. */
  readonly region?: string | null;
  /** Puts the bucket in the path and not in the host name; default: with `endpoint`. */
  readonly forcePathStyle?: boolean | null;
  /** Default: found as AWS tools do (variables, profile, web identity, the machine's role). */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  } | null;
  readonly profile?: string | null;
  readonly requestTimeoutMs?: number;
}

/** How often a new key is tried while another writer is writing it. */
const TAKEN_TRIES = 8;
const GARBLED_TRIES = 5;
const AGAIN_AFTER_MS = 25;
const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** Also the limit for concurrent requests: the SDK would count waiting for a socket as connection time. */
const SOCKETS = 64;

export function createS3Store(options: S3Options): ObjectStore {
  const { bucket, prefix: folder, endpoint, credentials, profile } = options;
  const root = folder ? `${folder}/` : '';
  const place = {
    bucket,
    location: `s3://${bucket}${folder ? `/${folder}` : ''}${endpoint ? ` at ${endpoint}` : ''}`,
    credentialsFrom: profile ? `profile ${profile}` : credentials ? 'AWS_ACCESS_KEY_ID' : "AWS's own sources",
  };
  const places = pLimit(SOCKETS);
  let opened: Promise<Opened> | null = null;

  const send = async <T>(doing: 'read' | 'write', work: (open: Opened) => Promise<T>): Promise<T> => {
    try {
      return await places(async () => work(await (opened ??= open(options))));
    } catch (error) {
      if (isTaken(error)) throw new StoreError('conflict', 'the key is taken', { cause: error });
      throw toStoreError(error, doing, place);
    }
  };
  /** null: there is no such object. */
  const found = <T>(doing: 'read' | 'write', work: (open: Opened) => Promise<T>): Promise<T | null> =>
    send(doing, (open) =>
      work(open).catch((error: unknown) => {
        if (isNoSuchKey(error)) return null;
        throw error;
      }),
    );
  const at = (key: string) => {
    assertKey(key);
    return { Bucket: bucket, Key: root + toPathSegments(key).join('/') };
  };

  /** Some servers send the bytes of one writer with the checksum of the next while an object is replaced. */
  const get = async (key: string): Promise<string | null> => {
    const Where = at(key);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await found('read', async ({ sdk, client }) => {
          const { Body } = await client.send(new sdk.GetObjectCommand(Where));
          return (await Body?.transformToString('utf8')) ?? '';
        });
      } catch (error) {
        if (!(error instanceof StoreError) || !isGarbled(error.cause) || attempt >= GARBLED_TRIES) throw error;
        await sleep(AGAIN_AFTER_MS * attempt);
      }
    }
  };
  const write = async (key: string, text: string, condition: { readonly IfNoneMatch?: '*' } = {}): Promise<void> => {
    const object = { ...at(key), Body: Buffer.from(text, 'utf8'), ContentType: 'text/plain; charset=utf-8' };
    await send('write', ({ sdk, client }) => client.send(new sdk.PutObjectCommand({ ...object, ...condition })));
  };
  const putNew = async (key: string, text: string): Promise<void> => {
    // Unpaired surrogates become U+FFFD in UTF-8: compare with the text as it is stored.
    const stored = Buffer.from(text, 'utf8').toString('utf8');
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write(key, text, { IfNoneMatch: '*' });
        return;
      } catch (error) {
        if (!(error instanceof StoreError) || !isTaken(error.cause)) throw error;
        const existing = await get(key);
        if (existing === stored) return;
        if (existing !== null) throw new StoreError('conflict', `"${key}" is already stored with another text`);
        // The server was killed while it wrote this object: the key exists but cannot be read. Overwrite it.
        if (attempt >= TAKEN_TRIES && isThere(error.cause)) return write(key, text);
        if (attempt >= TAKEN_TRIES) throw new StoreError('unavailable', `"${key}" is being written by somebody else`);
        await sleep(AGAIN_AFTER_MS * attempt);
      }
    }
  };
  const entries = async (
    prefix: string,
    { limit = Infinity, after = '' }: Parameters<ObjectStore['list']>[1] = {},
  ): Promise<ObjectEntry[]> => {
    if (!isListable(prefix)) return [];
    const StartAfter = after === '' ? undefined : root + after;
    const listed: ObjectEntry[] = [];
    let ContinuationToken: string | undefined;
    do {
      const Prefix = root + searchable(prefix);
      const wanted = { Bucket: bucket, Prefix, StartAfter, ContinuationToken, MaxKeys: pageOf(limit) };
      const page = await send('read', ({ sdk, client }) => client.send(new sdk.ListObjectsV2Command(wanted)));
      for (const { Key = '', Size, LastModified } of page.Contents ?? []) {
        const key = keyOf(Key.slice(root.length));
        if (key?.startsWith(prefix) && key > after)
          listed.push({ key, bytes: Size ?? 0, modifiedMs: LastModified?.getTime() ?? 0 });
      }
      ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (ContinuationToken !== undefined && listed.length < limit);
    return listed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).slice(0, limit);
  };
  return {
    get,
    put: (key, text, { overwrite = false } = {}) => (overwrite ? write(key, text) : putNew(key, text)),
    list: async (prefix, options) => (await entries(prefix, options)).map(({ key }) => key),
    entries: (prefix) => entries(prefix),
    async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
      const Where = at(key);
      if (unmodifiedSinceMs !== Infinity) {
        const head = await found('read', ({ sdk, client }) => client.send(new sdk.HeadObjectCommand(Where)));
        if (head !== null && (head.LastModified?.getTime() ?? Infinity) > unmodifiedSinceMs) return;
      }
      await found('write', ({ sdk, client }) => client.send(new sdk.DeleteObjectCommand(Where)));
    },
  };
}

/** Of what a server gives at once. */
function pageOf(limit: number): number {
  return Math.min(limit, 1_000);
}

/** The part of a prefix whose encoding does not depend on how its last segment continues. */
function searchable(prefix: string): string {
  const cut = prefix.lastIndexOf('/') + 1;
  const folders = prefix.slice(0, cut);
  const plain = /^[a-z0-9_-]*/.exec(prefix.slice(cut))?.[0] ?? '';
  return (folders === '' ? '' : `${toPathSegments(folders.slice(0, -1)).join('/')}/`) + plain;
}

/** Null for an object that this store did not write. */
function keyOf(name: string): string | null {
  const segments = name.split('/').map(fromPathSegment);
  return segments.some((segment) => segment === null || segment === '') ? null : segments.join('/');
}

interface Opened {
  readonly sdk: typeof ClientS3;
  readonly client: ClientS3.S3Client;
}

/**
 * The S3 client, loaded when it is first used: the SDK is large and most processes keep their store in a folder.
 * Every wait is bounded, and the SDK tries a request only twice, because Temporal retries the step.
 */
async function open({ endpoint, region, credentials, profile, ...options }: S3Options): Promise<Opened> {
  // Without this the SDK prints a warning about Node.js versions into the output of commands.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const sockets = { keepAlive: true, maxSockets: SOCKETS };
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const client = new sdk.S3Client({
    endpoint: endpoint ?? undefined,
    region: region ?? (endpoint ? 'us-east-1' : undefined),
    ...(credentials && { credentials }),
    ...(profile && { profile }),
    forcePathStyle: options.forcePathStyle ?? Boolean(endpoint),
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout,
      throwOnRequestTimeout: true,
      // For a connection that is accepted and then silent.
      socketTimeout: requestTimeout,
      httpAgent: sockets,
      httpsAgent: sockets,
    },
  });
  return { sdk, client };
}
