/** `gate layer export` and `import` over real SQLite files: what one database proved is proved again in another one. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { stringify } from 'yaml';
import type { LayerEntry } from '../../../src/domain';
import type { HeldEntry } from '../../../src/layer/state';
import type { Imported } from '../../../src/roles/layer/import';
import { entryOf, keptShop } from '../../helpers/kept-layer';

const CENTS = entryOf({});
const IDS = entryOf({
  ...{ statement: 'orders.id counts up without gaps.', scope: 'all orders', restsOn: [CENTS.entryId] },
  check:
    'WITH claim_1 (examined_1, matching_1, rival_1_1) AS (\nSELECT count(*), max(id) - min(id) + 1, sum(id > 50) FROM orders\n)\nSELECT * FROM claim_1',
  operator: {
    intent: 'orders in their order',
    sql: 'SELECT id FROM orders',
    tables: ['orders'],
    columns: ['orders.id'],
  },
  columns: ['orders.id'],
});
const HOSTILE = entryOf({
  statement: "orders.paid is positive. \u001b[31m*/ '; DROP TABLE orders; -- {{ x }} {% y %}\n\u202e- a: b",
  check: "SELECT count(*), sum(paid > 0), sum(paid < 0 AND '{{' <> '{%') FROM orders -- */",
  columns: ['orders.paid'],
});
const ALL = [CENTS, IDS, HOSTILE];

type Shop = Awaited<ReturnType<typeof keptShop>>;
type Told = Imported & { readonly status: string | null };

const exported = async ({ gate }: Shop): Promise<string> => (await gate('layer', 'export', '--format', 'ossie')).out;

async function imported(shop: Shop, text: string) {
  writeFileSync(join(shop.home, 'layer.json'), text);
  const { code, out, err } = await shop.gate('layer', 'import', 'layer.json', '--json');
  return { code, err, entries: err === '' ? (JSON.parse(out) as { entries: Told[] }).entries : [] };
}
const heldIn = async ({ json }: Shop): Promise<HeldEntry[]> =>
  ((await json('list', '--all')) as { entries: HeldEntry[] }).entries;
/** One file with the entries of the tests as they are claimed. */
const claiming = async (...entries: readonly LayerEntry[]): Promise<string> => exported(await keptShop(entries));
const edited = (text: string, change: (entry: Record<string, unknown>) => void): string => {
  const file = JSON.parse(text) as { semantic_model: { custom_extensions: { data: string }[] }[] };
  for (const extension of file.semantic_model[0]!.custom_extensions) {
    const held = JSON.parse(extension.data) as { entry: Record<string, unknown> };
    change(held.entry);
    extension.data = JSON.stringify(held);
  }
  return JSON.stringify(file);
};

test('rules of a file are left out, and that is told', async () => {
  const there = await keptShop(ALL);
  await there.gate('layer', 'add', 'Orders of the depot do not count.', '--author', 'ann');
  const here = await keptShop([]);
  const { code, err } = await imported(here, await exported(there));
  expect({ code, err }).toEqual({
    ...{ code: 0 },
    err: '1 rule that people stated is left out: state here what holds here (gate layer add)\n',
  });
  expect(await here.json('list')).toMatchObject({ rules: [] });
});

test('what is exported and imported is the same entry, proved here and now', async () => {
  const there = await keptShop(ALL);
  const here = await keptShop([]);
  const { code, entries } = await imported(here, await exported(there));
  expect(entries.map(({ outcome, status, why }) => ({ outcome, status, why }))).toEqual(
    ALL.map(() => ({ outcome: 'kept', status: 'active', why: null })),
  );
  expect(code).toBe(0);
  const fresh = { from: { searchId: 'import', question: null }, provedAt: '2026-01-05T00:00:00.000Z' };
  const { schemaFingerprint } = (await heldIn(here))[0]!.entry;
  expect(schemaFingerprint).not.toBe('f');
  const before = await heldIn(there);
  expect(await heldIn(here)).toEqual(
    before.map((held) => ({
      ...held,
      since: fresh.provedAt,
      countedAt: fresh.provedAt,
      entry: { ...held.entry, ...fresh, schemaFingerprint },
    })),
  );
  expect((await here.gate('layer', 'verify')).out).toBe('3 entries checked, all hold\n');
});

