/** The answer in words a person can read at once: the value, or the first rows, and the reading taken where words allow two. */
import type { OpenAssumption, SqlResult, SqlValue } from '../domain';
import { cut } from '../search/preview';

const SHOWN_ROWS = 10;

export function answerText(result: SqlResult, openAssumptions: readonly OpenAssumption[]): string | null {
  if (result.kind !== 'rows') return null;
  const choices = openAssumptions.filter(({ kind }) => kind === 'open-by-wording').map(wordingText);
  return [rowsText(result), ...choices].join('\n');
}

function rowsText({ columns, rows, truncated }: Extract<SqlResult, { kind: 'rows' }>): string {
  const [first, second] = rows;
  if (first === undefined) return 'No rows.';
  if (second === undefined && first.length === 1) return value(first[0] ?? null);
  const names = columns.map(({ name }) => name);
  const lines = rows
    .slice(0, SHOWN_ROWS)
    .map((row) => row.map((cell, index) => `${names[index] ?? ''}: ${value(cell)}`).join(', '));
  const more = rows.length - lines.length;
  const rest = more > 0 || truncated ? [`… ${more}${truncated ? ' or more' : ''} further rows`] : [];
  return [
    ...(first.length === 1 ? [lines.map((line) => line.slice((names[0]?.length ?? 0) + 2)).join(', ')] : lines),
    ...rest,
  ].join('\n');
}

function wordingText({ statement, alternative }: OpenAssumption): string {
  if (alternative === null) return `Read as: ${statement}.`;
  return `Read as: ${statement}. Read as "${alternative.reading}" it would be: ${alternative.gives}.`;
}

function value(cell: SqlValue): string {
  if (cell === null) return 'NULL';
  return typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : cut(String(cell), 200);
}
