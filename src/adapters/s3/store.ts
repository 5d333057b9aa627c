/**
 * An object store in a bucket, of Amazon or any compatible server.
 *
 * 1. Writing a new key is conditional (`If-None-Match: *`): of two writers one wins and the other compares. So a write that
 *    is repeated because its first answer was lost finds its own text and succeeds.
 * 2. A bucket shows whole objects only. Every object has a checksum, which the SDK checks on reading and writing.
 * 3. Keys are encoded like the paths of the local store, so a folder can be copied to a bucket and back.
 */
import { StoreError, type ObjectEntry, type ObjectStore } from '../../ports';
import { createSlots } from '../slots';
import { assertKey, fromPathSegment, toPathSegments } from '../local/keys';
import { lazyClient, SOCKETS, type OpenClient, type S3Options } from './client';
import { isGarbled, isNoSuchKey, isTaken, isThere, toStoreError, type S3Place } from './errors';

/** How often a new key is tried while another writer is writing it. */
const TAKEN_TRIES = 8;
const TAKEN_WAIT_MS = 25;
const GARBLED_TRIES = 5;

export function createS3Store(options: S3Options): ObjectStore {
  const { bucket } = options;
  const root = options.prefix ? `${options.prefix}/` : '';
  const place = placeOf(options);
  const open = lazyClient(options);
  const slots = createSlots(SOCKETS);
  const nameOf = (key: string): string => root + toPathSegments(key).join('/');

  /** Some servers send the bytes of one writer with the checksum of the next while an object is replaced. */
  async function get(key: string): Promise<string | null> {
    assertKey(key);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await getOnce(key);
      } catch (error) {
        if (!(error instanceof StoreError) || !isGarbled(error.cause) || attempt >= GARBLED_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, TAKEN_WAIT_MS * attempt));
      }
    }
  }

  async function getOnce(key: string): Promise<string | null> {
    return guarded('read', async ({ sdk, client }) => {
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: nameOf(key) }));
        return (await Body?.transformToString('utf8')) ?? '';
      } catch (error) {
        if (isNoSuchKey(error)) return null;
        throw error;
      }
    });
  }

  async function write(key: string, text: string, condition: { readonly IfNoneMatch?: '*' }): Promise<void> {
    await guarded('write', ({ sdk, client }) =>
      client.send(
        new sdk.PutObjectCommand({
          ...{ Bucket: bucket, Key: nameOf(key), ...condition },
          Body: Buffer.from(text, 'utf8'),
          ContentType: 'text/plain; charset=utf-8',
        }),
      ),
    );
  }

  async function putNew(key: string, text: string): Promise<void> {
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
        if (attempt >= TAKEN_TRIES && isThere(error.cause)) {
          // The server was killed while it wrote this object: the key exists but cannot be read. Overwrite it.
          await write(key, text, {});
          return;
        }
        if (attempt >= TAKEN_TRIES) throw new StoreError('unavailable', `"${key}" is being written by somebody else`);
        await new Promise((resolve) => setTimeout(resolve, TAKEN_WAIT_MS * attempt));
      }
    }
  }

  async function* objects(prefix: string): AsyncGenerator<ObjectEntry> {
    let token: string | undefined;
    do {
      const page = await guarded('read', ({ sdk, client }) =>
        client.send(
          new sdk.ListObjectsV2Command({
            ...{ Bucket: bucket, Prefix: root + searchable(prefix) },
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        const key = Key === undefined ? null : keyOf(Key.slice(root.length));
        if (key?.startsWith(prefix)) yield { key, bytes: Size ?? 0, modifiedMs: LastModified?.getTime() ?? 0 };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async function entries(prefix: string): Promise<ObjectEntry[]> {
    const folders = prefix.split('/').slice(0, -1);
    if (folders.includes('..') || folders.includes('.') || folders.includes('')) return [];
    const found: ObjectEntry[] = [];
    for await (const entry of objects(prefix)) found.push(entry);
    return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  async function writtenLater(key: string, thanMs: number): Promise<boolean> {
    return guarded('read', async ({ sdk, client }) => {
      try {
        const head = await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: nameOf(key) }));
        return (head.LastModified?.getTime() ?? Infinity) > thanMs;
      } catch (error) {
        if (isNoSuchKey(error)) return false;
        throw error;
      }
    });
  }

  async function guarded<T>(doing: 'read' | 'write', work: (open: OpenClient) => Promise<T>): Promise<T> {
    await slots.take(new AbortController().signal);
    try {
      return await work(await open());
    } catch (error) {
      if (isTaken(error)) throw new StoreError('conflict', 'the key is taken', { cause: error });
      throw toStoreError(error, doing, place);
    } finally {
      slots.give();
    }
  }

  return {
    deletesInTwoRequests: true,
    get,
    async put(key, text, { overwrite = false } = {}) {
      assertKey(key);
      await (overwrite ? write(key, text, {}) : putNew(key, text));
    },
    async list(prefix) {
      return (await entries(prefix)).map(({ key }) => key);
    },
    entries,
    async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
      assertKey(key);
      if (unmodifiedSinceMs !== Infinity && (await writtenLater(key, unmodifiedSinceMs))) return;
      await guarded('write', async ({ sdk, client }) => {
        try {
          await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: nameOf(key) }));
        } catch (error) {
          if (!isNoSuchKey(error)) throw error;
        }
      });
    },
  };
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
