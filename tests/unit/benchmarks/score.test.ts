import Database from 'libsql';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { BENCHMARKS } from '../../../benchmarks/boards';
import { ScoreReport } from '../../../benchmarks/score';
import { testProcess } from '../cli/test-io';

const { home, bench } = testProcess();
const put = (name: string, value: unknown): void => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  writeFileSync(join(home, name), text);
};
beforeAll(() => {
  mkdirSync(join(home, 'ehrsql', 'test'), { recursive: true });
  put('ehrsql/test/data.json', { data: ['a', 'b', 'c'].map((id) => ({ id, question: `${id}?` })) });
  put('ehrsql/test/label.json', { a: 'SELECT x FROM t', b: 'null', c: 'SELECT count(*) FROM t' });
  put('prediction.json', { a: 'SELECT x FROM t ORDER BY x DESC', b: 'null', c: 'SELECT 1' });
  for (const name of ['ehrsql/mimic_iv.sqlite', 'other.sqlite']) {
    const database = new Database(join(home, name));
    database.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
    database.close();
  }
});
const FLAGS = ['--benchmark', 'ehrsql2024', '--data', 'ehrsql', '--predictions'];
const score = (...flags: string[]) => bench('score', ...FLAGS, ...flags);

test('figures and verdicts are told by the rules of the benchmark, whose source is named', async () => {
  const { code, out, err } = await score('prediction.json');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^ehrsql2024, test: 3 questions, by the rules of glee4810\/ehrsql-2024@4659789/);
  expect(out).toMatch(/exAll +66\.67\n/);
  expect(out).toMatch(/rs10 +-266\.67\n/);
  expect(out).toMatch(/correct-abstained +1\n/);
});

test('--json holds the score of each question with its reason', async () => {
  const { out } = await score('prediction.json', '--json');
  const report = z.strictObject(ScoreReport.shape).parse(JSON.parse(out));
  expect(report).toMatchObject({ benchmark: 'ehrsql2024', split: 'test', questions: 3 });
  expect(report.metrics).toMatchObject({
    exAnswerable: 50,
    rs0: expect.closeTo(200 / 3) as number,
    rsN: expect.closeTo(-100 / 3) as number,
  });
  expect(report.verdicts).toEqual({ correct: 1, 'correct-abstained': 1, wrong: 1 });
  expect(report.scores.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['a', 'correct'],
    ['b', 'correct-abstained'],
    ['c', 'wrong'],
  ]);
  expect(report.scores[2]?.reason).toBe('other values than the official answer');
});

test('ids that are missing are scored as wrong', async () => {
  put('short.json', { a: 'SELECT x FROM t' });
  const { code, out } = await score('short.json');
  expect(code).toBe(0);
  expect(out).toMatch(/wrong-answered +1\n/);
});

test('a result too large to compare is left out of the figures, and said', async () => {
  const numbers = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 300) SELECT i FROM r';
  put('ehrsql/test/label.json', { a: numbers, b: 'null', c: 'SELECT count(*) FROM t' });
  put('large.json', { a: numbers, b: 'null', c: 'SELECT 2' });
  const { out } = await score('large.json', '--max-rows', '200');
  put('ehrsql/test/label.json', { a: 'SELECT x FROM t', b: 'null', c: 'SELECT count(*) FROM t' });
  expect(out).toMatch(/exAll +100\.00\n/);
  expect(out).toMatch(/1 question left out as undecided \("a"\): .*larger than the row cap/);
});

test('a database of the command line takes the place of the one in the folder', async () => {
  const { code, out } = await score('prediction.json', '--db', 'mimic_iv=./other.sqlite', '--json');
  expect([code, (JSON.parse(out) as ScoreReport).verdicts.correct]).toEqual([0, 1]);
});

