/** Values that arrive as the database's own text, as JSON-safe values that lose nothing. */
import type { SqlValue } from '../domain';

/**
 * A number only if printing the double gives the same digits; else the text. Beyond 2^53 all are text: a double that
 * happens to fit there could not be told from one that stands for its neighbours.
 */
export function exactNumber(text: string): SqlValue {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && plain(number) === canonical(text) ? number : text;
}

const SMALL = /^-?\d(?:\.(\d+))?e-(\d+)$/;

/** The shortest digits of a double, without an exponent where `toFixed` can go without. */
function plain(number: number): string {
  const text = String(number);
  const small = SMALL.exec(text);
  if (small === null) return text;
  const decimals = (small[1]?.length ?? 0) + Number(small[2]);
  return decimals > 100 ? text : number.toFixed(decimals);
}

/** In pieces: an expression keeps a way back for each character that it took. */
const SPACE = /\s{1,1000}/g;

/** Without the space that the server prints between tokens, and no other: numbers keep their digits, keys their order. */
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

/** By hand: on a long text an expression that knows escapes runs out of stack. */
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

/** Without the zeros that a scale adds: `1.50` is `1.5`, `-0.00` is `0`. */
function canonical(text: string): string {
  let end = text.length;
  if (text.includes('.')) {
    while (text[end - 1] === '0') end -= 1;
    if (text[end - 1] === '.') end -= 1;
  }
  const trimmed = text.slice(0, end);
  return trimmed === '-0' ? '0' : trimmed;
}
