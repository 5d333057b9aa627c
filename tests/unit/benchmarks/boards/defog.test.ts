import Database from 'libsql';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSqliteEngine } from '../../../../src/adapters/sqlite';
import type { BoardScore, Prediction } from '../../../../src/benchmarks/benchmark';
import { choicesOf, defog } from '../../../../src/benchmarks/boards/defog';
import { compareFrames } from '../../../../src/benchmarks/boards/defog-frames';
import { csvText } from '../../../../src/benchmarks/boards/pandas-table';
import type { ResultColumn, SqlValue } from '../../../../src/domain';
import { pairsOf } from '../../../helpers/benchmark-pairs';

interface Pair {
  readonly name: string;
  readonly gold: string;
  readonly predicted: string;
  readonly question: string;
  readonly category: string;
  readonly exact: boolean;
  readonly correct: boolean;
}

/** Queries on one database, with the verdicts of `compare_query_results` of sql-eval@b833324 on pandas 2.3. */
const PAIRS = pairsOf<Pair>('defog').map((pair, at) => ({ ...pair, at, question: `${pair.question} (${at})` }));
const SQL_OPTIONS = { timeoutMs: 5_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const folder = mkdtempSync(join(tmpdir(), 'gate-defog-'));
const main = join(folder, 'sqlite_dbs/shop.db');
const engine = createSqliteEngine({ path: main });
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const COLUMNS = ['question', 'query', 'db_name', 'query_category', 'instructions'];
const csvOf = (rows: readonly (readonly string[])[]): string => csvText({ columns: COLUMNS, rows });
const SENTENCE = "I can't tell.";
const INSTRUCTIONS = `If it cannot be answered, return the query 'SELECT 'I can''t tell.' AS answer'`;

beforeAll(() => {
  put('sqlite_dbs/readme.txt', '');
  const database = new Database(main);
  database.exec(`CREATE TABLE t (id INTEGER, name TEXT, price REAL, kind TEXT); INSERT INTO t VALUES
    (1, 'a', 2.5, 'x'), (2, 'b', 1.0, 'y'), (3, 'c', NULL, 'x'), (4, 'd', 4.25, NULL), (5, 'e', 1.0, 'x')`);
  database.close();
  put(
    'data/questions_gen_sqlite.csv',
    csvOf(PAIRS.map(({ question, gold, category }) => [question, gold, 'shop', category, ''])),
  );
  put('idk.csv', csvOf([['Who?', "SELECT 'I can''t tell.' AS answer;", 'shop', 'cat_a', INSTRUCTIONS]]));
});

const sql = (...statements: string[]): Prediction => ({ kind: 'sql', statements });
const opened = () => defog.open(folder, { split: 'questions_gen_sqlite' });

test.each(PAIRS)('$name: the verdict is the official one', async ({ at, predicted, exact, correct }) => {
  const board = await opened();
  const { points } = await board.score(String(at), sql(predicted), engine, SQL_OPTIONS);
  expect(points).toEqual({ ex: Number(correct), exact: Number(exact) });
});

test('gold queries are written out by the choices of columns in braces', () => {
  expect(choicesOf('SELECT {a,b}, c FROM t GROUP BY {};SELECT 1; ')).toEqual([
    'SELECT a, c FROM t GROUP BY a',
    'SELECT b, c FROM t GROUP BY b',
    'SELECT a, b, c FROM t GROUP BY a, b',
    'SELECT 1',
  ]);
});

describe('results of PostgreSQL, where columns have types', () => {
  const table = (kind: ResultColumn['kind'], ...values: SqlValue[]) => ({
    sql: '',
    result: {
      ...{ kind: 'rows' as const, truncated: false, elapsedMs: 0 },
      columns: [{ name: 'a', kind }],
      rows: values.map((value) => [value]),
    },
  });
  const compared = (gold: ReturnType<typeof table>, predicted: ReturnType<typeof table>) =>
    compareFrames(gold, predicted, { question: 'Which?', category: null }, 'postgresql');

  test.each([
    ['a date and a text of it differ', table('time', '2023-01-01'), table('text', '2023-01-01'), 'different'],
    ['a date and its midnight differ', table('time', '2023-01-01'), table('time', '2023-01-01 00:00:00'), 'different'],
    [
      'numbers beyond a double are read as one',
      table('number', '3.3333333333333333333'),
      table('number', 10 / 3),
      'exact',
    ],
    ['NULL and NaN are the same', table('number', 1, null), table('number', 1, 'NaN'), 'exact'],
    ['equal arrays are equal as they stand', table('other', '{1,2}'), table('other', '{1,2}'), 'exact'],
    ['other arrays have no hash', table('other', '{1,2}', '{3}'), table('other', '{3}', '{1,2}'), 'incomparable'],
    ['JSON objects have no hash', table('json', '{"a":1}'), table('json', '{"a":2}'), 'incomparable'],
    ['truth values are numbers', table('boolean', true, false), table('number', 1, 0), 'exact'],
  ])('%s', (_, gold, predicted, expected) => {
    expect(compared(gold, predicted)).toBe(expected);
  });
});

describe('a folder as sql-eval has it', () => {
  test('its CSV is read as pandas reads it, quotes within a quoted field included', async () => {
    const line = '"the difference over ""all"" days". Return the symbol.,"SELECT 1",shop,c,\n';
    put('quoted/idk.csv', `${COLUMNS.join(',')}\r\n"two\nlines",SELECT 2,shop,c,"a, b"\r\n\n${line}`);
    const { items } = await defog.open(join(folder, 'quoted'), { split: 'idk' });
    expect(items.map(({ question, instructions, gold }) => [question, instructions, gold?.sql])).toEqual([
      ['two\nlines', 'a, b', ['SELECT 2']],
      ['the difference over "all" days. Return the symbol.', null, ['SELECT 1']],
    ]);
  });

  test('questions, instructions, choices and databases are read', async () => {
    const board = await opened();
    const [item] = board.items;
    expect(item && board.database(item)).toBe(main);
    expect(board.items[55]?.gold?.sql).toHaveLength(3);
    expect(board.items[0]).toMatchObject({
      id: '0',
      engine: 'sqlite',
      database: 'shop',
      gold: { category: 'group_by' },
    });
    const { items } = await defog.open(folder, { split: 'idk' });
    expect(items[0]).toMatchObject({
      ...{ engine: 'postgresql', instructions: INSTRUCTIONS },
      gold: { answerable: false, abstainText: SENTENCE, sql: [] },
    });
  });

  test('the sentence of idk is right, as a query or as an abstention', async () => {
    const board = await defog.open(folder, { split: 'idk' });
    const verdict = async (prediction: Prediction) => (await board.score('0', prediction, engine, SQL_OPTIONS)).verdict;
    expect(await verdict({ kind: 'abstained' })).toBe('correct-abstained');
    expect(await verdict(sql("SELECT 'I can''t tell.' AS answer"))).toBe('correct');
    expect(await verdict(sql('SELECT 1'))).toBe('wrong-answered');
  });

  test('figures are over all questions and by category', async () => {
    const board = await opened();
    const scores = new Map<string, BoardScore>();
    const predictions: readonly (readonly [string, Prediction])[] = [
      ['0', sql('SELECT id, name FROM t')],
      ['1', { kind: 'rows', columns: ['b', 'c'], rows: [1, 2, 3, 4, 5].map((id) => [id, 'x']) }],
      ['2', { kind: 'none' }],
      ['3', { kind: 'abstained' }],
    ];
    for (const [id, prediction] of predictions) scores.set(id, await board.score(id, prediction, engine, SQL_OPTIONS));
    expect([...scores.values()].map(({ verdict }) => verdict)).toEqual([
      'correct',
      'correct',
      'wrong',
      'wrong-abstained',
    ]);
    expect(board.metrics(scores)).toEqual({ ex: 50, exact: 25, 'ex:group_by': 50, 'ex:order_by': null, 'ex:x': null });
  });

  test('a gold query that fails and a result beyond the row cap are no wrong answers', async () => {
    put('bad/questions_gen_sqlite.csv', csvOf([['q', 'SELECT nothing FROM t', 'shop', 'c', '']]));
    const bad = await defog.open(join(folder, 'bad'), { split: 'questions_gen_sqlite' });
    expect(await bad.score('0', sql('SELECT 1'), engine, SQL_OPTIONS)).toMatchObject({
      verdict: 'gold-failed',
      points: {},
    });
    const board = await opened();
    const cut = await board.score('0', sql('SELECT id, name FROM t'), engine, { ...SQL_OPTIONS, maxRows: 1 });
    expect(cut).toMatchObject({ verdict: 'undecided', points: {} });
  });

  test('a prediction without end is wrong if it holds a row that the gold lacks; duplicates alone decide nothing', async () => {
    const board = await opened();
    const endless = async (...cells: string[]): Promise<string> => {
      const row = cells.join(', ');
      const text = `WITH RECURSIVE r(id, name) AS (SELECT ${row} UNION ALL SELECT id, name FROM r) SELECT id, name FROM r`;
      return (await board.score('0', sql(text), engine, SQL_OPTIONS)).verdict;
    };
    expect([await endless('9', "'a'"), await endless("'a'", '1'), await endless('1', "'a'")]).toEqual([
      ...['wrong', 'undecided', 'undecided'],
    ]);
  });

  test('our own layout is read too, and hidden knowledge stays hidden', async () => {
    const line = { id: 'd-1', question: 'q', database: 'shop', engine: 'sqlite', hidden_knowledge: 'k' };
    put('own/questions.jsonl', JSON.stringify({ ...line, gold_sql: ['SELECT id FROM t', 'SELECT name FROM t'] }));
    const board = await defog.open(join(folder, 'own'), {});
    expect(board.items[0]).toMatchObject({ id: 'd-1', instructions: null });
    expect((await board.score('d-1', sql('SELECT name FROM t'), engine, SQL_OPTIONS)).verdict).toBe('correct');
    const { items } = await defog.open(join(folder, 'own'), { split: 'questions_gen_postgres', hiddenKnowledge: true });
    await expect(defog.open(join(folder, 'own'), { split: 'idk' })).rejects.toThrow('idk.csv is missing');
    expect(items[0]?.instructions).toContain('k');
  });

  test.each([
    ['nothing', '', undefined, /is incomplete: questions_gen_postgres.csv is missing$/],
    ['other', '', 'test', /^defog has no split "test": it is one of questions_gen_postgres, /],
    ['short', 'question,query\nq,SELECT 1\n', 'idk', /idk.csv, line 2: db_name /],
    [
      'twice',
      csvOf([1, 2].map(() => ['q', 'SELECT 1', 'shop', 'c', ''])),
      'idk',
      /idk.csv, line 3: the question is there twice$/,
    ],
    ['empty', csvOf([]), 'idk', /holds no questions of this split$/],
    ['outside', csvOf([['q', 'SELECT 1', '../shop', 'c', '']]), 'idk', /line 2: db_name has to be the name of a file/],
  ])('what is wrong is named: %s', async (name, text, split, message) => {
    if (text !== '') put(join(name, 'idk.csv'), text);
    await expect(defog.open(join(folder, name), split === undefined ? {} : { split })).rejects.toThrow(message);
  });
});

describe('the output file', () => {
  const path = (): string => join(folder, 'output.csv');

  test('is read as it was written; an abstention is the sentence that the instructions name', async () => {
    const { items } = await opened();
    const written = new Map<string, Prediction>([
      ['0', sql('SELECT "a",\n1')],
      ['1', { kind: 'abstained' }],
    ]);
    expect(await defog.format.write(path(), items.slice(0, 2), written)).toEqual([path()]);
    expect(readFileSync(path(), 'utf8').split('\n')[0]).toBe('question,db_name,generated_query');
    expect(await defog.format.read(path(), items.slice(0, 2))).toEqual(written);
    expect(await defog.format.check(path(), items.slice(0, 3))).toEqual(['questions that are missing: "2"']);
    const idk = (await defog.open(folder, { split: 'idk' })).items;
    await defog.format.write(path(), idk, new Map([['0', { kind: 'abstained' }]]));
    expect(await defog.format.read(path(), idk)).toEqual(new Map([['0', sql("SELECT 'I can''t tell.' AS answer")]]));
    const rows = new Map<string, Prediction>([['0', { kind: 'rows', columns: [], rows: [] }]]);
    await expect(defog.format.write(path(), items, rows)).rejects.toThrow('question 0: sql-eval takes SQL, not rows');
  });

  test.each([
    ['a,b\n1,2\n', 'line 2: needs question, db_name and generated_query'],
    ['question,db_name,generated_query\nx,shop,SELECT 1\n', 'line 2: no question of shop: x'],
    [`question,db_name,generated_query\n${'How many? (0),shop,SELECT 1\n'.repeat(2)}`, 'line 3: a second prediction'],
  ])('%j is refused', async (text, message) => {
    writeFileSync(path(), text);
    await expect(defog.format.read(path(), (await opened()).items)).rejects.toThrow(message);
  });
});
