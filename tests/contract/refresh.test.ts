/** A stored answer asked for again, on real databases: what the rows, the proof, the schema and the clock do to it. */
import Database from 'libsql';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createMemoryStore, scriptedModel } from '../helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { AnswerRecord, Dialect, Settings } from '../../src/domain';
import { runAgent } from '../../src/methods/agent/loop';
import type { SqlEngine, SqlInspector } from '../../src/domain/ports';
import { settingsFor } from '../../src/config/presets';
import { runSearch } from '../../src/search/search';
import { runLookThenProve } from '../../src/methods/look-then-prove';
import { createRunStore, storeInput } from '../../src/record/run-store';
import { withCheckpoints } from '../../src/methods/checkpoints';
import { createSteps } from '../../src/methods/steps';
import { openStep, type StepDeps } from '../../src/roles/shared/context';
import { refresh } from '../../src/roles/answer/refresh';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { groundReply, planReply, text } from '../unit/roles/fixtures';
import { standingTexts } from '../../src/text/answer-text';

const SETUP = `CREATE TABLE sale (id integer, amount integer, sold date);
  INSERT INTO sale VALUES (1, 300, '2026-03-01'), (2, 500, '2026-03-05'), (3, 150, '2026-03-09'), (4, 900, '2026-02-01');`;
const CLOCK = '2026-03-10 09:00:00';
const SEARCH = 's1';

let postgres: TestPostgres;
const folder = mkdtempSync(join(tmpdir(), 'gate-refresh-'));

beforeAll(async () => {
  postgres = await sharedPostgres();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  readonly engine: SqlEngine;
  readonly inspector: SqlInspector;
  readonly write: (sql: string) => Promise<void>;
}

let made = 0;
const opened: SqlEngine[] = [];
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close();
});

