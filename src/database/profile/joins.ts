/**
 * How tables hang together by their values: declared keys that miss, columns that lead to another table's key although
 * nobody declared it, and keys that only meet once case, padding and punctuation are gone.
 */
import { groupBy } from '../../group-by';
import { perObject } from '../../per-object';
import { isUnique, type ColumnFacts } from './column-facts';
import { pieceOf, type ProfilePiece } from './pieces';
import type { Profiled } from './row-doubts';

/** A column that leads to the key of another table; `exact`: values that meet as they stand. */
export interface Join {
  readonly column: string;
  readonly table: string;
  readonly key: string;
  readonly declared: boolean;
  readonly exact: number;
  readonly loose: number;
  readonly distinct: number;
  /** The number of rows that lead to one that leads on, where a column leads to another row of its own table. */
  readonly chained?: number;
}

/** Two columns of few values meet by chance. */
const LEAST_DISTINCT = 8;
const MOST_DISTINCT = 50_000;

export function joinsOf(from: Profiled, all: readonly Profiled[]): Join[] {
  return from.facts.flatMap((column): Join[] => {
    if (column.distinct < 2 || column.distinct > MOST_DISTINCT || !joinable(column)) return [];
    const tried = all.flatMap((to) =>
      to.facts.flatMap((key) => (to === from ? selfJoin(from, column, key) : tryJoin(from, column, to, key)) ?? []),
    );
    const declared = tried.filter((join) => join.declared);
    if (declared.length > 0) return declared;
    return tried.sort((a, b) => b.exact - a.exact || b.loose - a.loose || (a.table < b.table ? -1 : 1)).slice(0, 1);
  });
}

export function joinPieces(joins: readonly Join[]): ProfilePiece[] {
  return joins.flatMap(({ column, table, key, declared, exact, loose, distinct, chained = 0 }): ProfilePiece[] => {
    const target = `${table}.${key}`;
    const piece = (text: string): ProfilePiece => pieceOf(column, 'join', text);
    const chain = chained === 0 ? '' : `; ${chained} rows lead to one that has ${column} itself`;
    if (exact === distinct)
      return declared && chain === '' ? [] : [piece(`-> ${target} (all ${distinct} values${chain})`)];
    if (loose > exact)
      return [
        piece(
          `-> ${target}: ${exact} of ${distinct} values as they stand, ${loose} without case, spaces, punctuation and leading zeros`,
        ),
      ];
    return [piece(`-> ${target} (${exact} of ${distinct} values)`)];
  });
}

/** A join with the table that it leads from. */
export interface Way {
  readonly from: string;
  readonly join: Join;
}

const MOST_ENDS = 3;

/** The other end of a join whose values do not meet as they stand. */
export function otherwisePieces(ways: readonly Way[]): ProfilePiece[] {
  const loose = ways.filter(({ join }) => join.loose > join.exact);
  return [...groupBy(loose, ({ join }) => join.key)].map(([key, own]) =>
    otherwisePiece(
      key,
      own.map(({ from, join }) => `${from}.${join.column}`),
    ),
  );
}

const OTHERWISE = 'written otherwise in ';

export const isOtherwise = ({ text }: ProfilePiece): boolean => text.startsWith(OTHERWISE);

/** `ends`: the columns that lead to the key. */
export function otherwisePiece(key: string, ends: readonly string[]): ProfilePiece {
  const more = ends.length > MOST_ENDS ? ', …' : '';
  return pieceOf(key, 'join', `${OTHERWISE}${ends.slice(0, MOST_ENDS).join(', ')}${more}`);
}

