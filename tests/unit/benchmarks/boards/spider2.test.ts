/**
 * Parity: `spider2-pairs.jsonl` holds predictions, gold files and the scores that the official code gave them
 * (xlang-ai/Spider2@e12c5f1, `evaluate.py --mode exec_result` of each suite, run under pandas 3.1).
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenBenchmark, Prediction } from '../../../../benchmarks/benchmark';
import { spider2Lite, spider2Snow } from '../../../../benchmarks/boards/spider2';
import type { SqlResult } from '../../../../src/domain';
import { SqlEngineError, type SqlEngine } from '../../../../src/domain/ports';

interface Pair {
  readonly name: string;
  readonly predicted: string;
  /** By what follows the id in the file's name. */
  readonly golds: Readonly<Record<string, string>>;
  readonly condition_cols: unknown;
  readonly ignore_order: boolean;
  readonly lite: number;
  readonly snow: number;
}
const PAIRS = readFileSync(join(__dirname, '../../../fixtures/benchmarks/spider2-pairs.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair);
const idOf = (index: number): string => `local${String(index + 1).padStart(3, '0')}`;

const base = mkdtempSync(join(tmpdir(), 'spider2-'));
afterAll(() => {
  rmSync(base, { recursive: true });
});

const jsonl = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function put(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const options = { timeoutMs: 1_000, maxRows: 1_000, signal: new AbortController().signal, tag: 'test' };
const engine = (result: SqlResult | SqlEngineError, dialect: SqlEngine['dialect'] = 'sqlite'): SqlEngine => ({
  dialect,
  run: () =>
    result instanceof SqlEngineError ? Promise.reject(result) : Promise.resolve({ takenAt: '', results: [result] }),
  describe: () => Promise.reject(new Error('not asked')),
  digest: () => Promise.reject(new Error('not asked')),
  close: () => Promise.resolve(),
});
const rows = (...values: (string | number | null)[]): SqlResult => ({
  kind: 'rows',
  columns: [{ name: 'a', kind: 'number' }],
  rows: values.map((value) => [value]),
  truncated: false,
  elapsedMs: 1,
});
const sql = (text: string): Prediction => ({ kind: 'sql', statements: [text] });

describe.each([
  ['lite', spider2Lite],
  ['snow', spider2Snow],
] as const)('spider2-%s', (suite, board) => {
  put(join(base, suite, `spider2-${suite}`), {
    [`spider2-${suite}.jsonl`]: jsonl(
      PAIRS.map((_, index) =>
        suite === 'lite'
          ? { instance_id: idOf(index), db: 'shop', question: 'How many?', external_knowledge: null }
          : { instance_id: idOf(index), instruction: 'How many?', db_id: 'SHOP', external_knowledge: 'RFM.md' },
      ),
    ),
    [`evaluation_suite/gold/spider2${suite}_eval.jsonl`]: jsonl(
      PAIRS.map(({ condition_cols, ignore_order }, index) => ({
        instance_id: idOf(index),
        ...{ condition_cols, ignore_order, toks: '9' },
      })),
    ),
    'evaluation_suite/gold/exec_result/other_a.csv': 'a\n1\n',
    ...Object.fromEntries(
      PAIRS.flatMap(({ golds }, index) =>
        Object.entries(golds).map(([end, text]) => [`evaluation_suite/gold/exec_result/${idOf(index)}${end}`, text]),
      ),
    ),
  });
  const predictions = put(
    join(base, suite, 'predictions'),
    Object.fromEntries(PAIRS.map(({ predicted }, index) => [`${idOf(index)}.csv`, predicted])),
  );
  let open: OpenBenchmark;
  let given: ReadonlyMap<string, Prediction>;
  beforeAll(async () => {
    open = await board.open(join(base, suite), {});
    given = (await board.format.read(predictions, open.items)) as ReadonlyMap<string, Prediction>;
  });

  test.each(PAIRS.map((pair, index) => [pair.name, index] as const))('%s', async (_, index) => {
    const score = await open.score(idOf(index), given.get(idOf(index)) ?? { kind: 'none' }, engine(rows()), options);
    expect(score.points).toEqual({ ex: PAIRS[index]?.[suite], submitted: 1 });
    expect(score.verdict === 'correct').toBe(PAIRS[index]?.[suite] === 1);
  });

  test('the figures are those of the official scorer, over all ids and over those submitted', async () => {
    const scores = await Promise.all(
      PAIRS.map(async (_, index) => {
        const prediction = (index < 20 ? given.get(idOf(index)) : undefined) ?? { kind: 'none' as const };
        return [idOf(index), await open.score(idOf(index), prediction, engine(rows()), options)] as const;
      }),
    );
    const right = PAIRS.slice(0, 20).filter((pair) => pair[suite] === 1).length;
    expect(open.metrics(new Map(scores))).toEqual({
      ex: (100 * right) / PAIRS.length,
      exSubmitted: (100 * right) / 20,
      correct: right,
      unscored: 0,
    });
    // Of a selection: nothing else was asked.
    expect(open.metrics(new Map(scores.slice(0, 20)))).toMatchObject({ ex: (100 * right) / 20, unscored: 0 });
  });

  test('what is read is written as it was', async () => {
    const to = join(base, suite, 'again');
    const written = await board.format.write(to, open.items, given);
    expect(written).toHaveLength(PAIRS.length);
    expect(await board.format.read(to, open.items)).toEqual(given);
  });

  test('a folder without its files is named', async () => {
    const name = `spider2-${suite}`;
    const of = (text: string): string => put(mkdtempSync(join(base, 'x-')), { [`${name}.jsonl`]: text });
    const line = suite === 'lite' ? { db: 'x', question: 'q' } : { db_id: 'X', instruction: 'q' };
    const twice = jsonl([1, 2].map(() => ({ instance_id: 'a', ...line })));
    await expect(board.open(base, {})).rejects.toThrow(`it has no ${name}.jsonl`);
    await expect(board.open(of('{"instance_id": "a"'), {})).rejects.toThrow('line 1 is no JSON (or only half written)');
    await expect(board.open(of(twice), {})).rejects.toThrow('line 2: the id "a" stands on line 1 too');
    await expect(board.open(of(jsonl([{ instance_id: 'a', ...line }])), {})).rejects.toThrow('_eval.jsonl');
  });
});

describe('the loader of lite', () => {
  const lines = [
    { instance_id: 'bq001', db: 'ga4', question: 'q', external_knowledge: null },
    { instance_id: 'ga001', db: 'ga4', question: 'q', external_knowledge: null },
    { instance_id: 'sf_bq029', db: 'PATENTS', question: 'q', external_knowledge: null },
    { instance_id: 'local003', db: 'E_commerce', question: 'q', external_knowledge: 'RFM.md' },
    { instance_id: 'local004', db: 'Pagila', question: 'q', external_knowledge: 'absent.md' },
  ];
  const gold = 'evaluation_suite/gold';
  const folder = put(join(base, 'small'), {
    'spider2-lite.jsonl': jsonl(lines),
    [`${gold}/spider2lite_eval.jsonl`]: jsonl(
      lines.map(({ instance_id }) => ({ instance_id, condition_cols: [], ignore_order: true, toks: '9' })),
    ),
    ...Object.fromEntries(
      ['bq001_a', 'ga001', 'sf_bq029_a', 'local003_a', 'local003_b'].map((name) => [
        `${gold}/exec_result/${name}.csv`,
        'a\n1\n',
      ]),
    ),
    [`${gold}/sql/local003.sql`]: 'SELECT 1 AS a',
    'resource/databases/spider2-localdb/E_commerce.sqlite': '',
    'resource/documents/RFM.md': 'Recency is …\n',
  });
  let open: OpenBenchmark;
  beforeAll(async () => {
    open = await spider2Lite.open(folder, {});
  });
  const item = (id: string) => {
    const found = open.items.find((one) => one.id === id);
    if (found === undefined) throw new Error(id);
    return found;
  };

  test('a split that is not there, and a name that leads to another folder, are refused', async () => {
    await expect(spider2Lite.open(folder, { split: 'test' })).rejects.toThrow('spider2-lite has no split "test"');
    for (const [field, name] of [
      ['external_knowledge', '../../../../secret'],
      ['db', '../x'],
      ['instance_id', 'a/b'],
    ] as const) {
      const line = { instance_id: 'local003', db: 'x', question: 'q', external_knowledge: null, [field]: name };
      const led = put(join(base, `led-${field}`), { 'spider2-lite.jsonl': jsonl([line]) });
      await expect(spider2Lite.open(led, {})).rejects.toThrow(
        `line 1: ${field} has to be the name of a file, without a folder`,
      );
    }
  });

  test('questions come with engine, database, document and gold SQL where it is published', () => {
    expect(open.items.map(({ id, engine: of, database }) => [id, of, database])).toEqual([
      ['bq001', 'bigquery', 'ga4'],
      ['ga001', 'bigquery', 'ga4'],
      ['sf_bq029', 'snowflake', 'PATENTS'],
      ['local003', 'sqlite', 'E_commerce'],
      ['local004', 'sqlite', 'Pagila'],
    ]);
    expect(item('local003').gold?.sql).toEqual(['SELECT 1 AS a']);
    expect(item('local004').gold).toBeNull();
    expect(open.database(item('local003'))).toBe(join(folder, 'resource/databases/spider2-localdb/E_commerce.sqlite'));
    expect(open.database(item('bq001'))).toBeNull();
    expect(item('local003').context).toBe('External knowledge (RFM.md):\nRecency is …');
    expect(open.items.filter((one) => open.isUnrun?.(one)).map(({ id }) => id)).toEqual(['sf_bq029']);
  });

  test('what cannot be scored is told', () => {
    expect(open.remarks).toEqual([
      'the publisher gives no gold result for "local004"',
      'resource/databases lacks "Pagila.sqlite"',
      'resource/documents lacks "absent.md"',
    ]);
  });

  test('SQL is run where there is an engine for it', async () => {
    const of = async (id: string, result: SqlResult | SqlEngineError, dialect?: SqlEngine['dialect']) => {
      const { verdict, points } = await open.score(id, sql('SELECT 1'), engine(result, dialect), options);
      return [verdict, points];
    };
    expect(await of('local003', rows(1))).toEqual(['correct', { ex: 1, submitted: 1 }]);
    expect(await of('local003', rows(2))).toEqual(['wrong', { ex: 0, submitted: 1 }]);
    expect(await of('local003', { kind: 'sql-error', message: 'no', code: null, elapsedMs: 1 })).toEqual([
      'wrong',
      { ex: 0, submitted: 1 },
    ]);
    expect(await of('local003', { kind: 'timeout', afterMs: 1_000 })).toEqual(['undecided', {}]);
    expect(await of('local003', new SqlEngineError('connection', 'gone'))).toEqual(['infrastructure', {}]);
    expect(await of('local003', rows(1), 'postgresql')).toEqual(['infrastructure', {}]);
    expect(await of('local004', rows(1))).toEqual(['no-gold', { ex: 0, submitted: 1 }]);
    expect(await of('bq001', rows(1))).toEqual(['infrastructure', {}]);
    expect(await of('bq001', rows(1), 'bigquery')).toEqual(['correct', { ex: 1, submitted: 1 }]);
    expect(await of('sf_bq029', rows(1), 'snowflake')).toEqual(['undecided', { ex: 0, submitted: 1 }]);
  });

  test('a question that could not be run is in no figure', () => {
    const scored = { verdict: 'correct', points: { ex: 1, submitted: 1 }, reason: '' } as const;
    const unscored = { verdict: 'undecided', points: {}, reason: '' } as const;
    const missing = { verdict: 'wrong', points: { ex: 0 }, reason: '' } as const;
    const ids = ['bq001', 'ga001', 'sf_bq029', 'local003', 'local004'];
    const scores = [unscored, scored, missing, scored, missing].map((one, at) => [ids[at] ?? '', one] as const);
    expect(open.metrics(new Map(scores))).toEqual({ ex: 50, exSubmitted: 100, correct: 2, unscored: 1 });
  });

  test('fences around SQL are taken off, and an empty file abstains', async () => {
    const to = put(join(base, 'fenced'), {
      'local003.sql': 'Here:\n```sql\nSELECT 2\n```\n',
      'local004.sql': '',
    });
    expect(await spider2Lite.format.read(to, open.items)).toEqual(
      new Map<string, Prediction>([
        ['local003', sql('SELECT 2')],
        ['local004', { kind: 'abstained' }],
      ]),
    );
  });

  test('every id is written; SQL and CSV are not mixed', async () => {
    const to = join(base, 'written');
    await spider2Lite.format.write(to, open.items, new Map([['local003', sql('SELECT 1')]]));
    expect(readdirSync(to).sort()).toEqual(open.items.map(({ id }) => `${id}.sql`).sort());
    const mixed = new Map<string, Prediction>([
      ['local003', sql('SELECT 1')],
      ['local004', { kind: 'rows', columns: ['a'], rows: [[1]] }],
    ]);
    await expect(spider2Lite.format.write(to, open.items, mixed)).rejects.toThrow('a folder of SQL or one of CSV');
  });

  test('values are written as pandas writes them', async () => {
    const to = join(base, 'values');
    const values = [
      [1, 0.5, 1e-7],
      [null, 'x, "y"', true],
    ];
    const wide: Prediction = { kind: 'rows', columns: ['a', 'b', 'c'], rows: values };
    const narrow: Prediction = { kind: 'rows', columns: ['a'], rows: [[null]] };
    await spider2Lite.format.write(
      to,
      open.items,
      new Map([
        ['local003', wide],
        ['local004', narrow],
      ]),
    );
    expect(readFileSync(join(to, 'local003.csv'), 'utf8')).toBe('a,b,c\n1,0.5,1e-07\n,"x, ""y""",True\n');
    expect(readFileSync(join(to, 'local004.csv'), 'utf8')).toBe('a\n""\n');
  });

  test('files that cannot be used are named', async () => {
    const read = (folderName: string) => spider2Lite.format.read(folderName, open.items);
    const both = put(join(base, 'both'), { 'bq001.csv': 'a\n1\n', 'bq001.sql': 'SELECT 1' });
    await expect(read(both)).rejects.toThrow('bq001 has both SQL and CSV: leave one of them');
    const torn = put(join(base, 'torn'), { 'bq001.csv': 'a\n"1\n' });
    await expect(read(torn)).rejects.toThrow(`${join(torn, 'bq001.csv')} is no CSV that pandas reads`);
    const ragged = put(join(base, 'ragged'), { 'bq001.csv': 'a\n1\n1,2\n' });
    await expect(read(ragged)).rejects.toThrow('line 3 has more than 1 fields');
    await expect(read(join(base, 'absent'))).rejects.toThrow('is no folder');
  });
});

test('snow takes an empty result for a failure', async () => {
  const folder = put(join(base, 'snow-small'), {
    'spider2-snow.jsonl': jsonl([{ instance_id: 'sf001', instruction: 'q', db_id: 'X', external_knowledge: null }]),
    'evaluation_suite/gold/spider2snow_eval.jsonl': jsonl([
      { instance_id: 'sf001', condition_cols: [], ignore_order: true },
    ]),
    'evaluation_suite/gold/exec_result/sf001.csv': 'a\n',
  });
  const open = await spider2Snow.open(folder, {});
  const { verdict, reason } = await open.score('sf001', sql('SELECT 1'), engine(rows(), 'snowflake'), options);
  expect([verdict, reason]).toEqual(['wrong', 'the result is empty']);
});
