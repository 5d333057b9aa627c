import Database from 'libsql';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSqliteEngine } from '../../../../src/adapters/sqlite';
import type { BoardScore, Prediction } from '../../../../benchmarks/benchmark';
import { bird, birdMiniDev } from '../../../../benchmarks/boards/bird';
import { asInPython, isRight, rewardOf, sameSet, softF1, type Row } from '../../../../benchmarks/boards/bird-measures';
import { pairsOf } from '../../../helpers/benchmark-pairs';
import { loadTestData } from '../../../helpers/shared-data';

interface Pair {
  readonly name: string;
  readonly predicted: readonly Row[];
  readonly gold: readonly Row[];
  readonly ex: number;
  readonly softF1: number;
}

/** With EX and soft-F1 as bird-bench/mini_dev@4d970a9 gives them, run on Python 3.11. */
test.each(pairsOf<Pair>('bird'))('$name: EX and soft-F1 are the official ones', ({ predicted, gold, ex, ...pair }) => {
  expect(Number(sameSet(predicted, gold))).toBe(ex);
  expect(softF1(predicted, gold)).toBeCloseTo(pair.softF1, 12);
});

test.each([
  ['a date and a text of it', 'time', 'text', '2024-01-02', '2024-01-02', 'postgresql', false],
  ['equal dates', 'time', 'time', '2024-01-02', '2024-01-02', 'postgresql', true],
  ['a date and its midnight', 'time', 'time', '2024-01-02', '2024-01-02 00:00:00', 'postgresql', false],
  ['NULL as a date and as a text', 'time', 'text', null, null, 'postgresql', true],
  ['a column of SQLite that is called a date, and a text', 'time', 'text', '2024-01-02', '2024-01-02', 'sqlite', true],
] as const)('%s compare as in Python', (_, one, other, value, another, dialect, expected) => {
  const result = (kind: 'time' | 'text', cell: string | null) =>
    asInPython(
      { kind: 'rows', columns: [{ name: 'a', kind }], rows: [[cell]], truncated: false, elapsedMs: 0 },
      dialect,
    );
  expect(isRight(result(one, value), result(other, another))).toBe(expected);
});

/** Ratios of times (gold / predicted) with the reward of the same official code. */
test.each([
  [[2, 2.2], 1.25],
  [[1.9, 2.1], 1.25],
  [[2, 2, 2], 0],
  [[1, 1.1], 1],
  [[0.9, 1.1], 1],
  [[0.7, 0.9], 0.75],
  [[0.99, 0.98], 0.75],
  [[0.5, 0.6], 0.75],
  [[0.3, 0.4], 0.5],
  [[0.2, 0.3], 0.5],
  [[0.1, 0.12], 0.25],
  [[0.2], 0],
  [[1.2, 1.1, 1.3, 1.2, 1.1, 1.2, 1.2, 1.3, 1.1, 1.2, 1.2, 60], 1],
  [[3, 0.5, 0.5, 0.6, 0.5], 1],
  [[5, 6], 1.25],
])('times with the ratios %j are rewarded with %d', (ratios, reward) => {
  expect(rewardOf(ratios)).toBe(reward);
});

