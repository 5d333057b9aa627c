import Database from 'libsql';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSqliteEngine } from '../../../../src/adapters/sqlite';
import type { BoardScore, Prediction } from '../../../../src/benchmarks/benchmark';
import { spider1 } from '../../../../src/benchmarks/boards/spider1';
import { hardnessOf } from '../../../../src/benchmarks/boards/spider1-hardness';
import { sameDenotation } from '../../../../src/benchmarks/boards/spider1-match';
import type { SqlValue } from '../../../../src/domain';
import type { SqlEngine } from '../../../../src/ports';
import { pairsOf } from '../../../helpers/benchmark-pairs';

interface Pair {
  readonly name: string;
  readonly gold: readonly (readonly SqlValue[])[];
  readonly predicted: readonly (readonly SqlValue[])[];
  readonly inOrder: boolean;
  readonly same: boolean;
}

/** With the verdict of taoyds/test-suite-sql-eval@e97acc5 on Python 3.11. */
test.each(pairsOf<Pair>('spider1'))('$name: the verdict is the official one', ({ gold, predicted, inOrder, same }) => {
  expect(sameDenotation(gold, predicted, inOrder)).toBe(same);
});

test('many equal columns are paired without trying every order of them', () => {
  const rows = Array.from({ length: 50 }, (_, row) => Array.from({ length: 30 }, (_, column) => (row + column) % 2));
  expect(sameDenotation(rows, rows.toReversed(), false)).toBe(true);
});

const CELL = [0, [0, '__t.a__', false], null];
const condition = (value: unknown = 1, operator = 2, negated = false) => [negated, operator, CELL, value, null];
/** A query as `process_sql.py` parses it. */
const parsed = (more: object = {}) => ({
  ...{ select: [false, [[0, CELL]]], from: { table_units: [['table_unit', '__t__']], conds: [] } },
  ...{ where: [], groupBy: [], having: [], orderBy: [], limit: null, intersect: null, union: null, except: null },
  ...more,
});
const select = (...aggregates: number[]) => ({ select: [false, aggregates.map((aggregate) => [aggregate, CELL])] });
const JOINED = {
  from: {
    table_units: [
      ['table_unit', '__t__'],
      ['table_unit', '__u__'],
    ],
    conds: [condition()],
  },
};
const WHERE = { where: [condition()] };
const GROUP = { groupBy: [[0, '__t.a__', false]] };
const ORDER = { orderBy: ['asc', [CELL]], limit: 1 };

/** With the level that `evaluation.py` gives. */
const LEVELS: readonly (readonly [string, unknown, string | null])[] = [
  ['SELECT a FROM t', parsed(), 'easy'],
  ['SELECT a, b FROM t', parsed(select(0, 0)), 'medium'],
  ['SELECT count(*) FROM t WHERE a = 1', parsed({ ...select(3), ...WHERE }), 'easy'],
  ['SELECT a, b FROM t WHERE a = 1 ORDER BY b LIMIT 1', parsed({ ...select(0, 0), ...WHERE, ...ORDER }), 'hard'],
  ['SELECT t.a FROM t JOIN u ON t.a = u.a WHERE t.b = 1', parsed({ ...JOINED, ...WHERE }), 'medium'],
  [
    'SELECT t.a, t.b FROM t JOIN u ON t.a = u.a WHERE t.b = 1 GROUP BY t.a ORDER BY t.b',
    parsed({ ...select(0, 0), ...JOINED, ...WHERE, ...GROUP, ...ORDER, limit: null }),
    'extra',
  ],
  ['SELECT a FROM t WHERE b IN (SELECT a FROM u)', parsed({ where: [condition(parsed(), 8)] }), 'hard'],
  ['SELECT a FROM t WHERE b = 1 OR c = 2', parsed({ where: [condition(), 'or', condition()] }), 'medium'],
  ['SELECT a FROM t UNION SELECT a FROM u', parsed({ union: parsed() }), 'hard'],
  [
    'SELECT a, b FROM t WHERE a = 1 EXCEPT SELECT a, b FROM t WHERE c = 2',
    parsed({ ...select(0, 0), ...WHERE, except: parsed({ ...select(0, 0), ...WHERE }) }),
    'extra',
  ],
  [
    'SELECT count(*), max(a), b FROM t WHERE a = 1 AND b = 2 GROUP BY b',
    parsed({ ...select(3, 1, 0), where: [condition(), 'and', condition()], ...GROUP }),
    'hard',
  ],
  [
    'SELECT a FROM t WHERE b NOT IN (SELECT a FROM u) AND c LIKE 1',
    parsed({ where: [condition(parsed(), 8, true), 'and', condition(1, 9)] }),
    'extra',
  ],
  [
    'SELECT a FROM t GROUP BY a, b HAVING count(*) > 1 AND max(b) > 2 ORDER BY count(*) DESC LIMIT 1',
    parsed({
      groupBy: [...GROUP.groupBy, ...GROUP.groupBy],
      having: [condition(1, 3), 'and', condition(2, 3)],
      ...{ orderBy: ['desc', [[0, [3, '__all__', false], null]]], limit: 1 },
    }),
    'hard',
  ],
  ['SELECT a FROM t WHERE a = 1 GROUP BY a ORDER BY b LIMIT 3', parsed({ ...WHERE, ...GROUP, ...ORDER }), 'extra'],
  ['a file without parsed queries', undefined, null],
];

