/** An answer over a table with deleted and test rows: what it leaves aside is asked about once, then named. */
import { identityKey } from '../../../src/record/search-id';
import { createMemoryStore } from '../../helpers/scripted';
import { PRESETS } from '../../../src/config/presets';
import { LayerEvent } from '../../../src/domain';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import { appendToLayer } from '../../../src/record/layer-store';
import { openStep } from '../../../src/roles/shared/context';
import { refresh } from '../../../src/roles/answer/refresh';
import { standingOf } from '../../../src/text/standing';
import { entryOf } from '../../helpers/kept-layer';
import { SEARCH, bench, sqliteEngine, text, hooks } from './fixtures';
import { standingTexts } from '../../../src/text/answer-text';

/** Before the search. */
const AT = '1970-01-01T00:00:00.000Z';

/** Every tenth order is deleted, every twentieth a test. */
const rows = Array.from({ length: 200 }, (_, at) => {
  const deleted = at % 10 === 0 ? `'2025-03-0${1 + (at % 9)}'` : 'NULL';
  return `(${at}, ${100 + at * 7.5}, ${deleted}, ${at % 20 === 5 ? 1 : 0}, '${['paid', 'open', 'refunded'][at % 3]}', 'note ${at}')`;
});
const SHOP = `CREATE TABLE orders (order_id INTEGER PRIMARY KEY, total REAL, deleted_at TEXT, is_test INTEGER, state TEXT, note TEXT);
INSERT INTO orders VALUES ${rows.join(', ')};`;

const SET = {
  statement: 'Orders with deleted_at set are deleted.',
  check:
    "SELECT count(deleted_at), sum(deleted_at >= '2025-01-01'), sum(deleted_at < '2025-01-01') FROM orders WHERE deleted_at IS NOT NULL",
  ...{ rows: 'deleted orders', matching: 20, examined: 20, columns: ['orders.deleted_at', 'orders.order_id'] },
};
const rule = (statement: string, columns: string[]): LayerEvent =>
  LayerEvent.parse({
    kind: 'said',
    at: AT,
    rule: {
      ...{ entryId: 'e00000000000000aa', statement, author: 'ann', saidAt: AT, answers: null },
      ...{ tables: ['orders'], columns },
    },
  });

const DELETED = rule('Orders with deleted_at set do not count', ['orders.deleted_at']);

interface Asked {
  readonly events?: readonly LayerEvent[];
  readonly profiles?: boolean;
  readonly looks?: readonly string[];
  readonly setup?: string;
  /** By the second commit. */
  readonly assumed?: string | null;
}

async function ask(
  sqls: readonly string[],
  { events = [], profiles = true, looks = [], setup = SHOP, assumed = null }: Asked = {},
) {
  const store = createMemoryStore();
  await appendToLayer({ store, database: identityKey('races') }, [...events]);
  const replies = [
    ...looks.map((sql) => text({ action: 'look', queries: [{ why: 'what it holds', sql }] })),
    ...sqls.map((sql, at) =>
      text({
        ...{ action: 'commit', operators: [{ name: 'op_answer', intent: 'orders', sql }] },
        assumed: at === 0 || assumed === null ? [] : [{ operator: 'op_answer', statement: assumed, risk: 0.1 }],
      }),
    ),
  ];
  const {
    steps,
    start,
    model,
    deps,
    record: stored,
  } = await bench(
    { look: replies },
    { engine: sqliteEngine(setup), store, settings: { ...PRESETS.fast, layer: 'read', profiles } },
  );
  await runLookThenProve(start, steps, hooks);
  const told = model.requests.slice(1 + looks.length).map(({ messages }) => messages.at(-1)!.content);
  const record = await stored();
  const again = async (...said: LayerEvent[]) => {
    await appendToLayer({ store, database: identityKey('races') }, said);
    return refresh(await openStep(deps, { searchId: SEARCH, position: 'refresh' }), record);
  };
  return { told, record, again };
}

const ALL = 'SELECT count(*) AS n FROM orders';

test('a count that claims nothing is unchecked, and columns that tell rows apart are named as not looked at', async () => {
  const { told, record } = await ask([ALL]);
  expect(told).toEqual([]);
  expect(standingOf(record)).toBe('unchecked');
  expect(standingTexts(record)).toEqual([
    'Unchecked: nothing was claimed, so nothing was proved.',
    'Not looked at: orders.deleted_at (set in 20 of 200 rows), orders.is_test (2 values), orders.state (3 values)',
  ]);
});

test('a column that the SQL or a look names was looked at', async () => {
  const looks = ['SELECT state, count(*) FROM orders GROUP BY state'];
  const real = `${ALL} WHERE is_test = 0`;
  const { told, record } = await ask([real, real], { looks });
  expect(told).toEqual([expect.stringContaining('Used without a check: is_test = 0 (op_answer)')]);
  expect(record.usedWithoutCheck).toEqual([{ operator: 'op_answer', sql: 'is_test = 0' }]);
  expect(standingTexts(record)).toContain('Used without a check: is_test = 0');
  expect(record.notLookedAt).toEqual({
    columns: [{ table: 'orders', column: 'deleted_at', holds: 'set in 20 of 200 rows' }],
    more: 0,
  });
});