async function open(dialect: Dialect): Promise<Opened> {
  const name = `refreshed_shop${(made += 1)}`;
  const open = { allow: [], deny: [] };
  if (dialect === 'sqlite') {
    const path = join(folder, `${name}.sqlite`);
    const write = async (sql: string): Promise<void> => {
      const database = new Database(path);
      database.exec(sql);
      database.close();
    };
    await write(SETUP);
    const inspector = createSqliteInspector();
    opened.push(createGuardedEngine(createSqliteEngine({ path }), inspector, open));
    return { engine: opened.at(-1)!, inspector, write };
  }
  await postgres.createDatabase(name, SETUP);
  const write = async (sql: string): Promise<void> => {
    const client = new Client({ connectionString: postgres.url(name) });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const inspector = await createPostgresInspector();
  const engine = createPostgresEngine({ url: postgres.url(name), options: postgres.laidDown });
  opened.push(createGuardedEngine(engine, inspector, open));
  return { engine: opened.at(-1)!, inspector, write };
}

const LAST_WEEK: Readonly<Record<string, string>> = {
  sqlite: "(SELECT date(today, '-7 days') FROM gate_clock)",
  postgresql: '(SELECT today - 7 FROM gate_clock)',
};

const column = (name: string, type = 'number') => ({ name, type, meaning: '' });
const operator = (name: string, more: object) => ({
  ...{ name, purpose: name, intent: name, relations: [], inputs: [], grain: [], mapping: null, sql: null },
  ...{ assumptions: [], ...more },
});
const EURO = 'SELECT id, sold, amount / 100.0 AS euro FROM op_sales';

/** The unit of `amount` is proved by one probe; the answer counts sales above two euros, of the last week if so asked. */
function plan(dialect: Dialect, { clocked = false, wording = false } = {}) {
  const week = clocked ? ` AND sold >= ${LAST_WEEK[dialect]}` : '';
  return planReply({
    operators: [
      operator('op_sales', {
        relations: ['sale'],
        columns: [column('id'), column('amount'), column('sold', 'date')],
        sql: 'SELECT id, amount, sold FROM sale',
      }),
      operator('op_gap', {
        inputs: ['op_sales'],
        columns: [column('id'), column('sold', 'date'), column('euro')],
        mapping: 'cents or euros?',
      }),
      operator('op_answer', {
        inputs: ['op_gap'],
        columns: [column('n', 'integer')],
        sql: `SELECT count(*) AS n FROM op_gap WHERE euro > 2${week}`,
      }),
    ],
    control: 'SELECT count(*) FROM op_sales',
    wording: wording
      ? [
          {
            ...{ operator: 'op_answer', taken: 'above two euros', other: 'two euros or more' },
            otherSql: 'SELECT count(*) AS n FROM op_gap WHERE euro >= 2',
          },
        ]
      : [],
    tests: [
      {
        operator: 'op_gap',
        probe: 'SELECT count(*) AS n, count(CASE WHEN amount >= 100 THEN 1 END) AS large FROM op_sales',
        hypotheses: [
          {
            ...{ id: 'h1', mapping: 'amounts are cents', expectation: 'all large', sql: EURO, agreement: null },
            predicates: ['(SELECT n > 0 AND large = n FROM observation)'],
          },
          {
            ...{ id: 'h2', mapping: 'amounts are euros', expectation: 'none large', agreement: null },
            ...{
              predicates: ['(SELECT large = 0 FROM observation)'],
              sql: 'SELECT id, sold, amount AS euro FROM op_sales',
            },
          },
        ],
      },
    ],
  });
}

const ONE = { materiality: false, profiles: false, cMin: 1, cMax: 1 } as const;

async function searched(
  database: Opened,
  replies: Parameters<typeof scriptedModel>[0]['replies'],
  {
    method = 'fast',
    settings = ONE,
    clock = CLOCK,
  }: { method?: 'fast' | 'look' | 'react'; settings?: Partial<Settings>; clock?: string | null } = {},
) {
  const model = scriptedModel({ replies });
  const store = createMemoryStore();
  const deps: StepDeps = {
    ...{ store, models: () => model, engine: () => Promise.resolve(database) },
    clock: { now: () => Date.UTC(2026, 2, 10, 9) },
  };
  const input = {
    ...{ searchId: SEARCH, namespace: 'test', identity: 'shop' },
    question: {
      ...{ text: 'How many sales?', database: 'shop', outputMode: 'answer' as const },
      ...{ tools: ['execute_sql' as const], context: null, instructions: null, documents: [] },
    },
    settings: settingsFor({
      method: method === 'react' ? method : 'fast',
      models: { default: 'test' },
      overrides: settings,
    }),
    ...(clock === null ? {} : { clock }),
  };
  await storeInput(deps.store, input);
  const hooks = { now: () => 0, stopRequested: () => null, onProgress: () => undefined };
  const start = { searchId: SEARCH, settings: input.settings, state: null };
  if (method === 'react') await runAgent(start, withCheckpoints(createSteps(deps), null), hooks);
  else if (method === 'look') await runLookThenProve(start, withCheckpoints(createSteps(deps), null), hooks);
  else await runSearch(start, withCheckpoints(createSteps(deps), null), hooks);
  const run = createRunStore(store, SEARCH);
  const first = await run.get('result', SEARCH);
  const calls = model.requests.length;
  return {
    first,
    run,
    model,
    again: async (now = CLOCK) => {
      const step = await openStep(deps, { searchId: SEARCH, position: 'refresh' });
      const before = await run.get('result', SEARCH);
      const refreshed = await refresh({ ...step, input: { ...step.input, clock: now } }, before);
      expect(model.requests).toHaveLength(calls);
      expect(await run.get('result', SEARCH)).toEqual(refreshed.kind === 'current' ? refreshed.record : before);
      return refreshed;
    },
  };
}

const current = (refreshed: Awaited<ReturnType<typeof refresh>>): AnswerRecord => {
  if (refreshed.kind !== 'current') throw new Error(JSON.stringify(refreshed));
  return refreshed.record;
};

describe.each(['sqlite', 'postgresql'] as const)('an answer asked for again on %s', (dialect) => {
  const proved = (options = {}) => ({ plan: [text(plan(dialect, options))], ground: [text(groundReply())] });

  test('has the same rows and words, as of now, while its rows are the same', async () => {
    const database = await open(dialect);
    const { first, again } = await searched(database, proved());
    expect(first).toMatchObject({ status: 'answered', rows: [[3]] });
    const proof = ({ evidence }: AnswerRecord) => evidence.find(({ operator }) => operator === 'op_gap');
    expect(proof(first)).toMatchObject({ state: 'proved', observed: { rows: [[4, 4]] } });
    await database.write("INSERT INTO sale VALUES (5, 120, '2026-03-09')");
    const record = current(await again());
    expect(proof(record)).toMatchObject({ state: 'proved', observed: { rows: [[5, 5]] } });
    expect({ ...record, asOf: first.asOf, evidence: first.evidence }).toEqual(first);
    expect(record.asOf > first.asOf).toBe(true);
  });

  test('has the new rows, the new words and the probe of now where only rows changed', async () => {
    const database = await open(dialect);
    const { first, again, run } = await searched(database, proved({ wording: true }));
    // Another reading that gives the same is none.
    expect(standingTexts(first).join()).not.toContain('two euros or more');
    await database.write("INSERT INTO sale VALUES (5, 700, '2026-03-09'), (6, 200, '2026-03-09')");
    const record = current(await again());
    expect(record).toMatchObject({ rows: [[4]], status: 'answered' });
    expect(record.answer).toBe('4');
    expect(standingTexts(record).at(-1)).toContain('it would be: 5');
    expect(record.candidates.find(({ chosen }) => chosen)).toMatchObject({ preview: '4' });
    expect(await run.get('result', SEARCH)).toEqual(record);
    await database.write('DELETE FROM sale WHERE id > 4');
    expect(current(await again())).toMatchObject({ rows: [[3]] });
  });

  test('counts anew what its sentence counts, also where the rows stay', async () => {
    const database = await open(dialect);
    const counting = { ...plan(dialect), sentence: '{n} of {examined} sales' };
    const { first, again } = await searched(database, { plan: [text(counting)], ground: [text(groundReply())] });
    expect(first.answer).toBe('3 of 4 sales.');
    await database.write("INSERT INTO sale VALUES (5, 120, '2026-03-09')");
    expect(current(await again())).toMatchObject({
      rows: [[3]],
      answer: '3 of 5 sales.',
    });
  });

  test('is stale where a predicate that proved it is no longer true, and says which', async () => {
    const database = await open(dialect);
    const { again } = await searched(database, proved());
    await database.write("INSERT INTO sale VALUES (5, 7, '2026-03-09')");
    expect(await again()).toMatchObject({
      kind: 'stale',
      reason: 'what proved op_gap is now false: (SELECT n > 0 AND large = n FROM observation)',
    });
  });

  test('that was proved by a check of the operator itself has it run again under each reading', async () => {
    const database = await open(dialect);
    await database.write("INSERT INTO sale VALUES (7, 250, '2026-03-02'), (8, 450, '2026-03-02')");
    const checked = plan(dialect);
    const counts = { matching: '(SELECT fits FROM observation)', examined: '(SELECT n FROM observation)' };
    const [test] = checked.tests;
    test!.probe = 'SELECT count(*) AS n, count(CASE WHEN euro < 100 THEN 1 END) AS fits FROM op_gap';
    for (const each of test!.hypotheses) Object.assign(each, { predicates: [], agreement: counts });
    const { first, again } = await searched(database, { plan: [text(checked)], ground: [text(groundReply())] });
    const gap = (record: AnswerRecord) => record.evidence.find(({ operator }) => operator === 'op_gap');
    expect(gap(first)).toMatchObject({ state: 'proved', observed: { rows: [[6, 6]] } });
    await database.write("INSERT INTO sale VALUES (5, 700, '2026-03-09')");
    expect(gap(current(await again()))?.observed?.rows).toEqual([[7, 7]]);
    await database.write("INSERT INTO sale VALUES (6, 70000, '2026-03-09')");
    expect(await again()).toMatchObject({
      kind: 'stale',
      reason: expect.stringContaining('op_gap is no longer proved: all rows examined match the winner') as string,
    });
  });

  test('is stale where nothing is left that could prove it, or the schema changed', async () => {
    const database = await open(dialect);
    const { again } = await searched(database, proved());
    await database.write('DELETE FROM sale');
    expect(await again()).toMatchObject({ kind: 'stale', reason: expect.stringContaining('is now false') as string });
    await database.write('ALTER TABLE sale ADD COLUMN note text');
    expect(await again()).toEqual({ kind: 'stale', reason: 'the schema changed' });
  });

  test('is recomputed by the clock of each asking, with the proof', async () => {
    const database = await open(dialect);
    const { first, again, model } = await searched(database, proved({ clocked: true }));
    expect(first).toMatchObject({ rows: [[1]], clock: CLOCK });
    expect(first.sql).toContain('gate_clock AS (');
    expect(JSON.stringify(model.requests)).not.toContain('2026-03-10');
    const later = current(await again('2026-03-06 08:00:00'));
    expect(later).toMatchObject({ rows: [[2]], clock: '2026-03-06 08:00:00' });
    expect(later.sql).toContain("'2026-03-06 08:00:00'");
    expect(later.sql).not.toContain('2026-03-10');
    expect(current(await again('2026-03-06 21:00:00'))).toMatchObject({ rows: [[2]] });
  });

  test('of the method react follows its clock too, and so does its sentence', async () => {
    const database = await open(dialect);
    const end = {
      ...{ note: 'done', action: 'end', tool: null, sql: null, query: null, url: null, unanswerable: false },
      ...{ finalSql: `SELECT count(*) AS n FROM sale WHERE sold >= ${LAST_WEEK[dialect]}`, answer: '{n} sales' },
    };
    const { first, again } = await searched(database, { react: [text(end)] }, { method: 'react' });
    expect(first).toMatchObject({ rows: [[2]], answer: '2 sales.', clock: CLOCK });
    expect(current(await again())).toMatchObject({
      answer: '2 sales.',
    });
    expect(current(await again('2026-03-16 00:00:00'))).toMatchObject({
      rows: [[1]],
      answer: '1 sales.',
    });
  });

  test('says anew how much of what is asked it could use, also where the rows stay', async () => {
    const database = await open(dialect);
    const end = {
      ...{ note: 'done', action: 'end', tool: null, sql: null, answer: null, unanswerable: false },
      finalSql: 'SELECT count(*) AS n FROM sale WHERE amount > 1000000',
      coverage: `SELECT count(*), count(CASE WHEN sold >= ${LAST_WEEK[dialect]} THEN 1 END) FROM sale`,
    };
    const settings = { ...ONE, profiles: true };
    const { first, again } = await searched(database, { react: [text(end)] }, { method: 'react', settings });
    expect(first).toMatchObject({ rows: [[0]], coverage: { asked: 4, used: 2 } });
    expect(standingTexts(first).join()).toContain('Only 2 of the 4 asked about');
    expect(current(await again())).toMatchObject({ coverage: { asked: 4, used: 2 } });
    const later = current(await again('2026-03-16 00:00:00'));
    expect(later).toMatchObject({ rows: [[0]], coverage: { asked: 4, used: 1 } });
    expect(later.coverage?.sql).toContain("'2026-03-16 00:00:00'");
    expect(standingTexts(later).join()).toContain('Only 1 of the 4 asked about');
    await database.write('DELETE FROM sale');
    expect(current(await again())).toMatchObject({ coverage: { asked: 0, used: 0 } });
    const fragile = {
      ...end,
      finalSql: 'SELECT count(*) AS n FROM sale',
      coverage: 'SELECT count(*), sum(1) FROM sale',
    };
    const other = await open(dialect);
    const covered = await searched(other, { react: [text(fragile)] }, { method: 'react', settings });
    expect(current(await covered.again())).toMatchObject({ coverage: { asked: 4, used: 4 } });
    await other.write('DELETE FROM sale');
    const reason = 'how much of the question it covers can no longer be counted';
    expect(await covered.again()).toEqual({ kind: 'stale', reason });
  });

  test('that looked and committed has its claims counted by the clock of each asking, with the rows', async () => {
    const database = await open(dialect);
    const commit = {
      action: 'commit',
      operators: [
        { name: 'op_sales', intent: 'sales in euro', sql: 'SELECT id, sold, amount / 100.0 AS euro FROM sale' },
        {
          ...{ name: 'op_answer', intent: 'sales of the last week' },
          sql: `SELECT count(*) AS n FROM op_sales WHERE euro < 100 AND sold >= ${LAST_WEEK[dialect]}`,
        },
      ],
      claims: [
        {
          ...{ operator: 'op_sales', statement: 'Amounts are cents.', rows: 'sales until today' },
          check: `SELECT count(*), count(CASE WHEN amount >= 100 THEN 1 END), count(CASE WHEN amount < 100 THEN 1 END)
            FROM sale WHERE sold <= (SELECT today FROM gate_clock)`,
          rivals: [{ reading: 'amounts are euros', instead: { of: 'amount / 100.0', put: 'amount' } }],
        },
      ],
    };
    await database.write("INSERT INTO sale VALUES (5, 700, '2026-02-09'), (6, 200, '2026-03-20')");
    const { first, again } = await searched(database, { look: [text(commit)] }, { method: 'look' });
    expect(first).toMatchObject({
      rows: [[3]],
      answer: '3',
      clock: CLOCK,
    });
    expect(first.evidence[0]).toMatchObject({ state: 'proved', rejected: [{ reason: '0 of 5 match' }] });
    expect(current(await again())).toMatchObject({ claims: first.claims });
    const later = current(await again('2026-03-21 08:00:00'));
    expect(later).toMatchObject({
      ...{ rows: [[1]], answer: '1' },
      claims: [{ matching: 6, examined: 6, rivals: [{ matching: 0, examined: 6 }] }],
    });
    expect(later.claims?.[0]?.check).toContain("'2026-03-21 08:00:00'");
    await database.write("INSERT INTO sale VALUES (7, 9, '2026-03-21')");
    // By the clock of the first asking its check does not count it yet.
    expect(current(await again())).toMatchObject({ rows: [[4]], claims: [{ matching: 5, examined: 5 }] });
    expect(await again('2026-03-21 08:00:00')).toMatchObject({
      kind: 'stale',
      reason:
        'what op_sales takes for granted no longer holds as it did: "Amounts are cents." (it holds for 6 of 7 (85.7 %) only)',
    });
  });

  test('beyond the row cap is counted whole by the database', async () => {
    const database = await open(dialect);
    const listed = plan(dialect);
    const last = listed.operators.at(-1)!;
    Object.assign(last, { columns: [column('id')], sql: 'SELECT id FROM op_gap', grain: ['id'] });
    const replies = { plan: [text(listed)], ground: [text(groundReply())] };
    const { first, again } = await searched(database, replies, { settings: { ...ONE, maxRows: 2 } });
    const countOf = (record: AnswerRecord) => record.candidates.find(({ chosen }) => chosen)?.rowCount;
    expect([first.truncated, countOf(first)]).toEqual([true, 4]);
    await database.write("INSERT INTO sale VALUES (40, 700, '2026-03-09')");
    const later = current(await again());
    expect([later.truncated, later.rows.length, countOf(later)]).toEqual([true, 2, 5]);
  });

  const EIGHTIETHS = {
    ...{ id: 'h3', mapping: 'amounts are eightieths', expectation: '', predicates: [], agreement: null as never },
    sql: EURO.replace('100.0', '80.0'),
  };
  test.each(['immaterial', 'proved'] as const)(
    '%s beside a reading of the same answer is stale once that gives another',
    async (state) => {
      const database = await open(dialect);
      await database.write('DELETE FROM sale WHERE amount < 200');
      const besides = plan(dialect);
      const { hypotheses } = besides.tests[0]!;
      if (state === 'proved') hypotheses.push(EIGHTIETHS);
      else for (const hypothesis of hypotheses) Object.assign(hypothesis, { predicates: [] });
      const replies = { plan: [text(besides)], ground: [text(groundReply())] };
      const { first, again } = await searched(database, replies, { settings: { ...ONE, materiality: true } });
      expect(first.evidence.find(({ operator }) => operator === 'op_gap')).toMatchObject({ state });
      expect((await again()).kind).toBe('current');
      await database.write("INSERT INTO sale VALUES (5, 170, '2026-03-09')");
      const reason = 'the reading of op_gap made no difference and now does: the answer differs between readings';
      expect(await again()).toEqual({ kind: 'stale', reason });
    },
  );

  test('that was found unanswerable has nothing to run again, so it is stale', async () => {
    const database = await open(dialect);
    const nothing = { operators: [], tests: [], bottleneck: null };
    const none = planReply({ kind: 'unanswerable', reason: 'no weather is stored', ...nothing });
    const { first, again } = await searched(database, () => text(none));
    expect(first).toMatchObject({ status: 'unanswerable', sql: null });
    const reason = 'rows may have changed since it was found unanswerable';
    expect(await again()).toEqual({ kind: 'stale', reason });
  });

  test('without a clock of its own is asked for in the words of before', async () => {
    const { model } = await searched(await open(dialect), proved(), { clock: null });
    expect(JSON.stringify(model.requests)).not.toContain('gate_clock');
  });
});

test('SQL that cannot run any more makes the answer stale', async () => {
  const database = await open('postgresql');
  const fragile = plan('postgresql');
  Object.assign(fragile.operators.at(-1)!, { sql: 'SELECT count(*) AS n FROM op_gap WHERE euro / (id - 7) < 0' });
  const { again } = await searched(database, { plan: [text(fragile)], ground: [text(groundReply())] });
  await database.write("INSERT INTO sale VALUES (7, 300, '2026-03-09')");
  expect(await again()).toMatchObject({ kind: 'stale', reason: 'its SQL no longer runs: division by zero' });
});

test('a database that is gone is an error, and says nothing about the answer', async () => {
  const database = await open('sqlite');
  const { again } = await searched(database, { plan: [text(plan('sqlite'))], ground: [text(groundReply())] });
  rmSync(join(folder, `refreshed_shop${made}.sqlite`));
  await expect(again()).rejects.toMatchObject({ name: 'SqlEngineError' });
});
