/**
 * A result as CSV (RFC 4180, lines end in LF). NULL is an empty cell for machines and the word NULL for models; an empty
 * text is `""` and the text NULL is quoted, so that nothing is lost. A text over the budget is cut between rows, and a
 * last line says how many of how many rows are shown.
 */
import type { ResultColumn, SqlValue } from '../domain';

export interface CsvResult {
  readonly columns: readonly Pick<ResultColumn, 'name'>[];
  readonly rows: readonly (readonly SqlValue[])[];
  /** More rows existed than were read. */
  readonly truncated: boolean;
}

export interface CsvOptions {
  readonly maxChars?: number;
  /** How NULL is written: '' or 'NULL'. */
  readonly nulls?: '' | 'NULL';
}

export function toCsv({ columns, rows, truncated }: CsvResult, options: CsvOptions = {}): string {
  const { maxChars = Number.POSITIVE_INFINITY, nulls = '' } = options;
  const cell = (value: SqlValue): string => csvCell(value, nulls);
  const header = columns.map(({ name }) => cell(name)).join(',');
  const lines: string[] = [header];
  let length = header.length;
  for (const row of rows) {
    const line = row.map(cell).join(',');
    if (length + 1 + line.length > maxChars) break;
    lines.push(line);
    length += 1 + line.length;
  }
  const shown = lines.length - 1;
  const total = `${rows.length}${truncated ? ' or more' : ''}`;
  const [first] = rows;
  if (shown === 0 && first !== undefined) {
    // Not even one row fits: the beginning of it says more than nothing.
    const start = `${header}\n${first.map(cell).join(',')}`.slice(0, maxChars);
    return `${start}…\n(the first row is cut; it is 1 of ${total} rows)`;
  }
  if (shown < rows.length || truncated) lines.push(`(${shown} of ${total} rows shown)`);
  return lines.join('\n');
}

const QUOTED = /[",\r\n]/;

export function csvCell(value: SqlValue, nulls: '' | 'NULL' = ''): string {
  if (value === null) return nulls;
  if (typeof value !== 'string') return String(value); // nothing in it is ever quoted
  return value === nulls || value === '' || QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
