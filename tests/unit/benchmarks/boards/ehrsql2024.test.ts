/**
 * The verdicts are those of the official scorer (glee4810/ehrsql-2024@4659789, scoring_program) on these pairs, run with
 * Python 3.11 on the database below.
 */
import Database from 'libsql';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../../../../src/adapters/kit/guard';
import { createSqliteEngine, createSqliteInspector } from '../../../../src/adapters/sqlite';
import type { BoardScore, OpenBenchmark, Prediction } from '../../../../benchmarks/benchmark';
import { ehrsql2024 } from '../../../../benchmarks/boards/ehrsql2024';
import { complexityOf, tableOf } from '../../../../benchmarks/boards/ehrsql2024-subset';
import type { SqlEngine } from '../../../../src/domain/ports';

const DATABASE = `
  CREATE TABLE drugs (id INTEGER, name TEXT, dose REAL, given TEXT, route TEXT);
  INSERT INTO drugs VALUES
   (1, 'aspirin', 0.5, '2100-01-05 08:00:00', 'po'), (2, 'heparin', 1.0625, '2100-11-30 10:00:00', 'iv'),
   (3, 'insulin', 2.0, '2100-12-30 12:00:00', 'sc'), (4, 'aspirin', 1.1250, '2099-06-01 00:00:00', 'po'),
   (5, 'Zinc', NULL, NULL, NULL);
  CREATE TABLE vitals (id INTEGER, heart_rate REAL, temperature REAL);
  INSERT INTO vitals VALUES (1, 55, 36.6), (2, 80, 38.1), (3, 120, 40), (4, 100, 35.5);
  CREATE TABLE many (n INTEGER, word TEXT);
  WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 150) INSERT INTO many SELECT i, 'w' || i FROM r;
  CREATE TABLE no_rows (a INTEGER);`;

