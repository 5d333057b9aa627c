import Database from 'libsql';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteEngine } from '../../../src/adapters/sqlite';
import { judge, scoreAnswer, summarise, type BenchmarkItem, type Gold, type Verdict } from '../../../src/questions';
import type { SqlResult, SqlValue } from '../../../src/domain';
import { SqlEngineError, type SqlEngine } from '../../../src/domain/ports';

const rows = (...values: SqlValue[]): SqlResult => ({
  kind: 'rows',
  columns: [{ name: 'x', kind: 'other' }],
  rows: values.map((value) => [value]),
  truncated: false,
  elapsedMs: 1,
});
const item = (gold: Partial<Gold> | null, question = 'q'): BenchmarkItem => ({
  id: 'i',
  question,
  context: null,
  instructions: null,
  engine: 'sqlite',
  database: 'd',
  gold:
    gold === null
      ? null
      : {
          sql: ['GOLD'],
          answer: null,
          text: null,
          answerable: true,
          abstainText: null,
          category: null,
          difficulty: null,
          ...gold,
        },
});
const UNANSWERABLE = { sql: [], answerable: false };

/** An engine that knows these statements; `null` stands for a lost connection. */
const engine = (results: Readonly<Record<string, SqlResult>> | null) => {
  const ran: string[][] = [];
  const port: SqlEngine = {
    dialect: 'sqlite',
    run: (statements) => {
      ran.push([...statements]);
      if (results === null) return Promise.reject(new SqlEngineError('connection', 'the server went away'));
      return Promise.resolve({ takenAt: 't', results: statements.map((sql) => results[sql] ?? rows()) });
    },
    describe: () => Promise.reject(new Error('not used')),
    digest: () => Promise.reject(new Error('not used')),
    close: () => Promise.resolve(),
  };
  return { port, ran };
};
const options = { timeoutMs: 1, maxRows: 1, signal: new AbortController().signal, tag: 't' };
type Status = Parameters<typeof scoreAnswer>[1]['status'];
const verdictOf = async (
  one: BenchmarkItem,
  status: Status,
  sql: string | null = 'SQL',
  results: Readonly<Record<string, SqlResult>> | null = { SQL: rows('a'), GOLD: rows('a') },
) => (await scoreAnswer(one, { status, sql, reason: null }, engine(results).port, options)).verdict;

const unusable = async (one: BenchmarkItem) => {
  const failed = { status: 'failed', endedBy: 'unusable', sql: null, reason: 'no usable action' } as const;
  return (await scoreAnswer(one, failed, engine({}).port, options)).verdict;
};

const TABLE: readonly (readonly [string, Verdict, () => Promise<Verdict>])[] = [
  ['an equal result', 'correct', () => verdictOf(item({}), 'answered')],
  ['another result', 'wrong', () => verdictOf(item({}), 'answered', 'SQL', { SQL: rows('a'), GOLD: rows('b') })],
  ['an answer without a query', 'wrong', () => verdictOf(item({}), 'answered', null)],
  ['abstaining on an answerable question', 'wrong-abstained', () => verdictOf(item({}), 'abstained', null)],
  ['calling an answerable question unanswerable', 'wrong-abstained', () => verdictOf(item({}), 'unanswerable', null)],
  [
    'calling an unanswerable question unanswerable',
    'correct-abstained',
    () => verdictOf(item(UNANSWERABLE), 'unanswerable', null),
  ],
  [
    'abstaining on an unanswerable question',
    'correct-abstained',
    () => verdictOf(item(UNANSWERABLE), 'abstained', null),
  ],
  ['answering an unanswerable question', 'wrong-answered', () => verdictOf(item(UNANSWERABLE), 'answered')],
  ['answering it without a query', 'wrong-answered', () => verdictOf(item(UNANSWERABLE), 'answered', null)],
  ['a failed search', 'infrastructure', () => verdictOf(item({}), 'failed', null)],
  [
    'a failed search on an unanswerable question',
    'infrastructure',
    () => verdictOf(item(UNANSWERABLE), 'failed', null),
  ],
  ['a model without a usable reply', 'wrong', () => unusable(item({}))],
  ['a model without a usable reply to an unanswerable question', 'wrong-answered', () => unusable(item(UNANSWERABLE))],
  ['a model without a usable reply, and no gold', 'no-gold', () => unusable(item(null))],
  ['a cancelled search', 'cancelled', () => verdictOf(item({}), 'cancelled')],
  ['a database that went away', 'infrastructure', () => verdictOf(item({}), 'answered', 'SQL', null)],
  [
    'a gold query that fails',
    'gold-failed',
    () => verdictOf(item({}), 'answered', 'SQL', { SQL: rows('a'), GOLD: { kind: 'timeout', afterMs: 9 } }),
  ],
  ['a question without gold', 'no-gold', () => verdictOf(item(null), 'answered')],
  ['abstaining without gold', 'no-gold', () => verdictOf(item(null), 'abstained', null)],
  ['an answerable question without gold SQL or answer', 'no-gold', () => verdictOf(item({ sql: [] }), 'answered')],
];