test.each([
  ['JSON', (json: string) => json],
  ['YAML', (json: string) => stringify(JSON.parse(json))],
])(
  'export, import from %s and export again give the same file, but for when and where it was proved',
  async (_, written) => {
    const first = await exported(await keptShop(ALL));
    const here = await keptShop([]);
    expect((await imported(here, written(first))).code).toBe(0);
    const plain = (text: string): string =>
      text.replace(/\\"(provedAt|countedAt|since|schemaFingerprint|from)\\":(\\".*?\\"|\{.*?\})/g, '$1');
    expect(plain(await exported(here))).toBe(plain(first));
  },
);

test('what the layer holds is left as it is', async () => {
  const shop = await keptShop(ALL);
  const text = edited(await exported(shop), (entry) => (entry['rows'] = 'other words'));
  await shop.gate('layer', 'reject', CENTS.entryId, '--author', 'ann');
  const before = await heldIn(shop);
  const { code, entries } = await imported(shop, text);
  expect(code).toBe(0);
  expect(new Set(entries.map(({ outcome }) => outcome))).toEqual(new Set(['known']));
  expect(entries.map(({ why }) => why)).toContain('the layer holds it, as rejected');
  expect(await heldIn(shop)).toEqual(before);
});

test('words of a person go with the entry; its figures are counted anew, whatever the file says', async () => {
  const there = await keptShop([CENTS]);
  await there.gate('layer', 'edit', CENTS.entryId, 'Totals are cents.', '--author', 'ann');
  const here = await keptShop([]);
  here.write('DELETE FROM orders WHERE id > 30');
  await imported(
    here,
    edited(await exported(there), (entry) => (entry['examined'] = 1e6)),
  );
  expect(await heldIn(here)).toMatchObject([
    { statement: 'Totals are cents.', entry: { matching: 30, examined: 30, rivals: [{ matching: 0, examined: 30 }] } },
  ]);
});

test('an id is that of the check, and what rests on it follows', async () => {
  const text = (await claiming(...ALL)).replaceAll(CENTS.entryId, 'mine');
  const here = await keptShop([]);
  expect((await imported(here, text)).code).toBe(0);
  expect(new Set((await heldIn(here)).map(({ entry }) => entry.entryId))).toEqual(
    new Set(ALL.map(({ entryId }) => entryId)),
  );
});

