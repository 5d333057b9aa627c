/** A layer as files of a dbt project. The tests run in SQLite here, after their Jinja was rendered. */
import Database from 'libsql';
import fc from '../../helpers/property';
import { parse } from 'yaml';
import type { LayerEntry } from '../../../src/domain';
import { dbtFiles, fileName, plainJinja } from '../../../src/layer/dbt';
import { layerOf } from '../../../src/layer/state';
import { notesOfDbt } from '../../../src/database/documentation';
import { readAsBigQuery } from '../../helpers/bigquery-sql';
import { AT, entryOf } from '../../helpers/kept-layer';

const filesOf = (
  entries: readonly LayerEntry[],
  width = 3,
  dialect: 'sqlite' | 'bigquery' = 'sqlite',
): Record<string, string> => {
  const { entries: held } = layerOf(entries.map((entry) => ({ kind: 'proved', at: AT, entry })));
  const files = dbtFiles(
    'my shop',
    dialect,
    'public',
    held,
    held.map((each) => ({ held: each, width })),
  );
  return Object.fromEntries(files.map(({ path, text }) => [path, text]));
};
/** Only the expression that `plainJinja` writes is known; whatever else Jinja would begin with is a mistake. */
const rendered = (text: string): string => {
  const plain = text.replaceAll("{{ '{' }}", '\u0000');
  expect(plain).not.toMatch(/\{[{%#]/);
  return plain.replaceAll('\u0000', '{');
};
const testOf = (entry: LayerEntry, width?: number): string =>
  rendered(filesOf([entry], width)[`tests/${entry.entryId}.sql`]!);

const CENTS = entryOf({});
const HOSTILE = `x' */ "y" -- \n\r\u2028; DROP TABLE orders; {{ env_var('PATH') }} {% do x %} {# c #} {{{%: - &a *b | "`;

test('a name that YAML 1.1 takes for something else is text for dbt', () => {
  const columns = ['no', 'on', 'y', '1_000', '1:30', '0o7', 'null'];
  const named = entryOf({ columns: columns.map((column) => `orders.${column}`) });
  const source = filesOf([named])['models/my_shop/sources.yml']!;
  const [{ tables }] = (
    parse(source, { version: '1.1' }) as { sources: { tables: { columns: { name: unknown }[] }[] }[] }
  ).sources as [{ tables: { columns: { name: unknown }[] }[] }];
  expect(tables[0]!.columns.map(({ name }) => name)).toEqual(columns);
});

test('sources carry what is proved of tables and columns, by schema', () => {
  const abroad = entryOf({ check: 'SELECT 1', statement: 'Other.', tables: ['sales.t'], columns: ['sales.t.A b'] });
  const source = filesOf([CENTS, abroad])['models/my_shop/sources.yml']!;
  const cents = 'orders.total is in cents.';
  expect(parse(source)).toEqual({
    version: 2,
    sources: [
      {
        ...{ name: 'my_shop', schema: 'public' },
        tables: [
          {
            name: 'orders',
            columns: [{ name: 'total', description: cents }, { name: 'paid' }],
          },
        ],
      },
      {
        ...{ name: 'my_shop_sales', schema: 'sales' },
        tables: [{ name: 't', columns: [{ name: 'A b', description: 'Other.' }] }],
      },
    ],
  });
  expect(notesOfDbt('sources.yml', source)).toContainEqual({
    ...{ table: 'public.orders', column: 'total', text: cents, source: 'sources.yml' },
  });
});

test('hostile text stays text in YAML, in comments and for Jinja', () => {
  const entry = entryOf({
    ...{ statement: HOSTILE, rows: HOSTILE, tables: [HOSTILE], columns: [`${HOSTILE}.${HOSTILE}`] },
    check: `SELECT count(*), sum(note = '{{ 1 }}{% x %}'), sum(note = '{#') FROM orders -- end`,
    rivals: [{ reading: HOSTILE, matching: 0, examined: 40, refuted: true }],
  });
  const files = filesOf([entry]);
  expect(Object.keys(files)).toEqual(['models/my_shop/sources.yml', `tests/${entry.entryId}.sql`]);
  const names: string[] = [];
  JSON.stringify(parse(files['models/my_shop/sources.yml']!), (key, value: unknown) => {
    if (typeof value === 'string' && key !== '') names.push(rendered(value));
    return value;
  });
  expect(names.join('')).toContain("DROP TABLE orders; {{ env_var('PATH') }} {% do x %} {# c #} {{{%: - &a *b | \"");
  const [first, second, third, ...sql] = testOf(entry).split('\n');
  for (const line of [first, second, third]) expect(line).toMatch(/^-- /);
  expect(sql.join('\n')).not.toContain('DROP');
  expect(sql.slice(0, 3)).toEqual([
    'with gate_check (examined, matching, rival_1) as (',
    `SELECT count(*), sum(note = '{{ 1 }}{% x %}'), sum(note = '{#') FROM orders`,
    '),',
  ]);
});

test('BigQuery can read a test', () => {
  const text = filesOf([CENTS], 3, 'bigquery')[`tests/${CENTS.entryId}.sql`] ?? '';
  expect(text).toContain('select null as examined, null as matching, null as rival_1 FROM UNNEST([1]) where false');
  expect(() => readAsBigQuery(text)).not.toThrow();
});

test('any text is rendered to itself', () => {
  const brace = fc.string({ unit: fc.constantFrom('{', '}', '%', '#', "'", ' ', 'x') });
  fc.assert(fc.property(brace, (text) => expect(rendered(plainJinja(text))).toBe(text)));
});

describe('the test gives a row when the claim no longer holds', () => {
  const counts = (examined: unknown, matching: unknown, ...rivals: unknown[]): string =>
    `SELECT ${[examined, matching, ...rivals].join(', ')}`;
  const fails = (check: string, more: Partial<LayerEntry> = {}): boolean => {
    const width = new Database(':memory:').prepare(check).columns().length;
    return new Database(':memory:').prepare(testOf(entryOf({ check, ...more }), width)).all().length > 0;
  };
  const exceptions = { matching: 39, examined: 40 };
  const same = { reading: 'b', matching: 40, examined: 40, refuted: false };

  test.each([
    ['all rows match', counts(40, 40, 0), {}, false],
    ['one row less matches', counts(40, 39, 0), {}, true],
    ['one row less matches, as at the proof', counts(40, 39, 0), exceptions, false],
    ['a smaller share than at the proof', counts(400, 389, 0), exceptions, true],
    ['too few match', counts(40, 37, 0), exceptions, true],
    ['all match again', counts(40, 40, 39), exceptions, false],
    ['no rows', counts(0, 'NULL', 'NULL'), {}, true],
    ['four rows', counts(4, 4, 0), {}, true],
    ['the rival matches as many', counts(40, 40, 40), {}, true],
    ['the rival matches nearly as many, beside exceptions', counts(400, 390, 383), exceptions, true],
    ['the rival is two points lower', counts(400, 390, 382), exceptions, false],
    ['one that gave the same answer need not lose', counts(40, 40, 0, 40), { rivals: [...CENTS.rivals, same] }, false],
    ['the rival is counted over its own rows', counts(40, 40, 40, 0), {}, false],
    ['the rival leaves rows out', counts(40, 40, 20, 20), {}, true],
    ['no row of counts', `${counts(40, 40, 0)} WHERE 0`, {}, true],
    ['two rows of counts', `${counts(40, 40, 0)} UNION ALL ${counts(41, 41, 0)}`, {}, true],
    ['large counts', counts(4e9, 4e9, 1), {}, false],
  ])('%s', (_, check, more, expected) => {
    expect(fails(check, more)).toBe(expected);
  });
});

test('a check whose columns do not fit its rivals becomes no test', () => {
  expect(Object.keys(filesOf([CENTS], 5))).toEqual(['models/my_shop/sources.yml']);
});

test('names of files', () => {
  expect(['my shop', '../../etc/passwd', 'a.b-c', '***'].map(fileName)).toEqual([
    ...['my_shop', 'etc_passwd', 'a_b_c', 'database'],
  ]);
});
