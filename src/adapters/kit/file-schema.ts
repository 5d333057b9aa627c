/** How a database in a file is described: by statements of its own session, samples of many tables in one of them. */
import type { SqlValue, TableDescription } from '../../domain';
import { groupBy } from '../../group-by';
import type { Sampled } from './schema';

export type Rows = readonly (readonly SqlValue[])[];

/** Runs statements in one snapshot; null for one that fails (a view over a dropped table). */
export type Read = (texts: readonly string[]) => Promise<readonly (Rows | null)[]>;

const TABLES_PER_QUERY = 25;

/**
 * `sql`: for each row of a table its number, the count of all rows, and the values as a JSON list; without a row there is no
 * count. A table that cannot be read (a broken view) has no samples; those beside it are read alone.
 */
export async function samplesOf(
  read: Read,
  tables: readonly TableDescription[],
  sql: (table: TableDescription, index: number) => string,
): Promise<ReadonlyMap<string, Sampled>> {
  const sampled = new Map<string, Sampled>();
  const failed = await sample(inBatches(tables, TABLES_PER_QUERY));
  await sample(inBatches(failed, 1));
  return sampled;

  /** One query for many tables, because a query per table is slow. Gives the tables of those that failed. */
  async function sample(batches: readonly (readonly TableDescription[])[]): Promise<TableDescription[]> {
    const answers = await read(batches.map((batch) => batch.map(sql).join(' UNION ALL ')));
    for (const [at, batch] of batches.entries()) {
      const found = answers[at] ?? null;
      if (found === null) continue;
      const rowsOf = groupBy(found, ([table]) => table);
      for (const [index, { name, kind }] of batch.entries()) {
        const own = rowsOf.get(index) ?? [];
        const rows = own.map(([, , values]) => (JSON.parse(String(values)) as string[]).flat());
        sampled.set(name, { rows, count: kind === 'view' ? null : Number(own[0]?.[1] ?? 0) });
      }
    }
    return batches.filter((_, at) => (answers[at] ?? null) === null).flat();
  }
}

const inBatches = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
