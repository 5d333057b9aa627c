import { columnFacts } from '../../../src/database/profile/column-facts';
import { linksOf } from '../../../src/database/wide/links';
import { CATALOGUE_CHARS, catalogueText } from '../../../src/database/wide/catalogue';
import { indexedColumns, placeText, valueIndex } from '../../../src/database/wide/value-index';
import { describe as described, readFrom, times, type Given } from './profile/tables';

const LANDS = ['Norway', 'Côte d’Ivoire', 'South Korea', 'Sweden', 'Germany'];
const lands: Given = {
  name: 'land',
  columns: ['code text', 'bez text'],
  rows: LANDS.map((land, at) => [['NO', 'CI', 'KR', 'SE', 'DE'][at] ?? '', land]),
};
const parts: Given = {
  name: 'part',
  columns: ['nr text', 'tx text'],
  rows: times(60, (at) => [`00000${1000 + at}`, at === 7 ? 'Seal-kit DN 80' : `Valve ${at}`]),
};

const read = (tables: readonly Given[]) =>
  tables.map((given) => {
    const rows = readFrom(given);
    return { rows, facts: rows.columns.map(columnFacts) };
  });
const found = (question: string, ...tables: Given[]): string[] =>
  valueIndex(indexedColumns(read(tables)))
    .find(question)
    .map(placeText);

test.each([
  [
    'as it stands, with the code beside it',
    'How many customers are in Norway?',
    "'Norway' is land.bez where land.code = 'NO'",
  ],
  ['without accents', 'orders of cote divoire or Cote d Ivoire', "'Côte d’Ivoire' is land.bez where land.code = 'CI'"],
  ['spelled nearly so', 'customers in Norwey', "'Norway' is land.bez where land.code = 'NO'"],
  [
    'in other punctuation and with a plural',
    'how many seal kits DN-80 left us?',
    "'Seal-kit DN 80' is part.tx where part.nr = '000001007'",
  ],
  ['without its leading zeros', 'stock of part 1012', "'000001012' is part.nr"],
])('a value is found %s', (_, question, place) => {
  expect(found(question, lands, parts)[0]).toBe(place);
});

test('what the database does not hold, years and short codes are no places', () => {
  expect(found('turnover of 2023 in Portugal, no de', lands, parts)).toEqual([]);
});

test('columns that are not described are not in the index', () => {
  const open: Given = { ...lands, columns: ['code text'], rows: lands.rows.map(([code]) => [code ?? null]) };
  expect(JSON.stringify(indexedColumns(read([open])))).not.toContain('Norway');
});

const heads: Given = {
  name: 'head',
  columns: ['cl text', 'nr text', 'cust text'],
  rows: times(120, (at) => [at < 100 ? '310' : '300', `000${4500 + (at % 100)}`, `00${700 + (at % 30)}`]),
};
const lines: Given = {
  name: 'line',
  columns: ['nr text', 'pos text', 'qty int'],
  rows: times(300, (at) => [`000${4500 + (at % 100)}`, `0${at % 3}0`, (at * 7) % 50]),
};
const customers: Given = { name: 'customer', columns: ['id text', 'name text'], rows: times(30, (at) => [`${700 + at}`, `Name ${at}`]) }; // prettier-ignore
const linked = (...tables: Given[]): string[] =>
  linksOf(read(tables)).map(({ table, column, to, key, exact }) => `${table}.${column} ${to}.${key} ${exact}`);

test('a column leads to another whose values it has, although no client has them once', () => {
  expect(linked(heads, lines, customers)).toContain('line.nr head.nr 1');
});

test('a key that meets only without its padding is found, and marked', () => {
  expect(linked(heads, lines, customers)).toContain('head.cust customer.id 0');
});

test('quantities and running numbers lead nowhere', () => {
  const counters: Given = {
    name: 'counter',
    columns: ['n int', 'v text'],
    rows: times(80, (at) => [at + 1, `x${at} y`]),
  };
  expect(linked(lines, counters).filter((link) => /counter|qty/.test(link))).toEqual([]);
});

test.each([
  ['with its columns', 50, 'area_1_table_3 1: a, b'],
  ['with its rows', 500, 'area_1_table_3 1'],
  ['by the beginning of its name', 3_000, '{'],
])('the catalogue names every table %s if there is room, and stays within it', (_, count, part) => {
  const tables = times(count, (at) =>
    described({ name: `area_${at % 7}_table_${at}`, columns: ['a text', 'b text'], rows: [['x', 'y']] }),
  ).map((table) => (table.name.endsWith('_8') ? { ...table, rowEstimate: 0 } : table));
  const schema = { dialect: 'sqlite' as const, tables, version: 'v', fingerprint: 'f' };
  const text = catalogueText(schema, new Map(), []);
  expect(text.length).toBeLessThanOrEqual(CATALOGUE_CHARS);
  expect(text).toContain(count === 50 ? 'area_3_table_3 1: a, b' : part.replace('area_1_', 'area_3_'));
  if (count === 50) expect(text).toContain('without rows: area_1_table_8');
});
