/**
 * How a CSV file is written: delimiter, header and the lines around it. DuckDB's own sniffer takes a file with one ragged line or
 * with a footnote for a single column, the first of three lines of titles for the header, and years for data.
 */
import { groupBy } from '../../../group-by';
import { isNoValue } from './column-types';
import { CsvRows, type CsvRow } from './csv-rows';
import { doubled } from './encoding';
import { unique } from './sources';

export interface CsvDialect {
  /** Null: the lines are one column. */
  readonly delimiter: string | null;
  /** Whether the lines look like more than one column, but nothing says how they are apart. */
  readonly isUnread: boolean;
  /** Whether `\"` is a quote. */
  readonly isEscaped: boolean;
  readonly columns: readonly string[];
  /** Null: none. */
  readonly header: CsvRow | null;
  /** The row above the header, where its words are part of the names. */
  readonly groups: CsvRow | null;
  /** Whether one like it below is the header again. */
  readonly isSure: boolean;
  /** Rows before the header, or before the first row of the table. */
  readonly above: readonly CsvRow[];
  /** Rows under the header that are none of the table. */
  readonly under: readonly CsvRow[];
  /** The line from which on rows are those of the table. */
  readonly start: number;
}

/** In the order in which one is taken that explains the lines as well as another: decimals are written with commas. */
const DELIMITERS = ['\t', ';', '|', ','];
const MAX_ROWS = 2000;

/** `isWhole`: the text is all of the file. */
export function dialectOf(text: string, isWhole: boolean): CsvDialect {
  const escapes = text.includes('\\"') ? [false, true] : [false];
  const [best] = DELIMITERS.flatMap((delimiter) =>
    escapes.map((isEscaped) => {
      const rows = rowsOf(isEscaped ? doubled(text) : text, isWhole, delimiter);
      return { delimiter, isEscaped, rows, ...consistency(rows, delimiter) };
    }),
  )
    .filter(({ width, share, rows, delimiter }) => {
      // In a table that is aligned by spaces, or a single column, a comma within each number is no delimiter.
      const [name, ...values] = rows;
      const areWithin = areSpaced(rows) ? !rows.some(hasComma) : values.every(({ text }) => isDecimal(text));
      return width > 1 && share >= 0.5 && !(areWithin && delimiter === ',' && name?.width === 1);
    })
    .sort((a, b) => b.closed - a.closed || b.share - a.share || b.isLikely - a.isLikely || b.width - a.width);
  const one = { delimiter: null, isEscaped: false, width: 1 };
  const { delimiter, isEscaped, rows, width } = best ?? { ...one, rows: rowsOf(text, isWhole, null) };
  const { at, names, isSure, groups } = groupedHead(rows, width) ?? headOf(rows, width, delimiter);
  const header = names === null ? null : (rows[at] ?? null);
  const cells = names?.map((cell) => cell.replace(/\s+/g, ' ').trim()) ?? Array<string>(width).fill('');
  const above = rows.slice(0, groups === null ? at : at - 1);
  const under = header === null ? [] : rowsUnderHeader(rows, at + 1, width);
  const last = under.at(-1) ?? header ?? above.at(-1);
  return {
    ...{ delimiter, isEscaped, header, groups, isSure, above, under },
    isUnread: width === 1 && areApart(rows, header?.text ?? ''),
    columns: unique(cells.map((name, index) => name || `column_${index + 1}`)),
    start: last === undefined ? 1 : last.line + last.lines,
  };
}