test.each([
  [['nowhere.json'], /^gate-bench: .*nowhere\.json cannot be read: it does not exist\n$/],
  [['prediction.json', '--timings', '1'], /--timings 1: .* give 2 or more/],
  [['prediction.json', '--split', 'dev'], /no split "dev": choose one of test, valid, paper-100/],
  [['prediction.json', '--split', 'valid'], /has neither data\/mimic_iv\/valid\/data\.json nor questions\.jsonl/],
  [['prediction.json', '--db', 'mimic_iv=./gone.sqlite'], /gone\.sqlite/],
  [['prediction.json', '--db', './other.sqlite'], /--db \.\/other\.sqlite needs a name/],
])('bad input is one line before anything is scored: %j', async (flags, message) => {
  const { code, out, err } = await score(...flags);
  expect([code, out]).toEqual([expect.any(Number), '']);
  expect(code).toBeGreaterThan(0);
  expect(err).toMatch(message);
  expect(err.trimEnd()).not.toContain('\n');
});

test('what a file holds cannot move the cursor', async () => {
  put('cursor.jsonl', {
    id: '\u001b[2Jx',
    question: 'How many?',
    database: 'sales',
    gold_sql: 'SELECT * FROM "\u001b[2J"',
  });
  put('cursor-predictions.jsonl', { id: '\u001b[2Jx', sql: 'SELECT 1' });
  const flags = ['score', '--benchmark', 'questions', '--data', 'cursor.jsonl', '--db', 'sales=./other.sqlite'];
  const ran = await bench(...flags, '--predictions', 'cursor-predictions.jsonl');
  expect(ran.out).toContain('left out as');
  expect(ran.out + ran.err).not.toContain('\u001b');
});

test('a database that nobody names is named', async () => {
  put('own.jsonl', { id: 'a', question: 'How many?', database: 'sales', gold_sql: 'SELECT 1' });
  put('own-predictions.jsonl', { id: 'a', sql: 'SELECT 1' });
  const flags = ['--benchmark', 'questions', '--data', 'own.jsonl', '--predictions', 'own-predictions.jsonl'];
  const { code, err } = await bench('score', ...flags);
  expect([code, err]).toEqual([
    2,
    "gate-bench: no database is given for sales (1 question): add --db 'NAME=…' for each, or one template with {database}\n",
  ]);
  expect(await bench('score', ...flags, '--db', 'sales=./other.sqlite')).toMatchObject({ code: 0 });
});

test('a database beside the file is found by a name with spaces, and can be given by it', async () => {
  put('spaced.jsonl', { id: 'a', question: 'How many?', database: 'sales of 2024', gold_sql: 'SELECT sum(x) FROM t' });
  put('spaced-predictions.jsonl', { id: 'a', sql: 'SELECT 3' });
  const flags = ['--benchmark', 'questions', '--data', 'spaced.jsonl', '--predictions', 'spaced-predictions.jsonl'];
  expect(await bench('score', ...flags, '--db', 'sales of 2024=./other.sqlite')).toMatchObject({ code: 0 });
  copyFileSync(join(home, 'other.sqlite'), join(home, 'sales of 2024.sqlite'));
  expect(await bench('score', ...flags)).toMatchObject({ code: 0, err: '' });
});

test('the help names every benchmark, and each is what its name says', async () => {
  const { out } = await bench('score', '--help');
  for (const [name, load] of Object.entries(BENCHMARKS)) {
    expect(out).toContain(`"${name}"`);
    expect(await load()).toMatchObject({ name });
  }
});

test('what a folder lacks is noted, and a question whose SQL is run nowhere needs no database', async () => {
  const gold = join(home, 'spider2', 'evaluation_suite', 'gold');
  mkdirSync(join(gold, 'exec_result'), { recursive: true });
  mkdirSync(join(home, 'submission'));
  put('spider2/spider2-lite.jsonl', {
    instance_id: 'sf_bq001',
    db: 'ga4',
    question: 'q',
    external_knowledge: 'absent.md',
  });
  put('spider2/evaluation_suite/gold/spider2lite_eval.jsonl', { instance_id: 'sf_bq001', ignore_order: true });
  put('spider2/evaluation_suite/gold/exec_result/sf_bq001_a.csv', 'a\n1\n');
  put('submission/sf_bq001.sql', 'SELECT 1');
  const flags = ['--benchmark', 'spider2-lite', '--data', 'spider2', '--predictions', 'submission'];
  const { code, out, err } = await bench('score', ...flags);
  expect([code, err]).toEqual([0, 'note: resource/documents lacks "absent.md"\n']);
  expect(out).toMatch(
    /1 question left out as undecided \("sf_bq001"\): the official scorer of lite gives SQL for sf_bq001 no points/,
  );
});
