/**
 * A result as CSV (RFC 4180, lines end in LF). NULL is an empty cell for machines and the word NULL for models; an empty
 * text is `""` and the text NULL is quoted, so that they can be told apart. A line that would be empty is `""` too, because
 * most readers skip empty lines. If the CSV is too long, first its long values are shortened, then it is cut between rows,
 * and a last line says how many of how many rows are shown.
 */
import { clip } from './clip';
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

/** The largest share of the text that one value may take, so that other columns and rows still fit. */
const LONG_SHARE = 1 / 4;
const LONG_AT_LEAST = 100;

export function toCsv({ columns, rows, truncated }: CsvResult, options: CsvOptions = {}): string {
  const { maxChars = Number.POSITIVE_INFINITY, nulls = '' } = options;
  const total = `${rows.length}${truncated ? ' or more' : ''}`;
  if (columns.length === 0) return `(${total} rows without columns)`;
  const header = csvLine(
    columns.map(({ name }) => name),
    nulls,
  );
  const written = (row: readonly SqlValue[]): string => csvLine(row, nulls);
  let lines = fitting(header, rows, maxChars, written);
  if (lines.length <= rows.length) {
    const long = Math.max(LONG_AT_LEAST, Math.floor(maxChars * LONG_SHARE));
    lines = fitting(header, rows, maxChars, (row) => written(row.map((value) => shortened(value, long))));
  }
  const shown = lines.length - 1;
  const [first] = rows;
  if (header.length > maxChars)
    return `${clip(header, maxChars)}…\n(the header is cut; ${columns.length} columns, ${total} rows)`;
  if (shown === 0 && first !== undefined) {
    // Not even one row fits: show its beginning.
    const start = clip(`${header}\n${written(first)}`, maxChars);
    return `${start}…\n(the first row is cut; it is 1 of ${total} rows)`;
  }
  if (shown < rows.length || truncated) lines.push(`(${shown} of ${total} rows shown)`);
  return lines.join('\n');
}

/** The header and as many rows as fit. */
function fitting(
  header: string,
  rows: CsvResult['rows'],
  maxChars: number,
  written: (row: readonly SqlValue[]) => string,
): string[] {
  const lines = [header];
  let length = header.length;
  for (const row of rows) {
    const line = written(row);
    if (length + 1 + line.length > maxChars) break;
    lines.push(line);
    length += 1 + line.length;
  }
  return lines;
}

function shortened(value: SqlValue, chars: number): SqlValue {
  if (typeof value !== 'string' || value.length <= chars) return value;
  const start = clip(value, chars);
  return `${start}… (${value.length - start.length} more characters)`;
}

export function csvLine(row: readonly SqlValue[], nulls: '' | 'NULL' = ''): string {
  return row.map((value) => csvCell(value, nulls)).join(',') || '""';
}

const QUOTED = /[",\r\n]/;

export function csvCell(value: SqlValue, nulls: '' | 'NULL' = ''): string {
  if (value === null) return nulls;
  if (typeof value !== 'string') return String(value); // numbers and booleans never need quotes
  return value === nulls || value === '' || QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
