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
import { StoreError, type ObjectEntry, type ObjectStore } from '../../domain/ports';
import { limiter } from '../../limiter';
import { assertKey, fromPathSegment, isListable, toPathSegments } from '../local/keys';
import { isGarbled, isNoSuchKey, isTaken, isThere, toStoreError, type S3Place } from './errors';

/** How often a new key is tried while another writer is writing it. */
const TAKEN_TRIES = 8;
const TAKEN_WAIT_MS = 25;
const GARBLED_TRIES = 5;

export function createS3Store(options: S3Options): ObjectStore {
  const bucket = new Bucket(options);
  return {
    async get(key) {
      assertKey(key);
      return bucket.get(key);
    },
    async put(key, text, { overwrite = false } = {}) {
      assertKey(key);
      await (overwrite ? bucket.write(key, text) : bucket.putNew(key, text));
    },
    list: async (prefix) => (await bucket.entries(prefix)).map(({ key }) => key),
    entries: (prefix) => bucket.entries(prefix),
    async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
      assertKey(key);
      if (unmodifiedSinceMs !== Infinity && (await bucket.isLater(key, unmodifiedSinceMs))) return;
      await bucket.delete(key);
    },
  };
}

class Bucket {
  readonly #name: string;
  readonly #root: string;
  readonly #place: S3Place;
  readonly #open: () => Promise<OpenClient>;
  readonly #places = limiter(SOCKETS);

  constructor(options: S3Options) {
    this.#name = options.bucket;
    this.#root = options.prefix ? `${options.prefix}/` : '';
    this.#place = placeOf(options);
    this.#open = lazyClient(options);
  }

