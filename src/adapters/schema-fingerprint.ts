/** A hash over the structure of a database: tables, columns, types and keys in code-unit order; no data, no comments. */
import { createHash } from 'node:crypto';
import type { SqlValue, TableDescription } from '../domain';

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
export const SAMPLES_PER_COLUMN = 5;

/** The first distinct values of each column of some sampled rows. */
export function samplesByColumn(rows: readonly (readonly SqlValue[])[], columns: number): string[][] {
  return Array.from({ length: columns }, (_, index) => {
    const seen = new Set<string>();
    for (const row of rows) {
      const value = row[index] ?? null;
      if (value === null || seen.size >= SAMPLES_PER_COLUMN) continue;
      const text = String(value);
      seen.add(text.length > SAMPLE_LENGTH ? `${text.slice(0, SAMPLE_LENGTH - 1)}…` : text);
    }
    return [...seen];
  });
}