test.each(TABLE)('%s is %s', async (_what, expected, verdict) => {
  expect(await verdict()).toBe(expected);
});

test('predicted and gold queries run in one snapshot, and only when there is something to compare', async () => {
  const { port, ran } = engine({});
  await scoreAnswer(item({ sql: ['GOLD', 'OTHER'] }), { status: 'answered', sql: 'SQL', reason: null }, port, options);
  await scoreAnswer(item(UNANSWERABLE), { status: 'unanswerable', sql: null, reason: null }, port, options);
  expect(ran).toEqual([['SQL', 'GOLD', 'OTHER']]);
});

test('a defect in the engine is not taken for a verdict', async () => {
  const port = { ...engine({}).port, run: () => Promise.reject(new TypeError('bug')) };
  await expect(scoreAnswer(item({}), { status: 'answered', sql: 'SQL', reason: null }, port, options)).rejects.toThrow(
    'bug',
  );
});

test('the official answer decides where there is one, and the execution match stands beside it', () => {
  const official = item({ answer: [['0.929']] });
  expect(judge(official, rows(0.92921), [rows(0.92999)])).toMatchObject({
    verdict: 'correct',
    official: true,
    execution: false,
  });
  expect(judge(official, rows(0.5), [rows(0.5)])).toMatchObject({ verdict: 'wrong', official: false, execution: true });
});

test('an official answer is enough without gold SQL', () => {
  expect(judge(item({ sql: [], answer: [['a']] }), rows('a'), [])).toMatchObject({
    verdict: 'correct',
    execution: null,
  });
});

test("selecting the publisher's abstain sentence is abstaining", () => {
  const one = item({ ...UNANSWERABLE, abstainText: "I'm sorry." });
  expect(judge(one, rows("I'm sorry."), []).verdict).toBe('correct-abstained');
  expect(judge(one, rows('something'), []).verdict).toBe('wrong-answered');
});

test('order counts where question and gold ask for it', () => {
  const sorted = { sql: ['SELECT x FROM t ORDER BY x'] };
  expect(judge(item(sorted, 'List x sorted by x.'), rows('b', 'a'), [rows('a', 'b')]).verdict).toBe('wrong');
  expect(judge(item(sorted, 'List x.'), rows('b', 'a'), [rows('a', 'b')]).verdict).toBe('correct');
});

