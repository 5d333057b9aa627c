/**
 * How often a schema that does not fit still shows every table that a gold query reads, in detail: by words and keys alone.
 *
 *     npx tsx scripts/schema-recall.ts --questions questions.jsonl --db mimic_iv=./mimic_iv.sqlite [--db …] [--share 3]
 *
 * `--share 3` leaves room for a third of the text of the whole schema, besides the list of names. A database is named as
 * the questions name it, and given by the path of its SQLite file or a PostgreSQL address.
 */
import { parseArgs } from 'node:util';
import { createPostgresEngine, createPostgresInspector } from '../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import { loadQuestions } from '../src/questions';
import type { DatabaseDescription } from '../src/domain';
import { schemaContext } from '../src/database/context';
import { tableName } from '../src/database/table-text';
import { sameRelation } from '../src/sql/validate';

const { values } = parseArgs({
  options: {
    questions: { type: 'string', multiple: true, default: [] },
    db: { type: 'string', multiple: true, default: [] },
    share: { type: 'string', default: '3' },
  },
});

async function describe(target: string): Promise<DatabaseDescription> {
  const engine = /^postgres(ql)?:/.test(target)
    ? createPostgresEngine({ url: target })
    : createSqliteEngine({ path: target });
  try {
    return await engine.describe({ signal: AbortSignal.timeout(60_000) });
  } finally {
    await engine.close();
  }
}

function roomFor(description: DatabaseDescription): number {
  const whole = schemaContext(description, { maxChars: Number.MAX_SAFE_INTEGER }).text.length;
  const names = description.tables.map(({ name }) => tableName(name, description.dialect)).join(', ').length;
  return Math.round(whole / Number(values.share)) + names + 200;
}

async function main(): Promise<void> {
  const inspectors = { postgresql: await createPostgresInspector(), sqlite: createSqliteInspector() };
  const items = (await Promise.all(values.questions.map((file) => loadQuestions(file)))).flat();
  let all = 0;
  let asked = 0;
  for (const given of values.db) {
    const at = given.indexOf('=');
    const name = given.slice(0, at);
    const description = await describe(given.slice(at + 1));
    if (description.dialect !== 'postgresql' && description.dialect !== 'sqlite') continue;
    const inspector = inspectors[description.dialect];
    const maxChars = roomFor(description);
    const own = items.filter(({ database, gold }) => database === name && gold?.answerable === true);
    let complete = 0;
    for (const { question, gold } of own) {
      const { shown } = schemaContext(description, { maxChars, question });
      const isShown = (relation: string): boolean => shown?.some((table) => sameRelation(table, relation)) ?? true;
      const readable = (gold?.sql ?? []).map((sql) => inspector.inspect(sql)).filter((each) => each.kind === 'select');
      if (readable.some(({ relations }) => relations.every(isShown))) complete += 1;
    }
    console.log(`${name}: ${complete} of ${own.length} questions, ${description.tables.length} tables`);
    all += complete;
    asked += own.length;
  }
  console.log(
    `all gold tables in detail: ${all} of ${asked} questions (${((100 * all) / Math.max(1, asked)).toFixed(1)} %)`,
  );
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