test('a table of 300 such columns names six of them and counts the others', async () => {
  const names = Array.from({ length: 300 }, (_, at) => `kind_${at}`);
  const values = Array.from({ length: 40 }, (_, at) => `(${names.map((_name, of) => (at + of) % 3).join(', ')})`);
  const setup = `CREATE TABLE orders (${names.map((name) => `${name} INTEGER`).join(', ')});
INSERT INTO orders VALUES ${values.join(', ')};`;
  const { record } = await ask([ALL], { setup });
  expect(record.notLookedAt).toMatchObject({ more: 294 });
  expect(standingTexts(record).join().length).toBeLessThan(400);
});

test('without a profile no column is named', async () => {
  expect((await ask([ALL], { profiles: false })).record.notLookedAt).toBeUndefined();
});

test('a rule that the SQL leaves aside goes back once, and what uses it is the answer', async () => {
  const { told, record } = await ask([ALL, `${ALL} WHERE deleted_at IS NULL`], { events: [DELETED] });
  expect(told).toEqual([
    expect.stringContaining(
      'nothing of it occurs there: ann said on 1970-01-01: Orders with deleted_at set do not count. Use it,',
    ),
  ]);
  expect(record).toMatchObject({ rows: [[180]], usage: { llmCalls: 2 } });
  expect(record.notUsed).toBeUndefined();
});

test('an entry that the SQL leaves aside costs no turn: its column is named as not looked at', async () => {
  const { told, record } = await ask([ALL], { events: [{ kind: 'proved', at: AT, entry: entryOf(SET) }] });
  expect(told).toEqual([]);
  expect(record.notUsed).toBeUndefined();
  expect(record.notLookedAt?.columns).toContainEqual(expect.objectContaining({ column: 'deleted_at' }));
});

test('what stays unused after that is named in the answer, which is asked about once only', async () => {
  const { told, record } = await ask([ALL, ALL], { events: [DELETED] });
  expect(told).toHaveLength(1);
  expect(record.notUsed).toEqual([expect.objectContaining({ id: 'e00000000000000aa' })]);
  expect(standingTexts(record)).toContain(
    'Not used: "ann said on 1970-01-01: Orders with deleted_at set do not count"',
  );
});

test('an assumption that names its column says why it does not matter, and stands among the doubts instead', async () => {
  const assumed = "Whether an order's deleted_at is set does not matter here.";
  const { record } = await ask([ALL, ALL], { events: [DELETED], assumed });
  expect(record.notUsed).toBeUndefined();
  expect(standingTexts(record)).toContain(`Assumed: "${assumed}"`);
});

test('an answer that is asked for again no longer names what a person rejected since', async () => {
  const { record, again } = await ask([ALL, ALL], { events: [DELETED] });
  expect(await again()).toMatchObject({ kind: 'current', record: { notUsed: record.notUsed } });
  const rejected = { kind: 'rejected', entryId: 'e00000000000000aa', author: 'ann', note: null } as const;
  const now = await again({ ...rejected, at: '2026-01-02T00:00:00.000Z' });
  expect(now).toMatchObject({ kind: 'current', record: { rows: [[200]] } });
  expect(now).toHaveProperty('record.notUsed', undefined);
  expect(now).not.toHaveProperty('record.answer', expect.stringContaining('Not used'));
});

test.each([
  ['the unit of a column that is not read', 'orders.total is in cents.', ['orders.total']],
  ['a word that is only the name of the table', 'Orders come from the till.', []],
])('what a person said of %s costs no turn', async (_, statement, columns) => {
  const setup = `${SHOP}; ALTER TABLE orders ADD COLUMN order_kind TEXT; UPDATE orders SET order_kind = CASE order_id % 2 WHEN 0 THEN 'web' ELSE 'till' END`;
  const { told, record } = await ask([ALL], { events: [rule(statement, columns)], setup });
  expect(told).toEqual([]);
  expect(record.notUsed).toBeUndefined();
});

test.each([
  ['by its column', 'Rows with is_test = 1 do not count.', ['orders.is_test']],
  ['by a word of it', 'Test orders do not count.', []],
  ['by a value of it', "Orders that are 'refunded' do not count.", []],
])('what a person said is held against the SQL %s', async (_, statement, columns) => {
  const unused = await ask([ALL, ALL], { events: [rule(statement, columns)] });
  expect(unused.told).toHaveLength(1);
  expect(unused.record.notUsed).toHaveLength(1);
  const sql = `${ALL} WHERE is_test = 0 AND state <> 'refunded'`;
  const used = await ask([sql, sql], { events: [rule(statement, columns)] });
  expect(used.told.join('\n')).not.toContain('Known of a table');
  expect(used.record.notUsed).toBeUndefined();
});
