/**
 * The SQL that profiles a table: one wide row of counts and ranges, one list of frequent values and formats, and if needed
 * one statement each for JSON texts, magnitudes by unit, and joins. All of them read the same first `maxRows` rows (of a
 * sample, for large PostgreSQL tables) and go to the engine as one run.
 */
import type { ColumnDescription, Dialect, TableDescription } from '../../domain';
import { profileSql, quote, relation } from './sql';

export interface ProfileBudget {
  /** Rows examined per table. */
  readonly maxRows: number;
  readonly maxColumns: number;
}
export const DEFAULT_PROFILE_BUDGET: ProfileBudget = { maxRows: 20_000, maxColumns: 30 };

export interface ProfileJoin {
  readonly column: string;
  readonly table: string;
  readonly references: string;
}

export type ColumnClass = 'number' | 'time' | 'text' | 'boolean' | 'json' | 'binary';

export interface ProfiledColumn {
  readonly name: string;
  readonly class: ColumnClass;
  /** Its name looks like a key's, or it is declared as one. */
  readonly key: boolean;
}

/** The queries with what is needed to read their results. Indexes refer to `columns`. */
export interface ProfileQueries {
  readonly table: string;
  readonly columns: readonly ProfiledColumn[];
  readonly copies: readonly (readonly [number, number])[];
  /** `[label column, number column]`. */
  readonly magnitudes: readonly (readonly [number, number])[];
  readonly joins: readonly ProfileJoin[];
  readonly json: readonly number[];
  /** The purpose of each statement, in this order. */
  readonly purposes: readonly ('wide' | 'values' | 'json' | 'magnitudes' | 'joins')[];
  readonly statements: readonly string[];
}

/** Snowflake has no MATERIALIZED: it decides itself whether a CTE that is read several times is computed once. */
const MATERIALIZED: Readonly<Record<Dialect, string>> = {
  postgresql: 'MATERIALIZED ',
  sqlite: 'MATERIALIZED ',
  snowflake: '',
};
const MAX_COPY_PAIRS = 60;
const MAX_MAGNITUDES = 12;
const LABEL_COLUMN = /unit|uom|measure|currency|type|kind|device|sensor|source|scale|status|format|version|method/i;

export function profileQueries(
  table: TableDescription,
  columnNames: readonly string[],
  dialect: Dialect,
  budget: ProfileBudget = DEFAULT_PROFILE_BUDGET,
  joins: readonly ProfileJoin[] = [],
): ProfileQueries {
  const described = columnNames
    .flatMap((name) => table.columns.find((column) => column.name === name) ?? [])
    .slice(0, budget.maxColumns);
  const columns = described.map((column): ProfiledColumn => ({
    name: column.name,
    class: classOf(column),
    key: isKey(table, column.name),
  }));
  const sql = profileSql(dialect);
  const rows = `WITH gate_rows AS ${MATERIALIZED[dialect]}(SELECT ${columns.map(({ name }, index) => `${quote(name)} AS c${index}`).join(', ')} FROM ${sampled(table, dialect, budget)} LIMIT ${budget.maxRows})`;
  const copies = pairs(columns);
  const magnitudes = columns
    .flatMap((label, index) =>
      isLabel(label)
        ? columns.flatMap((value, other) =>
            value.class === 'number' && !value.key && other !== index ? [[index, other] as const] : [],
          )
        : [],
    )
    .slice(0, MAX_MAGNITUDES);
  const json = columns.flatMap((column, index) => (column.class === 'json' ? [index] : []));
  const usable = joins.filter(({ column }) => columns.some(({ name }) => name === column));
  const parts = [
    {
      purpose: 'wide' as const,
      text: `SELECT ${['count(*)', ...columns.flatMap((column, index) => sql.wide(column, index)), ...copies.map(([one, other]) => sql.same(one, other))].join(', ')} FROM gate_rows`,
    },
    { purpose: 'values' as const, text: union(columns.flatMap((column, index) => sql.values(column, index))) },
    { purpose: 'json' as const, text: union(json.map((index) => sql.json(index))) },
    {
      purpose: 'magnitudes' as const,
      text: union(magnitudes.map(([label, value], index) => sql.magnitude(label, value, index))),
    },
    {
      purpose: 'joins' as const,
      text: union(
        usable.map((join, index) =>
          sql.join(
            join,
            columns.findIndex(({ name }) => name === join.column),
            index,
          ),
        ),
      ),
    },
  ].filter(({ text }) => text !== '');
  return {
    table: table.name,
    columns,
    copies,
    magnitudes,
    joins: usable,
    json,
    purposes: columns.length === 0 ? [] : parts.map(({ purpose }) => purpose),
    statements: columns.length === 0 ? [] : parts.map(({ text }) => `${rows} ${text}`),
  };
}

export function classOf({ type, samples }: Pick<ColumnDescription, 'type' | 'samples'>): ColumnClass {
  const name = type.toLowerCase();
  if (/\[\]/.test(name)) return 'text';
  if (/json|^(variant|object|array|map)\b/.test(name)) return 'json';
  if (/^bool/.test(name)) return 'boolean';
  if (/bytea|blob|^(var)?binary/.test(name)) return 'binary';
  if (/char|text|clob|enum/.test(name))
    return samples.length > 0 && samples.every((sample) => /^\s*[[{]["{[\]}\s\d]/.test(sample)) ? 'json' : 'text';
  if (/^(date|time|timestamp|datetime)/.test(name)) return 'time';
  if (
    /^(small|big|tiny|medium)?int(eger|\d+)?\b|^serial|^bigserial|^numeric|^decimal|^real|^float|^double|^number|unsigned/.test(
      name,
    )
  )
    return 'number';
  return 'text';
}

function isKey(table: TableDescription, column: string): boolean {
  const single = [table.primaryKey, ...table.uniqueKeys].some((key) => key.length === 1 && key[0] === column);
  return (
    single ||
    table.foreignKeys.some((key) => key.columns.includes(column)) ||
    /(^|_)(id|key|code|uuid|guid)$|[a-z](Id|ID|Key|Code)$/.test(column)
  );
}

const isLabel = (column: ProfiledColumn): boolean =>
  LABEL_COLUMN.test(column.name) && ['text', 'boolean', 'number'].includes(column.class);

function pairs(columns: readonly ProfiledColumn[]): [number, number][] {
  return columns
    .flatMap((one, index) =>
      columns.flatMap((other, position): [number, number][] =>
        position > index && one.class === other.class && !['json', 'binary'].includes(one.class)
          ? [[index, position]]
          : [],
      ),
    )
    .slice(0, MAX_COPY_PAIRS);
}

/** The first rows of a large table are its oldest ones. A server can instead read random pages, the same ones every time. */
function sampled(table: TableDescription, dialect: Dialect, { maxRows }: ProfileBudget): string {
  const name = relation(table.name, dialect);
  const rows = table.rowEstimate ?? 0;
  if (dialect === 'sqlite' || table.kind !== 'table' || rows < maxRows * 5) return name;
  const share = Math.min(100, (maxRows / rows) * 150).toFixed(4);
  return `${name} TABLESAMPLE SYSTEM (${share}) REPEATABLE (1)`;
}

const union = (selects: readonly string[]): string => selects.join(' UNION ALL ');
