/** Converts values that the database sends as text to JSON-safe values, without loss. */
import type { SqlValue } from '../../domain';

/** A result larger than this is cut like one with too many rows. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Rows one by one, until a limit of rows or of bytes is reached. */
export class CappedRows {
  readonly rows: SqlValue[][] = [];
  truncated = false;
  #bytes = 0;

  constructor(private readonly maxRows: number) {}

  /** Asked where there is another row, which would be one too many. */
  isFull(): boolean {
    return (this.truncated = this.rows.length >= this.maxRows || this.#bytes > MAX_RESULT_BYTES);
  }

  /** False: the row is one too many, and so is each after it. */
  add(row: SqlValue[]): boolean {
    if (this.isFull()) return false;
    for (const value of row) this.#bytes += typeof value === 'string' ? value.length : 8;
    this.rows.push(row);
    return true;
  }
}

/**
 * A number only if printing the double gives the same digits; else the text. Integers beyond 2^53 are always text: there
 * one double stands for several integers.
 */
export function exactNumber(text: string): SqlValue {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && plain(number) === canonical(text) ? number : text;
}

/** The fewest digits that stand for the same value of 32 bits, as servers print it. */
export function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** `12:00:00.500000` is `12:00:00.5`, whatever the column's precision. */
export const shortTime = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

const SMALL = /^-?\d(?:\.(\d+))?e-(\d+)$/;

/** The shortest digits of a double, without an exponent where `toFixed` can print it without one. */
function plain(number: number): string {
  const text = String(number);
  const small = SMALL.exec(text);
  if (small === null) return text;
  const decimals = (small[1]?.length ?? 0) + Number(small[2]);
  return decimals > 100 ? text : number.toFixed(decimals);
}

/** At most 1,000 at once: the regex engine keeps a backtracking point for every character. */
const SPACE = /\s{1,1000}/g;

/** Removes the space that the server prints between tokens, and nothing else: digits and the order of keys stay. */
export function compactJson(text: string): string {
  let compact = '';
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const opening = quote < 0 ? text.length : quote;
    compact += text.slice(at, opening).replace(SPACE, '');
    at = endOfString(text, opening);
    compact += text.slice(opening, at);
  }
  return compact;
}

/** A loop: a regex that handles escapes overflows the stack on a long text. */
function endOfString(text: string, opening: number): number {
  for (let at = opening + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Removes the zeros that a scale adds: `1.50` becomes `1.5`, `-0.00` becomes `0`. */
function canonical(text: string): string {
  let end = text.length;
  if (text.includes('.')) {
    while (text[end - 1] === '0') end -= 1;
    if (text[end - 1] === '.') end -= 1;
  }
  const trimmed = text.slice(0, end);
  return trimmed === '-0' ? '0' : trimmed;
}
