/**
 * How defog-ai/sql-eval compares two results (`eval/eval.py`, with pandas 2): as data frames.
 *
 * 1. Equal as they stand, by place; as numpy does it, so that a single row or column is compared with every one of the other.
 * 2. Else equal once duplicate rows are dropped, columns sorted by name and rows by value; where an order was asked for, rows
 *    go by the ORDER BY of each query, and its columns go last.
 * 3. Else the gold columns are found among the predicted ones, with numbers that have a fraction to 1e-5, and rows agree too.
 *
 * Where pandas would throw (two columns of one name, values that it cannot sort), so does this: the official verdict is wrong.
 * Results here do not tell 3.0 from 3, so whole numbers are compared exactly unless the other side has a fraction.
 */
import type { Dialect, SqlValue } from '../../domain';
import type { Rows } from '../../sql/equal';
import { differInSize } from '../execution-match';

type Cell = number | string | null;
interface Frame {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Of each column: NULL is NaN, which does not equal itself. */
  readonly isNan: readonly boolean[];
}

export interface Asked {
  readonly question: string;
  readonly category: string | null;
}

/** What pandas refuses to compare. */
class Incomparable extends Error {}

/** `incomparable`: the official scorer stops with an error, which it counts as wrong whatever the other gold queries give. */
export type FrameMatch = 'exact' | 'subset' | 'different' | 'incomparable';

export interface Side {
  readonly result: Rows;
  /** The gold queries as they are published, all of them; or the predicted query. */
  readonly sql: string;
}

export function compareFrames(gold: Side, predicted: Side, asked: Asked, dialect: Dialect): FrameMatch {
  const [theirs, ours] = [frameOf(gold.result, dialect), frameOf(predicted.result, dialect)];
  try {
    if (equalAsTheyStand(theirs, ours)) return 'exact';
    assureHashable(gold.result, dialect);
    assureHashable(predicted.result, dialect);
    if (equalCells(normalised(theirs, asked, gold.sql), normalised(ours, asked, predicted.sql))) return 'exact';
    return isSubset(theirs, ours, asked) ? 'subset' : 'different';
  } catch (error) {
    if (error instanceof Incomparable) return 'incomparable';
    throw error;
  }
}

/**
 * Whether a result that was cut is wrong whatever else it holds: it has more rows than the other one, so neither holds the
 * other, and a row of cells that no row of the other has, so they are not equal once duplicates are dropped.
 */
export function differAnyhow(one: Rows, other: Rows, dialect: Dialect): boolean {
  if (!differInSize(one, other)) return false;
  const cellsOf = (row: readonly Cell[]): string =>
    [...new Set(row.map((cell) => JSON.stringify(cell ?? FILLED)))].sort().join();
  const [cut, whole] = one.truncated ? [one, other] : [other, one];
  const known = new Set(frameOf(whole, dialect).rows.map(cellsOf));
  return frameOf(cut, dialect).rows.some((row) => !known.has(cellsOf(row)));
}

function frameOf({ columns, rows }: Rows, dialect: Dialect): Frame {
  const kinds = columns.map(({ kind }) => kind);
  const cells = rows.map((row) => row.map((value, at) => cellOf(value, kinds[at] ?? 'other', dialect)));
  const isNan = columns.map((_, at) => {
    const known = cells.map((row) => row[at] ?? null).filter((cell) => cell !== null);
    // Dates are objects, as are numbers beside texts, and their NULL is None; moments are not, and theirs is NaT.
    return known.length > 0 && known.every((cell) => typeof cell === 'number' || isMoment(cell));
  });
  return { names: columns.map(({ name }) => name), rows: cells, isNan };
}

/** Before the text of dates and times, which equal no text. SQLite has none. */
const MOMENT = '\u0000';
const DATE_LENGTH = `${MOMENT}2000-01-01`.length;
const isMoment = (cell: string): boolean => cell.startsWith(MOMENT) && cell.length > DATE_LENGTH;

