/**
 * The safety net for payloads too large for a history: above 128 KiB they are kept in the object store and the history
 * holds a reference (Temporal refuses payloads of 2 MB, and ends a workflow whose history passes 50 MB). Ordinary steps
 * never come near it (design D1, D3).
 *
 * 1. It stores payloads after the codecs, so they stay compressed or encrypted.
 * 2. Keys: `payloads/<namespace>/<workflow id>/sha256/<hash>`. A payload is written before anything refers to it. Each write
 *    resets its age. Its text is checked by hash when it is read.
 * 3. An outage fails the task, which Temporal schedules again; nothing is lost.
 */
import { ExternalStorage, StorageDriverClaim, type Payload, type StorageDriver } from '@temporalio/common';
import { decodeReferencePayload, isReferencePayload } from '@temporalio/common/lib/internal-non-workflow';
import { z } from 'zod';
import { StoreError, type ObjectStore } from '../domain/ports';
import { sha256 } from '../sha256';
import { parsedJson } from '../json';

export const PAYLOADS = 'payloads/';
export const OFFLOAD_BYTES = 128 * 1024;
/** This name is written into histories: never change it. */
const DRIVER = 'gate-object-store';
const LONGEST_ID = 150;
/** Used as workflow id if the SDK does not say to which workflow a payload belongs. */
export const UNKNOWN_OWNER = 'unknown';

const Kept = z.object({
  workflowId: z.string(),
  metadata: z.record(z.string(), z.base64()),
  data: z.base64(),
});
type Kept = z.infer<typeof Kept>;

export function externalStorage(store: ObjectStore, thresholdBytes = OFFLOAD_BYTES): ExternalStorage {
  return new ExternalStorage({ drivers: [storeDriver(store)], payloadSizeThreshold: thresholdBytes });
}

export interface StoredPayloads {
  isReference(payload: Payload): boolean;
  /**
   * What the reference stands for, as the codecs made it, and its size in the store. A `StoreError` says why it cannot be
   * had, a `RangeError` that it is larger than asked for (it is then not read) or that the reference is none of ours.
   */
  fetch(reference: Payload, atMostBytes: number): Promise<{ readonly payload: Payload; readonly bytes: number }>;
}

/** For the codec server, which shows people what workers and clients fetch by themselves. */
export function storedPayloads(store: ObjectStore): StoredPayloads {
  return {
    isReference: isReferencePayload,
    async fetch(reference, atMostBytes) {
      const { driverName, claimData } = claimIn(reference);
      if (driverName !== DRIVER) throw new RangeError(`a payload kept by "${driverName}", which gate does not read`);
      const { key = '' } = claimData;
      assertOurs(key);
      const bytes = (await store.entries(key)).find((entry) => entry.key === key)?.bytes ?? 0;
      if (bytes > atMostBytes)
        throw new RangeError(
          `${key} has ${megabytes(bytes)}, more than the ${megabytes(atMostBytes)} left to show here`,
        );
      return { payload: await retrieve(store, new StorageDriverClaim(claimData)), bytes };
    },
  };
}

/** The workflow that an object under `payloads/` belongs to. */
export function payloadOwner(text: string): string | null {
  return Kept.safeParse(parsedJson(text)).data?.workflowId ?? null;
}

/** `payloads/<namespace>/<workflow id>/`: an id that is no plain or too long a segment is written as its hash. */
export function payloadFolder(namespace: string, workflowId: string): string {
  const [space, id] = [namespace, workflowId].map((text) =>
    /^[A-Za-z0-9_.-]*[A-Za-z0-9_-]$/.test(text) && text.length <= LONGEST_ID ? text : `id-${sha256(text)}`,
  );
  return `${PAYLOADS}${String(space)}/${String(id)}/`;
}

function storeDriver(store: ObjectStore): StorageDriver {
  return {
    name: DRIVER,
    type: DRIVER,
    store: (context, payloads) => {
      const namespace = context.target?.namespace ?? 'default';
      const workflowId = context.target?.kind === 'workflow' ? (context.target.id ?? UNKNOWN_OWNER) : UNKNOWN_OWNER;
      return Promise.all(
        payloads.map(async (payload) => {
          const text = JSON.stringify(kept(payload, workflowId));
          const hash = sha256(text);
          const key = `${payloadFolder(namespace, workflowId)}sha256/${hash}`;
          await store.put(key, text, { overwrite: true });
          return new StorageDriverClaim({ key, sha256: hash });
        }),
      );
    },
    retrieve: (_context, claims) => Promise.all(claims.map((claim) => retrieve(store, claim))),
  };
}

async function retrieve(store: ObjectStore, { claimData }: StorageDriverClaim): Promise<Payload> {
  const { key = '', sha256: hash } = claimData;
  assertOurs(key);
  const text = await store.get(key);
  if (text === null) {
    throw new StoreError('missing', `${key} is missing from the store: restore it, or ask with --fresh`);
  }
  const parsed = Kept.safeParse(parsedJson(text));
  if (sha256(text) !== hash || !parsed.success) {
    throw new StoreError('corrupt', `${key} is damaged (its hash does not match): restore it, or ask with --fresh`);
  }
  const metadata = Object.entries(parsed.data.metadata).map(([name, value]) => [name, bytesOf(value)] as const);
  return { metadata: Object.fromEntries(metadata), data: bytesOf(parsed.data.data) };
}

function kept({ metadata, data }: Payload, workflowId: string): Kept {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)] as const);
  return {
    workflowId,
    metadata: Object.fromEntries(entries),
    data: base64(data ?? new Uint8Array()),
  };
}

function claimIn(reference: Payload): ReturnType<typeof decodeReferencePayload> {
  try {
    return decodeReferencePayload(reference);
  } catch (error) {
    throw new StoreError('corrupt', 'a reference of the history is damaged', { cause: error });
  }
}

function assertOurs(key: string): void {
  if (!key.startsWith(PAYLOADS))
    throw new StoreError('corrupt', 'the history refers to a payload outside of payloads/');
}

function megabytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
