/**
 * Results as text: CSV for a model, cut at a number of characters (paper: 8,000), and one line for a person or for the
 * comparison of candidates.
 */
import type { SqlResult, SqlValue } from '../domain';

/** What a model sees of a result. A cut falls between rows and says how much is missing. */
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

function csvText(result: Extract<SqlResult, { kind: 'rows' }>, maxChars: number): string {
  const lines = [csvLine(result.columns.map((column) => column.name))];
  let length = lines[0]?.length ?? 0;
  for (const row of result.rows) {
    const line = csvLine(row);
    if (length + line.length + 1 > maxChars) break;
    lines.push(line);
    length += line.length + 1;
  }
  const shown = lines.length - 1;
  if (shown < result.rows.length)
    lines.push(`… ${shown} of ${result.rows.length}${result.truncated ? ' or more' : ''} rows shown`);
  else if (result.truncated) lines.push(`… more rows exist than the ${shown} that were read`);
  else if (shown === 0) lines.push('(no rows)');
  return lines.join('\n').slice(0, maxChars + 80);
}

/** RFC 4180 quoting; NULL is written out, since an empty field is an empty text. */
export function csvLine(values: readonly SqlValue[]): string {
  return values.map((value) => csvField(value)).join(',');
}

function csvField(value: SqlValue): string {
  if (value === null) return 'NULL';
  const text = String(value);
  return /[",\r\n]/.test(text) || text === 'NULL' || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One short line: the value of a single cell, else the first rows. */
export function resultPreview(result: SqlResult, maxChars = 200): string {
  if (result.kind !== 'rows') return cut(resultText(result, maxChars), maxChars);
  const [row, second] = result.rows;
  if (row === undefined) return 'no rows';
  if (second === undefined && row.length === 1) return cut(shown(row[0] ?? null), maxChars);
  const rows = result.rows.slice(0, 20).map((each) => each.map(shown).join(', '));
  return cut(`${result.rows.length}${result.truncated ? '+' : ''} rows: ${rows.join('; ')}`, maxChars);
}

function shown(value: SqlValue): string {
  return value === null ? 'NULL' : String(value);
}

export function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, Math.max(0, maxChars - 1))}…`;
}
