/**
 * How values become history, the same for every client and worker. States of a search, which repeat themselves with every
 * checkpoint, are stored compressed, so that histories stay small (design D3).
 *
 * The Temporal UI shows nothing of a compressed value. Whatever a person looks at there stays plain: inputs and results of
 * steps, the answer, and the current details. Only what is too long to be read is compressed as well.
 * Encryption of payloads belongs here too, as one more codec after this one.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

const THRESHOLD_BYTES = 1024;
/** Above the 15,000 characters that current details may have. */
const UNREADABLE_BYTES = 20_000;
/** Only a state carries the time when its search began. */
const STATE_MARK = '"startedAtMs":';
const ENCODING = 'binary/gate-brotli';
const INNER_ENCODING = 'gate-inner-encoding';
const OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export class CompressingCodec implements PayloadCodec {
  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map(compress));
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map(decompress));
  }
}

export const dataConverter: DataConverter = { payloadCodecs: [new CompressingCodec()] };

function compress(payload: Payload): Payload {
  const { metadata, data } = payload;
  if (!data || data.length < THRESHOLD_BYTES || !metadata?.['encoding']) return payload;
  if (data.length < UNREADABLE_BYTES && !Buffer.from(data).includes(STATE_MARK)) return payload;
  return {
    metadata: { ...metadata, encoding: Buffer.from(ENCODING), [INNER_ENCODING]: metadata['encoding'] },
    data: brotliCompressSync(data, OPTIONS),
  };
}

function decompress(payload: Payload): Payload {
  const { [INNER_ENCODING]: inner, encoding, ...metadata } = payload.metadata ?? {};
  if (!inner || !encoding || !payload.data || Buffer.from(encoding).toString() !== ENCODING) return payload;
  return { metadata: { ...metadata, encoding: inner }, data: brotliDecompressSync(payload.data) };
}