/** Name, gold, prediction, and the points of the official scorer. */
const PAIRS: readonly (readonly [string, string, string, -1 | 0 | 1])[] = [
  ['equal', 'SELECT name FROM drugs', 'SELECT name FROM drugs', 1],
  ['another order of rows', 'SELECT name FROM drugs ORDER BY id', 'SELECT name FROM drugs ORDER BY id DESC', 1],
  [
    'ORDER BY of the gold does not count',
    'SELECT name FROM drugs ORDER BY dose',
    'SELECT name FROM drugs ORDER BY name',
    1,
  ],
  ['a duplicate too few', 'SELECT name FROM drugs', 'SELECT DISTINCT name FROM drugs', -1],
  ['a duplicate too many', 'SELECT DISTINCT name FROM drugs', 'SELECT name FROM drugs', -1],
  ['other order of columns', 'SELECT id, name FROM drugs', 'SELECT name, id FROM drugs', -1],
  ['a column more', 'SELECT name FROM drugs', 'SELECT name, id FROM drugs', -1],
  ['a column less', 'SELECT name, id FROM drugs', 'SELECT name FROM drugs', -1],
  ['other names of columns', 'SELECT name FROM drugs', 'SELECT name AS x FROM drugs', 1],
  ['whole number and real', 'SELECT 2', 'SELECT 2.0', 1],
  ['number and its text', 'SELECT 2', "SELECT '2'", 1],
  ['number and text with spaces', 'SELECT 2.5', "SELECT ' 2.50 '", 1],
  ['the fourth place does not count', 'SELECT 0.12341', 'SELECT 0.12349', 1],
  ['the third place counts', 'SELECT 0.123', 'SELECT 0.124', -1],
  ['a half goes to the even neighbour', 'SELECT 1.0625', 'SELECT 1.062', 1],
  ['a half does not go up', 'SELECT 1.0625', 'SELECT 1.063', -1],
  ['a half with an odd neighbour goes up', 'SELECT 0.1875', 'SELECT 0.188', 1],
  ['binary halves: 2.0005 is below', 'SELECT 2.0005', 'SELECT 2.0', -1],
  ['a tiny negative is minus zero', 'SELECT -0.0001', 'SELECT 0.0', -1],
  ['minus zero and minus zero', 'SELECT -0.0001', 'SELECT -0.0002', 1],
  ['large numbers', 'SELECT 12345678901234567890.0', 'SELECT 12345678901234567000.0', 1],
  ['whole numbers beyond a double', 'SELECT 9007199254740993', 'SELECT 9007199254740992', 1],
  ['exponents', 'SELECT 1e20', "SELECT '1e+20'", 1],
  ['text inf and infinity', "SELECT 'inf'", "SELECT 'Infinity'", 1],
  ['text nan and NaN', "SELECT 'nan'", "SELECT 'NaN'", 1],
  ['digits grouped by underscores', 'SELECT 1000', "SELECT '1_000'", 1],
  ['an underscore too many', 'SELECT 1000', "SELECT '1__000'", -1],
  ['NULL and NULL', 'SELECT NULL', 'SELECT dose FROM drugs WHERE id = 5', 1],
  ['NULL and no row', 'SELECT NULL', 'SELECT dose FROM drugs WHERE id = 99', -1],
  ['NULL and zero', 'SELECT NULL', 'SELECT 0', -1],
  ['NULL and an empty text', 'SELECT NULL', "SELECT ''", -1],
  ['NULL and the text None', 'SELECT NULL', "SELECT 'None'", 1],
  ['NULL and the text NULL', 'SELECT NULL', "SELECT 'NULL'", -1],
  ['false and zero', 'SELECT 1 = 2', 'SELECT 0', 1],
  ['case of texts', "SELECT 'aspirin'", "SELECT 'Aspirin'", -1],
  ['spaces in texts', "SELECT 'a'", "SELECT ' a'", -1],
  ['both empty', 'SELECT a FROM no_rows', 'SELECT name FROM drugs WHERE id = 99', 1],
  ['both empty, other columns', 'SELECT a FROM no_rows', 'SELECT id, name FROM drugs WHERE id = 99', 1],
  ['empty gold', 'SELECT a FROM no_rows', 'SELECT name FROM drugs', -1],
  ['empty prediction', 'SELECT name FROM drugs', 'SELECT a FROM no_rows', -1],
  ['an empty text is no row', 'SELECT a FROM no_rows', '', 1],
  ['an empty text', 'SELECT name FROM drugs', '', -1],
  ['dates are texts', "SELECT '2100-01-05'", "SELECT '2100-01-05 00:00:00'", -1],
  ['the same date', 'SELECT date(given) FROM drugs WHERE id = 1', "SELECT '2100-01-05'", 1],
  ['a year as text and as number', "SELECT strftime('%Y', given) FROM drugs WHERE id = 1", 'SELECT 2100', 1],
  [
    'lower-case %y',
    "SELECT strftime('%Y', given) FROM drugs WHERE id = 1",
    "SELECT strftime('%y', given) FROM drugs WHERE id = 1",
    1,
  ],
  [
    '%j is the Julian day',
    "SELECT strftime('%J', given) FROM drugs WHERE id = 1",
    "SELECT strftime('%j', given) FROM drugs WHERE id = 1",
    1,
  ],
  ['spaces in operators', 'SELECT id FROM drugs WHERE dose >= 1', 'SELECT id FROM drugs WHERE dose > = 1', 1],
  [
    'spaces in <= and !=',
    'SELECT id FROM drugs WHERE dose <= 1 AND id != 2',
    'SELECT id FROM drugs WHERE dose < = 1 AND id ! = 2',
    1,
  ],
  ['line breaks', 'SELECT id FROM drugs', 'SELECT id\n\n   FROM drugs', 1],
  [
    'a comment ends with the text, for line breaks are gone',
    'SELECT id FROM drugs',
    'SELECT id -- all\nFROM drugs',
    -1,
  ],
  ['current_time', "SELECT '2100-12-31 23:59:00'", 'SELECT current_time', 1],
  ['current_date', "SELECT '2100-12-31'", 'SELECT current_date', 1],
  ["'now'", "SELECT date('2100-12-31')", "SELECT date('now')", 1],
  [
    "'now' with a modifier",
    "SELECT id FROM drugs WHERE given >= '2100-12-01'",
    "SELECT id FROM drugs WHERE given >= date('now', 'start of month')",
    1,
  ],
  ['NOW()', "SELECT '2100-12-31 23:59:00'", 'SELECT NOW()', 1],
  ['CURDATE() and CURTIME()', "SELECT '2100-12-31', '23:59:00'", 'SELECT CURDATE(), CURTIME()', 1],
  ['now() in lower case is no function', "SELECT '2100-12-31 23:59:00'", 'SELECT now()', -1],
  [
    'DATE_SUB of MySQL',
    "SELECT datetime('2100-12-31 23:59:00', '-2 months')",
    'SELECT DATE_SUB(NOW(), INTERVAL 2 MONTH)',
    1,
  ],
  [
    'DATE_ADD of one day',
    "SELECT datetime('2100-01-05', '+1 day')",
    "SELECT DATE_ADD('2100-01-05', INTERVAL 1 DAY)",
    1,
  ],
  [
    'a unit in lower case is not known',
    "SELECT datetime('2100-01-05', '+1 day')",
    "SELECT DATE_ADD('2100-01-05', INTERVAL 1 day)",
    -1,
  ],
  [
    'bounds of a vital sign',
    'SELECT id FROM vitals WHERE heart_rate BETWEEN 60 AND 100',
    'SELECT id FROM vitals WHERE heart_rate BETWEEN heart_rate_lower AND heart_rate_upper',
    1,
  ],
  [
    'bounds of the temperature',
    'SELECT id FROM vitals WHERE temperature BETWEEN 35.5 AND 38.1',
    'SELECT id FROM vitals WHERE temperature BETWEEN temperature_lower AND temperature_upper',
    1,
  ],
  [
    'bounds of two signs are not filled',
    'SELECT id FROM vitals WHERE heart_rate > 60',
    'SELECT id FROM vitals WHERE heart_rate > heart_rate_lower AND temperature < temperature_upper',
    -1,
  ],
  [
    'bounds of an unknown sign',
    'SELECT id FROM vitals',
    'SELECT id FROM vitals WHERE id BETWEEN weight_lower AND weight_upper',
    -1,
  ],
  [
    'double quotes are a text where no column has the name',
    "SELECT id FROM drugs WHERE name = 'aspirin'",
    'SELECT id FROM drugs WHERE name = "aspirin"',
    1,
  ],
  ['double quotes in the gold', 'SELECT id FROM drugs WHERE name = "heparin"', 'SELECT 2', 1],
  ['an error', 'SELECT name FROM drugs', 'SELECT nam FROM drugs', -1],
  ['an error against nothing', 'SELECT a FROM no_rows', 'SELECT b FROM no_rows', -1],
  ['two statements', 'SELECT 1', 'SELECT 1; SELECT 1', -1],
  ['a semicolon at the end', 'SELECT 1', 'SELECT 1;', 1],
  ['two semicolons at the end', 'SELECT 1', 'SELECT 1;;', -1],
  ['a comment after the semicolon', 'SELECT 1', 'SELECT 1; -- one', 1],
  ['a semicolon before', 'SELECT 1', ';SELECT 1', 1],
  ['a semicolon alone is no row', 'SELECT a FROM no_rows', ';', 1],
  ['a comment alone is no row', 'SELECT a FROM no_rows', '-- nothing', 1],
  ['a semicolon in a text', "SELECT ';'", "SELECT ';' AS x", 1],
  ['more than a hundred rows: equal', 'SELECT n FROM many', 'SELECT n FROM many ORDER BY n DESC', 1],
  [
    'only the first hundred of the sorted rows count',
    'SELECT word FROM many',
    "SELECT word FROM many WHERE word <> 'w99'",
    1,
  ],
  ['a row missing among the first hundred', 'SELECT word FROM many', "SELECT word FROM many WHERE word <> 'w100'", -1],
  ['exactly a hundred against more', 'SELECT word FROM many', 'SELECT word FROM many ORDER BY word LIMIT 100', 1],
  [
    'the hundred smallest numbers are no prefix: rows sort as texts',
    'SELECT n FROM many',
    'SELECT n FROM many WHERE n <= 100',
    -1,
  ],
  ['abstained, answerable', 'SELECT 1', 'null', 0],
  ['abstained with spaces', 'SELECT 1', ' null\n', 0],
  ['NULL in capitals is a query', 'SELECT 1', 'NULL', -1],
  ['abstained, unanswerable', 'null', 'null', 1],
  ['answered, unanswerable', 'null', 'SELECT 1', -1],
  ['an error, unanswerable', 'null', 'SELECT x', -1],
  ['an empty text, unanswerable', 'null', '', -1],
  ['the text null is no abstention', 'null', "SELECT 'null'", -1],
];
/** The official scorer's figures over all of them. */
const FIGURES = {
  rs0: 57.77777777777777,
  rs5: -142.22222222222223,
  rs10: -342.22222222222223,
  rsN: -3542.2222222222226,
};

