/**
 * The key ring: AES-256-GCM under named keys. The first key encrypts; every key decrypts. To change keys, put the new one
 * first and keep the old one as long as anything encrypted with it is left.
 *
 * 1. Each message has its own random 96-bit nonce. The key's id and the purpose of the message are authenticated with it.
 * 2. A message names its key by id and by a check value derived from the key. So a missing key, a different key with the
 *    same name, and damaged data give three different errors.
 * 3. Keys of other purposes (names of objects) are derived by HKDF and never used to encrypt.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { StoreError } from '../../domain/ports';

export const KEY_BYTES = 32;

export interface EncryptionKey {
  /** Letters, digits, `_`, `.` and `-`. Stored in plain text next to everything that the key encrypts. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** `keyRef`: `<key id>#<check value>`. `bytes`: nonce, ciphertext, tag. */
interface Sealed {
  readonly keyRef: string;
  readonly bytes: Uint8Array;
}

export interface KeyRing {
  readonly keyIds: readonly string[];
  /** `purpose` is authenticated, not stored: `open` needs the same one. */
  seal(plain: Uint8Array, purpose: string): Sealed;
  /**
   * Throws a `StoreError` where the key is not configured in this process (another worker may have it, so a retry there may
   * succeed), and `DamagedError` when the message or its purpose is not what was sealed.
   */
  open(sealed: Sealed, purpose: string): Buffer;
  /** HMAC-SHA256 of a text in hexadecimal, by the current key: a name for the text that does not reveal it. */
  nameOf(text: string): string;
}

/** The data is not what was sealed: it was changed, cut short, or moved here from another place. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SETTING = '"encryption.keys" of the configuration';

export function createKeyRing(keys: readonly EncryptionKey[]): KeyRing {
  const ring = keys.map(derive);
  const [current] = ring;
  if (current === undefined) throw new RangeError('a key ring needs a key');
  const keyFor = (keyRef: string): Derived => {
    const found = ring.find((one) => one.ref === keyRef);
    if (found !== undefined) return found;
    const id = keyIdOf(keyRef);
    if (!ring.some((one) => one.id === id)) throw noKey(keyRef);
    const message = `encrypted with another key named '${id}' than the one configured here: correct it in ${SETTING}`;
    throw new StoreError('wrong-key', message);
  };
  return {
    keyIds: ring.map(({ id }) => id),
    seal(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(associated(current.ref, purpose));
      const bytes = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return { keyRef: current.ref, bytes };
    },
    open({ keyRef, bytes }, purpose) {
      const { key } = keyFor(keyRef);
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new DamagedError('it is too short');
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(associated(keyRef, purpose))
        .setAuthTag(bytes.subarray(end));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]);
      } catch (error) {
        throw new DamagedError('its authentication tag does not fit', { cause: error });
      }
    },
    nameOf: (text) => createHmac('sha256', current.nameKey).update(text).digest('hex'),
  };
}

/** The key is not among those that are configured. */
export function noKey(keyRef: string): StoreError {
  const message = `encrypted with key '${keyIdOf(keyRef)}', which is not configured here: add it to ${SETTING}`;
  return new StoreError('wrong-key', message);
}

/** Safe to show: whoever changed what is stored may have written anything there. */
function keyIdOf(keyRef: string): string {
  return (keyRef.split('#')[0] ?? '').replace(/[^\w.-]/g, '?').slice(0, 60);
}

interface Derived {
  readonly id: string;
  readonly key: Uint8Array;
  readonly ref: string;
  readonly nameKey: Buffer;
}

function derive({ id, key }: EncryptionKey): Derived {
  if (key.length !== KEY_BYTES) throw new RangeError(`key '${id}' has ${String(key.length)} bytes instead of 32`);
  const from = (info: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', key, new Uint8Array(), info, length));
  return { id, key, ref: `${id}#${from('gate/key-check', 4).toString('hex')}`, nameKey: from('gate/names', KEY_BYTES) };
}

function associated(keyRef: string, purpose: string): Buffer {
  return Buffer.from(`gate/1\n${keyRef}\n${purpose}`);
}