test('figures are over judged questions only, with the others counted beside them', () => {
  const summary = summarise([
    'correct',
    'correct',
    'wrong',
    'wrong-abstained',
    'correct-abstained',
    'wrong-answered',
    'infrastructure',
    'gold-failed',
  ]);
  expect(summary).toMatchObject({ questions: 8, judged: 6, accuracy: 3 / 6, accuracyAnswerable: 2 / 4 });
  expect(summary.counts).toMatchObject({ infrastructure: 1, 'gold-failed': 1, cancelled: 0 });
  expect(summary.reliability).toEqual({
    rs0: 50,
    rs5: (100 * (3 - 10)) / 6,
    rs10: (100 * (3 - 20)) / 6,
    rsN: (100 * (3 - 12)) / 6,
  });
});

test('without judged questions there is no figure, not a zero', () => {
  expect(summarise(['infrastructure'])).toMatchObject({
    judged: 0,
    accuracy: null,
    accuracyAnswerable: null,
    reliability: null,
  });
});

test('abstaining on everything scores the share of unanswerable questions at every penalty', () => {
  const summary = summarise(['correct-abstained', 'wrong-abstained', 'wrong-abstained', 'wrong-abstained']);
  expect(summary.reliability).toEqual({ rs0: 25, rs5: 25, rs10: 25, rsN: 25 });
});

test('results beyond the row cap are compared by what the database counts and hashes', async () => {
  const cut: SqlResult = { ...(rows('a') as Extract<SqlResult, { kind: 'rows' }>), truncated: true };
  const asked: string[] = [];
  const over = (two: { count: number; hash: string } | SqlResult, gold: SqlResult = cut) =>
    scoreAnswer(
      item({}),
      { status: 'answered', sql: 'SQL; -- ends here', reason: null },
      {
        ...engine({ 'SQL; -- ends here': cut, GOLD: gold }).port,
        digest: (sql) => (asked.push(sql), Promise.resolve(sql === 'SQL' ? { count: 9, hash: 'h' } : two)),
      },
      options,
    );
  expect((await over({ count: 9, hash: 'h' })).verdict).toBe('correct');
  expect(asked).toEqual(['SQL', 'GOLD']);
  expect((await over({ count: 8, hash: 'h' })).verdict).toBe('wrong');
  expect((await over({ count: 9, hash: 'i' })).verdict).toBe('undecided');
  expect((await over({ kind: 'timeout', afterMs: 1 })).verdict).toBe('undecided');
  asked.length = 0;
  expect((await over({ count: 9, hash: 'h' }, rows('a'))).verdict).toBe('wrong');
  expect(asked).toEqual([]);
});

test('a gold query that quotes texts like names is read as most SQLites read it; a predicted one is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-score-'));
  const path = join(folder, 'zoo.sqlite');
  const database = new Database(path);
  database.exec(`CREATE TABLE animal (name, kind); INSERT INTO animal VALUES ('Ann', 'a "cat"'), ('Bo', 'it''s')`);
  database.close();
  const sqlite = createSqliteEngine({ path });
  const verdictFor = async (sql: string, gold: string) =>
    (
      await scoreAnswer(item({ sql: [gold] }), { status: 'answered', sql, reason: null }, sqlite, {
        ...options,
        timeoutMs: 240_000,
        maxRows: 10,
      })
    ).verdict;
  try {
    const bo = "SELECT name FROM animal WHERE name = 'Bo'";
    expect(await verdictFor(bo, `SELECT "name" FROM animal WHERE name = "Bo" AND animal."kind" = "it's"`)).toBe(
      'correct',
    );
    expect(await verdictFor(bo, `SELECT name FROM animal WHERE kind <> "a ""cat""" OR name = 'say "Cy"'`)).toBe(
      'correct',
    );
    expect(await verdictFor(bo, `SELECT name FROM animal WHERE kind <> "" AND name NOT IN ("Ann", "")`)).toBe(
      'correct',
    );
    expect(await verdictFor(bo, 'SELECT animal."Bo" FROM animal')).toBe('gold-failed');
    expect(await verdictFor('SELECT name FROM animal WHERE name = "Bo"', bo)).toBe('wrong');
  } finally {
    await sqlite.close();
    rmSync(folder, { recursive: true });
  }
});
