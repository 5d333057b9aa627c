/** The pieces that describe one column by itself, and the columns that flag rows. */
import * as z from 'zod';
import { counted } from '../../counted';
import type { TableDescription } from '../../domain';
import { keyColumns } from '../table-text';
import {
  add,
  type ColumnFacts,
  type Counted,
  formatOf,
  isCategory,
  isCodeFormat,
  isKeyName,
  isUnique,
  ranked,
} from './column-facts';
import { list, of, percent, pieceOf, type ProfilePiece, shown } from './pieces';
import { numberOf, type RowColumn, type TableRows } from './table-rows';

export interface ColumnOptions {
  /** false: shapes and counts, but no value of the database. */
  readonly values: boolean;
}

/** Where the column stands. */
export interface Surroundings {
  readonly table: TableDescription;
  /** The column's values are keys of another table, declared or found. */
  readonly leadsAway: boolean;
}

type Piece = (tells: Parameters<typeof pieceOf>[1], text: string) => ProfilePiece;

const FREQUENT = 4;
/** Complete lists: of up to so many values, in so many characters. */
const DOMAIN = 20;
const DOMAIN_CHARS = 260;

export function columnPieces(
  facts: ColumnFacts,
  surroundings: Surroundings,
  { values }: ColumnOptions,
): ProfilePiece[] {
  const { column, rows, filled, distinct, nulls, blanks, placeholders } = facts;
  const piece: Piece = (tells, text) => pieceOf(column.name, tells, text);
  if (rows === 0) return [];
  if (filled === 0) return [piece('placeholder', nulls === rows ? 'always NULL' : 'always NULL or blank')];
  const empty = [
    ...(nulls > 0 ? [piece('domain', `NULL ${percent(nulls, rows)}`)] : []),
    ...(blanks > 0 ? [piece('placeholder', `blank ${percent(blanks, rows)}`)] : []),
  ];
  if (column.kind === 'json') return [...empty, ...jsonPieces(column, values)];
  if (distinct === 1)
    return [...empty, piece('domain', values ? `always ${shown(facts.values[0]?.value ?? '')}` : 'one value')];
  const known = placeholders.map(({ value, count }) => ({ value: values ? value : 'a placeholder', count }));
  return [
    ...empty,
    ...(known.length > 0 ? [piece('placeholder', `no value? ${list(known, 3)}`)] : []),
    ...domainPieces(facts, surroundings, values, piece),
  ];
}

function domainPieces(
  facts: ColumnFacts,
  { table, leadsAway }: Surroundings,
  withValues: boolean,
  piece: Piece,
): ProfilePiece[] {
  const { column, distinct, values, placeholders, rows } = facts;
  const complete = list(values, DOMAIN);
  if (distinct <= DOMAIN && complete.length <= DOMAIN_CHARS && !isUnique(facts))
    return [piece('domain', withValues ? complete : `${distinct} values`)];
  const isKey = table.primaryKey.length === 1 && table.primaryKey[0] === column.name;
  const found: ProfilePiece[] = [];
  const isDeclared = table.uniqueKeys.some((key) => key.length === 1 && key[0] === column.name);
  if (!isKey && !isDeclared) found.push(piece('unique', isUnique(facts) ? 'unique' : `${distinct} distinct`));
  // The range of a reference is that of the key it leads to.
  if (leadsAway) return found;
  const formats = telling(facts);
  if (formats.length > 0)
    found.push(piece(formats.length > 1 ? 'formats' : 'range', `like ${formatList(formats, facts)}`));
  if (!withValues) return found;
  const isRange = column.kind === 'number' || column.kind === 'time' || formats.length > 0;
  // Numbers that only count rows have their number as range.
  const isCounter = isKey && column.kind === 'number' && Number(facts.max) - Number(facts.min) < distinct * 2;
  const range = isRange && !isCounter ? rangeText(facts) : null;
  if (range !== null) found.push(piece('range', range));
  const none = new Set(placeholders.map(({ value }) => value));
  const frequent = values.filter(({ value, count }) => count > 1 && !none.has(value));
  if (frequent.length > 0 && (frequent[0]?.count ?? 0) >= Math.max(rows * 0.02, (3 * rows) / distinct))
    found.push(piece('frequent', `most ${list(frequent.slice(0, FREQUENT), FREQUENT)}`));
  return [...found, ...multiples(facts, piece)];
}

/** Times to the day, unless they are all of one; numbers with six digits. */
function rangeText({ column, min, max }: ColumnFacts): string | null {
  if (min === null || max === null || min === max) return null;
  const ends = [min, max].map((end) => {
    if (column.kind === 'time' && /^\d{4}-\d\d-\d\d[ T]/.test(end)) return end.slice(0, 10);
    const number = column.kind === 'number' ? numberOf(end) : null;
    return number === null || Number.isInteger(number) ? shown(end) : String(Number(number.toPrecision(6)));
  });
  const [low, high] = ends[0] === ends[1] ? [shown(min), shown(max)] : ends;
  return `${low ?? ''} to ${high ?? ''}`;
}

/** Codes have formats; of free text each value has its own. */
function telling({ formats, filled, column }: ColumnFacts): readonly Counted[] {
  if (column.kind !== 'text') return [];
  const top = formats.slice(0, 5);
  const covered = top.reduce((sum, { count }) => sum + count, 0);
  return covered >= filled * 0.9 && top.every(({ value }) => isCodeFormat(value)) ? top : [];
}

function formatList(formats: readonly Counted[], { filled }: ColumnFacts): string {
  const [only] = formats;
  return only !== undefined && only.count === filled ? only.value : list(formats, 5);
}

