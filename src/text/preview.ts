/**
 * Results as text: CSV for a model, cut at a number of characters, and one line for a person or for the
 * comparison of candidates.
 */
import { cut } from './clip';
import type { SqlResult, SqlValue } from '../domain';
import { toCsv } from './csv';
import { shownNumber } from './value-text';
import { counted } from '../counted';

/** A result as a model sees it. It is cut between rows, with a line that says how much is missing. */
export function resultText(result: SqlResult, maxChars: number): string {
  switch (result.kind) {
    case 'rows':
      return csvText(result, maxChars);
    case 'sql-error':
      return `SQL error: ${result.message}`;
    case 'timeout':
      return `Timeout: the query was stopped after ${result.afterMs} ms.`;
    case 'refused':
      return `Refused: ${result.message}`;
    default:
      return result satisfies never;
  }
}

/**
 * Results that share a number of characters. What a short one leaves goes to the longer ones, so that counts beside a list
 * do not shorten the list.
 */
export function resultTexts(results: readonly SqlResult[], maxChars: number): string[] {
  const whole = results.map((result) => resultText(result, maxChars));
  const shares = Array.from(whole, () => 0);
  let left = maxChars;
  const byLength = [...whole.keys()].sort((a, b) => (whole[a]?.length ?? 0) - (whole[b]?.length ?? 0));
  byLength.forEach((at, done) => {
    const share = Math.floor(left / (byLength.length - done));
    shares[at] = share;
    left -= Math.min(share, whole[at]?.length ?? 0);
  });
  return results.map((result, at) => resultText(result, shares[at] ?? 0));
}

function csvText(result: Extract<SqlResult, { kind: 'rows' }>, maxChars: number): string {
  const text = toCsv(result, { maxChars, nulls: 'NULL' });
  return result.rows.length === 0 && result.columns.length > 0 ? `${text}\n(no rows)` : text;
}

/** One short line: the value of a single cell, else the first rows. */
export function resultPreview(result: SqlResult, maxChars = 200): string {
  if (result.kind !== 'rows') return cut(resultText(result, maxChars), maxChars);
  const [row, second] = result.rows;
  if (row === undefined) return 'no rows';
  if (second === undefined && row.length === 1) return cut(shown(row[0] ?? null), maxChars);
  const rows = result.rows.slice(0, 20).map((each) => each.map(shown).join(', '));
  return cut(
    `${result.truncated ? `${result.rows.length}+ rows` : counted(result.rows.length, 'row')}: ${rows.join('; ')}`,
    maxChars,
  );
}

function shown(value: SqlValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? shownNumber(value) : String(value);
}