function cellOf(value: SqlValue, kind: Rows['columns'][number]['kind'], dialect: Dialect): Cell {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return value;
  if (kind === 'number' && dialect !== 'sqlite') return Number.isNaN(Number(value)) ? null : Number(value);
  return kind === 'time' && dialect !== 'sqlite' ? MOMENT + value : value;
}

/** Arrays and JSON become lists and dictionaries, among which pandas finds no duplicates. */
function assureHashable({ columns, rows }: Rows, dialect: Dialect): void {
  if (dialect === 'sqlite') return;
  for (const [at, { kind }] of columns.entries()) {
    const unhashable = kind === 'json' ? /^[[{]/ : kind === 'other' ? /^\{/ : null;
    if (unhashable !== null && rows.some((row) => unhashable.test(String(row[at]))))
      throw new Incomparable('values without a hash');
  }
}

function equalAsTheyStand(one: Frame, other: Frame): boolean {
  const height = common(one.rows.length, other.rows.length);
  const width = common(one.names.length, other.names.length);
  if (height === null || width === null) return false;
  const place = (count: number, at: number): number => (count === 1 ? 0 : at);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const [left, right] = [one, other].map((frame) => {
        const at = place(frame.names.length, column);
        return { cell: frame.rows[place(frame.rows.length, row)]?.[at] ?? null, isNan: frame.isNan[at] ?? false };
      });
      if (left?.cell !== right?.cell || (left?.cell === null && (left.isNan || right?.isNan === true))) return false;
    }
  }
  return true;
}

/** The length to which numpy stretches both; null: it cannot. */
function common(one: number, other: number): number | null {
  if (one === other || other === 1) return one;
  return one === 1 ? other : null;
}

/** NULLs are filled with this number before cells are compared. */
const FILLED = -99999;

function equalCells(one: Table, other: Table): boolean {
  return (
    one.rows.length === other.rows.length &&
    one.names.length === other.names.length &&
    one.rows.every((row, at) => row.every((cell, column) => (cell ?? FILLED) === (other.rows[at]?.[column] ?? FILLED)))
  );
}

type Table = Omit<Frame, 'isNan'>;

/** `sql`: null if the official scorer does not pass it, so that rows whose order was asked for stay as they are. */
function normalised({ names, rows }: Table, { question, category }: Asked, sql: string | null): Table {
  const distinct = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  const sorted = [...names.keys()].sort((one, other) => compareTexts(names[one] ?? '', names[other] ?? ''));
  const isRepeated = new Set(names).size < names.length;
  if (isRepeated && sorted.some((column, at) => names[column] !== names[at]))
    throw new Incomparable('names that repeat');
  const isOrdered = category === 'order_by' || /\b(?:order|sort|arrange)\b/i.test(question);
  const order = isOrdered ? (sql === null ? null : orderIn(sql)) : { names: [], ascending: true };
  if (order === null)
    return { names: deduplicated(sorted.map((column) => names[column] ?? '')), rows: chosen(distinct, sorted) };
  if (isRepeated) throw new Incomparable('names that repeat');
  const keys = order.names.map((name) => names.indexOf(name)).filter((column) => column >= 0);
  const others = sorted.filter((column) => !order.names.includes(names[column] ?? ''));
  const by = [...keys, ...others];
  if (by.length === 1) assureSortable(distinct, by);
  const ordered = distinct.toSorted((one, other) => compareRows(one, other, by, order.ascending));
  const columns = isOrdered ? [...others, ...keys] : sorted;
  return { names: columns.map((column) => names[column] ?? ''), rows: chosen(ordered, columns) };
}

const NO_COLUMNS = ['desc', 'asc', 'nulls', 'last', 'first', 'limit'];

/** As the official scorer finds it in the text: what follows the first ORDER BY, on its line; null: there is none. */
function orderIn(sql: string): { readonly names: readonly string[]; readonly ascending: boolean } | null {
  const clause = /ORDER BY[\s\S]*/i.exec(sql)?.[0];
  if (clause === undefined) return null;
  const [found = ''] = /(?<=ORDER BY)(.*?)(?=;|,|\)|\n?$)/i.exec(clause) ?? [];
  const words = found.split(/\s+/).filter((word) => word !== '');
  const last = words.map((word) => word.slice(word.lastIndexOf('.') + 1));
  const upper = last.map((word) => word.toUpperCase());
  return {
    names: last.map((word) => word.replaceAll(/[,(]/g, '')).filter((word) => !NO_COLUMNS.includes(word.toLowerCase())),
    ascending: !upper.includes('DESC') && upper.includes('ASC'),
  };
}

function isSubset(gold: Frame, predicted: Frame, asked: Asked): boolean {
  if (gold.rows.length === 0 || gold.names.length === 0) return false;
  const names = deduplicated(gold.names);
  const given = deduplicated(predicted.names);
  const left = [...given.keys()];
  const matched: number[] = [];
  for (const column of names.keys()) {
    const theirs = sortedColumn(gold, column);
    const found = left.findIndex((other) => equalSeries(theirs, sortedColumn(predicted, other)));
    if (found < 0) return false;
    matched.push(...left.splice(found, 1));
  }
  // Columns that shared a name are looked up by the new one, which the predicted frame does not have.
  if (matched.some((column) => given[column] !== predicted.names[column])) throw new Incomparable('names that repeat');
  const one = normalised({ names, rows: gold.rows }, asked, null);
  const other = normalised({ names, rows: chosen(predicted.rows, matched) }, asked, null);
  return (
    one.rows.length === other.rows.length &&
    one.names.every((_, column) => equalSeries(columnOf(one, column), columnOf(other, column)))
  );
}

/** pandas: to 1e-5, unless one of the columns has whole numbers only. */
function equalSeries(one: readonly Cell[], other: readonly Cell[]): boolean {
  if (one.length !== other.length) return false;
  const isClose = [...one, ...other].some((cell) => typeof cell === 'number' && !Number.isInteger(cell));
  return one.every((cell, at) => {
    const given = other[at] ?? null;
    if (!isClose || typeof cell !== 'number' || typeof given !== 'number') return cell === given;
    return Math.abs(cell - given) <= Math.max(1e-5 * Math.max(Math.abs(cell), Math.abs(given)), 1e-8);
  });
}

function columnOf({ rows }: Table, column: number): Cell[] {
  return rows.map((row) => row[column] ?? null);
}

function sortedColumn(frame: Table, column: number): Cell[] {
  assureSortable(frame.rows, [column]);
  return columnOf(frame, column).sort((one, other) => compareCells(one, other, true));
}

function assureSortable(rows: Table['rows'], columns: readonly number[]): void {
  for (const column of columns) {
    const types = new Set(rows.flatMap((row) => (row[column] === null ? [] : [typeof row[column]])));
    if (types.size > 1) throw new Incomparable('numbers and texts in one column');
  }
}

function deduplicated(names: readonly string[]): string[] {
  return names.map((name, at) => (names.filter((other) => other === name).length > 1 ? `${name}_${String(at)}` : name));
}

function chosen(rows: Table['rows'], columns: readonly number[]): Cell[][] {
  return rows.map((row) => columns.map((column) => row[column] ?? null));
}

function compareRows(one: readonly Cell[], other: readonly Cell[], by: readonly number[], ascending: boolean): number {
  for (const column of by) {
    const order = compareCells(one[column] ?? null, other[column] ?? null, ascending);
    if (order !== 0) return order;
  }
  return 0;
}

/** NULLs go last in either direction. Numbers go before texts where rows are sorted by several columns; by one, pandas refuses. */
function compareCells(one: Cell, other: Cell, ascending: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const order = orderOf(one, other);
  return ascending ? order : -order;
}

function orderOf(one: number | string, other: number | string): number {
  if (typeof one === 'number') return typeof other === 'number' ? one - other : -1;
  return typeof other === 'number' ? 1 : compareTexts(one, other);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