let folder: string;
let engine: SqlEngine;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gate-ehrsql-'));
  const base = join(folder, 'data', 'mimic_iv');
  mkdirSync(join(base, 'test'), { recursive: true });
  const put = (name: string, value: unknown): void => writeFileSync(join(base, 'test', name), JSON.stringify(value));
  put('data.json', {
    version: 'test_v1.1.1',
    data: PAIRS.map(([question], index) => ({ id: `q${index}`, question })),
  });
  put('label.json', Object.fromEntries(PAIRS.map(([, label], index) => [`q${index}`, label])));
  const database = new Database(join(base, 'mimic_iv.sqlite'));
  database.exec(DATABASE);
  database.close();
  engine = createGuardedEngine(createSqliteEngine({ path: join(base, 'mimic_iv.sqlite') }), createSqliteInspector());
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const OPTIONS = { timeoutMs: 20_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const open = (): Promise<OpenBenchmark> => ehrsql2024.open(folder, {});
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const predictionFile = (change: Record<string, unknown> = {}): string =>
  file(
    'prediction.json',
    JSON.stringify({ ...Object.fromEntries(PAIRS.map(([, , sql], index) => [`q${index}`, sql])), ...change }),
  );

test('every pair has the verdict of the official scorer, and all of them its figures', async () => {
  const board = await open();
  const predictions = (await ehrsql2024.format.read(predictionFile(), board.items)) as ReadonlyMap<string, Prediction>;
  const scores = new Map<string, BoardScore>();
  for (const { id } of board.items)
    scores.set(id, await board.score(id, predictions.get(id) ?? { kind: 'none' }, engine, OPTIONS));
  expect(PAIRS.map(([name], index) => [name, scores.get(`q${index}`)?.points['reliability']])).toEqual(
    PAIRS.map(([name, , , points]) => [name, points]),
  );
  const metrics = board.metrics(scores);
  for (const [name, value] of Object.entries(FIGURES))
    expect([name, metrics[name]]).toEqual([name, expect.closeTo(value, 9)]);
  const [right, answerable] = [
    PAIRS.filter(([, , , points]) => points === 1),
    PAIRS.filter(([, gold]) => gold !== 'null'),
  ];
  expect(metrics['exAll']).toBeCloseTo((100 * right.length) / PAIRS.length, 9);
  expect(metrics['exAnswerable']).toBeCloseTo((100 * (right.length - 1)) / answerable.length, 9);
});

const score = async (prediction: Prediction, pair = 0, options = OPTIONS) =>
  (await open()).score(`q${pair}`, prediction, engine, options);

test('a result that is cut is undecided where the hundred rows that count are unknown, and wrong where they cannot be equal', async () => {
  const many = PAIRS.findIndex(([name]) => name === 'more than a hundred rows: equal');
  const cut = { ...OPTIONS, maxRows: 120 };
  const ask = (sql: string) => score({ kind: 'sql', statements: [sql] }, many, cut);
  expect(await ask('SELECT n FROM many')).toMatchObject({ verdict: 'undecided', points: {} });
  expect(await ask('SELECT n FROM many WHERE n < 50')).toMatchObject({ verdict: 'wrong' });
  const few = { ...OPTIONS, maxRows: 50 };
  const half = { kind: 'sql', statements: ['SELECT n FROM many ORDER BY n LIMIT 50'] } as const;
  expect(await score(half, many, few)).toMatchObject({ verdict: 'wrong' });
  expect(await score({ kind: 'sql', statements: ['SELECT word FROM many'] }, 0, cut)).toMatchObject({
    verdict: 'wrong',
  });
});

test('a database that fails is not a wrong answer, and neither figure counts it', async () => {
  const gone = createSqliteEngine({ path: join(folder, 'gone.sqlite') });
  const board = await open();
  const failed = await board.score('q0', { kind: 'sql', statements: ['SELECT 1'] }, gone, OPTIONS);
  expect(failed).toMatchObject({ verdict: 'infrastructure', points: {} });
  expect(board.metrics(new Map([['q0', failed]]))).toMatchObject({ exAll: null, rs0: null, rsN: null });
  await gone.close();
});

test('rows are compared as a query of them would be, and an id that is left out is no abstention', async () => {
  const names = [['Zinc'], ['aspirin'], ['aspirin'], ['heparin'], ['insulin']];
  expect(await score({ kind: 'rows', columns: ['x'], rows: names })).toMatchObject({ verdict: 'correct' });
  expect(await score({ kind: 'rows', columns: ['x'], rows: names.slice(1) })).toMatchObject({ verdict: 'wrong' });
  expect(await score({ kind: 'none' })).toMatchObject({ verdict: 'wrong', points: { reliability: -1 } });
  const unanswerable = PAIRS.findIndex(([, gold]) => gold === 'null');
  expect(await score({ kind: 'none' }, unanswerable)).toMatchObject({ verdict: 'wrong-answered' });
});

test('a file that is written is read back as it was, whole, with null for what has no query', async () => {
  const { items } = await open();
  const predictions = new Map<string, Prediction>([
    ['q0', { kind: 'sql', statements: ['SELECT "a\nb"'] }],
    ['q1', { kind: 'abstained' }],
  ]);
  const [path = ''] = await ehrsql2024.format.write(join(folder, 'out'), items, predictions);
  expect(path).toBe(join(folder, 'out', 'prediction.json'));
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object)).toEqual(items.map(({ id }) => id));
  const read = await ehrsql2024.format.read(path, items);
  expect(read.get('q0')).toEqual(predictions.get('q0'));
  expect(new Set([...read].flatMap(([id, { kind }]) => (id === 'q0' ? [] : [kind])))).toEqual(new Set(['abstained']));
  const rows = new Map<string, Prediction>([['q0', { kind: 'rows', columns: ['a'], rows: [[1]] }]]);
  await expect(ehrsql2024.format.write(join(folder, 'out'), items, rows)).rejects.toThrow(/"q0" has rows/);
});

