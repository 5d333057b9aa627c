/**
 * EHRSQL-2024's own rule over its published answers: every cell that Python can read as a float is rounded to three
 * places, every other cell becomes text; rows are sorted as lists of texts; the first hundred are compared, duplicates
 * included, columns in order. Texts are formatted as in Python, because their order decides which hundred rows are compared.
 */
import type { SqlResult, SqlValue } from '../domain';
import { describeFailure, type Match } from './execution-match';
import type { Row } from './python';
import { pythonFloat, pythonRound } from './python';

export const COMPARED_ROWS = 100;

export function officialAnswerMatch(predicted: SqlResult, answer: readonly Row[]): Match {
  if (predicted.kind !== 'rows') return { kind: 'different', reason: describeFailure(predicted) };
  // The first hundred rows in sorted order are unknown where only a part of the result is.
  if (predicted.truncated)
    return answer.length >= COMPARED_ROWS || answer.length > predicted.rows.length
      ? { kind: 'undecided', reason: 'the result is larger than the row cap, and so may be the official answer' }
      : { kind: 'different', reason: 'more rows than the official answer' };
  const [ours, theirs] = [officialForm(predicted.rows), officialForm(answer)];
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return { kind: 'match', gold: 0 };
  const sizes = ours.length === theirs.length ? 'values' : `rows (${ours.length} instead of ${theirs.length})`;
  return { kind: 'different', reason: `other ${sizes} than the official answer` };
}

export function officialForm(rows: readonly Row[]): string[][] {
  return rows
    .map((row) => row.map(officialCell))
    .sort(compareRows)
    .slice(0, COMPARED_ROWS);
}

/** Texts that Python's `float()` accepts: digits may be grouped by single underscores; outer spaces are ignored. */
const FLOAT = /^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?$/i;
const INFINITE = /^([-+]?)(?:inf|infinity)$/i;

export function officialCell(value: SqlValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? '1.0' : '0.0';
  const text = String(value).trim();
  if (/^[-+]?nan$/i.test(text)) return 'nan';
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? '-inf' : 'inf';
  return FLOAT.test(text) ? pythonFloat(pythonRound(Number(text.replaceAll('_', '')), 3)) : String(value);
}

function compareRows(a: readonly string[], b: readonly string[]): number {
  for (const [index, cell] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareCodePoints(cell, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Python orders texts by code points, JavaScript by code units: these differ where surrogates meet others, which come before. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [one, two] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== two) return rank(one) - rank(two);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
