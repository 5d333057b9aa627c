/** What a question sees of a database of many tables: documents, what they are checked against, and decoys. */
import { overviewOf } from '../../../src/database/wide/overview';
import { WIDE_CHARS, wideSchema, type Overview } from '../../../src/database/wide/schema-text';
import { valueIndex } from '../../../src/database/wide/value-index';
import { describe as described, readFrom, times, type Given } from './profile/tables';

let state = 7;
const next = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
};
const client = (at: number): string => (at % 2 === 0 ? '100' : '200');
const cust = (at: number): string => `00002${1_000 + at * 7}`;
const item = (at: number): string => `0000000${50_000 + at * 31}`;
const LANDS = ['SE', 'NO', 'DE', 'FR', 'IT'];
const MONTHS = ['202301', '202302', '202303', '202304', '202305', '202306'];
const REASONS = times(11, (at) => `R${at + 10}`);

const decoy = (at: number): Given => ({
  name: `aa_${at}`,
  columns: ['x_cl text', 'x_a text', 'x_b numeric', 'x_c text', 'x_d text'],
  rows: times(120, () => [client(next(2)), cust(next(60)), next(9_000) / 100, item(next(40)), `2021010${next(9)}`]),
});

const tables: readonly Given[] = [
  ...times(45, decoy),
  { name: 'tcl', columns: ['m_cl text', 'm_tx text'], rows: [['100', 'LIVE'], ['200', 'COPY']] }, // prettier-ignore
  {
    name: 'kd',
    columns: ['k_cl text', 'k_nr text', 'k_n text', 'k_ld text'],
    rows: times(120, (at) => [client(at), cust(at >> 1), `Firm ${at >> 1}x`, LANDS[(at >> 1) % 5] ?? '']),
  },
  { name: 'kdold', columns: ['o_nr text', 'o_n text'], rows: times(49, (at) => [String(21_000 + at * 7), `Old ${at}x`]) }, // prettier-ignore
  {
    name: 'hd',
    columns: ['h_cl text', 'h_nr text', 'h_ka text', 'h_kd text', 'h_dt text', 'h_wd text'],
    rows: times(800, (at) => [client(at), `00450${1_000 + (at >> 1) * 3}`, 'ABCD'[next(4)] ?? '', cust(next(60)), `2023${String(1 + next(6)).padStart(2, '0')}11`, next(20) === 0 ? '00000000' : '20230711']), // prettier-ignore
  },
  {
    name: 'ln',
    columns: ['l_cl text', 'l_nr text', 'l_ps text', 'l_it text', 'l_me text', 'l_qt numeric', 'l_nw numeric', 'l_ag text'], // prettier-ignore
    rows: times(1_600, (at) => [client(at), `00450${1_000 + ((at >> 1) % 400) * 3}`, `0000${1 + Math.floor(at / 800)}0`, item(next(40)), ['ST', 'KAR'][next(2)] ?? '', next(90) + 0.5, next(90_000) / 100, REASONS[next(30)] ?? '']), // prettier-ignore
  },
  { name: 'ar', columns: ['a_cl text', 'a_nr text', 'a_ty text'], rows: times(80, (at) => [client(at), item(at >> 1), 'P']) }, // prettier-ignore
  {
    name: 'artx',
    columns: ['t_cl text', 't_nr text', 't_sp text', 't_tx text'],
    rows: times(160, (at) => [client(at), item(at >> 2), 'DE'[(at >> 1) % 2] ?? '', `${(at >> 1) % 2 === 0 ? 'Pumpe' : 'Pump'} K${at >> 2}`]), // prettier-ignore
  },
  {
    name: 'arme',
    columns: ['u_cl text', 'u_nr text', 'u_me text', 'u_zz integer', 'u_nn integer'],
    rows: times(160, (at) => [client(at), item(at >> 2), ['ST', 'KAR'][(at >> 1) % 2] ?? '', (at >> 1) % 2 === 0 ? 1 : 12, 1]), // prettier-ignore
  },
  {
    name: 'ssum',
    columns: ['s_cl text', 's_ym text', 's_it text', 's_mg numeric'],
    rows: times(240, (at) => ['100', MONTHS[Math.floor(at / 40)] ?? '', item(at % 40), next(4_000)]),
  },
  { name: 'tka', columns: ['ka text', 'sp text', 'tx text'], rows: times(8, (at) => ['ABCD'[at >> 1] ?? '', 'DE'[at % 2] ?? '', `Kind ${at >> 1}`]) }, // prettier-ignore
  { name: 'tag', columns: ['ag text', 'sp text', 'tx text'], rows: times(22, (at) => [REASONS[at >> 1] ?? '', 'DE'[at % 2] ?? '', `Refused for ${at}`]) }, // prettier-ignore
];

let overview: Overview;
const description = { dialect: 'postgresql' as const, tables: tables.map(described), version: 'v', fingerprint: 'f' };
beforeAll(async () => {
  const options = { values: true, isLate: () => false };
  const { columns, ...content } = await overviewOf(description, tables.map(readFrom), options, () => Promise.resolve());
  overview = { ...content, index: valueIndex(columns) };
});
const schema = (question: string) => wideSchema(description, overview, { question });
const block = (text: string, table: string): string => text.split('\n\n').find((part) => part.startsWith(`TABLE ${table} (`)) ?? ''; // prettier-ignore

