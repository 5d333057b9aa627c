/** Values that arrive as the database's own text, as JSON-safe values that lose nothing. */
import type { SqlValue } from '../domain';

/** A number only if printing the double gives the same digits; else the text. */
export function exactNumber(text: string): SqlValue {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === canonical(text) ? number : text;
}

/** Without the space that the server prints between tokens, and no other: numbers keep their digits, keys their order. */
export function compactJson(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Without the zeros that a scale adds: `1.50` is `1.5`, `-0.00` is `0`. */
function canonical(text: string): string {
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return trimmed === '-0' ? '0' : trimmed;
}
