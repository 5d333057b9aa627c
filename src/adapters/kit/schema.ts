/** What descriptions of all dialects share: sampled values, and the fingerprint of the structure. */
import { cut } from '../../clip';
import type { DatabaseDescription, Dialect, SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import { each } from '../../limiter';
import { sha256 } from '../../sha256';

/** A hash over tables, columns, types and keys in code-unit order; no data, no comments. */
export function fingerprintOf(tables: readonly TableDescription[]): string {
  const structure = tables
    .map(({ name, kind, columns, primaryKey, uniqueKeys, foreignKeys }) =>
      JSON.stringify([
        name,
        kind,
        columns.map((column) => [column.name, column.type, column.nullable]),
        primaryKey,
        uniqueKeys.map((key) => JSON.stringify(key)).sort(),
        foreignKeys.map((key) => JSON.stringify([key.columns, key.table, key.references])).sort(),
      ]),
    )
    .sort();
  return sha256(JSON.stringify(structure));
}

interface KeyPart {
  readonly table: string;
  /** The same for all parts of a key, which are in their order. */
  readonly key: string;
  /** Null: an expression, or a part of a column. Then nothing is said of the key. */
  readonly column: string | null;
}

type Column = TableDescription['columns'][number];

/** A schema as catalogues have it. Tables by the names that are shown; comments are empty where there are none. */
export interface Catalogue {
  readonly tables: readonly (Pick<TableDescription, 'name' | 'kind' | 'rowEstimate'> & { readonly comment: string })[];
  readonly columns: readonly (Pick<Column, 'name' | 'type' | 'nullable'> & {
    readonly table: string;
    readonly comment: string;
  })[];
  readonly primary: readonly KeyPart[];
  readonly unique: readonly KeyPart[];
  readonly foreign: readonly (KeyPart & { readonly target: string; readonly references: string })[];
}

/** Without samples, and without keys to tables that are not described. */
export function tablesOf({ tables, columns, primary, unique, foreign }: Catalogue): TableDescription[] {
  const known = new Set(tables.map(({ name }) => name));
  const columnsOf = groupBy(columns, ({ table }) => table);
  const [primaryOf, uniqueOf, foreignOf] = [keysIn(primary), keysIn(unique), keysIn(foreign)];
  const columnsIn = (key: readonly KeyPart[]): string[] => key.flatMap(({ column }) => column ?? []);
  return tables.map(({ name, kind, comment, rowEstimate }) => ({
    ...{ name, kind, rowEstimate, comment: comment || null },
    columns: (columnsOf.get(name) ?? []).map(({ table: _, ...column }) => ({
      ...column,
      comment: column.comment || null,
      samples: [],
    })),
    primaryKey: columnsIn(primaryOf.get(name)?.[0] ?? []),
    uniqueKeys: (uniqueOf.get(name) ?? []).map(columnsIn),
    foreignKeys: (foreignOf.get(name) ?? []).flatMap((key) => {
      const target = key[0]?.target ?? '';
      return known.has(target)
        ? [{ columns: columnsIn(key), table: target, references: key.map(({ references }) => references) }]
        : [];
    }),
  }));
}

/** A cell of a catalogue; empty where it has none. */
export const text = (cell: SqlValue | undefined): string => (cell === null || cell === undefined ? '' : String(cell));

function keysIn<T extends KeyPart>(parts: readonly T[]): Map<string, T[][]> {
  const keys = [...groupBy(parts, ({ table, key }) => JSON.stringify([table, key])).values()];
  const whole = keys.filter((key) => key.every(({ column }) => column !== null));
  return groupBy(whole, ([first]) => first?.table ?? '');
}

/** Longest sample value that is shown; what is longer ends in an ellipsis. */
export const SAMPLE_LENGTH = 60;
const SAMPLES_PER_COLUMN = 5;

/** Some rows of a table, each value cut at `SAMPLE_LENGTH` + 1 characters, and how many there are; null: not counted. */
export interface Sampled {
  readonly rows: readonly (readonly SqlValue[])[];
  readonly count: number | null;
}

/**
 * Views last, because each may hide an expensive query; what is left after `withinMs` has no samples, and neither has what cannot
 * be read (a broken or slow view). `isOwn`: the error is of that table alone.
 */
export async function sampled(
  tables: readonly TableDescription[],
  sample: (table: TableDescription) => Promise<Sampled>,
  how: { readonly withinMs: number; readonly atOnce: number; readonly isOwn: (error: unknown) => boolean },
): Promise<Map<string, Sampled>> {
  const found = new Map<string, Sampled>();
  const deadline = Date.now() + how.withinMs;
  const read = async (table: TableDescription): Promise<void> => {
    if (Date.now() > deadline) return;
    try {
      found.set(table.name, await sample(table));
    } catch (error) {
      if (!how.isOwn(error)) throw error;
    }
  };
  const filled = tables.filter(({ columns }) => columns.length > 0);
  await each(
    filled.sort((a, b) => Number(a.kind === 'view') - Number(b.kind === 'view')),
    read,
    how.atOnce,
  );
  return found;
}

/** `tables` come from a catalogue, without samples; `sampled` is by their names. */
export function described(
  dialect: Dialect,
  version: string,
  tables: readonly TableDescription[],
  sampled: ReadonlyMap<string, Sampled>,
): DatabaseDescription {
  const complete = tables.map((table): TableDescription => {
    const { rows, count } = sampled.get(table.name) ?? { rows: [], count: null };
    const columns = table.columns.map((column, at) => ({ ...column, samples: samplesOf(rows.map((row) => row[at])) }));
    return { ...table, rowEstimate: count ?? table.rowEstimate, columns };
  });
  return { dialect, version, tables: complete, fingerprint: fingerprintOf(complete) };
}

/** The first distinct values of a column. */
function samplesOf(values: readonly (SqlValue | undefined)[]): string[] {
  const texts = values.flatMap((value) =>
    value === null || value === undefined ? [] : [cut(String(value), SAMPLE_LENGTH)],
  );
  return [...new Set(texts)].slice(0, SAMPLES_PER_COLUMN);
}
