/** `gate layer` over a real SQLite file and a local store. */
import Database from 'libsql';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerEntry, LayerEvent } from '../../../src/domain';
import { AT, entryOf, keptShop } from '../../helpers/kept-layer';

const CENTS = entryOf({ entryId: 'e0000000000000001' });
const IDS = entryOf({
  ...{ entryId: 'e0000000000000002', statement: 'orders.id counts up without gaps.', columns: ['orders.id'] },
  ...{ check: 'SELECT count(*), max(id) - min(id) + 1, 0 FROM orders', restsOn: [CENTS.entryId] },
  operator: {
    ...{ intent: 'paid orders in their order', sql: 'SELECT id FROM orders WHERE paid > 0' },
    ...{ tables: ['orders'], columns: ['orders.id', 'orders.paid'] },
  },
});

async function shop(entry: object = {}, entries: readonly LayerEntry[] = [CENTS, IDS], events: LayerEvent[] = []) {
  const made = await keptShop(entries, entry, events);
  // What a person says later counts.
  let now = made.io.now();
  Object.assign(made.io, { now: () => (now += 1_000) });
  return made;
}

test('list shows what is kept, with its figures; show says where it comes from', async () => {
  const { gate } = await shop();
  const { code, out } = await gate('layer', 'list');
  expect(code).toBe(0);
  expect(out).toMatch(/e00000000 +active +40 of 40 +orders\.total is in cents\./);
  const shown = (await gate('layer', 'show', 'e0000000000000001')).out;
  expect(shown).toContain('counted   40 of 40 paid orders');
  expect(shown).toContain('rival     whole units: 0, refuted');
  expect(shown).toContain('in q-1: What was sold?');
  expect(shown).toContain(CENTS.check);
  expect((await gate('layer', 'show', IDS.entryId)).out).toContain(
    'sql of a query that rested on it: paid orders in their order\nSELECT id FROM orders WHERE paid > 0\n',
  );
});

test('list, show and export say that a proof is over few rows', async () => {
  const { gate } = await shop({}, [{ ...CENTS, matching: 6, examined: 6 }]);
  expect((await gate('layer', 'list')).out).toMatch(/active +6 of 6, few rows +orders/);
  expect((await gate('layer', 'show', CENTS.entryId)).out).toContain(
    'counted   6 of 6 paid orders, few rows, 2026-01-01\n',
  );
  expect((await gate('layer', 'export')).out).toContain('(6 of 6 paid orders, few rows; not whole');
});

test('verify says what broke, exits with 1, and what rests on it is used no more; it can hold again', async () => {
  const { gate, write, json } = await shop();
  expect(await gate('layer', 'verify')).toMatchObject({ code: 0, out: '2 entries checked, all hold\n' });
  write('UPDATE orders SET total = paid');
  const drifted = await gate('layer', 'verify');
  expect(drifted.code).toBe(1);
  expect(drifted.out).toContain('no longer holds: orders.total is in cents. (it holds for 0 of 40 (0 %) only');
  expect(await json('list', '--all')).toMatchObject({
    entries: [
      { status: 'broken', counts: { matching: 0, examined: 40 } },
      { status: 'suspended', why: `it rests on ${CENTS.entryId}, which is broken` },
    ],
  });
  write('UPDATE orders SET total = 100 * paid');
  expect((await gate('layer', 'verify')).code).toBe(0);
  expect(await json('list')).toMatchObject({ entries: [{ status: 'active' }, { status: 'active' }] });
});

test('a fall from the kept figure is drift, although the entry still holds; the dbt test and verify agree', async () => {
  const { gate, write, json, home } = await shop({}, [CENTS]);
  const dbt = async (): Promise<number> => {
    await gate('layer', 'export', '--format', 'dbt', '--out', 'dbt');
    const open = new Database(join(home, 'shop.sqlite'));
    const failures = open
      .prepare(readFileSync(join(home, 'dbt', 'tests', `${CENTS.entryId}.sql`), 'utf8'))
      .all().length;
    open.close();
    return failures;
  };
  expect([await dbt(), (await gate('layer', 'verify')).code]).toEqual([0, 0]);
  write('UPDATE orders SET total = paid WHERE id = 7');
  const fell = await gate('layer', 'verify');
  expect(fell).toMatchObject({
    code: 1,
    out:
      'e00000000 holds for fewer rows: orders.total is in cents. (39 of 40, kept as 40 of 40)\n' +
      '1 entry checked, 1 holds for fewer rows\n',
  });
  expect((await gate('layer', 'list')).out).toContain('39 of 40 (kept as 40 of 40)');
  expect((await gate('layer', 'show', CENTS.entryId)).out).toContain('(kept as 40 of 40), 2026-01-05\n');
  expect((await gate('layer', 'export')).out).toContain('39 of 40 paid orders (kept as 40 of 40)');
  expect(await json('verify')).toMatchObject({
    broken: [],
    fell: [{ kept: { matching: 40 }, counts: { matching: 39 } }],
  });
  expect([await dbt(), (await gate('layer', 'verify')).code]).toEqual([1, 1]);

  await gate('layer', 'confirm', CENTS.entryId, '--author', 'ann');
  expect([await dbt(), (await gate('layer', 'verify')).code]).toEqual([0, 0]);
  write('UPDATE orders SET total = paid WHERE id = 8');
  expect([await dbt(), (await gate('layer', 'verify')).code]).toEqual([1, 1]);
});

