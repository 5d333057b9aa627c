/**
 * How a CSV file is written: delimiter, header and the lines around it. DuckDB's own sniffer takes a file with one ragged line or
 * with a footnote for a single column, the first of three lines of titles for the header, and years for data.
 */
import { isNoValue } from './column-types';
import { CsvRows, type CsvRow } from './csv-rows';
import { doubled } from './encoding';
import { unique } from './sources';

export interface CsvDialect {
  /** Null: the lines are one column. */
  readonly delimiter: string | null;
  /** Whether `\"` is a quote. */
  readonly isEscaped: boolean;
  readonly columns: readonly string[];
  /** Null: none. */
  readonly header: CsvRow | null;
  /** Whether one like it below is the header again. */
  readonly isSure: boolean;
  /** Rows before the header, or before the first row of the table. */
  readonly above: readonly CsvRow[];
  /** Rows under the header that are none of the table. */
  readonly under: readonly CsvRow[];
}

/** In the order in which one is taken that explains the lines as well as another: decimals are written with commas. */
const DELIMITERS = ['\t', ';', '|', ','];
const MAX_ROWS = 2000;

/** `isWhole`: the text is all of the file. */
export function dialectOf(text: string, isWhole: boolean): CsvDialect {
  const texts = [
    { isEscaped: false, of: text },
    ...(text.includes('\\"') ? [{ isEscaped: true, of: doubled(text) }] : []),
  ];
  const [best] = DELIMITERS.flatMap((delimiter) =>
    texts.map(({ isEscaped, of }) => ({ delimiter, isEscaped, rows: rowsOf(of, delimiter, isWhole) })),
  )
    .map((read) => ({ ...read, ...consistency(read.rows) }))
    .filter(({ width, share }) => width > 1 && share >= 0.5)
    .sort((a, b) => b.closed - a.closed || b.share - a.share || b.width - a.width);
  const { delimiter, isEscaped, rows, width } = best ?? {
    delimiter: null,
    isEscaped: false,
    rows: rowsOf(text, null, isWhole),
    width: 1,
  };
  const { at, names, isSure } = headOf(rows, width, delimiter);
  const header = names === null ? null : (rows[at] ?? null);
  const cells = names?.map((cell) => cell.replace(/\s+/g, ' ').trim()) ?? Array<string>(width).fill('');
  return {
    delimiter,
    isEscaped,
    columns: unique(cells.map((name, index) => name || `column_${index + 1}`)),
    header,
    isSure,
    above: rows.slice(0, at),
    under: header === null ? [] : rowsUnderHeader(rows, at + 1, width),
  };
}

function consistency(rows: readonly CsvRow[]) {
  const counts = new Map<number, number>();
  const own = rows.slice(commentsOf(rows));
  for (const row of own) counts.set(row.width, (counts.get(row.width) ?? 0) + 1);
  const [width = 1, count = 0] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [];
  // With another delimiter a quoted cell with a comma is two, of which none closes its quote.
  const closed = own.filter((row) => row.width === width && row.quoted?.isOpen !== true).length;
  return { width, share: count / Math.max(1, own.length), closed: closed / Math.max(1, own.length) };
}

