/**
 * How values become history, the same for every client and worker. Values of more than 1 KB (checkpoint states, above
 * all) are stored compressed: histories stay small (design D3), and what a person reads in the UI stays readable.
 * Encryption of payloads belongs here too, as one more codec after this one.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

const THRESHOLD_BYTES = 1024;
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
