/**
 * How long scoring takes, by the rules of EHRSQL and by execution match: a thousand predictions, each run beside its gold query
 * through the port; then the same pairs of results once more, without a database. A third of them is wrong, a third is
 * right in another order. Every text is another one, so the parser in front reads each, which is most of the time.
 */
import Database from 'libsql';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../src/adapters/kit/guard';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import { BENCHMARKS } from '../benchmarks/boards';
import { each } from '../src/limiter';
import type { SqlEngine } from '../src/domain/ports';
import { bench, part, type Figure } from './figure';

const PAIRS = 1_000;
const DRUGS = 2_000;
const AT_ONCE = 4;
const OPTIONS = { timeoutMs: 60_000, maxRows: 100_000, signal: new AbortController().signal, tag: 'bench' };

const goldOf = (n: number): string => `SELECT id, name, dose, given FROM drugs WHERE id % 20 = ${n % 20} AND id > ${n}`;
const PREDICTED = [
  (n: number) => `${goldOf(n)} ORDER BY dose DESC, id`,
  (n: number) => `SELECT d.id, d.name, d.dose, d.given FROM drugs AS d WHERE d.id % 20 = ${n % 20} AND d.id > ${n}`,
  (n: number) => `${goldOf(n)} AND dose < 100`,
] as const;

async function measureScoring(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-score-'));
  try {
    const database = new Database(join(folder, 'mimic_iv.sqlite'));
    database.exec(`CREATE TABLE drugs (id INTEGER PRIMARY KEY, name TEXT, dose REAL, given TEXT);
      WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${DRUGS})
      INSERT INTO drugs SELECT i, 'drug ' || i % 97, (i * 7919) % 1000 / 7.0, date('2100-01-01', '+' || i || ' hours') FROM r`);
    database.close();
    const ids = Array.from({ length: PAIRS }, (_, n) => `q${n}`);
    mkdirSync(join(folder, 'test'));
    const data = { data: ids.map((id) => ({ id, question: 'Which drugs?' })) };
    writeFileSync(join(folder, 'test', 'data.json'), JSON.stringify(data));
    const golds = Object.fromEntries(ids.map((id, n) => [id, goldOf(n)]));
    writeFileSync(join(folder, 'test', 'label.json'), JSON.stringify(golds));
    const lines = ids.map((id, n) => JSON.stringify({ id, question: 'Which drugs?', gold_sql: goldOf(n) }));
    writeFileSync(join(folder, 'questions.jsonl'), lines.join('\n'));
    await part('ehrsql2024', () => measure('ehrsql2024', folder));
    await part('questions', () => measure('questions', join(folder, 'questions.jsonl'), folder));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(name: string, data: string, folder = data): Promise<Figure[]> {
  const benchmark = await BENCHMARKS[name]?.();
  if (benchmark === undefined) throw new Error(`no benchmark ${name}`);
  const path = join(folder, 'mimic_iv.sqlite');
  const engine = createGuardedEngine(createSqliteEngine({ path }), createSqliteInspector());
  const kept = new Map<string, ReturnType<SqlEngine['run']>>();
  const keeping: SqlEngine = {
    ...engine,
    run: (statements, options) => {
      const key = statements.join(';');
      const results = kept.get(key) ?? engine.run(statements, options);
      kept.set(key, results);
      return results;
    },
  };
  const scored = async (): Promise<number> => {
    const started = performance.now();
    const board = await benchmark.open(data, {});
    const scores = await each(
      [...board.items.entries()],
      async ([n, { id }]) => {
        const statements = [PREDICTED[n % 3]?.(n) ?? ''];
        return [id, await board.score(id, { kind: 'sql', statements }, keeping, OPTIONS)] as const;
      },
      AT_ONCE,
    );
    const { exAll = null } = board.metrics(new Map(scores));
    if (exAll === null || Math.abs(exAll - 200 / 3) > 1) throw new Error(`${name}: ${exAll} % are right`);
    return (performance.now() - started) / 1_000;
  };
  try {
    await engine.run(['SELECT 1'], OPTIONS);
    const [whole, results] = [await scored(), await scored()];
    const how = 'about 75 rows of 4 columns on each side';
    return [
      { name: `1,000 result pairs scored, ${name}`, value: results, unit: 's', atMost: 5, how },
      {
        ...{ name: `the same with both queries, ${name}`, value: whole, unit: 's' },
        how: `parser, SQLite port and scoring, ${AT_ONCE} at a time`,
      },
    ];
  } finally {
    await engine.close();
  }
}

bench(measureScoring);