describe('what the official checker refuses is named', () => {
  const read = async (path: string) => ehrsql2024.format.read(path, (await open()).items);
  test.each([
    [
      'an id of another split',
      () => predictionFile({ other: 'SELECT 1' }),
      /"other": no question of the split has this id/,
    ],
    ['a value that is no text', () => predictionFile({ q3: null }), /"q3": not a text; write the query, or "null"/],
    [
      'an id twice',
      () => file('twice.json', '{"q0": "SELECT \\"q1\\": {", "q1": "null", "q0": "null"}'),
      /"q0": twice/,
    ],
    ['a file that is half written', () => file('half.json', '{"q0": "SELECT 1", "q1'), /half\.json is no JSON/],
    ['a list', () => file('list.json', '["SELECT 1"]'), /has to be one object/],
    ['no file', () => join(folder, 'nowhere.json'), /nowhere\.json cannot be read: it does not exist/],
  ])('%s', async (_, path, message) => {
    await expect(read(path())).rejects.toThrow(message);
    await expect(read(path())).rejects.toMatchObject({ code: 'benchmark-data' });
  });
});

describe('an incomplete folder is named', () => {
  const made = (files: Record<string, unknown>): string => {
    const base = mkdtempSync(join(folder, 'part-'));
    mkdirSync(join(base, 'valid'));
    for (const [name, value] of Object.entries(files)) writeFileSync(join(base, name), JSON.stringify(value));
    return base;
  };
  const data = { data: [{ id: 'a', question: 'How many?' }] };
  test.each([
    ['nothing', {}, 'valid', /has neither data\/mimic_iv\/valid\/data\.json nor questions\.jsonl/],
    ['no gold', { 'valid/data.json': data }, 'valid', /label\.json cannot be read: it does not exist/],
    [
      'one without gold',
      { 'valid/data.json': data, 'valid/label.json': {} },
      'valid',
      /label\.json lacks the gold of "a"/,
    ],
    [
      'an id twice',
      { 'valid/data.json': { data: [...data.data, ...data.data] }, 'valid/label.json': { a: 'null' } },
      'valid',
      /the id "a" stands there twice/,
    ],
    [
      'fields of another kind',
      { 'valid/data.json': [], 'valid/label.json': {} },
      'valid',
      /data\.json: .*expected object/,
    ],
    [
      'another split',
      { 'questions.jsonl': { question: 'q', gold_sql: 'SELECT 1' } },
      'test',
      /of the split valid, not of test/,
    ],
    ['no such split', {}, 'dev', /no split "dev": choose one of test, valid, paper-100/],
  ])('%s', async (_, files, split, message) => {
    await expect(ehrsql2024.open(made(files), { split })).rejects.toThrow(message);
  });
});

