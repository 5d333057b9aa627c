import Database from 'libsql';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../../../../src/adapters/kit/guard';
import { createSqliteEngine, createSqliteInspector } from '../../../../src/adapters/sqlite';
import { loadQuestions } from '../../../../src/questions';
import type { Prediction } from '../../../../benchmarks/benchmark';
import { questions } from '../../../../benchmarks/boards/questions';
import type { SqlEngine } from '../../../../src/domain/ports';

let folder: string;
let engine: SqlEngine;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gate-own-'));
  const database = new Database(join(folder, 'shop.sqlite'));
  database.exec(
    "CREATE TABLE t (a INTEGER, b TEXT, c REAL); INSERT INTO t VALUES (1, 'x', 0.5), (2, 'y', NULL), (2, 'y', NULL)",
  );
  database.close();
  engine = createGuardedEngine(createSqliteEngine({ path: join(folder, 'shop.sqlite') }), createSqliteInspector());
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const lines = (...values: readonly object[]): string => values.map((value) => JSON.stringify(value)).join('\n');
const LINES = [
  { id: 'a', question: 'Which?', database: 'shop', gold_sql: ['SELECT a, b FROM t', 'SELECT 1'] },
  { id: 'b', question: 'Why?', database: 'shop', gold_sql: 'null' },
  { id: 'c', question: 'When?', database: 'other' },
  { id: 'd', question: 'How much?', database: 'shop', gold_sql: 'SELECT b, c FROM t', difficulty: 2 },
  { id: 'e', question: 'Broken?', database: 'shop', gold_sql: 'SELECT nothing FROM t' },
];
const open = () => questions.open(put('questions.jsonl', lines(...LINES)), {});
const OPTIONS = { timeoutMs: 20_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const sql = (text: string): Prediction => ({ kind: 'sql', statements: [text] });
const rows = (columns: string[], ...values: (string | number | null)[][]): Prediction => ({
  kind: 'rows',
  columns,
  rows: values,
});

test.each([
  ['the gold', 'a', sql('SELECT a, b FROM t'), 'correct'],
  ['another of the golds', 'a', sql('SELECT 1 AS one'), 'correct'],
  ['another order of rows and columns', 'a', sql('SELECT b, a FROM t ORDER BY a DESC'), 'correct'],
  ['a duplicate less', 'a', sql('SELECT DISTINCT a, b FROM t'), 'wrong'],
  ['an error', 'a', sql('SELECT z FROM t'), 'wrong'],
  ['a statement that writes', 'a', sql('DELETE FROM t'), 'wrong'],
  ['several statements', 'a', { kind: 'sql', statements: ['SELECT 1', 'SELECT 1'] }, 'wrong'],
  ['the rows', 'a', rows(['x', 'y'], [2, 'y'], [1, 'x'], [2, 'y']), 'correct'],
  ['a row less', 'a', rows(['x', 'y'], [2, 'y'], [1, 'x']), 'wrong'],
  ['NULL, and a number to six places', 'd', rows(['x', 'y'], ['x', 0.5000000001], ['y', null], ['y', null]), 'correct'],
  ['zero for NULL', 'd', rows(['x', 'y'], ['x', 0.5], ['y', 0], ['y', 0]), 'wrong'],
  ['abstained', 'a', { kind: 'abstained' }, 'wrong-abstained'],
  ['abstained where there is no answer', 'b', { kind: 'abstained' }, 'correct-abstained'],
  ['answered where there is no answer', 'b', sql('SELECT 1'), 'wrong-answered'],
  ['rows where there is no answer', 'b', rows(['x'], [1]), 'wrong-answered'],
  ['nothing', 'a', { kind: 'none' }, 'wrong'],
  ['nothing where there is no answer', 'b', { kind: 'none' }, 'wrong-answered'],
  ['no gold', 'c', sql('SELECT 1'), 'no-gold'],
  ['no gold, abstained', 'c', { kind: 'abstained' }, 'no-gold'],
  ['a gold that fails', 'e', sql('SELECT 1'), 'gold-failed'],
] as const)('%s', async (_, id, prediction, verdict) => {
  expect(await (await open()).score(id, prediction, engine, OPTIONS)).toMatchObject({ verdict });
});

test('what was not judged is in no figure', async () => {
  const board = await open();
  const scores = new Map(
    await Promise.all(
      board.items.map(
        async ({ id }) => [id, await board.score(id, sql('SELECT a, b FROM t'), engine, OPTIONS)] as const,
      ),
    ),
  );
  // a is right, b is answered although it cannot be, d is wrong; c has no gold, and that of e fails.
  expect(board.metrics(scores)).toEqual({
    ...{ exAll: expect.closeTo(100 / 3) as number, exAnswerable: 50 },
    ...{
      rs0: expect.closeTo(100 / 3) as number,
      rs5: -300,
      rs10: expect.closeTo(-1900 / 3) as number,
      rsN: expect.closeTo(-500 / 3) as number,
    },
  });
});

test('a database lies beside the questions, under its name', async () => {
  const board = await open();
  expect(board.items.map((item) => board.database(item))).toEqual([
    ...[join(folder, 'shop.sqlite'), join(folder, 'shop.sqlite'), null],
    ...[join(folder, 'shop.sqlite'), join(folder, 'shop.sqlite')],
  ]);
});

test('CSV holds the same questions under the same names: quotes, line breaks, no value where a cell is empty', async () => {
  const path = put(
    'own.csv',
    '\ufeffid,question,database,gold_sql,answerable,difficulty,gold_text\r\na,"Which ""one"",\nand why?",shop,"SELECT \'x,y\'",TRUE,2,true\r\n\r\nb,Why?,,,false,,\r\n',
  );
  const [first, second] = await loadQuestions(path);
  expect(first).toMatchObject({
    ...{ id: 'a', question: 'Which "one",\nand why?', database: 'shop' },
    gold: { sql: ["SELECT 'x,y'"], answerable: true, difficulty: '2', text: 'true' },
  });
  expect(second).toMatchObject({ id: 'b', database: null, gold: { sql: [], answerable: false, difficulty: null } });
  expect((await questions.open(path, {})).items).toHaveLength(2);
});

test.each([
  ['id,question\na,b,c\n', /own\.csv, line 2: .*columns length/i],
  ['id,question\na,"b\n', /own\.csv, line \d: Quote Not Closed/],
  ['id,text\na,b\n', /own\.csv, line 2: question: is missing/],
  ['id,question\na,b\na,c\n', /own\.csv, line 3: id: "a" is already used on line 2/],
  ['id,question,answerable\na,b,perhaps\n', /own\.csv, line 2: answerable/],
  ['id,question\n', /own\.csv holds no questions/],
])('CSV that cannot be used is named by its line: %j', async (text, message) => {
  await expect(loadQuestions(put('own.csv', text))).rejects.toThrow(message);
});

test('predictions are read as JSONL, as results of a batch, and as CSV', async () => {
  const { items } = await open();
  const read = async (name: string, text: string) =>
    Object.fromEntries(await questions.format.read(put(name, text), items));
  expect(
    await read(
      'p.jsonl',
      lines({ id: 'a', sql: 'SELECT 1' }, { id: 'b', sql: null }, { id: 'd', columns: ['x'], rows: [[1]] }),
    ),
  ).toEqual({
    ...{ a: sql('SELECT 1'), b: { kind: 'abstained' }, d: rows(['x'], [1]) },
  });
  const result = { searchId: 'q-1', status: 'answered', sql: 'SELECT 1', verdict: 'correct' };
  expect(
    await read(
      'results.jsonl',
      lines({ id: 'a', ...result }, { id: 'b', ...result, status: 'unanswerable', sql: null }),
    ),
  ).toEqual({
    ...{ a: sql('SELECT 1'), b: { kind: 'abstained' } },
  });
  expect(await read('p.csv', 'id,sql\na,"SELECT ""a"",\n1"\nb,\n')).toEqual({
    a: sql('SELECT "a",\n1'),
    b: { kind: 'abstained' },
  });
});

test('an answer in words stands beside SQL and rows, or alone; what an abstention says is no answer', async () => {
  const { items } = await open();
  const read = async (text: string, name = 'p.jsonl') =>
    Object.fromEntries(await questions.format.read(put(name, text), items));
  const words = 'There are 4.';
  expect(
    await read(
      lines(
        { id: 'a', sql: 'SELECT 4', answer: words },
        { id: 'b', sql: null, answer: 'It is not stored.', status: 'unanswerable' },
        { id: 'c', answer: words },
        { id: 'd', columns: ['n'], rows: [[4]], answer: words },
        { id: 'e', sql: null, answer: words, status: 'answered' },
      ),
    ),
  ).toEqual({
    ...{ a: { ...sql('SELECT 4'), words }, b: { kind: 'abstained' }, c: { kind: 'words', words } },
    ...{ d: { ...rows(['n'], [4]), words }, e: { kind: 'words', words } },
  });
  expect(await read('id,answer\na,4\nb,\n', 'p.csv').catch(String)).toContain('line 3: "b" has no sql');
});

test('a line of a model without a usable reply is no prediction, which is wrong', async () => {
  const { items } = await open();
  const line = lines({ id: 'a', sql: null, status: 'failed', endedBy: 'unusable' });
  expect((await questions.format.read(put('p.jsonl', line), items)).get('a')).toEqual({ kind: 'none' });
});

test.each([
  [[{ id: 'z', sql: 'SELECT 1' }], /p\.jsonl, line 1: no question has the id "z"/],
  [
    [
      { id: 'a', sql: null },
      { id: 'a', sql: null },
    ],
    /p\.jsonl, line 2: the id "a" stands there twice/,
  ],
  [[{ id: 'a' }], /line 1: "a" has no sql: give the query, or null/],
  [[{ id: 'a', sql: 3 }], /line 1: sql: must be a text, or null/],
  [[{ sql: 'SELECT 1' }], /line 1: id: must be a text or a number/],
  [
    [{ id: 'a', sql: null, status: 'infrastructure-failure' }],
    /"a" ended as infrastructure-failure, which is no answer/,
  ],
])('a predictions file that cannot be used is named by its line: %j', async (values, message) => {
  const { items } = await open();
  await expect(questions.format.read(put('p.jsonl', lines(...values)), items)).rejects.toThrow(message);
});

test('a line that is no object is named', async () => {
  const { items } = await open();
  await expect(questions.format.read(put('p.jsonl', '[1]'), items)).rejects.toThrow(
    /p\.jsonl, line 1: Invalid input: expected object/,
  );
});

test('a half-written line is named', async () => {
  const { items } = await open();
  await expect(questions.format.read(put('p.jsonl', '{"id": "a", "sql": "SEL'), items)).rejects.toThrow(
    /p\.jsonl, line 1: not a JSON object/,
  );
});

test('predictions that are written are read back as they were', async () => {
  const { items } = await open();
  const predictions = new Map<string, Prediction>([
    ['a', sql('SELECT 1;\n-- "x"')],
    ['b', { kind: 'abstained' }],
    ['c', { kind: 'sql', statements: ['SELECT 1', 'SELECT 2'] }],
    ['d', rows(['x', 'y'], [1, null], [2, 'z'])],
  ]);
  const [path = ''] = await questions.format.write(join(folder, 'out'), items, predictions);
  expect(await questions.format.read(path, items)).toEqual(predictions);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5);
});

test('a folder without questions is named', async () => {
  await expect(questions.open(mkdtempSync(join(folder, 'empty-')), {})).rejects.toThrow(
    /holds neither questions\.jsonl nor questions\.csv/,
  );
});
