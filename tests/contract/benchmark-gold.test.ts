/** The gold queries of real questions are right against themselves on PostgreSQL, by the rules of BIRD and by execution match. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresEngine } from '../../src/adapters/postgres';
import type { BoardScore, OpenBenchmark } from '../../benchmarks/benchmark';
import { birdMiniDev } from '../../benchmarks/boards/bird';
import { questions } from '../../benchmarks/boards/questions';
import type { SqlEngine } from '../../src/domain/ports';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';

const SQL_OPTIONS = { timeoutMs: 240_000, maxRows: 100_000, signal: new AbortController().signal, tag: 'test' };
const folder = mkdtempSync(join(tmpdir(), 'gate-gold-'));
const engines = new Map<string, SqlEngine>();
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await sharedPostgres();
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function scoredAgainstItself(board: OpenBenchmark, data: TestData): Promise<Map<string, BoardScore>> {
  const scores = new Map<string, BoardScore>();
  for (const { id, engine, database, gold } of board.items) {
    if (engine !== 'postgresql') continue;
    const url = data.address({ engine, database: database ?? '' });
    const opened = engines.get(url) ?? createPostgresEngine({ url, options: postgres.laidDown });
    engines.set(url, opened);
    for (const [at, sql] of (gold?.sql ?? []).entries())
      scores.set(`${id} ${at}`, await board.score(id, { kind: 'sql', statements: [sql] }, opened, SQL_OPTIONS));
  }
  expect(scores.size).toBeGreaterThan(2);
  return scores;
}

test('of BIRD', async () => {
  const data = await loadTestData(postgres, { only: ['bird_superhero'] });
  const questions = data.questions
    .filter(({ engine, gold_sql }) => engine === 'postgresql' && gold_sql.length > 0)
    .map(({ database, question, gold_sql: [SQL] }) => ({ db_id: database, question, SQL, difficulty: 'simple' }));
  writeFileSync(join(folder, 'mini_dev_postgresql.json'), JSON.stringify(questions));
  const board = await birdMiniDev.open(folder, { split: 'postgresql' });
  const scores = await scoredAgainstItself(board, data);
  expect([...scores].filter(([, { points }]) => points['ex'] !== 1 || points['softF1'] !== 1)).toEqual([]);
  data.close();
});

test('of a file of questions', async () => {
  const data = await loadTestData(postgres, { only: ['defog_postgres'] });
  const scores = await scoredAgainstItself(await questions.open(data.questionFiles[0] ?? '', {}), data);
  expect([...scores].filter(([, { verdict }]) => verdict !== 'correct')).toEqual([]);
  data.close();
});
