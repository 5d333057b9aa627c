/** Results and values as text: CSV for models and programs, one line for people, a value inside a sentence. */
import { counted } from '../counted';
import type { ResultColumn, SqlResult, SqlValue } from '../domain';
import { clip, cut, visible } from '../clip';
import { stoppedText } from '../sql/claims';

/** A result as a model sees it. It is cut between rows, with a line that says how much is missing. */
export function resultText(result: SqlResult, maxChars: number): string {
  switch (result.kind) {
    case 'rows':
      return csvText(result, maxChars);
    case 'sql-error':
      return `SQL error: ${result.message}`;
    case 'timeout':
      return `Timeout: the query was ${stoppedText(result)}.`;
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
  if (second === undefined && row.length === 1) return cut(cell(row[0] ?? null), maxChars);
  const rows = result.rows.slice(0, 20).map((each) => each.map(cell).join(', '));
  return cut(
    `${result.truncated ? `${result.rows.length}+ rows` : counted(result.rows.length, 'row')}: ${rows.join('; ')}`,
    maxChars,
  );
}

/** A value as a cell of a table says it. */
export function cell(value: SqlValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? shownNumber(value) : String(value);
}

export interface CsvResult {
  readonly columns: readonly Pick<ResultColumn, 'name'>[];
  readonly rows: readonly (readonly SqlValue[])[];
  /** More rows existed than were read. */
  readonly truncated: boolean;
}

/** The largest share of the text that one value may take, so that other columns and rows still fit. */
const LONG_SHARE = 1 / 4;
const LONG_AT_LEAST = 100;

/**
 * A result as CSV (RFC 4180, lines end in LF). NULL is an empty cell for machines and the word NULL for models; an empty
 * text is `""` and the text NULL is quoted, so that they can be told apart. A line that would be empty is `""` too, because
 * most readers skip empty lines. If the CSV is too long, first its long values are shortened, then it is cut between rows,
 * and a last line says how many of how many rows are shown. `nulls`: how NULL is written.
 */
export function toCsv(
  { columns, rows, truncated }: CsvResult,
  { maxChars = Infinity, nulls = '' }: { readonly maxChars?: number; readonly nulls?: '' | 'NULL' } = {},
): string {
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

/** Exact values with a header: NULL empty, an empty text "". */
export function csv(head: readonly string[], rows: readonly (readonly SqlValue[])[]): string {
  return [head, ...rows].map((row) => `${csvLine(row)}\n`).join('');
}

export function csvLine(row: readonly SqlValue[], nulls: '' | 'NULL' = ''): string {
  return row.map((value) => csvCell(value, nulls)).join(',') || '""';
}

const QUOTED = /[",\r\n]/;

function csvCell(value: SqlValue, nulls: '' | 'NULL' = ''): string {
  if (value === null) return nulls;
  if (typeof value !== 'string') return String(value); // numbers and booleans never need quotes
  return value === nulls || value === '' || QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const TEXT_CHARS = 60;
/** A number with more decimals was computed, not entered. */
const WRITTEN_DECIMALS = 6;
const SHOWN_DECIMALS = 4;

const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?( ?(?:Z|[+-]\d\d(?::?\d\d)?))?$/;

/**
 * One result value in a sentence: numbers without meaningless digits of a division, dates without a time of midnight, text
 * in quotes and shortened, so that no value passes for words of the sentence. Uses no locale: the same on every machine.
 */
export function valueText(value: SqlValue, kind: ResultColumn['kind']): string {
  if (value === null) return 'no value';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberText(value);
  if (kind === 'number' && DECIMAL.test(value)) return decimalText(value);
  return MOMENT.test(value) ? momentText(value) : quoted(value);
}

/** Whether `valueText` says all of it: neither rounded nor shortened. */
export function isToldWhole(value: SqlValue, kind: ResultColumn['kind']): boolean {
  if (value === null || typeof value === 'boolean') return true;
  const told = valueText(value, kind);
  return told === `"${value}"` || told === (typeof value === 'number' ? shownNumber(value) : value);
}

/** A number with the 15 digits that a double holds for sure: 53518.84, not 53518.840000000004. Whole numbers stay exact. */
export function shownNumber(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
}

function numberText(value: number): string {
  const written = shownNumber(value);
  if (Number.isInteger(value) || !Number.isFinite(value)) return value === 0 ? '0' : String(value);
  if (decimals(written) <= WRITTEN_DECIMALS) return written;
  const rounded = Number(Math.abs(value) >= 1 ? value.toFixed(SHOWN_DECIMALS) : value.toPrecision(SHOWN_DECIMALS));
  // 99.99999999 is not 100.
  return Number.isInteger(rounded) ? written : String(rounded);
}

function decimals(text: string): number {
  return text.includes('e') ? Infinity : (text.split('.')[1]?.length ?? 0);
}

/** Formats a number that came as text because no double holds it. */
function decimalText(text: string): string {
  const [whole = '', fraction = ''] = text.split('.');
  const written = fraction.replace(/0+$/, '');
  if (written === '') return whole;
  if (written.length <= WRITTEN_DECIMALS) return `${whole}.${written}`;
  return whole.length < 15 ? numberText(Number(text)) : `${whole}.${written.slice(0, SHOWN_DECIMALS)}`;
}

function momentText(text: string): string {
  const [, date = '', time, zone = ''] = MOMENT.exec(text) ?? [];
  if (time === undefined) return text;
  return /^00:00(?::00)?$/.test(time) && zone === '' ? date : `${date} ${time}${zone}`;
}

function quoted(text: string): string {
  return `"${cut(visible(text).replace(/\s+/g, ' ').trim(), TEXT_CHARS).replaceAll('"', "'")}"`;
}
