/** What descriptions of all dialects share: sampled values, and the fingerprint of the structure. */
import { createHash } from 'node:crypto';
import { cut } from '../../clip';
import type { DatabaseDescription, Dialect, SqlValue, TableDescription } from '../../domain';

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
  return createHash('sha256').update(JSON.stringify(structure)).digest('hex');
}

/** Longest sample value that is shown; what is longer ends in an ellipsis. */
export const SAMPLE_LENGTH = 60;
const SAMPLES_PER_COLUMN = 5;

/** Some rows of a table, each value cut at `SAMPLE_LENGTH` + 1 characters, and how many there are; null: not counted. */
export interface Sampled {
  readonly rows: readonly (readonly SqlValue[])[];
  readonly count: number | null;
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