test('where nothing was checked, verify says so and is no success', async () => {
  const withdrawn = await shop({}, [CENTS]);
  await withdrawn.gate('layer', 'reject', CENTS.entryId, '--author', 'ann');
  for (const { gate } of [await shop({}, []), withdrawn])
    expect(await gate('layer', 'verify')).toMatchObject({
      ...{ code: 1, out: '' },
      err: expect.stringContaining('nothing was checked: shop has no entry in use') as string,
    });
  const gone = await shop();
  gone.write('ALTER TABLE orders RENAME COLUMN total TO amount');
  const told = await gone.gate('layer', 'verify');
  expect(told).toMatchObject({ code: 1, err: expect.stringContaining('has lost its table or column') as string });
});

test('a person rejects, edits and confirms, by name and with a reason', async () => {
  const { gate, json } = await shop();
  const no = await gate('layer', 'reject', 'e0000000000000001', '--author', 'ann', '--note', 'old rows');
  expect(no.out).toBe(`${CENTS.entryId} is rejected (rejected by ann: old rows): orders.total is in cents.\n`);
  expect(await json('list')).toMatchObject({ entries: [] });
  await gate('layer', 'edit', 'e0000000000000001', 'Totals are cents.', '--author', 'bob');
  await gate('layer', 'confirm', 'e0000000000000001', '--author', 'bob');
  expect(await json('show', 'e0000000000000001')).toMatchObject({
    ...{ status: 'active', statement: 'Totals are cents.', confirmedBy: 'bob' },
    history: expect.arrayContaining(
      ['proved', 'rejected', 'edited', 'confirmed'].map((kind): unknown => expect.objectContaining({ kind })),
    ) as unknown,
  });
});

test('an entry on a column that the access list hides is as if it did not exist', async () => {
  const { gate, json } = await shop({ access: { deny: ['orders.paid'] } });
  expect(await json('list', '--all')).toMatchObject({ entries: [{ entry: { entryId: IDS.entryId, operator: null } }] });
  expect((await gate('layer', 'show', CENTS.entryId)).err).toContain(`no entry ${CENTS.entryId} in this layer`);
  expect((await gate('layer', 'export')).out).not.toContain('cents');
});

const ASKED: LayerEvent[] = [
  { kind: 'asked', at: AT, questionId: 'q00a', text: 'Which clock?', tables: [], columns: [] },
  { kind: 'asked', at: AT, questionId: 'q00b', text: 'Is paid net?', tables: ['orders'], columns: ['orders.paid'] },
];

describe('what no data can decide', () => {
  test('is answered by a person, by name', async () => {
    const { gate, json } = await shop({}, [CENTS], ASKED);
    expect((await gate('layer', 'list')).err).toContain(
      'To be decided by a person\n  Which clock?\n    gate layer answer q00a "…" --db shop\n',
    );
    const { out } = await gate('layer', 'answer', 'q00a', 'UTC', '--author', 'ann');
    expect(out).toMatch(/^e[0-9a-f]{16} is active \(said by ann, not counted\): Which clock\? UTC\n$/);
    const listed = await gate('layer', 'list');
    expect(listed.err).not.toContain('Which clock?');
    expect(listed.out).toMatch(/active +said by ann +Which clock\? UTC/);
    expect(await json('list')).toMatchObject({
      rules: [{ entry: { author: 'ann' } }],
      questions: [{ questionId: 'q00b' }],
    });
  });

  test('is hidden with the column that it names', async () => {
    const { gate } = await shop({ access: { deny: ['orders.paid'] } }, [], ASKED);
    const { err } = await gate('layer', 'list');
    expect(err).toContain('Which clock?');
    expect(err).not.toContain('net?');
  });
});