describe('what is not kept is told, with exit code 1', () => {
  const against = async (
    change: (shop: Shop) => void,
    entry: LayerEntry = CENTS,
    mend = (text: string) => text,
  ): Promise<Told | undefined> => {
    const shop = await keptShop([]);
    change(shop);
    const { code, entries } = await imported(shop, mend(await claiming(entry)));
    expect(code).toBe(1);
    expect(await heldIn(shop)).toEqual([]);
    return entries[0];
  };
  const asItIs = (): void => undefined;

  test('what the rows contradict, with their figures', async () => {
    expect(await against(({ write }) => write('UPDATE orders SET total = paid WHERE id > 10'))).toMatchObject({
      ...{ outcome: 'contradicted', why: 'it holds for 10 of 40 (25 %) only', status: null },
      counts: { matching: 10, examined: 40, rivals: [{ reading: 'whole units', matching: 30, examined: 40 }] },
    });
  });

  test.each([
    ['too few rows', 'DELETE FROM orders WHERE id > 4', 'only 4 rows were examined, and fewer than 5 show nothing'],
    ['no rows', 'DELETE FROM orders', 'only 0 rows were examined, and fewer than 5 show nothing'],
    [
      'a rival that stands',
      'UPDATE orders SET total = 0, paid = 0',
      'the rival "whole units" matches as many of the rows',
    ],
  ])('what the rows do not show: %s', async (_, sql, why) => {
    const told = await against(({ write }) => write(sql));
    expect(told).toMatchObject({ outcome: 'not-shown', counts: { examined: expect.any(Number) as number } });
    expect(told!.why).toContain(why);
  });

  test.each<[string, Partial<LayerEntry>, string]>([
    ['no SQL', { check: 'SELECT FROM WHERE' }, 'its check is no SQL of this database'],
    [
      'a table that is not there',
      { check: 'SELECT count(*), count(a), 0 FROM flights' },
      'not in this database: flights',
    ],
    [
      'a catalogue',
      { check: 'SELECT count(*), count(sql), 0 FROM sqlite_master' },
      'not in this database: sqlite_master',
    ],
    ['no table', { check: 'SELECT 40, 40, 0' }, 'its check reads no table'],
    ['a write', { check: 'DELETE FROM orders' }, 'its check is refused: DELETE is not allowed'],
    ['two statements', { check: 'SELECT 1, 1, 0 FROM orders; DELETE FROM orders' }, 'its check is refused'],
    ['a column that is not there', { check: 'SELECT count(*), sum(x > 1), sum(x) FROM orders' }, 'no such column: x'],
    ['constants', { check: 'SELECT count(*), 40, 0 FROM orders' }, 'its check shows nothing: its column 2'],
    [
      'constants in a CTE',
      { check: 'WITH c (e, m, r) AS (SELECT count(*), 40, 0 FROM orders) SELECT * FROM c' },
      'its check shows nothing: its column 2 is the constant 40',
    ],
    ['several rows', { check: 'SELECT id, total, paid FROM orders' }, 'the check gave several rows'],
    [
      'a rival that is not counted',
      { check: 'SELECT count(*), sum(paid > 0) FROM orders' },
      '2 columns instead of 3 or 4',
    ],
  ])('what cannot be checked: %s', async (_, more, why) => {
    const told = await against(({ write }) => write('UPDATE orders SET total = 100, paid = 1'), entryOf(more));
    expect(told).toMatchObject({ outcome: 'not-checked', why: expect.stringContaining(why) as string });
  });

  test('that every rival gave the same answer is only said', async () => {
    const said = entryOf({ rivals: [{ ...CENTS.rivals[0]!, refuted: false }] });
    expect(await against(({ write }) => write('UPDATE orders SET total = 0, paid = 0'), said)).toMatchObject({
      ...{ outcome: 'not-shown', why: 'every rival gives the same answer' },
    });
  });

  test('no rival', async () => {
    const mend = (text: string) => edited(text, (entry) => (entry['rivals'] = []));
    expect(await against(asItIs, CENTS, mend)).toMatchObject({ why: 'it has no rival that could lose' });
  });

  test('no check at all', async () => {
    const mend = (text: string) => edited(text, (entry) => delete entry['check']);
    expect(await against(asItIs, CENTS, mend)).toMatchObject({ entryId: null, why: 'it has no check' });
  });

  test('it rests on no entry', async () => {
    const mend = (text: string) => edited(text, (entry) => (entry['restsOn'] = ['x']));
    expect(await against(asItIs, CENTS, mend)).toMatchObject({ why: 'it rests on x, which is no entry' });
  });
});

test('a column that the access list hides is not read, and no entry says that it is there', async () => {
  const here = await keptShop([], { access: { deny: ['orders.paid'] } });
  const { code, entries } = await imported(here, await claiming(CENTS));
  expect({ code, outcome: entries[0]!.outcome }).toEqual({ code: 1, outcome: 'not-checked' });
  expect(entries[0]!.counts).toBeNull();
  expect(await heldIn(here)).toEqual([]);
});

test('what rests on an entry that is not kept is kept, and suspended', async () => {
  const text = await claiming(CENTS, IDS);
  const here = await keptShop([]);
  here.write('UPDATE orders SET total = paid');
  writeFileSync(join(here.home, 'layer.json'), text);
  const { code, out } = await here.gate('layer', 'import', 'layer.json');
  expect(code).toBe(1);
  expect(out).toContain(
    `${CENTS.entryId.slice(0, 9)} contradicted: orders.total is in cents. (0 of 40; it holds for 0`,
  );
  expect(out).toContain(`(40 of 40; suspended; it rests on ${CENTS.entryId}, which is missing)`);
  expect(out.trim().split('\n')).toHaveLength(3);
  expect(out).toMatch(/\n1 of 2 entries kept\n$/);
});

test('what is printed of a file moves no cursor and stays on its line', async () => {
  const here = await keptShop([]);
  writeFileSync(join(here.home, 'layer.json'), await claiming(HOSTILE));
  const { out } = await here.gate('layer', 'import', 'layer.json');
  expect(out).toContain('\\u001b[31m');
  expect(out).not.toContain('\u001b');
  expect(out.trim().split('\n')).toHaveLength(2);
});

