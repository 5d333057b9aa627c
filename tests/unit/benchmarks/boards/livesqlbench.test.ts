/**
 * Parity: `livesqlbench-pairs.jsonl` holds queries, what PostgreSQL 15 gave for each statement that is run, and the verdict
 * of the official code over psycopg2 (bird-bench/livesqlbench@59d7bd0, `execute_queries`, then `test_case_default`).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqlResult } from '../../../../src/domain';
import { type SqlEngine, SqlEngineError } from '../../../../src/domain/ports';
import type { BoardScore, OpenBenchmark, Prediction } from '../../../../benchmarks/benchmark';
import {
  livesqlbenchBaseFull,
  livesqlbenchBaseLite as lite,
  livesqlbenchLarge,
  lsHard,
} from '../../../../benchmarks/boards/livesqlbench';
import { withoutRounding } from '../../../../benchmarks/boards/livesqlbench-score';

interface Pair {
  readonly name: string;
  readonly predicted: readonly string[];
  readonly gold: readonly string[];
  /** null: `conditions` does not say. */
  readonly order: boolean | null;
  readonly official: 0 | 1;
  readonly results: Readonly<Record<string, SqlResult>>;
}
const PAIRS = readFileSync(join(__dirname, '../../../fixtures/benchmarks/livesqlbench-pairs.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);

const base = mkdtempSync(join(tmpdir(), 'livesqlbench-'));
afterAll(() => {
  rmSync(base, { recursive: true });
});
const jsonl = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function put(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(base, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

const options = { timeoutMs: 1_000, maxRows: 10, signal: new AbortController().signal, tag: 'test' };
const sql = (...statements: string[]): Prediction => ({ kind: 'sql', statements });

/** Knows the results of these statements, and of no other. */
const recorded = (results: Readonly<Record<string, SqlResult>>, dialect: SqlEngine['dialect'] = 'postgresql') => {
  const engine: SqlEngine = {
    dialect,
    run: (statements) =>
      Promise.resolve({
        takenAt: '',
        results: statements.map((statement) => {
          const result = results[statement];
          if (result === undefined) throw new Error(`not recorded: ${statement}`);
          return result;
        }),
      }),
    describe: () => Promise.reject(new Error('not asked')),
    digest: () => Promise.reject(new Error('not asked')),
    close: () => Promise.resolve(),
  };
  return engine;
};
const result = (...values: (string | number | null)[]): SqlResult => ({
  kind: 'rows',
  columns: [{ name: 'a', kind: 'other' }],
  rows: values.map((value) => [value]),
  truncated: false,
  elapsedMs: 1,
});

describe('parity with the official scorer', () => {
  let open: OpenBenchmark;
  beforeAll(async () => {
    const lines = PAIRS.map(({ gold, order }, index) => ({
      ...{ instance_id: `x_${String(index)}`, selected_database: 'x', query: 'q', sol_sql: gold, preprocess_sql: [] },
      ...{ category: 'Query', conditions: order === null ? { decimal: -1, distinct: false } : { order } },
    }));
    open = await lite.open(put('parity', { 'livesqlbench_data.jsonl': jsonl(lines) }), {});
  });

  test.each(PAIRS.map((pair, index) => [pair.name, pair, index] as const))('%s', async (_, pair, index) => {
    const { predicted, results, official } = pair;
    const { verdict, points } = await open.score(`x_${String(index)}`, sql(...predicted), recorded(results), options);
    expect(points).toEqual({ ex: official });
    expect(verdict).toBe(official === 1 ? 'correct' : 'wrong');
  });
});

test.each([
  ['SELECT ROUND(a, 2), round (b + (c), 1) FROM t', 'SELECT a, b + (c) FROM t'],
  ['SELECT ROUND(ROUND(a, 2)) FROM t', 'SELECT a FROM t'],
  ['SELECT ROUND(a FROM t', 'SELECT ROUND(a FROM t'],
  ['SELECT distinct a, COUNT(DISTINCT b) FROM t', 'SELECT a, COUNT(DISTINCT b) FROM t'],
  ['SELECT a -- why\n, b /* what */\n\n\nFROM t -- end', 'SELECT a \n, b \nFROM t -- end'],
])('%s is compared as %s', (given, expected) => {
  expect(withoutRounding(given)).toBe(expected);
});

const LINES = [
  {
    ...{ instance_id: 'alien_1', selected_database: 'alien', query: 'Colloquial?', normal_query: 'Normal?' },
    ...{ preprocess_sql: [], clean_up_sqls: [], sol_sql: [], external_knowledge: [], test_cases: [] },
    ...{ category: 'Query', high_level: false, conditions: { order: false }, difficulty_tier: 'Moderate' },
  },
  {
    ...{ instance_id: 'alien_2', selected_database: 'alien', query: 'Second?', normal_query: 'Second, normal?' },
    ...{ preprocess_sql: ['CREATE TABLE x (a int)'], clean_up_sqls: [], sol_sql: [], test_cases: [] },
    ...{ category: 'Query', conditions: {}, difficulty_tier: 'Simple' },
  },
  {
    ...{ instance_id: 'alien_M_1', selected_database: 'alien', query: 'Make a view.', normal_query: 'Make a view!' },
    ...{ preprocess_sql: [], clean_up_sqls: [], sol_sql: [], test_cases: [] },
    ...{ category: 'Management', conditions: {}, difficulty_tier: 'Challenging' },
  },
];
const GOLD = [
  { instance_id: 'alien_1', sol_sql: ['SELECT a FROM t'], test_cases: ['x'], external_knowledge: [3] },
  { instance_id: 'alien_2', sol_sql: ['SELECT a FROM t'] },
  { instance_id: 'alien_M_1', sol_sql: ['CREATE VIEW v AS SELECT 1'], test_cases: ['def test_case(): pass'] },
];
const withheld = put('withheld', { 'livesqlbench_data.jsonl': jsonl(LINES) });
const whole = put('whole', {
  'livesqlbench_data.jsonl': jsonl(LINES),
  'livesqlbench_data_sqlite.jsonl': jsonl(LINES.slice(0, 1)),
  'livesqlbench_gt_kg_testcases_0528.jsonl': jsonl(GOLD),
  'alien/alien.sqlite': '',
  'alien/alien_column_meaning_base.json': '{}',
});

describe('the loader', () => {
  test('questions come with their database and, where its file lies in the folder, their gold', async () => {
    const { items, remarks, database, docs } = await lite.open(whole, {});
    expect(items.map((item) => [item.id, item.question, item.engine, item.database, item.gold?.sql])).toEqual([
      ['alien_1', 'Colloquial?', 'postgresql', 'alien', ['SELECT a FROM t']],
      ['alien_2', 'Second?', 'postgresql', 'alien', ['SELECT a FROM t']],
      ['alien_M_1', 'Make a view.', 'postgresql', 'alien', undefined],
    ]);
    expect(items[0]?.gold).toMatchObject({ category: 'Query', difficulty: 'Moderate' });
    expect(remarks).toEqual(['1 of 3 questions are of the category Management, which writes: not scored here']);
    expect(items[0] && [database(items[0]), docs?.(items[0])]).toEqual([null, join(whole, 'alien')]);
  });

  test('gold that the publisher withholds is named', async () => {
    const { remarks } = await lite.open(withheld, {});
    expect(remarks?.[1]).toContain('no sol_sql for "alien_1", "alien_2": the publisher sends gold by e-mail');
  });

  test('databases whose documents are not in the folder are named: without them it is another benchmark', async () => {
    const { remarks } = await lite.open(withheld, {});
    expect(remarks?.[2]).toBe('the folder lacks the documents of "alien": gate-bench data list tells where they are');
    const meanings = put('meanings', { 'livesqlbench_data.jsonl': jsonl(LINES), 'alien/alien_kb.jsonl': '' });
    expect((await lite.open(meanings, {})).remarks).toHaveLength(2);
    expect((await lsHard.open(meanings, {})).remarks?.at(-1)).toContain('the documents of "alien"');
  });

  test('base-full and large have two wordings, base-lite two engines', async () => {
    for (const board of [livesqlbenchBaseFull, livesqlbenchLarge]) {
      const { items } = await board.open(whole, { split: 'normal' });
      expect(items[0]?.question).toBe('Normal?');
    }
    const { items, database } = await lite.open(whole, { split: 'sqlite' });
    expect(items.map((item) => [item.engine, database(item)])).toEqual([['sqlite', join(whole, 'alien/alien.sqlite')]]);
  });

  test('LS-Hard has the questions that read, and shows the knowledge base only if told to', async () => {
    const { items, docs } = await lsHard.open(whole, {});
    expect(items.map(({ id }) => id)).toEqual(['alien_1', 'alien_2']);
    expect(items[0] && docs?.(items[0])).toBe(join(whole, 'alien/alien_column_meaning_base.json'));
    const shown = await lsHard.open(whole, { hiddenKnowledge: true });
    expect(items[0] && shown.docs?.(items[0])).toBe(join(whole, 'alien'));
  });

  test('a folder or split that cannot be used is named', async () => {
    await expect(lite.open(base, {})).rejects.toThrow('it has no livesqlbench_data.jsonl');
    await expect(lite.open(whole, { split: 'test' })).rejects.toThrow('choose one of postgresql, sqlite');
    const torn = put('torn', { 'livesqlbench_data.jsonl': `${jsonl(LINES.slice(0, 1))}{"instance_id": "al` });
    await expect(lite.open(torn, {})).rejects.toThrow('line 2 is no JSON (or only half written)');
    const field = put('field', { 'livesqlbench_data.jsonl': jsonl([{ ...LINES[0], query: 5 }]) });
    await expect(lite.open(field, {})).rejects.toThrow('line 1: query');
    const led = put('led', { 'livesqlbench_data.jsonl': jsonl([{ ...LINES[0], selected_database: '../alien' }]) });
    await expect(lite.open(led, {})).rejects.toThrow('line 1: selected_database has to be the name of a file');
    const plain = put('plain', { 'livesqlbench_data.jsonl': jsonl([{ ...LINES[0], normal_query: null }]) });
    await expect(livesqlbenchLarge.open(plain, { split: 'normal' })).rejects.toThrow('has no normal_query');
    const golds = put('golds', { 'livesqlbench_data.jsonl': jsonl(LINES), 'a_gt.jsonl': '', 'b_gt.jsonl': '' });
    await expect(lite.open(golds, {})).rejects.toThrow('more than one gold file');
  });
});

describe('what is not judged by results', () => {
  const score = async (id: string, prediction: Prediction, engine: SqlEngine, folder = whole) => {
    const { verdict, points } = await (await lite.open(folder, {})).score(id, prediction, engine, options);
    return [verdict, points];
  };
  const none = recorded({});
  const failing = (message: string): SqlResult => ({ kind: 'sql-error', message, code: null, elapsedMs: 1 });
  const gold = 'SELECT a FROM t';

  test('Management, withheld gold and preparations are counted apart', async () => {
    expect(await score('alien_M_1', sql('SELECT 1'), none)).toEqual(['no-gold', {}]);
    expect(await score('alien_1', sql('SELECT 1'), none, withheld)).toEqual(['no-gold', {}]);
    expect(await score('alien_2', sql('SELECT 1'), none)).toEqual(['undecided', {}]);
    expect(await score('alien_1', { kind: 'rows', columns: ['a'], rows: [[1]] }, none)).toEqual(['undecided', {}]);
  });

  test('no prediction is wrong, and so is an abstention', async () => {
    expect(await score('alien_1', { kind: 'none' }, none)).toEqual(['wrong', { ex: 0 }]);
    expect(await score('alien_1', { kind: 'abstained' }, none)).toEqual(['wrong-abstained', { ex: 0 }]);
  });

  test('gold that fails, and a database that is gone, are no wrong answers', async () => {
    const broken = recorded({ 'SELECT 1': result(1), [gold]: failing('no table t') });
    expect(await score('alien_1', sql('SELECT 1'), broken)).toEqual(['gold-failed', {}]);
    const gone = { ...none, run: () => Promise.reject(new SqlEngineError('connection', 'gone')) };
    expect(await score('alien_1', sql('SELECT 1'), gone)).toEqual(['infrastructure', {}]);
    const untyped = {
      ...none,
      run: (statements: readonly string[]) =>
        Promise.resolve({
          takenAt: '',
          results: statements.map((one) => (one.includes('pg_typeof') ? failing('no type') : result(1))),
        }),
    };
    expect(await score('alien_1', sql('SELECT 1'), untyped)).toEqual(['undecided', {}]);
  });

  test('in SQLite the values tell what they are', async () => {
    const open = await lite.open(whole, { split: 'sqlite' });
    const of = async (mine: SqlResult, theirs: SqlResult) => {
      const engine = recorded({ 'SELECT 1': mine, [gold]: theirs }, 'sqlite');
      return (await open.score('alien_1', sql('SELECT 1'), engine, options)).points['ex'];
    };
    expect(await of(result(1.234, 2), result(2, 1.231))).toBe(1);
    expect(await of(result(0.125), result(0.13))).toBe(0);
    expect(await of(result('2024-01-31'), result('2024-01-31 10:00'))).toBe(0);
  });

  test('the board has its figure only where every question could be scored', async () => {
    const { metrics } = await lite.open(whole, {});
    const scored = (points: BoardScore['points']): BoardScore => ({ verdict: 'undecided', points, reason: '' });
    const [right, wrong, apart] = [scored({ ex: 1 }), scored({ ex: 0 }), scored({})] as const;
    const of = (...scores: BoardScore[]) => metrics(new Map(scores.map((one, at) => [String(at), one])));
    expect(of(right, wrong, apart)).toEqual({ ex: null, exQuery: 50, management: 1, unscored: 1 });
    expect(of(right, right, wrong)).toEqual({ ex: 200 / 3, exQuery: 200 / 3, management: 1, unscored: 0 });
    expect(of()).toEqual({ ex: null, exQuery: null, management: 1, unscored: 0 });
  });
});

describe('the file of predictions', () => {
  const predictions = new Map<string, Prediction>([
    ['alien_1', sql('SELECT 1')],
    ['alien_M_1', sql('CREATE VIEW v AS SELECT 1', 'SELECT 2')],
  ]);

  test('is each line of the data set with its pred_sqls, every id present', async () => {
    const { items } = await lite.open(whole, {});
    const [path = ''] = await lite.format.write(join(base, 'out'), items, predictions);
    const written = readFileSync(path, 'utf8').trim().split('\n');
    expect(written.map((line) => JSON.parse(line) as object)).toEqual([
      { ...LINES[0], ...GOLD[0], pred_sqls: ['SELECT 1'] },
      { ...LINES[1], ...GOLD[1], pred_sqls: [] },
      { ...LINES[2], ...GOLD[2], pred_sqls: ['CREATE VIEW v AS SELECT 1', 'SELECT 2'] },
    ]);
    expect(await lite.format.read(path, items)).toEqual(new Map([...predictions, ['alien_2', { kind: 'abstained' }]]));
  });

  test('an answer in words stands beside statements, or in place of them', async () => {
    const { items } = await lite.open(whole, {});
    const answer = 'Two of them.';
    const file = put('words', {
      'p.jsonl': jsonl([
        { instance_id: 'alien_1', pred_sqls: ['SELECT 2'], answer },
        { instance_id: 'alien_2', pred_sqls: [], answer },
        { instance_id: 'alien_M_1', pred_sqls: [], answer: ' ' },
      ]),
    });
    expect(await lite.format.read(join(file, 'p.jsonl'), items)).toEqual(
      new Map<string, object>([
        ['alien_1', { ...sql('SELECT 2'), words: answer }],
        ['alien_2', { kind: 'words', words: answer }],
        ['alien_M_1', { kind: 'abstained' }],
      ]),
    );
  });

  test('what is no list of statements is refused', async () => {
    const { items } = await lite.open(whole, {});
    const path = join(
      put('bad', { 'p.jsonl': jsonl([LINES[0] ?? {}, { instance_id: 'other', pred_sqls: [] }]) }),
      'p.jsonl',
    );
    await expect(lite.format.read(path, items)).rejects.toThrow('line 1: pred_sqls has to be a list of statements');
    await expect(
      lite.format.write(join(base, 'rows'), items, new Map([['alien_1', { kind: 'rows', columns: [], rows: [] }]])),
    ).rejects.toThrow('LiveSQLBench takes SQL alone');
  });
});