test.each(LEVELS)('%s is of its official level', (_, sql, level) => {
  expect(hardnessOf(sql)).toBe(level);
});

const SQL_OPTIONS = { timeoutMs: 5_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const folder = mkdtempSync(join(tmpdir(), 'gate-spider-'));
const engines = new Map<string, SqlEngine>();
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = (path: string): SqlEngine => {
  const engine = engines.get(path) ?? createSqliteEngine({ path });
  engines.set(path, engine);
  return engine;
};

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Gold and predicted SQL on a suite of two databases, with the verdict of `eval_exec_match`. */
const QUERIES: readonly (readonly [string, string, boolean])[] = [
  ["SELECT n FROM t WHERE c = 'r'", 'SELECT n FROM t WHERE c = "r"', true],
  ['SELECT n FROM t', 'SELECT n FROM t ORDER BY n DESC', true],
  ['SELECT n FROM t ORDER BY n', 'SELECT n FROM t ORDER BY n DESC', false],
  ['SELECT n FROM t ORDER BY n', 'SELECT n FROM t ORDER BY n ASC', true],
  ['SELECT DISTINCT n FROM t', 'SELECT n FROM t', true],
  ['SELECT count(DISTINCT n) FROM t', 'SELECT count(n) FROM t', true],
  ['SELECT count(*) FROM t WHERE n >= 2', 'SELECT count(*) FROM t WHERE n > = 2', true],
  ['SELECT count(*) FROM t WHERE n = 1', 'SELECT count(*) FROM t WHERE n = value', true],
  ['SELECT count(*) FROM t WHERE y = 2020', 'SELECT count(*) FROM t WHERE y = YEAR(CURDATE())', true],
  ['SELECT c, n FROM t', 'SELECT n, c FROM t', true],
  ['SELECT n FROM t WHERE n < 4', 'SELECT n FROM t WHERE n < 9', false],
  ['SELECT n FROM t', 'SELECT n FROM t; SELECT 1', true],
  ['SELECT n FROM t', 'SELECT x FROM t', false],
  ['SELECT n FROM t WHERE 0', 'SELECT c, n FROM t WHERE 0', true],
  ['SELECT n FROM t', 'SELECT', false],
];

beforeAll(() => {
  const entries = QUERIES.map(([query]) => ({ db_id: 'shop', question: 'q', query, sql: LEVELS[0]?.[1] }));
  put('dev.json', JSON.stringify(entries));
  put('dev_gold.sql', entries.map(({ query }) => `${query}\tshop\n`).join(''));
  put('database/shop/schema.sql', '');
  const make = (name: string, rows: string): void => {
    const database = new Database(join(folder, 'database/shop', name));
    database.exec(`CREATE TABLE t (n INTEGER, c TEXT, y INTEGER); INSERT INTO t VALUES ${rows}`);
    database.close();
  };
  make('shop.sqlite', "(1, 'r', 2020), (2, 'g', 2021), (3, 'r', 2020)");
  make('shop_1.sqlite', "(1, 'r', 2020), (1, 'r', 2020), (5, 'b', 2021)");
});

const main = (): string => join(folder, 'database/shop/shop.sqlite');
const sql = (...statements: string[]): Prediction => ({ kind: 'sql', statements });

describe('a folder as Spider is published', () => {
  test.each(QUERIES.map(([gold, predicted, right], at) => [gold, predicted, right, at] as const))(
    '%s against %s: %s',
    async (_, predicted, right, at) => {
      const board = await spider1.open(folder, {});
      const score = await board.score(String(at), sql(predicted), open(main()), { ...SQL_OPTIONS, open });
      expect([score.verdict, score.points['ex']]).toEqual(right ? ['correct', 1] : ['wrong', 0]);
    },
  );

  test('the database on which a prediction differs is named, and figures go by level', async () => {
    const board = await spider1.open(folder, {});
    const [item] = board.items;
    expect(item && board.database(item)).toBe(main());
    const scores = new Map<string, BoardScore>();
    for (const [id, prediction] of [
      ['10', sql('SELECT n FROM t WHERE n < 9')],
      ['1', sql('SELECT n FROM t')],
      ['2', { kind: 'abstained' }],
      ['3', { kind: 'none' }],
    ] as const)
      scores.set(id, await board.score(id, prediction, open(main()), { ...SQL_OPTIONS, open }));
    expect([...scores.values()].map(({ verdict }) => verdict)).toEqual([
      'wrong',
      'correct',
      'wrong-abstained',
      'wrong',
    ]);
    expect(scores.get('10')?.reason).toContain('shop_1.sqlite');
    expect(board.metrics(scores)).toEqual({ ex: 25, exEasy: 25, exMedium: null, exHard: null, exExtra: null });
  });

  test('a suite of which only one database was opened is not judged', async () => {
    const board = await spider1.open(folder, {});
    const score = await board.score('1', sql('SELECT n FROM t'), open(main()), SQL_OPTIONS);
    expect(score).toMatchObject({ verdict: 'infrastructure', points: {} });
  });

  test('a gold query that fails and a result beyond the row cap are no wrong answers', async () => {
    put('bad/dev.json', JSON.stringify([{ db_id: 'shop', question: 'q', query: 'SELECT x FROM t' }]));
    const database = join(folder, 'bad/database/shop/shop.sqlite');
    mkdirSync(dirname(database), { recursive: true });
    writeFileSync(database, readFileSync(main()));
    const bad = await spider1.open(join(folder, 'bad'), {});
    expect((await bad.score('0', sql('SELECT 1'), open(database), SQL_OPTIONS)).verdict).toBe('gold-failed');
    const board = await spider1.open(folder, {});
    const cut = { ...SQL_OPTIONS, maxRows: 1, open };
    expect((await board.score('1', sql('SELECT n FROM t'), open(main()), cut)).verdict).toBe('undecided');
  });

  test('a prediction without end has more rows than the gold, so it is wrong', async () => {
    const endless = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i FROM r) SELECT i FROM r';
    const board = await spider1.open(folder, {});
    const score = await board.score('1', sql(endless), open(main()), { ...SQL_OPTIONS, open });
    expect(score).toMatchObject({ verdict: 'wrong', points: { ex: 0 } });
  });

  test('what is missing is named', async () => {
    await expect(spider1.open(folder, { split: 'train' })).rejects.toThrow(
      'spider1 has no split "train": it is one of dev, test',
    );
    await expect(spider1.open(folder, { split: 'test' })).rejects.toThrow('is incomplete: test.json is missing');
    put('out/dev.json', JSON.stringify([{ db_id: '../../secret', question: 'q', query: 'SELECT 1' }]));
    await expect(spider1.open(join(folder, 'out'), {})).rejects.toThrow(
      /dev\.json, 0\.db_id: has to be the name of a file/,
    );
    put('none/dev.json', JSON.stringify([{ db_id: 'shop', question: 'q', query: 'SELECT 1' }]));
    await expect(spider1.open(join(folder, 'none'), {})).rejects.toThrow('the folder database of databases is missing');
  });
});

