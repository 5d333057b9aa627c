/**
 * The answers of the codec server: payloads encoded, decoded, or fetched from the store and decoded.
 *
 * 1. If a payload cannot be decrypted or fetched, a text with the reason takes its place, so that the others are still shown.
 *    Only `download`, whose answer becomes a file, fails as a whole.
 * 2. With `preserveStorageRefs`, references are not fetched: the UI downloads them when a person clicks on one.
 * 3. The size of an object is checked before it is read, and each answer has a limit, which protects the memory of this
 *    process and of the browser.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { StoreError } from '../ports';
import type { StoredPayloads } from './external-storage';

export interface Decoders {
  /** In the order of encoding. */
  readonly codecs: readonly PayloadCodec[];
  /** Where payloads too large for a history are. */
  readonly stored: StoredPayloads;
}

export type Action = 'encode' | 'decode' | 'download';

const JsonPayload = z.object({
  metadata: z.record(z.string(), z.string()).optional(),
  data: z.string().nullish(),
  /** Sizes of what a reference stands for; they go back with the reference. */
  externalPayloads: z.array(z.unknown()).optional(),
});
type JsonPayload = z.infer<typeof JsonPayload>;

export const CodecBody = z.object({ payloads: z.array(JsonPayload) });

export type CodecAnswer = z.infer<typeof CodecBody> | { readonly status: number; readonly message: string };

/** The most bytes of stored objects in one answer: a page for a browser, or a file. */
const FETCHED_BYTES = { decode: 16 * 1024 * 1024, download: 64 * 1024 * 1024 } as const;

export async function answerTo(
  action: Action,
  asked: readonly JsonPayload[],
  keepReferences: boolean,
  { codecs, stored }: Decoders,
): Promise<CodecAnswer> {
  if (action === 'encode') {
    let payloads = asked.map(fromJson);
    for (const codec of codecs) payloads = await codec.encode(payloads);
    return { payloads: payloads.map(toJson) };
  }
  const payloads: JsonPayload[] = [];
  let left: number = FETCHED_BYTES[action];
  for (const each of asked) {
    const payload = fromJson(each);
    if (!stored.isReference(payload)) {
      if (action === 'download') return { status: 400, message: 'only references to stored payloads are downloaded' };
      payloads.push(toJson(await decoded(codecs, payload)));
    } else if (action === 'decode' && keepReferences) {
      payloads.push(each);
    } else {
      const fetched = await fetchedOrWhy(stored, payload, left);
      if (fetched instanceof Error) {
        if (action === 'download') return { status: statusOf(fetched), message: fetched.message };
        payloads.push(toJson(textPayload(`[${fetched.message}]`)));
      } else {
        left -= fetched.bytes;
        payloads.push(toJson(await decoded(codecs, fetched.payload)));
      }
    }
  }
  return { payloads };
}

/** Gone, damaged, another key, too large: what a person is told. Anything else is a defect. */
async function fetchedOrWhy(stored: StoredPayloads, reference: Payload, atMostBytes: number) {
  try {
    return await stored.fetch(reference, atMostBytes);
  } catch (error) {
    if (error instanceof StoreError || error instanceof RangeError) return error;
    throw error;
  }
}

async function decoded(codecs: readonly PayloadCodec[], payload: Payload): Promise<Payload> {
  let payloads = [payload];
  for (const codec of [...codecs].reverse()) payloads = await codec.decode(payloads);
  return payloads[0] ?? payload;
}

function statusOf(error: Error): number {
  if (!(error instanceof StoreError)) return 413;
  if (error.code === 'missing') return 404;
  return error.code === 'unavailable' ? 503 : 500;
}

function textPayload(text: string): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(text)) };
}

function fromJson({ metadata = {}, data }: JsonPayload): Payload {
  const fields = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? '', 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const fields = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    metadata: Object.fromEntries(fields) as Record<string, string>,
    data: Buffer.from(data ?? []).toString('base64'),
  };
}
