/**
 * The characters of a text file. DuckDB reads UTF-8 alone without an extension, so anything else is first written again as
 * UTF-8. A file is read in pieces, whatever its size.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SqlEngineError } from '../../../domain/ports/sql-engine';

export interface Text {
  readonly encoding: 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1252';
  /** Whether DuckDB cannot read it as it is. */
  readonly isForeign: boolean;
  /** Bytes that are no UTF-8 in a file that otherwise is. */
  readonly damaged: number;
  /** The first characters. */
  readonly head: string;
  readonly isWhole: boolean;
  /** That are not blank. */
  readonly lines: number;
}

const HEAD_BYTES = 1024 * 1024;

export async function readText(path: string): Promise<Text> {
  const head: Buffer[] = [];
  let bytes = 0;
  let good = 0;
  let bad = 0;
  let rest: Buffer = Buffer.alloc(0);
  const lines = new LineCount();
  for await (const chunk of chunks(path)) {
    lines.add(chunk);
    if (bytes < HEAD_BYTES) head.push(chunk);
    bytes += chunk.length;
    if (rest.length === 0 && isAscii(chunk)) continue;
    const text = Buffer.concat([rest, chunk]);
    const end = wholeCharacters(text);
    rest = Buffer.from(text.subarray(end));
    const count = countOf(text.subarray(0, end));
    good += count.good;
    bad += count.bad;
  }
  bad += rest.length;
  const start = Buffer.concat(head).subarray(0, HEAD_BYTES);
  const utf16 = utf16Of(start);
  const encoding = utf16 ?? (bad > good ? 'Windows-1252' : 'UTF-8');
  const hasMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return {
    encoding,
    // Lines that end in a carriage return alone are evened, because they are counted.
    isForeign: encoding !== 'UTF-8' || bad > 0 || hasMark || /\r[^\n]/.test(start.toString('latin1')),
    damaged: encoding === 'UTF-8' ? bad : 0,
    head: new TextDecoder(encoding).decode(start),
    isWhole: bytes <= HEAD_BYTES,
    lines: lines.count,
  };
}

/** Writes the text as UTF-8 with one kind of line ends and without its first `drop` lines. Gives the number of lines that are not blank. */
export async function convert(path: string, { encoding }: Text, to: string, drop = 0): Promise<number> {
  const decoder = new TextDecoder(encoding);
  const lines = new LineCount();
  let left = drop;
  const part = (text: string): Buffer => {
    const even = text.replace(/\r\n?/g, '\n');
    let from = 0;
    for (let end = even.indexOf('\n'); left > 0 && end >= 0; left -= 1, end = even.indexOf('\n', from)) from = end + 1;
    const bytes = Buffer.from(left > 0 ? '' : even.slice(from));
    lines.add(bytes);
    return bytes;
  };
  const parts = async function* (): AsyncGenerator<Buffer> {
    let held = '';
    for await (const chunk of chunks(path)) {
      const text = held + decoder.decode(chunk, { stream: true });
      held = text.endsWith('\r') ? '\r' : '';
      yield part(text.slice(0, text.length - held.length));
    }
    yield part(held + decoder.decode());
  };
  await pipeline(parts, createWriteStream(to, { mode: 0o600 }));
  return lines.count;
}

/** Of lines that are not blank. */
class LineCount {
  #ended = 0;
  #isFilled = false;

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === 10) {
        if (this.#isFilled) this.#ended += 1;
        this.#isFilled = false;
      } else if (byte !== 13 && byte !== 32) this.#isFilled = true;
    }
  }

  get count(): number {
    return this.#ended + (this.#isFilled ? 1 : 0);
  }
}

/** A text rarely shrinks to a twentieth. */
const MOST_EXPANSION = 100;
const LEAST_UNZIPPED = 256 * 1024 * 1024;

async function* chunks(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  if (!/\.gz$/i.test(path)) {
    yield* file as AsyncIterable<Buffer>;
    return;
  }
  const most = Math.max(LEAST_UNZIPPED, statSync(path).size * MOST_EXPANSION);
  let bytes = 0;
  const unzip = createGunzip();
  file.on('error', (error) => unzip.destroy(error));
  try {
    for await (const chunk of file.pipe(unzip) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most)
        throw new SqlEngineError(
          'not-found',
          `it unzips to more than ${MOST_EXPANSION} times its size: unzip it yourself`,
        );
      yield chunk;
    }
  } catch (error) {
    if (error instanceof SqlEngineError) throw error;
    throw new SqlEngineError('not-found', `it is no whole gzip file (${(error as Error).message})`, { cause: error });
  }
}

/** Where the last character that is whole ends. */
function wholeCharacters(text: Buffer): number {
  for (let at = text.length - 1; at >= Math.max(0, text.length - 4); at -= 1) {
    const byte = text[at] ?? 0;
    if (byte < 0x80) return text.length;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (length > 0) return at + length > text.length ? at : text.length;
  }
  return text.length;
}

/** Characters beyond ASCII in UTF-8, and bytes that are none. */
function countOf(text: Buffer): { good: number; bad: number } {
  if (isUtf8(text)) return { good: 1, bad: 0 };
  const bad = text.toString('utf8').split('\ufffd').length - 1;
  return { good: (text.toString('utf8').match(/[^\x00-\x7f\ufffd]/g) ?? []).length, bad };
}

/** By its mark, or by the zeros of which text without a mark is full. */
function utf16Of(start: Buffer): 'UTF-16LE' | 'UTF-16BE' | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'UTF-16LE';
  if (start[0] === 0xfe && start[1] === 0xff) return 'UTF-16BE';
  const zeros = [0, 0];
  for (let at = 0; at < Math.min(start.length, 4096); at += 1)
    if (start[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = Math.min(start.length, 4096) / 5;
  return odd > many && even < many / 4 ? 'UTF-16LE' : even > many && odd < many / 4 ? 'UTF-16BE' : null;
}