const SQL_OPTIONS = { timeoutMs: 240_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const folder = mkdtempSync(join(tmpdir(), 'gate-bird-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const QUESTIONS = [
  { db_id: 'shop', question: 'How many?', SQL: 'SELECT count(*) FROM t', difficulty: 'simple' },
  {
    db_id: 'shop',
    question: 'Which?',
    evidence: 'red is "r"',
    SQL: 'SELECT n FROM t WHERE c = "r"',
    difficulty: 'moderate',
  },
  { db_id: 'shop', question: 'None?', SQL: 'SELECT n FROM t WHERE 0', difficulty: 'challenging' },
].map((entry, at) => ({ question_id: at + 40, evidence: '', ...entry }));
const goldOf = (questions: readonly { SQL: string; db_id: string }[]): string =>
  questions.map(({ SQL, db_id }) => `${SQL}\t${db_id}\n`).join('');

beforeAll(() => {
  put('dev.json', JSON.stringify(QUESTIONS));
  put('dev_gold.sql', goldOf(QUESTIONS));
  put('dev_databases/shop/database_description/t.csv', 'original_column_name,column_description\nn,number\n');
  const database = new Database(join(folder, 'dev_databases/shop/shop.sqlite'));
  database.exec("CREATE TABLE t (n INTEGER, c TEXT); INSERT INTO t VALUES (1, 'r'), (2, 'g'), (3, 'r')");
  database.close();
});

const sql = (...statements: string[]): Prediction => ({ kind: 'sql', statements });

describe('a folder as BIRD is published', () => {
  test('questions have their running numbers as ids, evidence is hidden knowledge, databases and docs are found', async () => {
    const open = await bird.open(folder, {});
    expect(open.items.map(({ id, database, instructions }) => [id, database, instructions])).toEqual([
      ['0', 'shop', null],
      ['1', 'shop', null],
      ['2', 'shop', null],
    ]);
    expect(open.items[1]?.gold).toMatchObject({ sql: [QUESTIONS[1]?.SQL], difficulty: 'moderate' });
    const [item] = open.items;
    expect(item && open.database(item)).toBe(join(folder, 'dev_databases/shop/shop.sqlite'));
    expect(item && open.docs?.(item)).toBe(join(folder, 'dev_databases/shop/database_description'));
    const { items } = await bird.open(folder, { hiddenKnowledge: true });
    expect(items[1]?.instructions).toBe('Known about this database: red is "r"');
  });

  const scores = async (predictions: readonly Prediction[], more: { timings?: number; maxRows?: number } = {}) => {
    const open = await bird.open(folder, {});
    const engine = createSqliteEngine({ path: join(folder, 'dev_databases/shop/shop.sqlite') });
    const found = new Map<string, BoardScore>();
    for (const [at, prediction] of predictions.entries())
      found.set(String(at), await open.score(String(at), prediction, engine, { ...SQL_OPTIONS, ...more }));
    await engine.close();
    return { found, metrics: open.metrics(found) };
  };

  test('predictions run as in the SQLite of Python: a name in double quotes that is no column is a text', async () => {
    const { found, metrics } = await scores([sql('SELECT 3'), sql('SELECT n FROM t WHERE c = "r"'), sql('SELECT 1')]);
    expect([...found.values()].map(({ verdict }) => verdict)).toEqual(['correct', 'correct', 'wrong']);
    expect(metrics).toEqual({
      ...{ ex: 200 / 3, exSimple: 100, exModerate: 100, exChallenging: 0 },
      ...{ softF1: 200 / 3, softF1Simple: 100, softF1Moderate: 100, softF1Challenging: 0 },
    });
  });

  test('what cannot run is wrong by every measure; a blank place gives no rows, which is right where the gold has none', async () => {
    const failed = await scores([sql('SELECT nothing FROM t'), sql('SELECT 1', 'SELECT 2'), { kind: 'abstained' }]);
    expect([...failed.found.values()].map(({ verdict, points }) => [verdict, points])).toEqual([
      ['wrong', { ex: 0, softF1: 0 }],
      ['wrong', { ex: 0, softF1: 0 }],
      ['correct', { ex: 1, softF1: 1 }],
    ]);
    const blank = await scores([{ kind: 'abstained' }, { kind: 'none' }]);
    expect([...blank.found.values()].map(({ verdict }) => verdict)).toEqual(['wrong-abstained', 'wrong']);
  });

  test('R-VES is there only if times are asked for, and rewards right answers only', async () => {
    const { found, metrics } = await scores([sql('SELECT 3'), sql('SELECT 9')], { timings: 5 });
    expect([0.5, Math.SQRT1_2, Math.sqrt(0.75), 1, Math.sqrt(1.25)]).toContain(found.get('0')?.points['rves']);
    expect(found.get('1')?.points).toEqual({ ex: 0, softF1: 0, rves: 0 });
    expect(metrics['rvesModerate']).toBe(0);
    const abstained = { kind: 'abstained' } as const;
    const blank = await scores([sql('SELECT 9'), abstained, abstained, { kind: 'none' }], { timings: 5 });
    expect(blank.found.get('1')?.points).toEqual({ ex: 0, softF1: 0, rves: 0 });
    expect(blank.found.get('2')?.points['rves']).toBeGreaterThan(0);
  });

  test('a gold query that fails, a result beyond the row cap and a lost database are no wrong answers', async () => {
    const { found } = await scores([sql('SELECT 3'), sql('SELECT n FROM t')], { maxRows: 1 });
    expect(found.get('1')).toMatchObject({ verdict: 'undecided', points: {} });
    const open = await bird.open(folder, {});
    const gone = createSqliteEngine({ path: join(folder, 'gone.sqlite') });
    expect(await open.score('0', sql('SELECT 3'), gone, SQL_OPTIONS)).toMatchObject({
      verdict: 'infrastructure',
      points: {},
    });
    await gone.close();
    const engine = createSqliteEngine({ path: join(folder, 'dev_databases/shop/shop.sqlite') });
    put(
      'broken/dev.json',
      JSON.stringify([
        { ...QUESTIONS[0], SQL: 'SELECT x FROM t' },
        { ...QUESTIONS[0], SQL: null },
      ]),
    );
    mkdirSync(join(folder, 'broken/dev_databases/shop'), { recursive: true });
    copyFileSync(join(folder, 'dev_databases/shop/shop.sqlite'), join(folder, 'broken/dev_databases/shop/shop.sqlite'));
    const broken = await bird.open(join(folder, 'broken'), {});
    expect((await broken.score('0', sql('SELECT 3'), engine, SQL_OPTIONS)).verdict).toBe('gold-failed');
    expect((await broken.score('1', sql('SELECT 3'), engine, SQL_OPTIONS)).verdict).toBe('no-gold');
    await engine.close();
  });

  test('a prediction without end is wrong by its first row that the gold lacks, and does not leave the figures', async () => {
    const endless = (first: number) =>
      sql(`WITH RECURSIVE r(i) AS (SELECT ${first} UNION ALL SELECT i FROM r) SELECT i FROM r`);
    const { found, metrics } = await scores([endless(9), sql('SELECT n FROM t WHERE c = "r"'), sql('SELECT 1')]);
    expect(found.get('0')).toMatchObject({ verdict: 'wrong', points: { ex: 0, softF1: 0 } });
    expect(metrics['ex']).toBeCloseTo(100 / 3);
    expect((await scores([endless(3)])).found.get('0')).toMatchObject({ verdict: 'undecided', points: {} });
  });

  test('rows are judged as they are', async () => {
    const { found } = await scores([{ kind: 'rows', columns: ['n'], rows: [[3]] }]);
    expect(found.get('0')?.verdict).toBe('correct');
  });
});

describe('what is wrong with a folder is named before anything runs', () => {
  const wrongWith = async (files: Readonly<Record<string, string>>, split?: string): Promise<string> => {
    const name = `bad-${Math.random().toString(36).slice(2)}`;
    for (const [file, text] of Object.entries(files)) put(join(name, file), text);
    try {
      await bird.open(join(folder, name), split === undefined ? {} : { split });
    } catch (error) {
      return (error as Error).message.replaceAll(join(folder, name), '.');
    }
    return 'nothing';
  };
  const dev = JSON.stringify(QUESTIONS);

  test.each([
    ['no questions', { 'x.txt': '' }, undefined, '. is incomplete: dev.json is missing'],
    ['another split', { 'dev.json': dev }, 'test', 'bird has no split "test": it is one of dev, train'],
    [
      'a database outside the folder',
      { 'dev.json': dev.replaceAll('"shop"', '"../../secret"') },
      undefined,
      './dev.json, 0.db_id: has to be the name of a file, without a folder',
    ],
    ['half a file', { 'dev.json': dev.slice(0, 40) }, undefined, /^.\/dev.json is no JSON \(or only half written\)/],
    ['a field too few', { 'dev.json': '[{"db_id":"a"}]' }, undefined, /^.\/dev.json, 0.question: /],
    [
      'no databases',
      { 'dev.json': dev },
      undefined,
      '. is incomplete: the folder dev_databases of databases is missing',
    ],
    [
      'one database too few',
      { 'dev.json': dev, 'dev_databases/x/x.sqlite': '' },
      undefined,
      './dev_databases is incomplete: shop/shop.sqlite is missing; databases without a file: "shop"',
    ],
    [
      'a gold file of another release',
      { 'dev.json': dev, 'dev_gold.sql': 'SELECT 1\tshop\n' },
      undefined,
      /^.\/dev_gold.sql has 1 gold queries, but .\/dev.json has 3 questions/,
    ],
    [
      'a gold query for another database',
      { 'dev.json': dev, 'dev.sql': goldOf(QUESTIONS.map((one) => ({ ...one, db_id: 'x' }))) },
      undefined,
      './dev.sql, line 1 is for x, but question 0 is for shop',
    ],
    [
      'a gold line without its database',
      { 'dev.json': dev, 'dev.sql': 'SELECT 1\nSELECT 1\nSELECT 1\n' },
      undefined,
      './dev.sql, line 1 is not "SQL<tab>database", but question 0 is for shop',
    ],
  ] as const)('%s', async (_, files, split, message) => {
    const found = await wrongWith(files, split);
    if (typeof message === 'string') expect(found).toBe(message);
    else expect(found).toMatch(message);
  });
});

test.each([
  ['', /mini_dev_postgresql\.jsonl holds no questions$/],
  ['{"db_id": "shop"}\n', /jsonl, line 1: question: /],
  ['{"db_id": "shop", "question": "q"}\n{"db_id": "sh', /jsonl, line 2: not a JSON object/],
  ['\n{"db_id": "..", "question": "q"}\n', /jsonl, line 2: db_id: has to be the name of a file/],
])('lines of the mini-dev that cannot be used are named: %j', async (text, message) => {
  put('lines/mini_dev_postgresql.jsonl', text);
  await expect(birdMiniDev.open(join(folder, 'lines'), { split: 'postgresql' })).rejects.toThrow(message);
});

describe('a predictions file', () => {
  const path = (): string => join(folder, 'predict.json');
  const items = async () => (await bird.open(folder, {})).items;

  test('is written as the official scorer reads it, and read as it was written', async () => {
    const predictions = new Map<string, Prediction>([
      ['0', sql('SELECT count(*)\nFROM t')],
      ['2', sql('SELECT 1')],
    ]);
    expect(await bird.format.write(path(), await items(), predictions)).toEqual([path()]);
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({
      0: 'SELECT count(*)\nFROM t\t----- bird -----\tshop',
      1: ' \t----- bird -----\tshop',
      2: 'SELECT 1\t----- bird -----\tshop',
    });
    expect(await bird.format.read(path(), await items())).toEqual(
      new Map([...predictions, ['1', { kind: 'abstained' }]]),
    );
    const rows = new Map<string, Prediction>([['0', { kind: 'rows', columns: [], rows: [] }]]);
    await expect(bird.format.write(path(), await items(), rows)).rejects.toThrow(
      'question 0: BIRD takes SQL, not rows',
    );
  });

  test.each([
    ['{"0": "SELECT 1", "0": "SELECT 2"}', 'keys that stand twice: "0"'],
    ['{"40": "SELECT 1"}', 'no questions: "40"; keys are the running numbers from 0'],
    ['{"0": "SELECT 1"', 'is no JSON (or only half written)'],
    ['["SELECT 1"]', 'expected record'],
  ])('%s is refused', async (text, message) => {
    writeFileSync(path(), text);
    await expect(bird.format.read(path(), await items())).rejects.toThrow(message);
  });
});

test('every gold query of real questions is right against itself', async () => {
  const data = await loadTestData(null, { only: ['bird_superhero'] });
  const answerable = data.questions.filter(({ gold_sql }) => gold_sql.length > 0);
  const questions = answerable.map(({ database, question, gold_sql }) => ({
    ...{ db_id: database, question, evidence: 'e', difficulty: 'simple' },
    SQL: gold_sql[0] ?? '',
  }));
  const root = 'real/mini_dev_data';
  put(`${root}/mini_dev_sqlite.jsonl`, questions.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const engines = new Map<string, ReturnType<typeof createSqliteEngine>>();
  for (const question of answerable) {
    const { database } = question;
    const path = join(folder, root, 'dev_databases', database, `${database}.sqlite`);
    mkdirSync(dirname(path), { recursive: true });
    if (!engines.has(database)) copyFileSync(data.address(question), path);
    engines.set(database, engines.get(database) ?? createSqliteEngine({ path }));
  }
  const open = await birdMiniDev.open(join(folder, 'real'), {});
  const found = new Map<string, BoardScore>();
  for (const { id, database, gold } of open.items) {
    const engine = engines.get(database ?? '');
    if (engine === undefined) throw new Error(`no engine for ${database ?? ''}`);
    found.set(id, await open.score(id, { kind: 'sql', statements: gold?.sql ?? [] }, engine, SQL_OPTIONS));
  }
  for (const engine of engines.values()) await engine.close();
  data.close();
  expect([...found.values()].filter(({ verdict }) => verdict !== 'correct')).toEqual([]);
  expect(found.size).toBeGreaterThan(2);
  expect(open.metrics(found)).toMatchObject({ ex: 100, softF1: 100, exSimple: 100, exChallenging: null });
});
