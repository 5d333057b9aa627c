import type { SqlResult, SqlValue, TableDescription } from '../../../../src/domain';
import { interpretProfile, profileQueries, renderProfiles } from '../../../../src/search/profile';
import { formatOf, isNumberFormat } from '../../../../src/search/profile/formats';
import { jsonRemarks } from '../../../../src/search/profile/json-shape';
import { classOf } from '../../../../src/search/profile/queries';

const table: TableDescription = {
  name: 'ward.t', kind: 'table', comment: null, rowEstimate: 10, primaryKey: ['id'], uniqueKeys: [], foreignKeys: [],
  columns: [
    { name: 'id', type: 'integer', nullable: false, comment: null, samples: [] },
    { name: 'odd "name"', type: 'character varying(20)', nullable: true, comment: null, samples: [] },
    { name: 'doc', type: 'jsonb', nullable: true, comment: null, samples: [] },
  ],
}; // prettier-ignore

const rows = (...data: SqlValue[][]): SqlResult => ({
  kind: 'rows',
  columns: [],
  rows: data,
  truncated: false,
  elapsedMs: 1,
});
const timeout: SqlResult = { kind: 'timeout', afterMs: 5 };

test('the statements quote names, split the schema in PostgreSQL only, and share one row budget', () => {
  const postgres = profileQueries(table, ['id', 'odd "name"', 'doc', 'gone'], 'postgresql', {
    maxRows: 77,
    maxColumns: 30,
  });
  expect(postgres.columns.map(({ name }) => name)).toEqual(['id', 'odd "name"', 'doc']);
  expect(postgres.purposes).toEqual(['wide', 'values', 'json']);
  for (const sql of postgres.statements) {
    expect(sql).toContain('FROM "ward"."t" LIMIT 77');
    expect(sql).toContain('"odd ""name""" AS c1');
  }
  expect(profileQueries(table, ['id'], 'sqlite').statements[0]).toContain('FROM "ward.t" LIMIT');
  expect(profileQueries(table, ['gone'], 'sqlite').statements).toEqual([]);
});

test('a statement that failed costs only what it would have said', () => {
  const queries = profileQueries(table, ['id', 'odd "name"'], 'postgresql');
  const wide = rows(['9', 9, 9, '1', '9', null, null, null, null, '0', null, 8, 2, 'a', 'b', 1, 1, '1', 2, null, null]);
  const [id, name] = interpretProfile(queries, [wide, timeout]);
  expect(id).toEqual({
    table: 'ward.t',
    column: 'id',
    examined: 9,
    nulls: 0,
    distinct: 9,
    min: '1',
    max: '9',
    top: [],
    patterns: [],
    remarks: [],
  });
  expect(name).toMatchObject({ nulls: 1, distinct: 2, remarks: ['1 values have leading or trailing spaces'] });
  expect(interpretProfile(queries, [timeout, timeout])).toEqual([]);
});

test.each([
  ['2020-01-31', '9999-99-99'],
  ['+1:02.5', '+9:99.9'],
  ['Ann Lee-Smith', 'Aaa Aaa-Aa+'],
  ['ÉCOLE', 'A+'],
  ['1234567890123', '9+'],
  ['', ''],
])('the format of %s is %s', (text, format) => {
  expect(formatOf(text)).toBe(format);
});

test.each(['9', '+9', '-99.9', '99,9', '.9', '9+', '9+.9+'])('%s is the format of a number', (format) => {
  expect(isNumberFormat(format)).toBe(true);
});
test.each(['9:99', 'a9', '9 9', '9.9.9', '', '-'])('%s is not the format of a number', (format) => {
  expect(isNumberFormat(format)).toBe(false);
});

describe('JSON', () => {
  test('one shape is said as one, with the formats of its values', () => {
    expect(jsonRemarks(['{"b": 1, "a": {"x": "1:02"}}', '{"a": {"x": null}, "b": 2.5}'])).toEqual([
      'JSON of one shape: {a:{x},b}',
      '$.b: integer (1), number (1)',
      '$.a.x: "9:99" (1), null (1)',
    ]);
  });

  test('texts that are no JSON are counted, and none at all says nothing', () => {
    expect(jsonRemarks(['{"a": 1}', '{broken', '7'])[0]).toBe('2 of 3 values are not JSON objects or arrays');
    expect(jsonRemarks(['x', '5'])).toEqual([]);
  });

  test('arrays are looked into', () => {
    expect(jsonRemarks(['[{"t": "a1"}, {"t": "b22"}]'])).toEqual([
      'JSON of one shape: [{t}]',
      '$[].t: "a9" (1), "a99" (1)',
    ]);
  });
});

test.each<[string, string[], string]>([
  ['integer', [], 'number'],
  ['BIGINT UNSIGNED', [], 'number'],
  ['numeric(10,2)', [], 'number'],
  ['interval', [], 'text'],
  ['timestamp without time zone', [], 'time'],
  ['text', ['{"a":1}', '[1]'], 'json'],
  ['text', ['{curly} words', 'x'], 'text'],
  ['integer[]', [], 'text'],
  ['money', [], 'text'],
  ['bytea', [], 'binary'],
  ['any', [], 'text'],
  ['point', [], 'text'],
])('a column of type %s with samples %j is %s', (type, samples, expected) => {
  expect(classOf({ type, samples })).toBe(expected);
});

test('a document of hundreds of keys keeps to its room and still names them', () => {
  const keys = Array.from({ length: 400 }, (_, at) => `key_${at}`);
  const wide = (more: string): string => JSON.stringify(Object.fromEntries([...keys, more].map((key) => [key, 1])));
  const remarks = jsonRemarks([wide('x'), wide('y'), wide('z'.repeat(5_000))]);
  expect(remarks.join('').length).toBeLessThan(9_000);
  for (const key of ['key_0', 'key_39', 'key_40', 'key_250']) expect(remarks.join('; ')).toMatch(new RegExp(`[.]${key}\\b`));
  expect(remarks.at(-1)).toMatch(/^\d+ more paths: /);
}); // prettier-ignore

test('long documents are looked at, too: fewer of them', () => {
  for (const dialect of ['postgresql', 'sqlite', 'snowflake'] as const) {
    const sql = profileQueries(table, ['doc'], dialect).statements.at(-1);
    expect(sql).toMatch(/<= 4000 LIMIT 300/);
    expect(sql).toMatch(/> 4000 AND length\([^)]*\)* <= 64000 LIMIT 20/);
  }
});

describe('the text of a profile', () => {
  const plainColumn = { table: 't', column: 'c', examined: 9, nulls: 0, distinct: 2, min: null, max: null, patterns: [], remarks: [] }; // prettier-ignore

  test('quotes a value that a reader could not tell from what follows', () => {
    const top = ['open', 'a, b (3)', ' x', ''].map((value) => ({ value, count: 1 }));
    expect(renderProfiles([{ ...plainColumn, distinct: 4, top }], 1_000)).toContain(
      "values open (1), 'a, b (3)' (1), ' x' (1), '' (1)",
    );
  });

  test('has one line for each column, whatever stands in names, values and remarks', () => {
    const forged = 'x\n- salary: 1 distinct';
    const text = renderProfiles(
      [{ ...plainColumn, column: forged, table: `t\n${forged}`, top: [{ value: `${'long '.repeat(3)}${forged}`, count: 5 }], remarks: [forged] }],
      1_000,
    ); // prettier-ignore
    expect(text.split('\n')).toHaveLength(2);
  });
});
