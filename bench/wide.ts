/**
 * What a prompt shows of wide databases: 300 tables with 250,000 rows together, and 3,000 tables. The overview is made once
 * (cold); a further question on it is asked in the same process (warm).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createSqliteEngine } from '../src/adapters/sqlite';
import { wideSchema } from '../src/database/wide/schema-text';
import { indexed, takeOverview } from '../src/roles/sql/profiles';
import { bench, part, say, SHORT, type Figure } from './figure';

const AREAS = ['claim', 'policy', 'region', 'vendor', 'invoice', 'shipment', 'patient', 'asset'];
const PARTS = ['head', 'line', 'text', 'log', 'status', 'price'];
const CHARS_PER_TOKEN = 4;

/** Every sixth table is led to by the five after it; texts name its rows. */
function statements(tables: number, rows: number): string[] {
  return Array.from({ length: tables }, (_, at) => {
    const name = `${AREAS[at % AREAS.length] ?? ''}_${PARTS[at % PARTS.length] ?? ''}_${at}`;
    const key = (at - (at % 6)) * 10_000;
    const numbers = `WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})`;
    const values = `printf('%010d', ${key} + ${at % 6 === 0 ? 'i' : `i % ${Math.max(1, Math.floor(rows / 2))}`}), 'Item ' || i || ' of ${at}', char(65 + i % 4), '2024-0' || (1 + i % 9) || '-11', i * 1.5, i % 7, (i * 7919) % 1009`;
    return `CREATE TABLE ${name} (nr text, tx text, st text, dt text, amount numeric, grade integer, qty integer);
      ${numbers} INSERT INTO ${name} SELECT ${values} FROM n`;
  });
}

async function measure(folder: string, tables: number, rows: number): Promise<Figure[]> {
  const path = join(folder, `${tables}.sqlite`);
  const database = new Database(path);
  database.exec(`BEGIN; ${statements(tables, rows).join('; ')}; ANALYZE; COMMIT`);
  database.close();
  const engine = createSqliteEngine({ path });
  try {
    const description = await engine.describe({ signal: AbortSignal.timeout(60_000) });
    const coldMs = performance.now();
    const { content } = await takeOverview(engine, description, { tag: 'gate bench wide' });
    const indexMs = performance.now();
    const overview = indexed(content);
    const question = (item: number): string =>
      `How many of Item ${item} of ${item % tables} were shipped in March 2024?`;
    let { text } = wideSchema(description, overview, { question: question(12) });
    const warmMs = performance.now();
    ({ text } = wideSchema(description, overview, { question: question(17) }));
    const endMs = performance.now();
    const memoryMb = process.memoryUsage().rss / 2 ** 20;
    const how = `${tables} tables, ${tables * rows} rows, SQLite`;
    const name = `schema of ${tables} tables`;
    say(`${name}: ${Math.round(warmMs - coldMs)} ms cold, ${Math.round(endMs - warmMs)} ms warm`);
    return [
      { name: `${name}, size`, value: text.length / CHARS_PER_TOKEN, unit: 'tokens', atMost: 5_500, how },
      { name: `${name}, cold`, value: (warmMs - coldMs) / 1000, unit: 's', atMost: 60, how },
      { name: `${name}, index`, value: (warmMs - indexMs) / 1000, unit: 's', atMost: 10, how },
      { name: `${name}, warm`, value: endMs - warmMs, unit: 'ms', atMost: 200, how },
      { name: `${name}, memory`, value: memoryMb, unit: 'MB', atMost: 2_000, how: `${how}; the whole process` },
    ];
  } finally {
    await engine.close();
  }
}

async function run(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-wide-'));
  try {
    await part('300 tables', () => measure(folder, 300, SHORT ? 100 : 833));
    await part('3,000 tables', () => measure(folder, 3_000, SHORT ? 10 : 40));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

bench(run);