describe('pred.sql', () => {
  const path = (): string => join(folder, 'pred.sql');
  const items = async () => (await spider1.open(folder, {})).items.slice(0, 4);

  test('has a line for every question, and is read as it was written', async () => {
    const written = new Map<string, Prediction>([
      ['0', sql("SELECT n -- a number\n\tFROM t WHERE c='a b'")],
      ['2', sql('SELECT 1')],
      ['3', { kind: 'abstained' }],
    ]);
    expect(await spider1.format.write(path(), await items(), written)).toEqual([path()]);
    expect(readFileSync(path(), 'utf8')).toBe("SELECT n FROM t WHERE c='a b'\nSELECT\nSELECT 1\nSELECT\n");
    expect(await spider1.format.check(path(), await items())).toEqual([]);
    expect([...(await spider1.format.read(path(), await items())).values()]).toEqual([
      sql("SELECT n FROM t WHERE c='a b'"),
      { kind: 'abstained' },
      sql('SELECT 1'),
      { kind: 'abstained' },
    ]);
  });

  test('what no line can hold is refused', async () => {
    const write = (prediction: Prediction) =>
      items().then((all) => spider1.format.write(path(), all, new Map([['0', prediction]])));
    await expect(write(sql("SELECT 'a\nb'"))).rejects.toThrow(
      'question 0: a text or a name holds a line break or a tab',
    );
    await expect(write({ kind: 'rows', columns: [], rows: [] })).rejects.toThrow('Spider takes SQL, not rows');
  });

  test('blank, missing and surplus lines are told', async () => {
    const told = async (text: string): Promise<readonly string[]> => {
      writeFileSync(path(), text);
      return spider1.format.check(path(), await items());
    };
    expect(await told('SELECT 1\n\nSELECT 2\nSELECT 3\n')).toEqual([
      'line 2 is blank, which begins another interaction: write SELECT',
    ]);
    await expect(items().then((all) => spider1.format.read(path(), all))).rejects.toThrow('line 2 is blank');
    expect(await told('SELECT 1\nSELECT 2\n')).toEqual([
      '2 lines for 4 questions: the official scorer leaves out the rest',
    ]);
    expect((await spider1.format.read(path(), await items())).get('3')).toEqual({ kind: 'none' });
    expect(await told('SELECT 1\tshop\n'.repeat(5))).toEqual(['5 lines for 4 questions: a query is one line']);
  });
});