describe('a rule that a person states', () => {
  const RULE = 'Rows of orders with paid = 0 are tests.';

  test('is listed, shown, exported and withdrawn like an entry, as what they said', async () => {
    const { gate, json, home } = await shop({}, [CENTS]);
    const { code, out } = await gate('layer', 'add', RULE, '--author', 'ann');
    const [id = ''] = out.split(' ');
    expect({ code, out }).toEqual({ code: 0, out: `${id} is active (said by ann, not counted): ${RULE}\n` });
    expect(await json('list')).toMatchObject({
      entries: [{ entry: { entryId: CENTS.entryId } }],
      rules: [{ statement: RULE, entry: { tables: ['orders'], columns: ['orders.paid'] } }],
    });
    const shown = (await gate('layer', 'show', id)).out;
    expect(shown).toContain('said      by ann, 2026-01-05T');
    expect(shown).toContain('; not counted\nabout     orders.paid\n');
    expect(shown).not.toContain('proved');
    const words = `${RULE} (said by ann on 2026-01-05, not counted)`;
    expect((await gate('layer', 'export')).out).toContain(`### orders.paid\n\n- ${words}`);
    expect((await gate('layer', 'export', '--format', 'ossie')).out).toContain(`"instructions": "${words}"`);
    await gate('layer', 'export', '--format', 'dbt', '--out', 'dbt');
    expect(readFileSync(join(home, 'dbt', 'models', 'shop', 'sources.yml'), 'utf8')).toContain(words);
    expect(readdirSync(join(home, 'dbt', 'tests'))).toEqual([`${CENTS.entryId}.sql`]);

    const worded = 'Orders with total = 0 are tests.';
    const { out: anew } = await gate('layer', 'edit', id, worded, '--author', 'bob');
    expect(anew).toBe(`${id} is active (said by bob, not counted): ${worded}\n`);
    expect((await gate('layer', 'show', id)).out).toContain('about     orders.total\n');
    expect((await gate('layer', 'reject', id, '--author', 'bob')).out).toContain(
      `${id} is rejected (rejected by bob): ${worded}`,
    );
    expect(await json('list')).toMatchObject({ rules: [] });
    expect((await gate('layer', 'export')).out).not.toContain('are tests');
  });

  const CHECK = ['--check', CENTS.check, '--rival', 'whole units', '--rows', 'paid orders', '--author', 'ann'];

  test('with a check is proved like any claim, or not kept', async () => {
    const { gate, json, write } = await shop({}, []);
    const kept = await gate('layer', 'add', 'orders.total is in cents.', ...CHECK);
    expect(kept).toMatchObject({ code: 0, out: expect.stringContaining('cents. (40 of 40)\n1 of 1') as string });
    expect(await json('list')).toMatchObject({
      ...{ entries: [{ status: 'active', confirmedBy: 'ann', entry: { matching: 40, from: { searchId: 'add' } } }] },
      rules: [],
    });
    const { entries } = (await json('list')) as { entries: { entry: LayerEntry }[] };
    expect((await gate('layer', 'show', entries[0]!.entry.entryId)).out).toContain('Z by gate layer add\n');
    write('UPDATE orders SET total = paid');
    const other = await shop({}, []);
    other.write('UPDATE orders SET total = paid');
    expect(await other.gate('layer', 'add', 'orders.total is in cents.', ...CHECK)).toMatchObject({
      ...{ code: 1, out: expect.stringContaining('contradicted: orders.total is in cents. (0 of 40;') as string },
    });
    expect(await other.json('list')).toMatchObject({ entries: [], rules: [] });
  });

  test('about a column that the access list hides is as if nobody said it', async () => {
    const { gate, home, write } = await shop({}, []);
    write('CREATE TABLE other (a INTEGER)');
    await gate('layer', 'add', RULE, '--author', 'ann');
    const config = join(home, 'gate.config.json');
    const { databases } = JSON.parse(readFileSync(config, 'utf8')) as { databases: { shop: object } };
    writeFileSync(
      config,
      JSON.stringify({ databases: { shop: { ...databases.shop, access: { deny: ['orders.paid'] } } } }),
    );
    const { out, err } = await gate('layer', 'list', '--all');
    expect(out + err).not.toContain('tests');
  });
});

test('export for people', async () => {
  const { gate } = await shop();
  expect((await gate('layer', 'export')).out).toContain(
    '- orders.total is in cents. (40 of 40 paid orders; not whole units: 0; proved 2026-01-01)',
  );
});

test.each([
  [['show', 'x'], 2, "'x' is not the id of an entry"],
  [['show', 'effff'], 1, 'no entry effff in this layer'],
  [['show', 'e0000'], 2, "'e0000' is the beginning of 2 entries"],
  [['edit', 'e0000000000000001', ' '], 2, 'the statement is empty'],
  [['add', ' '], 2, 'the statement is empty'],
  [['add', 'x', '--rival', 'y'], 2, 'give it, too'],
  [['add', 'x', '--check', 'SELECT 1, 1, 0 FROM orders'], 2, 'give --rival'],
  [['answer', 'q00', 'UTC'], 2, "'q00' is the beginning of 2 questions"],
  [['answer', 'q1', 'UTC'], 1, 'no open question q1 in this layer'],
  [['answer', 'q00a', ' '], 2, 'answer'],
])('bad input: gate layer %j is one line', async (args, code, line) => {
  const { gate } = await shop({}, [CENTS, IDS], ASKED);
  const ended = await gate('layer', ...args);
  expect(ended).toMatchObject({ code, err: expect.stringContaining(line) as string });
  expect(ended.err.trim().split('\n')).toHaveLength(1);
});

test('more entries than one snapshot checks', async () => {
  const many = Array.from({ length: 120 }, (_, at) =>
    entryOf({ check: CENTS.check.replace('FROM orders', `FROM orders WHERE id <> ${-at}`) }),
  );
  expect((await (await shop({}, many)).gate('layer', 'verify')).out).toBe('120 entries checked, all hold\n');
});
