/**
 * The schema context of 1,000 tables with 10,000 columns: read anew from the database, and asked again in the same process. The text for a question has to stay within its budget.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { Client } from 'pg';
import { startPostgres } from '../tests/helpers/postgres';
import { createPostgresEngine } from '../src/adapters/postgres';
import { createSqliteEngine } from '../src/adapters/sqlite';
import type { SqlEngine } from '../src/domain/ports';
import { SCHEMA_CHARS, schemaContext } from '../src/database/context';
import { withDescriptionCache } from '../src/workers/description-cache';
import { bench, median, part, say, SHORT, type Figure } from './figure';
import { COLUMNS_PER_TABLE, TABLES, tableStatements } from './world/wide-schema';

const DATABASE = 'gate_bench_wide';
const QUESTION = 'What is the average settlement delay of claims by region and adjuster?';

interface Arena {
  readonly name: string;
  readonly open: () => SqlEngine;
}

async function measure({ name, open }: Arena): Promise<Figure[]> {
  const repeats = SHORT ? 2 : 5;
  const cold: number[] = [];
  const again: number[] = [];
  let chars = 0;
  let missing = 0;
  // Each call is some seconds after the one before, so that what callers share within seconds is not measured.
  let clockMs = 0;
  const nowMs = (): number => (clockMs += 5_000);
  for (let round = 0; round < repeats; round += 1) {
    const engine = withDescriptionCache(open(), nowMs);
    const context = async (): Promise<number> => {
      const startedMs = performance.now();
      const description = await engine.describe({ signal: AbortSignal.timeout(60_000) });
      const { text } = schemaContext(description, { maxChars: SCHEMA_CHARS, question: QUESTION });
      const tookMs = performance.now() - startedMs;
      chars = Math.max(chars, text.length);
      missing += description.tables.filter((table) => !text.includes(table.name)).length;
      return tookMs;
    };
    cold.push(await context());
    again.push(await context());
    await engine.close();
    say(`${name}: cold ${Math.round(cold.at(-1) ?? 0)} ms, again ${Math.round(again.at(-1) ?? 0)} ms`);
  }
  const how = `${TABLES} tables, ${TABLES * COLUMNS_PER_TABLE} columns, median of ${repeats}`;
  return [
    { name: `schema context, ${name}, cold`, value: median(cold), unit: 'ms', atMost: 5_000, how },
    {
      name: `schema context, ${name}, again`,
      value: median(again),
      unit: 'ms',
      atMost: 200,
      how: `${how}; same process`,
    },
    {
      name: `schema context, ${name}, size`,
      value: chars,
      unit: 'characters',
      atMost: SCHEMA_CHARS,
      how: 'for a question, every table listed',
    },
    { name: `schema context, ${name}, tables not named`, value: missing, unit: 'tables', atMost: 0, how },
  ];
}

async function run(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-schema-'));
  try {
    await part('SQLite', () => {
      const file = join(folder, 'wide.sqlite');
      const database = new Database(file);
      database.exec(`BEGIN; ${tableStatements('sqlite').join('; ')}; COMMIT`);
      database.close();
      return measure({ name: 'SQLite', open: () => createSqliteEngine({ path: file }) });
    });
    await part('PostgreSQL', onPostgres);
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<Figure[]> {
  const postgres = await startPostgres();
  try {
    // In parts: one transaction would need a lock for each table.
    await postgres.createDatabase(DATABASE);
    const url = postgres.url(DATABASE);
    const client = new Client({ connectionString: url });
    await client.connect();
    const statements = tableStatements('postgresql');
    for (let at = 0; at < statements.length; at += 400) await client.query(statements.slice(at, at + 400).join('; '));
    await client.end();
    return await measure({ name: 'PostgreSQL', open: () => createPostgresEngine({ url }) });
  } finally {
    await postgres.stop();
  }
}

bench(run);
