/**
 * How values become history, the same for every client and worker. States of a search, which repeat themselves with every
 * checkpoint, are stored compressed, so that histories stay small (design D3).
 *
 * The Temporal UI shows nothing of a compressed value. Whatever a person looks at there stays plain: inputs and results of
 * steps, the answer, and the current details. Only what is too long to be read is compressed as well.
 * With encryption on nobody reads anything there without the codec server, so everything is compressed, then encrypted.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { EncryptingCodec, type KeyRing } from '../adapters/encryption';
import type { Config } from '../config';
import { keyRingOf } from './open-store';

const THRESHOLD_BYTES = 1024;
/** Below it a compressed value is hardly shorter. */
const WORTH_BYTES = 200;
/** Above the 15,000 characters that current details may have. */
const UNREADABLE_BYTES = 20_000;
/** Only a state carries the time when its search began. */
const STATE_MARK = '"startedAtMs":';
const ENCODING = 'binary/gate-brotli';
const INNER_ENCODING = 'gate-inner-encoding';
const OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export class CompressingCodec implements PayloadCodec {
  /** `all`: compresses whatever is long enough to become shorter. */
  constructor(private readonly all: boolean) {}

  encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    // What a local activity is given never enters a history; its result does, but that is never a state.
    const isLocal = context?.type === 'activity' && context.isLocal;
    return Promise.resolve(
      payloads.map((payload) => (isLocal && holdsState(payload) ? payload : compress(payload, this.all))),
    );
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map(decompress));
  }
}

/** Without a ring nothing is encrypted, and an encrypted payload names the key it needs. */
export function createDataConverter(ring: KeyRing | null): DataConverter {
  return {
    payloadCodecs: [new CompressingCodec(ring !== null), new EncryptingCodec(ring)],
    failureConverterPath: ring === null ? undefined : require.resolve('./encoded-failures'),
  };
}

/** The same, but what cannot be decrypted becomes a text that names the key. */
export function forListing(converter: DataConverter): DataConverter {
  const codecs = (converter.payloadCodecs ?? []).map((codec) =>
    codec instanceof EncryptingCodec ? codec.forListing() : codec,
  );
  return { ...converter, payloadCodecs: codecs };
}

/** Nothing encrypted. */
export const dataConverter: DataConverter = createDataConverter(null);

function compress(payload: Payload, all: boolean): Payload {
  const { metadata, data } = payload;
  if (!data || data.length < (all ? WORTH_BYTES : THRESHOLD_BYTES) || !metadata?.['encoding']) return payload;
  if (!all && data.length < UNREADABLE_BYTES && !holdsState(payload)) return payload;
  return {
    metadata: { ...metadata, encoding: Buffer.from(ENCODING), [INNER_ENCODING]: metadata['encoding'] },
    data: brotliCompressSync(data, OPTIONS),
  };
}

function holdsState({ data }: Payload): boolean {
  return !!data && Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(STATE_MARK);
}

function decompress(payload: Payload): Payload {
  const { [INNER_ENCODING]: inner, encoding, ...metadata } = payload.metadata ?? {};
  if (!inner || !encoding || !payload.data || Buffer.from(encoding).toString() !== ENCODING) return payload;
  return { metadata: { ...metadata, encoding: inner }, data: brotliDecompressSync(payload.data) };
}

type Encrypted = Pick<Config, 'encryption'>;

export function dataConverterOf(config: Encrypted): DataConverter {
  return createDataConverter(keyRingOf(config));
}

/** For the codec server: what cannot be decrypted becomes a text that names the key. */
export function codecsOf(config: Encrypted): readonly PayloadCodec[] {
  return forListing(dataConverterOf(config)).payloadCodecs ?? [];
}
