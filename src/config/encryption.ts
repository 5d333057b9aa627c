/**
 * The setting `encryption`: named 256-bit keys from the environment or from files, never written into the configuration.
 * A key that is configured and cannot be read is a mistake at once: silence would mean plain text.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { Secret, secretFile } from './secrets';
import type { Place } from './folders';

const KEY_BYTES = 32;
const HOW_TO_MAKE = 'make one with: openssl rand -base64 32';

export const EncryptionEntry = z.strictObject({
  /** The first key encrypts, all of them decrypt: put a new key in front to rotate. */
  keys: z
    .array(
      z.strictObject({
        /** Written beside everything that this key encrypts. */
        id: z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, 'use letters, digits, _, . and - (at most 40)'),
        /** Name of the variable that holds the key, as base64 or hexadecimal. */
        env: z.string().min(1).optional(),
        /** A file that holds the key, relative to the configuration file. */
        file: z.string().min(1).optional(),
      }),
    )
    .min(1, 'give at least one key, or leave "encryption" out'),
  /** Where `gate ops codec-server` can be reached by whoever looks at the Temporal UI. */
  codecServer: z.url({ protocol: /^https?$/, error: 'give a URL, for example http://127.0.0.1:8834' }).optional(),
});

/** Of `gate ops codec-server`: a fixed address for the UI's settings is nicer to return to. */
export const CODEC_PORT = 8834;

export interface EncryptionConfig {
  readonly keys: readonly {
    readonly id: string;
    /** 32 bytes; prints as `[secret]`. */
    readonly key: Secret<Buffer>;
  }[];
  /** null: a codec server would run on this machine, on `CODEC_PORT`. */
  readonly codecServer: string | null;
}

/** What a Temporal UI is told when it starts with encryption on, whether or not the codec server runs by then. */
export function codecEndpoint({ codecServer }: EncryptionConfig): string {
  return codecServer ?? `http://127.0.0.1:${String(CODEC_PORT)}`;
}

export function encryptionOf(entry: z.infer<typeof EncryptionEntry> | undefined, at: Place): EncryptionConfig | null {
  if (entry === undefined) return null;
  const keys = entry.keys.flatMap(({ id, env, file }, index) => {
    const place = `${at.where}: encryption.keys.${String(index)} ('${id}')`;
    if (entry.keys.findIndex((other) => other.id === id) < index) {
      at.problems.push(`${place}: this id is given twice; each key needs an id of its own`);
    }
    if ((env === undefined) === (file === undefined)) {
      at.problems.push(`${place}: set exactly one of env, file`);
      return [];
    }
    const source = env ?? resolve(at.base, file ?? '');
    const text = env === undefined ? secretFile(source, place, at.problems) : (at.env[env] ?? '').trim();
    if (text === null) return [];
    if (text === '') {
      at.problems.push(
        `${place}: ${env === undefined ? `${source} is empty` : `set the variable ${source}`}; ${HOW_TO_MAKE}`,
      );
      return [];
    }
    const bytes = keyBytes(text);
    if (bytes === null) {
      at.problems.push(`${place}: ${source} is not a key of 32 bytes in base64 or hexadecimal; ${HOW_TO_MAKE}`);
      return [];
    }
    return [{ id, key: new Secret(bytes) }];
  });
  return { keys, codecServer: entry.codecServer?.replace(/\/+$/, '') ?? null };
}

/** null: neither form, or another length. */
function keyBytes(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES ? bytes : null;
}