test('a folder tells the clock, the answers and the database where they are', async () => {
  const base = mkdtempSync(join(folder, 'whole-'));
  mkdirSync(join(base, 'valid'));
  const put = (name: string, value: unknown): void => writeFileSync(join(base, 'valid', name), JSON.stringify(value));
  put('data.json', {
    data: [
      { id: 'a', question: 'Which route?' },
      { id: 'b', question: 'Why?' },
    ],
  });
  put('label.json', { a: 'SELECT route FROM drugs', b: 'null' });
  put('answer.json', { a: "[['iv'], ['po']]", b: 'null' });
  put('annotated.json', [{ id: 'a', template: 'Which route of {drug}?' }]);
  const board = await ehrsql2024.open(base, { split: 'valid' });
  const [first, second] = board.items;
  expect(first).toMatchObject({
    context: expect.stringContaining('2100-12-31 23:59:00') as string,
    database: 'mimic_iv',
    gold: { answerable: true, answer: [['iv'], ['po']], category: 'Which route of {drug}?' },
  });
  expect(second?.gold).toMatchObject({ answerable: false, sql: [], answer: null });
  expect(first && board.database(first)).toBeNull();
  writeFileSync(join(base, 'mimic_iv.sqlite'), '');
  const opened = await ehrsql2024.open(base, { split: 'valid' });
  expect(first && opened.database(first)).toBe(join(base, 'mimic_iv.sqlite'));
});