  /** Some servers send the bytes of one writer with the checksum of the next while an object is replaced. */
  async get(key: string): Promise<string | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#found('read', async ({ sdk, client }) => {
          const { Body } = await client.send(new sdk.GetObjectCommand(this.#at(key)));
          return (await Body?.transformToString('utf8')) ?? '';
        });
      } catch (error) {
        if (!(error instanceof StoreError) || !isGarbled(error.cause) || attempt >= GARBLED_TRIES) throw error;
        await sleep(TAKEN_WAIT_MS * attempt);
      }
    }
  }

  async write(key: string, text: string, condition: { readonly IfNoneMatch?: '*' } = {}): Promise<void> {
    const Body = Buffer.from(text, 'utf8');
    const ContentType = 'text/plain; charset=utf-8';
    await this.#send('write', ({ sdk, client }) =>
      client.send(new sdk.PutObjectCommand({ ...this.#at(key), ...condition, Body, ContentType })),
    );
  }

  async putNew(key: string, text: string): Promise<void> {
    // Unpaired surrogates become U+FFFD in UTF-8: compare with the text as it is stored.
    const stored = Buffer.from(text, 'utf8').toString('utf8');
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.write(key, text, { IfNoneMatch: '*' });
        return;
      } catch (error) {
        if (!(error instanceof StoreError) || !isTaken(error.cause)) throw error;
        const existing = await this.get(key);
        if (existing === stored) return;
        if (existing !== null) throw new StoreError('conflict', `"${key}" is already stored with another text`);
        // The server was killed while it wrote this object: the key exists but cannot be read. Overwrite it.
        if (attempt >= TAKEN_TRIES && isThere(error.cause)) {
          await this.write(key, text);
          return;
        }
        if (attempt >= TAKEN_TRIES) throw new StoreError('unavailable', `"${key}" is being written by somebody else`);
        await sleep(TAKEN_WAIT_MS * attempt);
      }
    }
  }

  async entries(prefix: string): Promise<ObjectEntry[]> {
    if (!isListable(prefix)) return [];
    const found: ObjectEntry[] = [];
    for await (const entry of this.#objects(prefix)) found.push(entry);
    return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  async isLater(key: string, thanMs: number): Promise<boolean> {
    const head = await this.#found('read', ({ sdk, client }) => client.send(new sdk.HeadObjectCommand(this.#at(key))));
    return head !== null && (head.LastModified?.getTime() ?? Infinity) > thanMs;
  }

  async delete(key: string): Promise<void> {
    await this.#found('write', ({ sdk, client }) => client.send(new sdk.DeleteObjectCommand(this.#at(key))));
  }

  async *#objects(prefix: string): AsyncGenerator<ObjectEntry> {
    const wanted = { Bucket: this.#name, Prefix: this.#root + searchable(prefix) };
    let token: string | undefined;
    do {
      const at = token === undefined ? {} : { ContinuationToken: token };
      const page = await this.#send('read', ({ sdk, client }) =>
        client.send(new sdk.ListObjectsV2Command({ ...wanted, ...at })),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        const key = Key === undefined ? null : keyOf(Key.slice(this.#root.length));
        if (key?.startsWith(prefix)) yield { key, bytes: Size ?? 0, modifiedMs: LastModified?.getTime() ?? 0 };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#name, Key: this.#root + toPathSegments(key).join('/') };
  }

  /** null: there is no such object. */
  #found<T>(doing: 'read' | 'write', work: (open: OpenClient) => Promise<T>): Promise<T | null> {
    return this.#send(doing, (open) =>
      work(open).catch((error: unknown) => {
        if (isNoSuchKey(error)) return null;
        throw error;
      }),
    );
  }

  async #send<T>(doing: 'read' | 'write', work: (open: OpenClient) => Promise<T>): Promise<T> {
    try {
      return await this.#places.run(async () => work(await this.#open()));
    } catch (error) {
      if (isTaken(error)) throw new StoreError('conflict', 'the key is taken', { cause: error });
      throw toStoreError(error, doing, this.#place);
    }
  }
}

/** For messages: where the store is and where its key comes from. No secrets. */
function placeOf({ bucket, prefix, endpoint, credentials, profile }: S3Options): S3Place {
  const at = endpoint ? ` at ${endpoint}` : '';
  const from = profile ? `profile ${profile}` : credentials ? 'AWS_ACCESS_KEY_ID' : "AWS's own sources";
  return { bucket, location: `s3://${bucket}${prefix ? `/${prefix}` : ''}${at}`, credentialsFrom: from };
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

/**
 * The S3 client, loaded when it is first used: the SDK is large and most processes keep their store in a folder.
 * Every wait is bounded, and the SDK tries a request only twice, because Temporal retries the step.
 */

type Sdk = typeof ClientS3;

export interface S3Options {
  readonly bucket: string;
  /** Without leading and trailing slashes; empty: the whole bucket. */
  readonly prefix?: string;
  /** Address of an S3 server other than Amazon's. */
  readonly endpoint?: string | null;
  /** Default: found as AWS tools do; `us-east-1` with `endpoint`, since other servers have no regions. */
  readonly region?: string | null;
  /** Puts the bucket in the path and not in the host name; default: true with `endpoint`. */
  readonly forcePathStyle?: boolean;
  /** Default: found as AWS tools do (variables, profile, web identity, the machine's role). */
  readonly credentials?: S3Credentials | null;
  readonly profile?: string | null;
  readonly connectTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface OpenClient {
  readonly sdk: Sdk;
  readonly client: ClientS3.S3Client;
}

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 20_000;
const ATTEMPTS = 2;
/** Also the limit for concurrent requests: the SDK would count waiting for a socket as connection time. */
const SOCKETS = 64;

function lazyClient(options: S3Options): () => Promise<OpenClient> {
  let opened: Promise<OpenClient> | null = null;
  return () => (opened ??= open(options));
}

async function open(options: S3Options): Promise<OpenClient> {
  // Without this the SDK prints a warning about Node.js versions into the output of commands.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const { endpoint = null, credentials = null, profile = null } = options;
  const region = options.region ?? (endpoint === null ? null : 'us-east-1');
  const sockets = { keepAlive: true, maxSockets: SOCKETS };
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const client = new sdk.S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials: { ...credentials } }),
    ...(profile === null ? {} : { profile }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== null,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
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
