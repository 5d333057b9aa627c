/**
 * Encryption of everything Temporal stores as a payload: inputs, results, memos, summaries, details, failures. It runs
 * after compression, because encrypted data does not compress.
 *
 * A whole payload is sealed, metadata included. Its purpose is authenticated, so that a stored object cannot be passed
 * off as a payload. The workflow's id is not authenticated: the codec server does not know which workflow a payload
 * belongs to.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { StoreError } from '../../domain/ports';
import { DamagedError, noKey, type KeyRing } from './key-ring';

const ENCRYPTED_ENCODING = 'binary/encrypted';
const KEY_METADATA = 'encryption-key-id';
const PURPOSE = 'payload';

/**
 * Without a ring it encrypts nothing, and an encrypted payload gives an error that names the key it needs: a `StoreError`, at
 * which Temporal fails a worker's task and schedules it again, so that the workflow does not fail and nothing is lost.
 *
 * `showsUnreadable`: instead of the error a JSON text that names the key, for listings, where one unreadable entry must not hide
 * the others.
 */
export class EncryptingCodec implements PayloadCodec {
  constructor(
    private readonly ring: KeyRing | null,
    private readonly showsUnreadable = false,
  ) {}

  /** The same keys, with `showsUnreadable`. */
  forListing(): EncryptingCodec {
    return new EncryptingCodec(this.ring, true);
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    const { ring } = this;
    return Promise.resolve(ring === null ? payloads : payloads.map((payload) => encrypt(payload, ring)));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- a throw has to become a rejection
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.decrypt(payload));
  }

  private decrypt(payload: Payload): Payload {
    const keyRef = keyOf(payload);
    if (keyRef === null) return payload;
    try {
      if (this.ring === null) throw noKey(keyRef);
      return unpack(this.ring.open({ keyRef, bytes: payload.data ?? new Uint8Array() }, PURPOSE));
    } catch (error) {
      const failed = explained(error);
      if (!this.showsUnreadable) throw failed;
      return {
        metadata: { encoding: Buffer.from('json/plain') },
        data: Buffer.from(JSON.stringify(`[${failed.message}]`)),
      };
    }
  }
}

function encrypt(payload: Payload, ring: KeyRing): Payload {
  if (keyOf(payload) !== null) return payload;
  const { keyRef, bytes } = ring.seal(pack(payload), PURPOSE);
  return { metadata: { encoding: Buffer.from(ENCRYPTED_ENCODING), [KEY_METADATA]: Buffer.from(keyRef) }, data: bytes };
}

function keyOf({ metadata }: Payload): string | null {
  const encoding = metadata?.['encoding'];
  const keyRef = metadata?.[KEY_METADATA];
  if (!encoding || !keyRef || Buffer.from(encoding).toString() !== ENCRYPTED_ENCODING) return null;
  return Buffer.from(keyRef).toString();
}

/** Four bytes with the length of the metadata, the metadata as JSON of base64, the data. */
function pack({ metadata, data }: Payload): Buffer {
  const fields = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(fields)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? new Uint8Array()]);
}

function unpack(bytes: Buffer): Payload {
  const end = 4 + bytes.readUInt32BE(0);
  const fields = JSON.parse(bytes.subarray(4, end).toString()) as Record<string, string>;
  const metadata = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
  );
  return { metadata, data: new Uint8Array(bytes.subarray(end)) };
}

function explained(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const why = error instanceof DamagedError ? error.message : 'it is not what was encrypted';
  return new StoreError('corrupt', `a payload of the history is damaged (${why})`, { cause: error });
}