describe("the paper's hundred questions", () => {
  const queries = {
    drugs: ['SELECT name FROM drugs', 'SELECT count(*) FROM drugs', 'SELECT name FROM drugs GROUP BY name'],
    vitals: [
      "SELECT (SELECT 'from many' FROM vitals) > 0",
      'SELECT rank() OVER (ORDER BY id) FROM (SELECT * FROM vitals)',
    ],
    many: ['SELECT v.word FROM many AS v JOIN drugs ON drugs.id = v.n'],
  };
  // 300 of drugs, 150 of vitals, 1 of many; 60 that cannot be answered.
  const labels = [
    ...Array.from({ length: 300 }, (_, index) => queries.drugs[index % 3] ?? ''),
    ...Array.from({ length: 150 }, (_, index) => queries.vitals[index % 2] ?? ''),
    ...queries.many,
    ...Array.from({ length: 60 }, () => 'null'),
  ];
  const opened = async (seed: number) => {
    const base = mkdtempSync(join(folder, 'subset-'));
    mkdirSync(join(base, 'valid'));
    const data = labels.map((_, index) => ({ id: String(index), question: 'q' }));
    writeFileSync(join(base, 'valid', 'data.json'), JSON.stringify({ data }));
    writeFileSync(join(base, 'valid', 'label.json'), JSON.stringify(Object.fromEntries(labels.entries())));
    return (await ehrsql2024.open(base, { split: 'paper-100', seed })).items;
  };

  test('80 and 20, every table, in the proportions of the whole', async () => {
    const items = await opened(1);
    const answerable = items.filter(({ gold }) => gold?.answerable);
    expect([items.length, answerable.length]).toEqual([100, 80]);
    const count = (of: (item: (typeof items)[number]) => string): Record<string, number> =>
      Object.fromEntries(
        [...new Set(answerable.map(of))].sort().map((key) => [key, answerable.filter((one) => of(one) === key).length]),
      );
    expect(count(tableOf)).toEqual({ drugs: 53, many: 1, vitals: 26 });
    expect(count(complexityOf)).toEqual({ complex: 31, medium: 31, simple: 18 });
  });

  test('the same for the same seed, others for another one', async () => {
    const ids = async (seed: number) => (await opened(seed)).map(({ id }) => id);
    expect(await ids(1)).toEqual(await ids(1));
    expect(await ids(1)).not.toEqual(await ids(2));
  });
});