function tryJoin(from: Profiled, column: ColumnFacts, to: Profiled, key: ColumnFacts): Join | null {
  const declared = from.rows.table.foreignKeys.some(
    ({ columns, table, references }) =>
      columns.length === 1 &&
      columns[0] === column.column.name &&
      table === to.rows.table.name &&
      references[0] === key.column.name,
  );
  if (!declared && !isCandidate(from, column, to, key)) return null;
  const keys = valueSet(key);
  const distinct = column.values.length;
  const exact = column.values.filter(({ value }) => keys.has(value)).length;
  const isLoose = column.column.kind === 'text' && exact < distinct;
  const loose = isLoose ? column.values.filter(({ value }) => looseSet(key).has(loosely(value))).length : exact;
  const [name, table] = [column.column.name, to.rows.table.name];
  const join = { column: name, table, key: key.column.name, declared, exact, loose, distinct };
  if (declared) return join;
  const met = Math.max(exact, loose) / distinct;
  return met >= (sameName(column, key) ? 0.6 : 0.9) ? join : null;
}

/**
 * A column that leads to another row of its own table: filled for some rows only, always with the key of another one, and
 * with values spread over all keys, since whole numbers from 1 on lie in any key.
 */
function selfJoin(from: Profiled, column: ColumnFacts, key: ColumnFacts): Join | null {
  const isSparse =
    column.filled < column.rows * 0.9 && column.distinct >= Math.max(LEAST_DISTINCT, column.filled * 0.5);
  if (column === key || !isUnique(key) || isUnique(column) || !isSparse) return null;
  if (key.column.kind !== column.column.kind || !joinable(key)) return null;
  const keys = valueSet(key);
  const leads = column.values.every(({ value }) => keys.has(value));
  const toItself = column.column.values.some((value, row) => value !== null && value === key.column.values[row]);
  const [low, high] = [Number(column.min), Number(column.max)];
  const spread = key.column.kind !== 'number' || high - low >= (Number(key.max) - Number(key.min)) * 0.5;
  if (!leads || toItself || !spread) return null;
  const { distinct } = column;
  const { name } = from.rows.table;
  const declared = from.rows.table.foreignKeys.some(
    ({ columns, table }) => table === name && columns.length === 1 && columns[0] === column.column.name,
  );
  const led = new Set(key.column.values.filter((_, row) => column.column.values[row] !== null).map(String));
  const chained = column.column.values.filter((value) => value !== null && led.has(String(value))).length;
  const same = { exact: distinct, loose: distinct, distinct };
  return { column: column.column.name, table: name, key: key.column.name, declared, ...same, chained };
}

function isCandidate(from: Profiled, column: ColumnFacts, to: Profiled, key: ColumnFacts): boolean {
  if (!isUnique(key) || !joinable(key) || key.column.kind !== column.column.kind) return false;
  // The keys of a table lead nowhere; others lead to them.
  if (isUnique(column) && from.rows.table.primaryKey.includes(column.column.name)) return false;
  if (sameName(column, key)) return true;
  if (column.distinct < LEAST_DISTINCT) return false;
  // Whole numbers from 1 on are in every table.
  const dense =
    key.column.kind === 'number' && Number(key.max) - Number(key.min) < key.distinct * 2 && Number(key.min) <= 1;
  return !dense && column.distinct >= key.distinct * 0.05 && to.rows.read >= LEAST_DISTINCT;
}

const joinable = ({ column }: ColumnFacts): boolean =>
  column.kind === 'text' ||
  (column.kind === 'number' && column.values.every((v) => v === null || Number.isInteger(Number(v))));

const sameName = (one: ColumnFacts, other: ColumnFacts): boolean =>
  one.column.name.toLowerCase() === other.column.name.toLowerCase() &&
  !/^(id|name|code|no|nr|type)$/i.test(one.column.name);

/** A column's values are asked for once for each column of each other table. */
export const valueSet = perObject(
  ({ values }: ColumnFacts): ReadonlySet<string> => new Set(values.map(({ value }) => value)),
);
const looseSet = perObject(
  ({ values }: ColumnFacts): ReadonlySet<string> => new Set(values.map(({ value }) => loosely(value))),
);

/** `p-0011082` and `P11082` are one. */
export function loosely(value: string): string {
  return value
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/(^|\p{L})0+(?=\d)/gu, '$1');
}
