import { formattedSql } from '../../../src/report/sql-section';

const LONG = `WITH op_paid AS (
SELECT id, amount FROM orders WHERE state = 'paid' and note->>'a' = 'x  y' -- paid; only
)
SELECT sum(amount) AS total, count(*) FILTER (WHERE amount > 1.5) FROM op_paid LEFT JOIN other USING (id) GROUP BY 1`;

test('a long statement is laid out, with its strings and comments as they were', () => {
  const text = formattedSql(LONG);
  expect(text.split('\n').every((line) => line.length < 80)).toBe(true);
  expect(text).toContain('  op_paid AS (\n    SELECT\n      id,\n      amount\n    FROM\n      orders\n');
  expect(text).toContain("'x  y' -- paid; only\n");
  expect(formattedSql(text)).toBe(text);
});

test.each([
  ['a statement of one line', "SELECT count(*) FROM orders WHERE state='paid'"],
  ['what a layout would change', `SELECT 'a'\n'b' AS joined, ${'x, '.repeat(40)} y FROM t`],
])('%s stays as it is', (_, sql) => {
  expect(formattedSql(sql)).toBe(sql);
});

test('a formatter that is not installed is no reason to show the SQL as it is', () => {
  jest.isolateModules(() => {
    jest.doMock('sql-formatter', () => {
      throw new Error("Cannot find module 'sql-formatter'");
    });
    const { formattedSql: withoutIt } = jest.requireActual<{ formattedSql: typeof formattedSql }>(
      '../../../src/report/sql-section',
    );
    expect(() => withoutIt(LONG)).toThrow("Cannot find module 'sql-formatter'");
  });
  jest.dontMock('sql-formatter');
});

test('a statement is laid out by the first dialect that reads it, and by no other', () => {
  const languages: string[] = [];
  jest.isolateModules(() => {
    jest.doMock('sql-formatter', () => ({
      format: (sql: string, { language }: { language: string }) => {
        languages.push(language);
        return sql.replace(' FROM', '\nFROM');
      },
    }));
    const { formattedSql: counted } = jest.requireActual<{ formattedSql: typeof formattedSql }>(
      '../../../src/report/sql-section',
    );
    expect(counted(LONG)).toContain('amount\nFROM');
  });
  jest.dontMock('sql-formatter');
  expect(languages).toEqual(['postgresql']);
});

test.each([
  ['SQLite', 'SELECT [a b], `c` FROM "t" WHERE x == 1 AND name GLOB \'a*\' AND length(name) > 12345678901234567890'],
  [
    'PostgreSQL',
    `SELECT x::date, $$it's$$, E'a\\'b', a->'b'->>'c', '{}'::jsonb @> y FROM t WHERE a ~* 'b' AND b <> ALL (c)`,
  ],
  [
    'Snowflake',
    'SELECT v:a.b::string, $1 FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1 AND a > 12345',
  ],
])('syntax of %s alone keeps every token', (_, sql) => {
  const plain = (text: string): string => text.replace(/\s+/g, '');
  expect(plain(formattedSql(sql))).toBe(plain(sql));
});
