/** Stored rows that say what the literals of an answer's SQL stand for are told with the answer, and change nothing else. */
import { PRESETS } from '../../../src/config/presets';
import { runLookThenProve } from '../../../src/methods/look-then-prove';
import { standingTexts } from '../../../src/text/answer-text';
import { standingText } from '../../../src/text/standing';
import { bench, containing, sqliteEngine, text, hooks } from './fixtures';

const numbers = (count: number): string =>
  `WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;

/** Every table has a client; documents have a kind, whose names stand once for each client and language. */
const CODES = `
CREATE TABLE zz_nda (nd_cl TEXT, nd_name TEXT);
INSERT INTO zz_nda VALUES ('300', 'TESSMAR TEST'), ('310', 'TESSMAR LIVE');
CREATE TABLE zz_kat (kt_cl TEXT, kt_sp TEXT, kt_ka TEXT, kt_text TEXT);
INSERT INTO zz_kat SELECT cl, sp, ka, CASE sp WHEN 'E' THEN en ELSE de END FROM
(VALUES_KINDS), (SELECT '300' AS cl UNION SELECT '310'), (SELECT 'D' AS sp UNION SELECT 'E');
CREATE TABLE zz_vk (vk_cl TEXT, vk_nr INTEGER, vk_ka TEXT, vk_wert REAL);
${numbers(200)} INSERT INTO zz_vk SELECT CASE i % 2 WHEN 0 THEN '300' ELSE '310' END, 9000 + i, substr('ABCGHKL', 1 + i % 7, 1), i * 1.5 FROM n;
`.replace(
  'VALUES_KINDS',
  ['Inquiry,Anfrage', 'Quotation,Angebot', 'Order,Auftrag', 'Contract,Kontrakt', 'Returns,Retoure', 'Credit,Gutschrift', 'Debit,Lastschrift'] // prettier-ignore
    .map((each, at) => {
      const [en = '', de = ''] = each.split(',');
      return `SELECT '${'ABCGHKL'[at] ?? ''}' AS ka, '${en}' AS en, '${de}' AS de`;
    })
    .join(' UNION ALL '),
);
const fillers = Array.from(
  { length: 45 },
  (_, at) =>
    `CREATE TABLE aa_${at} (x${at}_cl TEXT, x${at}_v TEXT); ${numbers(20)} INSERT INTO aa_${at} SELECT CASE i % 2 WHEN 0 THEN '300' ELSE '310' END, 'a ${at} ' || i FROM n;`,
).join('\n');
const WIDE = `${CODES}${fillers}`;

interface Asked {
  readonly setup?: string;
  readonly question?: string;
  readonly looks?: readonly string[];
  /** Column of the documents, with the table and key that it is declared to lead to. */
  readonly declared?: Readonly<Record<string, readonly [table: string, key: string]>>;
  readonly revision?: () => Promise<string>;
}

async function ask(
  sql: string,
  { setup = WIDE, question = 'How many are there?', looks = [], declared = {}, revision }: Asked = {},
) {
  const commit = text({ action: 'commit', operators: [{ name: 'op_answer', intent: 'documents', sql }] });
  const replies = [
    ...looks.map((each) => text({ action: 'look', queries: [{ why: 'what it holds', sql: each }] })),
    ...[commit, commit],
  ];
  const engine = Object.assign(sqliteEngine(setup), revision && { revision });
  const { describe } = engine;
  engine.describe = async (options) => {
    const all = await describe(options);
    const foreignKeys = Object.entries(declared).map(([column, [table, key]]) => ({
      ...{ columns: [column], table, references: [key] },
    }));
    return { ...all, tables: all.tables.map((table) => (table.name === 'zz_vk' ? { ...table, foreignKeys } : table)) };
  };
  const settings = { ...PRESETS.fast, profiles: true };
  const { steps, start, record } = await bench({ look: replies }, { engine, settings, question: { text: question } });
  await runLookThenProve(start, steps, hooks);
  return { record: await record(), engine };
}

const WHERE = "SELECT count(*) AS n FROM zz_vk WHERE vk_cl = '310' AND vk_ka = 'C'";

test('a wide database defines the client and the kind by the tables that their columns lead to', async () => {
  const { record } = await ask(WHERE);
  expect(record.defined).toEqual([
    { operator: 'op_answer', sql: "vk_cl = '310'", row: '310 | TESSMAR LIVE' },
    { operator: 'op_answer', sql: "vk_ka = 'C'", row: 'C | Order' },
  ]);
  const told = "Defined: vk_cl = '310' (310 | TESSMAR LIVE); vk_ka = 'C' (C | Order)";
  expect(standingTexts(record)).toContain(told);
});

test.each([
  ['wide', WIDE],
  ['narrow', CODES],
])('a %s database that changes is read again, and that counts', async (_, setup) => {
  let revisions = 0;
  const still = await ask(WHERE, { setup });
  const { record, engine } = await ask(WHERE, { setup, revision: () => Promise.resolve(String((revisions += 1))) });
  expect(record.usage.sqlExecutions).toBe(engine.runs.flat().length);
  expect(record.usage.sqlExecutions).toBeGreaterThan(still.record.usage.sqlExecutions);
});

test('the rows of a code table are read in one snapshot, and change no standing', async () => {
  const { record, engine } = await ask(WHERE);
  const reading = engine.runs.filter((run) => run.some((sql) => /FROM "zz_(nda|kat)" WHERE/.test(sql)));
  const both = [containing(`FROM "zz_nda" WHERE "nd_cl" IN ('310')`), containing(`"kt_ka" IN ('C')`)];
  expect(reading).toEqual([both]);
  const { defined: _, ...without } = record;
  expect(standingText(record)).toBe(standingText(without));
});

test.each([
  ['the branch of a CASE', "SELECT sum(CASE WHEN vk_ka = 'C' THEN vk_wert ELSE 0 END) AS w FROM zz_vk", ['C | Order']],
  ['a CASE of a column', "SELECT sum(CASE vk_ka WHEN 'H' THEN -1 ELSE 1 END) AS w FROM zz_vk", ['H | Returns']],
  ['a list', "SELECT count(*) AS n FROM zz_vk WHERE vk_ka NOT IN ('H', 'K')", ['H | Returns', 'K | Credit']],
])('%s is defined value by value', async (_, sql, rows) => {
  expect((await ask(sql)).record.defined?.map(({ row }) => row)).toEqual(rows);
});

test.each([
  [
    'a value that the question names',
    "SELECT count(*) AS n FROM zz_vk WHERE vk_cl = '310'",
    { question: 'How many has client 310?' },
  ],
  ['a count that happens to be a key', 'SELECT vk_cl FROM zz_vk GROUP BY vk_cl HAVING count(vk_cl) < 310', {}],
  ['a value that no row has', "SELECT count(*) AS n FROM zz_vk WHERE vk_ka <> 'Z'", {}],
] as const)('%s is not told', async (_, sql, options) => {
  expect((await ask(sql, options)).record.defined).toBeUndefined();
});

test('a narrow database defines a value by a declared key', async () => {
  const setup = `CREATE TABLE kind (code TEXT, name TEXT); INSERT INTO kind VALUES ('C', 'Order'), ('A', 'Inquiry'); ${CODES}`;
  const declared = { vk_ka: ['kind', 'code'] } as const;
  const { record } = await ask(WHERE, { setup, declared });
  expect(record.defined).toContainEqual({ operator: 'op_answer', sql: "vk_ka = 'C'", row: 'C | Order' });
});

test('a narrow database defines a value by a key that its rows show', async () => {
  const setup = `CREATE TABLE part (id TEXT, name TEXT); ${numbers(40)} INSERT INTO part SELECT '0010' || (10 + i), 'Bolt of size ' || i FROM n;