/** A comma that is not within a number. */
const hasComma = ({ text }: CsvRow): boolean => /(?<!\d),|,(?!\d)/.test(text);
const isDecimal = (cell: string): boolean => /^[^\p{L}\d,]*(\d{1,3}([.'’\s]\d{3})+|\d+),\d+[^\p{L}\d,]*$/u.test(cell);

/** As `df` and SAS print tables. */
const areSpaced = (rows: readonly CsvRow[]): boolean =>
  rows.filter(({ text }) => /[^\s;|,] {2,}[^\s;|,]/.test(text)).length > rows.length / 2;

/** Whether lines that are one cell have signs or words between which columns may be apart. */
function areApart(rows: readonly CsvRow[], header: string): boolean {
  const words = new Set(rows.map(({ text }) => text.trim().split(' ').length));
  // First and last names are one value.
  return areSpaced(rows) || (words.size === 1 && Math.min(...words) > 2) || /[\t;|,^]|" "/.test(header);
}

function consistency(rows: readonly CsvRow[], delimiter: string) {
  const own = rows.slice(commentsOf(rows));
  const groups = [...groupBy(own, ({ width }) => width)];
  const [width = 1, most = []] = groups.sort((a, b) => b[1].length - a[1].length || b[0] - a[0])[0] ?? [];
  // With another delimiter a quoted cell with a comma is two, of which none closes its quote.
  const closed = most.filter(({ quoted }) => quoted?.isOpen !== true).length;
  const commas = most.slice(0, MAX_ROWS / 10).flatMap((row) => row.cells.filter((cell) => cell.includes(',')));
  // A file with commas between cells has hardly as many tabs in each row.
  const isLikely = delimiter === '\t' || (commas.length > 0 && commas.every(isDecimal));
  const count = Math.max(1, own.length);
  return { width, share: most.length / count, closed: closed / count, isLikely: Number(isLikely) };
}

/** May be: `#` also begins names. */
export const isComment = (line: string): boolean => /^\s*(#|--|\/\/)/.test(line);

/** A line under a header or around a table: `----+----`, `|---|`. */
export const isRuler = (line: string): boolean => /^[-+|=: ]+$/.test(line) && /---|===/.test(line);

/** How many rows at the beginning may be comments. */
function commentsOf(rows: readonly CsvRow[]): number {
  const first = rows.findIndex(({ text }) => !isComment(text));
  return Math.max(0, first);
}

/** The first of them. A quote that opens the first row may not be closed within the text, of which there may be more. */
function rowsOf(text: string, isWhole: boolean, delimiter: string | null): readonly CsvRow[] {
  const rows: CsvRow[] = [];
  for (const row of new CsvRows(delimiter).add(text, isWhole))
    if (!isRuler(row.text) && rows.push(row) === MAX_ROWS) break;
  return rows.length > 0 || isWhole ? rows : rowsOf(text, true, delimiter);
}

const NUMBER = /^[-+]?[.]?[0-9][0-9.,' ]*([eE][-+]?[0-9]+)?%?$/;
/** Times without seconds are also names, as `08:00` in a timetable. */
const DATE = /^([0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}|[0-9]{1,2}:[0-9]{2}:[0-9]{2})\b/;
const isBlank = (cell: string): boolean => cell.trim() === '';
const isValue = (cell: string): boolean => NUMBER.test(cell.trim()) || isDay(cell);
const isWord = (cell: string): boolean => !isValue(cell) && !isNoValue(cell);
/** Amounts and measured values as people write them: `$5`, `(7)`, `<0.1`, `5 kg`, `Inf`, `yes`. */
const isFigure = (cell: string): boolean =>
  /^[^\p{L}\d]*(\p{L}{3})?[^\p{L}\d]*\d[\d.,' ]*[^\p{L}\d]*\p{L}{0,3}$/u.test(cell) ||
  /^[-+]?(inf|infinity|true|false|yes|no)$/i.test(cell.trim());

const isDay = (cell: string): boolean => DATE.test(cell.trim());
const isYear = (cell: string): boolean => /^(19|20)\d\d$/.test(cell.trim());
const MAX_TITLES = 20;

/** `at`: the header, if it has names, else the first row of the table. The rest: as in `CsvDialect`. */
type Head = Pick<CsvDialect, 'isSure' | 'groups'> & { readonly at: number; readonly names: readonly string[] | null };

/** The second of two rows of names; null: there are none, or it is not sure. */
function groupedHead(rows: readonly CsvRow[], width: number): Head | null {
  for (const [n, groups] of rows.slice(0, MAX_TITLES).entries()) {
    if (groups.width !== width) continue;
    const own = rows[n + 1];
    const names = own?.width === width && !comesAgain(rows, n + 1) ? grouped(groups.cells, own.cells) : null;
    if (names !== null) return { at: n + 1, names, isSure: true, groups };
    if (!isTitle(groups)) return null;
  }
  return null;
}

const filledIn = ({ cells }: CsvRow): readonly string[] => cells.filter((cell) => !isBlank(cell));

/** One text, or the first cells alone, as the name of a value and the value. */
function isTitle(row: CsvRow): boolean {
  const filled = filledIn(row);
  return (
    new Set(filled).size < 2 || (filled.length <= row.width / 2 && !row.cells.slice(0, filled.length).some(isBlank))
  );
}

/** Whether a cell of a row is also below it, which makes it a value. The whole row may be the header of the next page. */
const comesAgain = (rows: readonly CsvRow[], at: number): boolean =>
  rows
    .slice(at + 1, at + 50)
    .some(
      ({ cells, text }) =>
        text !== rows[at]?.text && rows[at]?.cells.some((cell, n) => !isBlank(cell) && cell === cells[n]),
    );

/** The names of `,2023,,2024,` over `region,sales,cost,sales,cost`: where groups have other names, one may end before the next. */
function grouped(above: readonly string[], own: readonly string[]): readonly string[] | null {
  if (![...above, ...own].every((cell) => isYear(cell) || !isValue(cell))) return null;
  let group = '';
  const parts = own.map((cell, n) => {
    const over = above[n]?.trim() ?? '';
    if (over !== '') group = isBlank(cell) ? '' : over;
    return { group, name: cell.trim() || over };
  });
  const groups = groupBy(parts, (part) => part.group);
  groups.delete('');
  const lists = [...groups.values()].map((list) => list.map(({ name }) => name));
  const areEqual = new Set(lists.map((list) => list.join('\n'))).size === 1;
  const names = parts.map((part) => `${part.group} ${part.name}`);
  // More than one column of keys may have no name.
  const given = names.filter((name) => !isBlank(name));
  const areSure = areEqual && lists.length > 1 && (lists[0]?.filter(Boolean).length ?? 0) > 1;
  return areSure && new Set(given).size === given.length ? names : null;
}

function headOf(rows: readonly CsvRow[], width: number, delimiter: string | null): Head {
  const comments = commentsOf(rows);
  const first = firstOf(rows, width, comments);
  const under = rows[first + 1]?.cells ?? [];
  // It may be the names of groups, where more than one of the names under it has none above.
  const isHalf = under.filter((cell, n) => n > 0 && !isBlank(cell) && isBlank(rows[first]?.cells[n] ?? ' ')).length > 1;
  // What begins like a comment may be the header (`#id`), or the first row.
  const sure = [first, first - 1, ...(isHalf && !comesAgain(rows, first + 1) ? [first + 1] : [])].find(
    (at) => rows[at]?.width === width && wordsOverValues(rows, at) > 0,
  );
  if (sure !== undefined) return { at: sure, names: rows[sure]?.cells ?? [], isSure: true, groups: null };
  const at = comments === 0 ? first : firstOf(rows, width, 0);
  const names = namesOfOtherWidth(rows, at, width, delimiter);
  if (names !== null) return { at: at - 1, names, isSure: true, groups: null };
  // What comes again below is a value too.
  const isRepeated = width > 1 && rows.slice(at + 1, at + 50).some(({ text }) => text === rows[at]?.text);
  // Names may be above, of which one is missing: then this row has none.
  const isUnderNames = width > 2 && rows[at - 1]?.width === width - 1 && isHeader(rows, at - 1);
  const hasNames = isHeader(rows, at) && !isRepeated && !isUnderNames;
  return { at, names: hasNames ? (rows[at]?.cells ?? null) : null, isSure: false, groups: null };
}

/** The first row of the table: titles above it have other widths, or fill its first cells alone. */
function firstOf(rows: readonly CsvRow[], width: number, from: number): number {
  const found = rows.findIndex((row, at) => at >= from && row.width === width && !row.cells.every(isBlank));
  const start = Math.max(0, found);
  let [areShort, most] = [true, 0];
  for (const [n, row] of rows.slice(start, start + MAX_TITLES).entries()) {
    const [at, { cells }, filled] = [start + n, row, filledIn(row)];
    if (row.width === width && filled.length === width) {
      const isUnderTitles = isHeader(rows, at) && (areShort || wordsOverValues(rows, at) > 1);
      const below = rows.slice(at + 1, at + MAX_TITLES);
      // Else those above are no titles, but rows as they are.
      const areFuller = below.filter((other) => filledIn(other).length > most).length >= below.length / 2;
      return isUnderTitles && areFuller ? at : start;
    }
    if (cells.slice(0, filled.length).some(isBlank)) return start;
    areShort &&= filled.length <= width / 2 || filled.some(isValue);
    most = Math.max(most, filled.length);
  }
  return start;
}

/** Rows from one on, without those that repeat the one above it. */
function tableRows(rows: readonly CsvRow[], from: number, width: number): CsvRow[] {
  const above = rows[from - 1]?.text;
  return rows.slice(from, from + MAX_ROWS / 10).filter((row) => row.width === width && row.text !== above);
}

/** The cells of a row by whether their column has values alone in the rows below. */
function split({ cells }: CsvRow, below: readonly CsvRow[]) {
  const isSome = (n: number, is: (cell: string) => boolean): boolean => below.some((row) => is(row.cells[n] ?? ''));
  const isValued = cells.map((_, n) => isSome(n, isValue) && !isSome(n, isWord));
  return { over: cells.filter((_, n) => isValued[n] === true), beside: cells.filter((_, n) => isValued[n] !== true) };
}

/** 0: the row is no header. */
function wordsOverValues(rows: readonly CsvRow[], at: number): number {
  const row = rows[at];
  if (row === undefined || !isHeader(rows, at)) return 0;
  return split(row, tableRows(rows, at + 1, row.width)).over.filter((cell) => !isNoValue(cell)).length;
}

/** Of a header that has one cell more or less than the rows; null: which names are whose is not sure. */
function namesOfOtherWidth(rows: readonly CsvRow[], at: number, width: number, delimiter: string | null) {
  const [header, body] = [rows[at - 1], tableRows(rows, at, width)];
  if (header === undefined || !isHeader(rows, at - 1)) return null;
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
      body.some((row) => !isBlank(unquoted(row).replaceAll(delimiter ?? '\n', ''))));
  const areLabels = delimiter === '\t' && labels.every(isWord) && !body.some((row) => row.cells.slice(1).some(isWord));
  // `"Ann",12,50` may be a decimal with a comma.
  const isSplit = (n: number): boolean =>
    n > 0 && body.every((row) => /^-?\d+$/.test(row.cells[n] ?? '') && /^\d+$/.test(row.cells[n + 1] ?? ''));
  const areSplit = delimiter === ',' && labels.some(isWord) && cells.some((_, n) => isSplit(n));
  const areUnique = !labels.some(isBlank) && new Set(labels).size === labels.length;
  return areUnique && !areSplit && (areQuoted || areLabels) ? ['', ...cells] : null;
}

const unquoted = ({ text }: CsvRow): string => text.replace(/"([^"]|"")*"/g, '');

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

/** It has no value but years, days, times or numbers from 0 on, which few rows below have (`country,2019,2020`). */
function isHeader(rows: readonly CsvRow[], at: number): boolean {
  const cells = rows[at]?.cells ?? [];
  const places = cells.flatMap((cell, n) => (isValue(cell) ? [n] : []));
  const values = new Set(places.map((n) => cells[n]));
  if (values.size === 0) return cells.length > 0;
  const table = rows.slice(at, at + 50).filter(({ width }) => width === cells.length);
  const years = [...values].map((cell) => (isYear(cell ?? '') ? Number(cell) : NaN));
  // Values hardly are so by chance.
  const areInRow = years.length > 1 && years.every((year, n) => year === (years[0] ?? 0) + n);
  const areNames = (is: (cell: string, nth: number) => boolean): boolean => {
    const such = table.filter((row) => {
      const below = places.map((n) => row.cells[n] ?? '');
      // The end of what goes on is blank, or a word.
      return below.some(is) && below.every((cell, nth) => is(cell, nth) || !isValue(cell));
    });
    return such[0] === rows[at] && such.length <= table.length / 2;
  };
  // As pandas names columns.
  const isNumber = (cell: string, nth: number): boolean => isBlank(cells[0] ?? '') && cell === String(nth);
  const areOwn = values.size > 1 && values.size === places.length && places.length < cells.length;
  return areOwn && (areInRow || [isYear, isDay, isNumber].some(areNames));
}