/** 430, 905, 1225: weights rounded to a scale. */
function multiples({ column, values, filled, distinct }: ColumnFacts, piece: Piece): ProfilePiece[] {
  if (column.kind !== 'number' || distinct < 12) return [];
  const step = [1000, 500, 100, 50, 25, 10, 5].find((each) =>
    values.every(({ value }) => {
      const number = numberOf(value);
      return number !== null && number % each === 0;
    }),
  );
  return step === undefined ? [] : [piece('order', `multiples of ${step} in ${of(filled, filled)}`)];
}

const MAX_PATHS = 40;
/** A path with so few values shows them. */
const FEW = 6;

interface Path {
  documents: number;
  readonly types: Map<string, number>;
  readonly values: Map<string, number>;
  /** The least and the greatest of its numbers. */
  low: number;
  high: number;
}

/** The documents of a JSON column: each path with how many documents have it, its types, formats or values. */
function jsonPieces(column: RowColumn, withValues: boolean): ProfilePiece[] {
  const paths = new Map<string, Path>();
  const shapes = new Map<string, number>();
  let [documents, broken] = [0, 0];
  for (const value of column.values) {
    if (value === null || value === '') continue;
    const parsed = parse(String(value));
    if (typeof parsed !== 'object' || parsed === null) {
      broken += 1;
      continue;
    }
    documents += 1;
    const seen = new Set<string>();
    visit('$', parsed, paths, seen);
    for (const path of seen) (paths.get(path) as Path).documents += 1;
    add(shapes, [...seen].sort().join(' '));
  }
  if (documents === 0) return [];
  const shown = [...paths].slice(0, MAX_PATHS).map(([path, each]) => pathText(path, each, documents, withValues));
  const of = shapes.size === 1 ? 'one shape' : `${shapes.size} shapes`;
  const rest = paths.size > MAX_PATHS ? `; and ${paths.size - MAX_PATHS} more paths` : '';
  const text = `JSON of ${of} in ${documents}${broken > 0 ? ` (${broken} are not JSON)` : ''}: ${shown.join('; ')}${rest}`;
  return [pieceOf(column.name, 'json', text)];
}

function pathText(
  path: string,
  { documents, types, values, low, high }: Path,
  all: number,
  withValues: boolean,
): string {
  const share = documents === all ? ':' : ` (${documents}):`;
  const few = withValues && values.size <= FEW && values.size > 0;
  const range = withValues && high > low ? ` ${low} to ${high}` : '';
  const what = few ? frequentOf(values) : `${frequentOf(types)}${range}`;
  return `${path}${share} ${what}`;
}

function visit(path: string, value: unknown, paths: Map<string, Path>, seen: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 50)) visit(`${path}[]`, item, paths, seen);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) visit(`${path}.${key}`, child, paths, seen);
    return;
  }
  const at = paths.get(path) ?? { documents: 0, types: new Map(), values: new Map(), low: Infinity, high: -Infinity };
  paths.set(path, at);
  seen.add(path);
  add(at.types, typeName(value));
  if (typeof value === 'number') [at.low, at.high] = [Math.min(at.low, value), Math.max(at.high, value)];
  if (at.values.size <= FEW) add(at.values, String(value).slice(0, 24));
}

function typeName(value: unknown): string {
  if (typeof value === 'string') return value === '' ? "''" : formatOf(value).slice(0, 24);
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return value === null ? 'null' : typeof value;
}

function frequentOf(counts: ReadonlyMap<string, number>): string {
  const all = ranked(counts);
  const [only] = all;
  return all.length === 1 && only !== undefined ? only.value : list(all, 4);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // counted as broken
  }
}

/**
 * A column that tells the rows of a table apart: a mark that is set for few of them, a state, a kind with few values. SQL that
 * reads the table without a look at it may count rows that do not count. The rows tell; no name makes a column a flag.
 */
export const Flag = z.object({
  column: z.string(),
  /** `set in 120 of 2,000 rows`, `3 values`. */
  holds: z.string(),
});
export type Flag = Readonly<z.infer<typeof Flag>>;

/** Numbers of more values are amounts rather than codes. */
const MOST_NUMBERS = 5;
/** A time that is set for at most this share of the rows is a mark: of what was deleted, ended or refunded. */
const MINORITY = 0.5;
/** Names of marks are told first. */
const MARK =
  /(^|_)(is|has|del|deleted|removed|void|cancel\w*|test|active|inactive|valid|invalid|archived?|hidden|status|state|flag)(_|$)/i;

/** Flags, likeliest first: columns with the name of a mark, then by how few values they have. */
export function flagsOf({ table }: TableRows, facts: readonly ColumnFacts[]): Flag[] {
  const keys = keyColumns(table);
  return facts
    .filter((each) => !keys.has(each.column.name) && !isKeyName(each.column.name) && !isUnique(each))
    .flatMap((each) => {
      const { column, rows, distinct, real } = each;
      const filled = real.filter(Boolean).length;
      const isSet = filled > 0 && filled <= rows * MINORITY;
      const isFew =
        column.kind === 'time' || column.kind === 'json' || column.kind === 'binary'
          ? column.kind === 'time'
          : distinct <= (column.kind === 'number' ? MOST_NUMBERS : 9);
      if (!isFew || !(isSet || (column.kind !== 'time' && isCategory(each)))) return [];
      const holds = isSet ? `set in ${filled} of ${counted(rows, 'row')}` : counted(distinct, 'value');
      return [{ column: column.name, holds, rank: (MARK.test(column.name) ? 0 : 100) + (isSet ? 1 : distinct) }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ column, holds }) => ({ column, holds }));
}