const question = 'How many of Pump K7 did customers in Sweden order in March 2023?';

test('what a document table leads to is its parent, not a copy that has most of its keys', () => {
  const of = (table: string, column: string): string[] =>
    overview.links.flatMap((each) =>
      each.table === table && each.column === column ? [`${each.to}.${each.key}`] : [],
    );
  expect(of('hd', 'h_kd')).toEqual(['kd.k_nr']);
  expect(of('ln', 'l_nr')).toEqual(['hd.h_nr']);
  expect(of('hd', 'h_ka')).toEqual(['tka.ka']);
  expect([...of('ln', 'l_ps'), ...of('hd', 'h_wd'), ...of('hd', 'h_dt')]).toEqual([]);
});

test('a table that belongs to another by its own key is none of those that nothing leads to', () => {
  const kinds = new Map(overview.kinds.map(({ table, kind }) => [table, kind]));
  expect(['hd', 'ln', 'kd', 'ar', 'artx', 'tka', 'tag', 'tcl'].map((table) => kinds.get(table))).toEqual(Array(8).fill('core')); // prettier-ignore
  expect(['arme', 'ssum'].map((table) => kinds.get(table))).toEqual(['figures', 'figures']);
  expect([...times(45, (at) => `aa_${at}`), 'kdold'].filter((table) => kinds.get(table) !== 'aside')).toEqual([]);
});

test('a declared key is reason enough', async () => {
  const [first, other] = times(2, decoy);
  const log: Given = { name: 'log', columns: ['at text'], rows: [['x'], ['y']] };
  const key = { columns: ['x_c'], table: 'aa_1', references: ['x_c'] };
  const given = [{ ...first!, foreignKeys: [key] }, other!, log];
  const options = { values: true, isLate: () => false };
  const made = await overviewOf({ tables: given.map(described) }, given.map(readFrom), options, () =>
    Promise.resolve(),
  );
  expect(made.kinds.map(({ kind }) => kind)).toEqual(['core', 'core', 'aside']);
});

test('documents come with head, lines, code tables, units and stored totals; decoys are names', () => {
  const { text, shown } = schema(question);
  expect([...(shown ?? [])].sort()).toEqual(['ar', 'arme', 'artx', 'hd', 'kd', 'ln', 'ssum', 'tag', 'tcl', 'tka']);
  expect(text.length).toBeLessThan(WIDE_CHARS);
  expect(text).toMatch(/nothing leads to these: aa_0 120, .*kdold 49/);
  expect(block(text, 'tag').match(/row: /g)).toHaveLength(22);
  expect(text).toMatch(/; tcl, tka, tag with all rows/);
  expect(block(text, 'hd')).toContain('h_ka -- D (');
  expect(block(text, 'hd')).toContain('row: 100 | 004501000');
});

test('what is the same in most tables is told once', () => {
  const { text } = schema(question);
  expect(text).toMatch(/-- \*_cl of 5\d tables: 100, 200; -> tcl\.m_cl/);
  expect(block(text, 'hd')).toContain('\n  h_cl\n');
  expect(text).toContain('; columns without a type are text;');
  expect(block(text, 'arme')).toContain('u_zz integer');
});

test('where models see no values, none is told', async () => {
  const options = { values: false, isLate: () => false };
  const { columns, ...content } = await overviewOf(description, tables.map(readFrom), options, () => Promise.resolve());
  const { text } = wideSchema(description, { ...content, index: null }, { question });
  expect(text).toMatch(/-- \*_cl of 5\d tables: the same few values; -> tcl\.m_cl/);
  expect(JSON.stringify([content, columns])).not.toMatch(/LIVE|Firm|"[12]00"/);
});

test('the beginning is the same for every question', () => {
  const [one, other] = [schema(question).text, schema('Which customers are in Norway?').text];
  const end = one.indexOf("-- where the question's words");
  expect(end).toBeGreaterThan(500);
  expect(other.slice(0, end)).toBe(one.slice(0, end));
  expect(schema(question).text).toBe(one);
});

test('a land is found by its stored ISO code, in the language of the question', () => {
  expect(schema(question).text).toContain("'Sweden' is kd.k_ld = 'SE'");
  expect(schema('Umsatz in Schweden').text).toContain("'Schweden' is kd.k_ld = 'SE'");
  expect(schema('Umsatz in Japan').text).not.toContain('Japan');
});

test('a short word, or one that only resembles a part of a value, is no place', async () => {
  const given: Given[] = [{ name: 't', columns: ['c text', 'x text'], rows: [['USD', 'US dollar'], ['000', 'DELIVERY SYSTEM'], ['TES', 'Tessera Works Ltd']] }]; // prettier-ignore
  const options = { values: true, isLate: () => false };
  const made = await overviewOf({ tables: given.map(described) }, given.map(readFrom), options, () =>
    Promise.resolve(),
  );
  const found = (question: string): (string | undefined)[] => valueIndex(made.columns).find(question).map(([best]) => best?.value); // prettier-ignore
  expect(found('What left us, and was delivered?')).toEqual([]);
  expect(found('What did we send to Tessera in May?')).toEqual(['Tessera Works Ltd']);
});