CREATE TABLE sale (part TEXT, pieces INTEGER); ${numbers(400)} INSERT INTO sale SELECT '0010' || (10 + i % 40), i FROM n;`;
  const { record } = await ask("SELECT sum(pieces) AS n FROM sale WHERE part = '001017'", { setup });
  expect(record.defined?.map(({ row }) => row)).toEqual(['001017 | Bolt of size 7']);
});

const PARTS = `CREATE TABLE part (id TEXT, lang TEXT, name TEXT); INSERT INTO part VALUES ('017', 'E', 'Bolt M12x40'), ('018', 'E', 'Nut M12');
CREATE TABLE sale (id TEXT, pieces INTEGER, buyer TEXT); INSERT INTO sale VALUES ('017', 5, 'Meyer'), ('018', 6, 'Huber');`;
const BOLTS = "SELECT sum(pieces) AS n FROM sale WHERE id = '017'";

test('a look defines a value by a row that says what the question names', async () => {
  const question = 'How many of Bolt M12x40 were sold?';
  const looks = ["SELECT id, name FROM part WHERE name LIKE '%M12x40%'"];
  expect((await ask(BOLTS, { setup: PARTS, question, looks })).record.defined).toEqual([
    { operator: 'op_answer', sql: "id = '017'", row: '017 | Bolt M12x40' },
  ]);
});

test('a row of a look that says nothing of the question defines nothing', async () => {
  const setup = PARTS.replaceAll('Bolt', 'Screw').replaceAll('Nut', 'Ring');
  const looks = ['SELECT id, buyer FROM sale'];
  const { record } = await ask(BOLTS, { setup, question: 'How many bolts were sold?', looks });
  expect(record.defined).toBeUndefined();
  expect(record.usedWithoutCheck).toEqual([{ operator: 'op_answer', sql: "id = '017'" }]);
});