/** May be: `#` also begins names. */
export const isComment = (line: string): boolean => /^\s*(#|--|\/\/)/.test(line);

/** How many rows at the beginning may be comments. */
function commentsOf(rows: readonly CsvRow[]): number {
  const first = rows.findIndex(({ text }) => !isComment(text));
  return Math.max(0, first);
}

/** The first of them. A quote that opens the first row may not be closed within the text, of which there may be more. */
function rowsOf(text: string, delimiter: string | null, isWhole: boolean): CsvRow[] {
  const rows: CsvRow[] = [];
  for (const row of new CsvRows(delimiter).add(text, isWhole)) if (rows.push(row) === MAX_ROWS) break;
  return rows.length > 0 || isWhole ? rows : rowsOf(text, delimiter, true);
}

const NUMBER = /^[-+]?[.]?[0-9][0-9.,' ]*([eE][-+]?[0-9]+)?%?$/;
const DATE = /^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}\b/;
const isBlank = (cell: string): boolean => cell.trim() === '';
const isValue = (cell: string): boolean => NUMBER.test(cell.trim()) || DATE.test(cell.trim());
const isWord = (cell: string): boolean => !isValue(cell) && !isNoValue(cell);
/** Amounts and measured values as people write them: `$5`, `(7)`, `<0.1`, `5 kg`, `Inf`, `yes`. */
const isFigure = (cell: string): boolean =>
  /^[^\p{L}\d]*(\p{L}{3})?[^\p{L}\d]*\d[\d.,' ]*[^\p{L}\d]*\p{L}{0,3}$/u.test(cell) ||
  /^[-+]?(inf|infinity|true|false|yes|no)$/i.test(cell.trim());

/** `at`: the header, if it has names, else the first row of the table. */
function headOf(rows: readonly CsvRow[], width: number, delimiter: string | null) {
  const comments = commentsOf(rows);
  const first = firstOf(rows, width, comments);
  // What begins like a comment may be the header (`#id`), or the first row.
  const sure = [first, first - 1].find((at) => rows[at]?.width === width && wordsOverValues(rows, at) > 0);
  if (sure !== undefined) return { at: sure, names: rows[sure]?.cells ?? [], isSure: true };
  const at = comments === 0 ? first : firstOf(rows, width, 0);
  const names = namesOfOtherWidth(rows[at - 1], tableRows(rows, at, width), delimiter);
  if (names !== null) return { at: at - 1, names, isSure: true };
  const header = rows[at];
  // What comes again below is a value too.
  const comesAgain = width > 1 && rows.slice(at + 1, at + 50).some(({ text }) => text === header?.text);
  // Names may be above, of which one is missing: then this row has none.
  const isUnderNames = width > 2 && rows[at - 1]?.width === width - 1 && isHeader(rows[at - 1]);
  return { at, names: isHeader(header) && !comesAgain && !isUnderNames ? header.cells : null, isSure: false };
}

/** The first row of the table: titles above it have other widths, or fill its first cells alone. */
function firstOf(rows: readonly CsvRow[], width: number, from: number): number {
  const found = rows.findIndex((row, at) => at >= from && row.width === width);
  const start = Math.max(0, found);
  let areShort = true;
  let most = 0;
  for (let at = start; at < Math.min(rows.length, start + 20); at += 1) {
    const cells = rows[at]?.cells ?? [];
    const filled = cells.filter((cell) => !isBlank(cell));
    if (filled.length === cells.length) {
      const isUnderTitles = isHeader(rows[at]) && (areShort || wordsOverValues(rows, at) > 1);
      return isUnderTitles && areFuller(rows.slice(at + 1, at + 20), most) ? at : start;
    }
    if (cells.slice(0, filled.length).some(isBlank)) return start;
    areShort &&= filled.length <= width / 2 || filled.some(isValue);
    most = Math.max(most, filled.length);
  }
  return start;
}

/** Whether most rows fill more cells than that: else those above are no titles, but rows as they are. */
function areFuller(rows: readonly CsvRow[], count: number): boolean {
  const fuller = rows.filter(({ cells }) => cells.filter((cell) => !isBlank(cell)).length > count);
  return fuller.length >= rows.length / 2;
}

/** Rows from one on, without those that repeat the one above it. */
function tableRows(rows: readonly CsvRow[], from: number, width: number): CsvRow[] {
  const above = rows[from - 1]?.text;
  return rows.slice(from, from + MAX_ROWS / 10).filter((row) => row.width === width && row.text !== above);
}

/** The cells of a row by whether their column has values alone in the rows below. */
function split({ cells }: CsvRow, below: readonly CsvRow[]) {
  const table = below.map((row) => row.cells);
  const isValued = cells.map(
    (_, n) => table.some((row) => isValue(row[n] ?? '')) && !table.some((row) => isWord(row[n] ?? '')),
  );
  return { over: cells.filter((_, n) => isValued[n] === true), beside: cells.filter((_, n) => isValued[n] !== true) };
}

/** 0: the row is no header. */
function wordsOverValues(rows: readonly CsvRow[], at: number): number {
  const row = rows[at];
  return !isHeader(row) ? 0 : split(row, tableRows(rows, at + 1, row.width)).over.filter(isWord).length;
}

/** Of a header that has one cell more or less than the rows; null: which names are whose is not sure. */
function namesOfOtherWidth(header: CsvRow | undefined, body: readonly CsvRow[], delimiter: string | null) {
  const width = body[0]?.width ?? 0;
  if (!isHeader(header)) return null;
  const { cells, text } = header;
  if (cells.length === width + 1 && isBlank(cells[width] ?? '')) return cells.slice(0, width);
  if (cells.length !== width - 1 || cells.some(isBlank)) return null;
  if (body.every((row) => isBlank(row.cells[width - 1] ?? ''))) return [...cells, ''];
  // R writes names of rows without a name for their column: in quotes, or as labels of numbers.
  const labels = body.map((row) => row.cells[0] ?? '');
  const areQuoted =
    text.split(delimiter ?? '\n').every((cell) => /^".*"$/.test(cell)) &&
    body.every((row) => row.text.startsWith('"')) &&
    // Others quote each cell: then a name may be missing anywhere.
    (labels.every((label, n) => label === String(n + 1)) ||
      body.some((row) => hasBareCell(row.text, delimiter ?? '\n')));
  const areLabels = delimiter === '\t' && labels.every(isWord) && !body.some((row) => row.cells.slice(1).some(isWord));
  // `"Ann",12,50` may be a decimal with a comma.
  const isSplit = (n: number): boolean =>
    n > 0 && body.every((row) => /^-?\d+$/.test(row.cells[n] ?? '') && /^\d+$/.test(row.cells[n + 1] ?? ''));
  const areSplit = delimiter === ',' && labels.some(isWord) && cells.some((_, n) => isSplit(n));
  const areUnique = !labels.some(isBlank) && new Set(labels).size === labels.length;
  return areUnique && !areSplit && (areQuoted || areLabels) ? ['', ...cells] : null;
}

const hasBareCell = (text: string, delimiter: string): boolean =>
  text
    .replace(/"([^"]|"")*"/g, '')
    .replaceAll(delimiter, '')
    .trim() !== '';

/** One or two rows of units or labels: they have a word over each column of values alone. */
function rowsUnderHeader(rows: readonly CsvRow[], from: number, width: number): readonly CsvRow[] {
  const found = [2, 1, 0].find((count) => {
    const below = tableRows(rows, from + count, width);
    return below.length > 2 && rows.slice(from, from + count).every((row) => isLabels(row, below));
  });
  return rows.slice(from, from + (found ?? 0));
}

function isLabels(row: CsvRow, below: readonly CsvRow[]): boolean {
  const { over, beside } = split(row, below);
  // A first row of data has a key beside its words for numbers, and the words come again.
  const areOwn = over.length > 3 && new Set(over).size === over.length;
  return (
    row.width === below[0]?.width &&
    over.length > 1 &&
    over.every((cell) => isWord(cell) && !isFigure(cell)) &&
    (areOwn || beside.every(isNoValue))
  );
}

/** It has no value; years in a row may be names (`country,2019,2020`). */
function isHeader(row: CsvRow | undefined): row is CsvRow {
  const { cells } = row ?? { cells: [] };
  const values = cells.filter(isValue).map((cell) => cell.trim());
  const areYears =
    values.length > 1 &&
    values.length < cells.length &&
    values.every((cell, n) => /^(19|20)\d\d$/.test(cell) && (n === 0 || Number(cell) === Number(values[n - 1]) + 1));
  return cells.length > 0 && (values.length === 0 || areYears);
}
