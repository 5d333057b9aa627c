/** The characters of a text file, whatever its size: DuckDB reads UTF-8 alone, so each file is written again as that. */
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { unreadable } from './sources';

/** How a file is read. */
export interface Text {
  readonly path: string;
  readonly encoding: 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1250' | 'Windows-1252';
  /** That are not in its encoding, each of which becomes `U+FFFD`. */
  readonly damaged: number;
  /** The first characters. */
  readonly head: string;
  readonly isWhole: boolean;
  /** Of all that is unzipped. */
  readonly maxBytes: number;
}

const HEAD_BYTES = 1024 * 1024;

/** Reads the whole file once. Null: it has no character but blanks. */
export async function readText(path: string, maxBytes: number): Promise<Text | null> {
  const head: Buffer[] = [];
  let bytes = 0;
  let [good, bad, isBlank] = [0, 0, true];
  const decoder = new TextDecoder();
  const count = (text: string): void => {
    isBlank &&= text.trim() === '';
    const lost = text.split('\ufffd').length - 1;
    bad += lost;
    good += (text.match(/[^\x00-\x7f]/g)?.length ?? 0) - lost;
  };
  for await (const chunk of bytesOf(path, maxBytes)) {
    if (bytes < HEAD_BYTES) head.push(chunk);
    bytes += chunk.length;
    count(decoder.decode(chunk, { stream: true }));
  }
  count(decoder.decode());
  if (isBlank) return null;
  const start = Buffer.concat(head).subarray(0, HEAD_BYTES);
  const encoding = utf16Of(start) ?? (bad > good ? windowsOf(start) : 'UTF-8');
  return {
    path,
    encoding,
    damaged: encoding === 'UTF-8' ? bad : 0,
    head: evenLines(new TextDecoder(encoding).decode(start)),
    isWhole: bytes <= HEAD_BYTES,
    maxBytes,
  };
}

/** The text in pieces, with one kind of line ends. `isEscaped`: as `doubled` makes it. */
export async function* piecesOf({ path, encoding, maxBytes }: Text, isEscaped = false): AsyncGenerator<string> {
  const even = (text: string): string => (isEscaped ? doubled(evenLines(text)) : evenLines(text));
  const decoder = new TextDecoder(encoding);
  let held = '';
  for await (const chunk of bytesOf(path, maxBytes)) {
    const text = held + decoder.decode(chunk, { stream: true });
    let end = text.length;
    // What comes next decides what these are.
    while (text[end - 1] === '\r' || text[end - 1] === '\\') end -= 1;
    held = text.slice(end);
    yield even(text.slice(0, end));
  }
  yield even(held + decoder.decode());
}

const evenLines = (text: string): string => text.replace(/\r\n?/g, '\n');

/** Of a text with `\"` for a quote and `\\` for `\`, as MySQL writes it: with `""`, as CSV has it. */
export const doubled = (text: string): string => text.replace(/\\(["\\])/g, (_, of) => (of === '"' ? '""' : '\\'));

/** Writes pieces of a text as UTF-8. */
export async function writeText(path: string, pieces: AsyncIterable<string>): Promise<void> {
  await pipeline(pieces, createWriteStream(path, { mode: 0o600 }));
}

/** A text rarely shrinks to a twentieth. */
const MOST_EXPANSION = 100;
const LEAST_UNZIPPED = 256 * 1024 * 1024;

async function* bytesOf(path: string, maxBytes: number): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  if (!/\.gz$/i.test(path)) {
    yield* file as AsyncIterable<Buffer>;
    return;
  }
  const most = Math.min(maxBytes, Math.max(LEAST_UNZIPPED, statSync(path).size * MOST_EXPANSION));
  let bytes = 0;
  const unzip = createGunzip();
  file.on('error', (error) => unzip.destroy(error));
  try {
    for await (const chunk of file.pipe(unzip) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most)
        throw unreadable(
          most === maxBytes
            ? `it unzips to more than the ${maxBytes} bytes that an import may take`
            : `it unzips to more than ${MOST_EXPANSION} times its size: unzip it yourself`,
        );
      yield chunk;
    }
  } catch (error) {
    if (error instanceof SqlEngineError) throw error;
    throw unreadable(
      `it is no whole gzip file (${(error as Error).message}): copy it again, or name it without .gz if it is not compressed`,
      error,
    );
  }
}

/** By its mark, or by the zeros of which text without a mark is full. */
function utf16Of(start: Buffer): 'UTF-16LE' | 'UTF-16BE' | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'UTF-16LE';
  if (start[0] === 0xfe && start[1] === 0xff) return 'UTF-16BE';
  const first = start.subarray(0, 4096);
  const zeros = (side: 0 | 1): number =>
    first.filter((byte, at) => byte === 0 && at % 2 === side).length / first.length;
  if (zeros(1) > 0.2 && zeros(0) < 0.05) return 'UTF-16LE';
  return zeros(0) > 0.2 && zeros(1) < 0.05 ? 'UTF-16BE' : null;
}

/** Letters of Polish stand for signs that western texts do not have within words. */
function windowsOf(start: Buffer): 'Windows-1250' | 'Windows-1252' {
  const text = new TextDecoder('Windows-1252').decode(start);
  const signs = new Set(Array.from(text.matchAll(/(?<=\p{Ll})[³¹¿](?=\p{Ll})/gu), ([sign]) => sign));
  return signs.size > 1 ? 'Windows-1250' : 'Windows-1252';
}
