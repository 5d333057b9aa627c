/** What searches leave behind, in bytes. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

/** An SQLite file with its write-ahead log. */
export function sqliteBytes(file: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (existsSync(file + suffix) ? statSync(file + suffix).size : 0), 0);
}

/** Tables with their indexes and large values, without the system's own. */
export async function postgresBytes(connectionString: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::text AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
    );
    return Number(rows[0]?.bytes ?? 0);
  } finally {
    await client.end();
  }
}

export interface StoreBytes {
  readonly contents: number;
  /** Intents and replies of model calls. */
  readonly journal: number;
}

export function storeBytes(folder: string, searches: ReadonlySet<string>): StoreBytes {
  let contents = 0;
  let journal = 0;
  const runs = join(folder, 'runs');
  for (const run of readdirSync(runs).filter((name) => searches.has(name))) {
    for (const kind of readdirSync(join(runs, run))) {
      const bytes = readdirSync(join(runs, run, kind)).reduce(
        (sum, name) => sum + statSync(join(runs, run, kind, name)).size,
        0,
      );
      if (kind === 'intent' || kind === 'reply') journal += bytes;
      else contents += bytes;
    }
  }
  return { contents, journal };
}
