/**
 * Tables as pandas reads them from CSV, and Spider 2.0's rule of when two are equal. What a column is follows from all its
 * texts: whole numbers, numbers, truth values or text; a missing value turns whole numbers into fractions.
 */
import type { SqlValue } from '../../src/domain';
import { BenchmarkDataError, type Prediction } from '../benchmark';
import { pythonFloat } from '../../src/questions/python';
import { textIn } from './files';

/** Whole numbers are bigint, numbers that may have a fraction are number; a missing value is NaN. */
type Cell = bigint | number | string | boolean;

interface Column {
  /** `uint`: beyond what 63 bits hold. */
  readonly type: 'int' | 'uint' | 'float' | 'object';
  readonly cells: readonly Cell[];
}
type Table = readonly Column[];

export interface CsvRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export async function csvIn(path: string): Promise<CsvRows> {
  try {
    return csvRows(await textIn(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BenchmarkDataError(`${path} is no CSV that pandas reads: ${error.message}`, { cause: error });
  }
}

interface NumberedRow {
  /** The line on which it begins. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** CSV as pandas reads it. Throws a `SyntaxError` with the line if pandas would not. */
function csvRows(text: string): CsvRows {
  const [head, ...rows] = recordsOf(text.replace(/^\ufeff/, ''));
  if (head === undefined) throw new SyntaxError('the file is empty');
  const columns = head.fields;
  const width = Math.max(columns.length, rows[0]?.fields.length ?? 0);
  const tooLong = rows.find(({ fields }) => fields.length > width);
  if (tooLong !== undefined)
    throw new SyntaxError(`line ${String(tooLong.line)} has more than ${String(width)} fields`);
  // Where rows have more fields than the header, pandas takes the first ones for row labels.
  const labels = width - columns.length;
  return {
    columns,
    rows: rows.map(({ fields }) => columns.map((_, index) => fields[index + labels] ?? '')),
  };
}

/** Records without blank lines. After the quote that closes a field, what comes before the next comma belongs to it as it stands. */
function recordsOf(text: string): NumberedRow[] {
  const records: NumberedRow[] = [];
  const end = /[,\r\n]|$/g;
  let fields: string[] = [];
  let line = 1;
  for (let at = 0, start = 0, begun = 1; start < text.length || fields.length > 0;) {
    const isQuoted = text.charAt(start) === '"';
    at = isQuoted ? closingQuote(text, start, line) : start - 1;
    const quoted = isQuoted ? text.slice(start + 1, at).replaceAll('""', '"') : '';
    line += quoted.split('\n').length - 1;
    end.lastIndex = at + 1;
    const stop = end.exec(text)?.index ?? text.length;
    fields.push(quoted + text.slice(at + 1, stop));
    start = stop + 1;
    if (text.charAt(stop) === ',') continue;
    const isBlank = fields.length === 1 && !isQuoted && /^[ \t]*$/.test(fields[0] ?? '');
    if (!isBlank) records.push({ line: begun, fields });
    if (text.startsWith('\r\n', stop)) start += 1;
    fields = [];
    line += 1;
    begun = line;
  }
  return records;
}

/** A doubled quote closes nothing. */
function closingQuote(text: string, opening: number, line: number): number {
  let at = text.indexOf('"', opening + 1);
  while (text.charAt(at + 1) === '"' && at >= 0) at = text.indexOf('"', at + 2);
  if (at < 0) throw new SyntaxError(`a quote that opens on line ${String(line)} is not closed`);
  return at;
}

export function csvText({ columns, rows }: CsvRows): string {
  const quoted = (field: string): string => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
  const line = (fields: readonly string[]): string =>
    fields.length === 1 && fields[0] === '' ? '""' : fields.map(quoted).join(',');
  return [columns, ...rows].map((fields) => `${line(fields)}\n`).join('');
}

/** A value as pandas writes it into a CSV file. */
function csvField(value: SqlValue): string {
  if (value === null) return '';
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : pythonText(value);
}

export const withFields = ({ columns, rows }: Extract<Prediction, { kind: 'rows' }>): CsvRows => ({
  columns,
  rows: rows.map((row) => row.map(csvField)),
});

export function tableOf({ columns, rows }: CsvRows): Table {
  return columns.map((_, index) => columnOf(rows.map((row) => row[index] ?? '')));
}

const MISSING = new Set(
  ',#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,None,n/a,nan,null'.split(','),
);
const WHOLE = /^\s*[-+]?\d+\s*$/;
const NUMBER = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i;
const INFINITE = /^([-+]?)inf(?:inity)?$/i;
const TRUTH = new Map([
  ...['True', 'TRUE', 'true'].map((text) => [text, true] as const),
  ...['False', 'FALSE', 'false'].map((text) => [text, false] as const),
]);
const INT64 = 2n ** 63n;

function columnOf(texts: readonly string[]): Column {
  const known = texts.filter((text) => !MISSING.has(text));
  const cells = (convert: (text: string) => Cell): Cell[] =>
    texts.map((text) => (MISSING.has(text) ? NaN : convert(text)));
  if (texts.length === 0) return { type: 'object', cells: [] };
  if (known.length === texts.length && known.every((text) => WHOLE.test(text))) {
    const whole = known.map((text) => BigInt(text.trim().replace('+', '')));
    const isNegative = whole.some((value) => value < 0n);
    if (whole.every((value) => value >= -INT64 && value < INT64)) return { type: 'int', cells: whole };
    if (whole.some((value) => value < -INT64 || value >= 2n * INT64)) return { type: 'object', cells: whole };
    return isNegative ? { type: 'object', cells: texts } : { type: 'uint', cells: whole };
  }
  if (known.every((text) => NUMBER.test(text) || INFINITE.test(text))) return { type: 'float', cells: cells(toFloat) };
  if (known.every((text) => TRUTH.has(text)))
    return { type: 'object', cells: cells((text) => TRUTH.get(text) ?? false) };
  return { type: 'object', cells: cells((text) => text) };
}

function toFloat(text: string): number {
  const infinite = INFINITE.exec(text);
  if (infinite === null) return Number(text);
  return infinite[1] === '-' ? -Infinity : Infinity;
}

/** Columns of the gold that count: positions from 0, negative ones from the end; empty: all. */
type Positions = readonly number[];

/**
 * Whether every gold column that counts equals some predicted column: numbers within 0.01 (or a billionth of them), a missing
 * value as 0, duplicates kept. Without order both are sorted by their texts first.
 */
export function holdsColumns(predicted: Table, gold: Table, positions: Positions, ignoreOrder: boolean): boolean {
  const counted = positions.length === 0 ? gold : positions.map((position) => gold.at(position));
  if (!counted.every((column) => column !== undefined)) return false;
  const vectors = vectorsOf(predicted, ignoreOrder);
  return vectorsOf(counted, ignoreOrder).every((one) => vectors.some((other) => equalVectors(one, other)));
}

/** Columns side by side are one array of numbers, if all of them are numbers: then all are fractions if one is. */
function vectorsOf(table: Table, sorted: boolean): (readonly Cell[])[] {
  const types = new Set(table.map(({ type }) => type));
  const isFloat = !types.has('object') && (types.has('float') || types.size > 1);
  return table.map(({ cells }) => {
    const known = cells
      .map((cell) => (isFloat && typeof cell === 'bigint' ? Number(cell) : cell))
      .map((cell) => (Number.isNaN(cell) ? 0n : cell));
    return sorted ? sortedByText(known) : known;
  });
}

function sortedByText(cells: readonly Cell[]): Cell[] {
  return cells
    .map((cell) => ({ cell, text: pythonText(cell), rank: Number(typeof cell !== 'string') }))
    .sort((a, b) => compareTexts(a.text, b.text) || a.rank - b.rank)
    .map(({ cell }) => cell);
}

function equalVectors(a: readonly Cell[], b: readonly Cell[]): boolean {
  return a.length === b.length && a.every((cell, index) => equalCells(cell, b[index] ?? ''));
}

function equalCells(a: Cell, b: Cell): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  const [x, y] = [Number(a), Number(b)];
  if (x === y || !Number.isFinite(x) || !Number.isFinite(y)) return x === y;
  return Math.abs(x - y) <= Math.max(0.01, 1e-9 * Math.max(Math.abs(x), Math.abs(y)));
}

/** Python's `str`. */
function pythonText(cell: Cell): string {
  if (typeof cell === 'boolean') return cell ? 'True' : 'False';
  return typeof cell === 'number' ? pythonFloat(cell) : String(cell);
}

/** Python orders texts by code points, JavaScript by code units. */
function compareTexts(a: string, b: string): number {
  if (/[\ud800-\udfff]/.test(a) || /[\ud800-\udfff]/.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : Number(a > b);
}