describe('a file that cannot be imported is one line, and nothing is written', () => {
  test.each<[string, (text: string) => string, string]>([
    ['no JSON', () => '{"version"', 'layer.json: it is no JSON; nothing was imported'],
    [
      'no YAML',
      () => 'version: 1\na: "',
      'layer.json: it is no YAML that is read: Missing closing "quote at line 2, column 5; nothing was',
    ],
    ['another version', (text) => text.replace('0.2.0.dev0', '9'), 'it has version "9"; only Ossie 0.2.0.dev0 is read'],
    [
      'another schema',
      (text) => text.replace('"datasets"', '"tables"'),
      'it is no Ossie file (semantic_model.0.datasets',
    ],
    ['without entries', (text) => text.replaceAll('GATE', 'OTHER'), 'it has no entry with a check'],
    [
      'one id with two entries',
      (text) => text.replaceAll(IDS.entryId, CENTS.entryId),
      `it has two entries with the id ${CENTS.entryId} that differ`,
    ],
    [
      'one check with two entries',
      (text) => edited(text, (entry) => (entry['check'] = CENTS.check)),
      `it has two entries with the check of ${CENTS.entryId} that differ`,
    ],
  ])('%s', async (_, change, line) => {
    const here = await keptShop([]);
    const { code, err } = await imported(here, change(await claiming(CENTS, IDS)));
    expect(code).toBe(1);
    expect(err).toContain(line);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(await heldIn(here)).toEqual([]);
  });

  test('no file, and a folder', async () => {
    const { gate, home } = await keptShop([]);
    expect(await gate('layer', 'import', 'none.json')).toMatchObject({ code: 1 });
    expect((await gate('layer', 'import', home)).err).toContain('there is no such file');
  });
});

describe('export', () => {
  const folder = (): string => mkdtempSync(join(tmpdir(), 'gate-export-'));

  test.each([
    ['markdown', ['shop.md']],
    ['ossie', ['shop.ossie.json']],
    ['dbt', ['models', 'sources.yml', 'shop', 'tests', ...ALL.map(({ entryId }) => `${entryId}.sql`)]],
  ])('%s into a folder', async (format, files) => {
    const out = folder();
    const { gate } = await keptShop(ALL);
    const ended = await gate('layer', 'export', '--format', format, '--out', out);
    expect(ended).toMatchObject({ code: 0, out: '' });
    const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).map((path) => path.split('/').at(-1));
    expect(names.sort()).toEqual([...files].sort());
  });

  test('the file is what standard output is', async () => {
    const out = folder();
    const shop = await keptShop(ALL);
    await shop.gate('layer', 'export', '--format', 'ossie', '--out', out);
    expect(readFileSync(join(out, 'shop.ossie.json'), 'utf8')).toBe(await exported(shop));
  });

  test('only what is in use: nothing has what a person rejected', async () => {
    const shop = await keptShop(ALL);
    await shop.gate('layer', 'reject', HOSTILE.entryId, '--author', 'ann');
    const out = folder();
    await shop.gate('layer', 'export', '--format', 'dbt', '--out', out);
    expect(readdirSync(join(out, 'tests')).sort()).toEqual([CENTS, IDS].map(({ entryId }) => `${entryId}.sql`).sort());
    expect(await exported(shop)).not.toContain(HOSTILE.entryId);
  });

  test('a check that does not run becomes no test, and that is told', async () => {
    const shop = await keptShop(ALL);
    shop.write('ALTER TABLE orders RENAME COLUMN total TO amount');
    const out = folder();
    const { err } = await shop.gate('layer', 'export', '--format', 'dbt', '--out', out);
    expect(err).toContain(`${CENTS.entryId} is left out, its check does not run: no such column: total`);
    expect(existsSync(join(out, 'tests', `${CENTS.entryId}.sql`))).toBe(false);
  });

  test.each([
    [['--format', 'dbt'], 2, 'give a folder with --out'],
    [['--format', 'csv'], 2, "argument 'csv' is invalid"],
    [['--json', '--format', 'ossie'], 2, 'give it without --format and --out'],
    [['--format', 'ossie', '--db', 'empty.sqlite'], 1, 'nothing kept of'],
  ])('bad input: %j', async (args, code, line) => {
    const { gate, home } = await keptShop(ALL);
    writeFileSync(join(home, 'empty.sqlite'), '');
    const ended = await gate('layer', 'export', ...args);
    expect(ended.code).toBe(code);
    expect(ended.err).toContain(line);
  });
});
