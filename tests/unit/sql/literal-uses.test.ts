import { filteredBy, literalUses } from '../../../src/sql/literal-uses';

const STORED = new Set(['kind', 'client', 'paid_on', 'amount', 'device', 'seconds', 'shipped_at', 'note']);

const usesOf = (sql: string) =>
  (literalUses(sql, STORED, 'postgresql') ?? []).map(({ columns, values, filters }) => ({ columns, values, filters }));

test.each([
  ['a comparison', "SELECT 1 FROM t WHERE t.kind = 'C'", { columns: ['kind'], values: ['C'], filters: true }],
  ['a list', "SELECT 1 FROM t WHERE kind NOT IN ('C', 'D')", { columns: ['kind'], values: ['C', 'D'], filters: true }],
  [
    'a blank',
    "SELECT 1 FROM t WHERE coalesce(trim(note), '') = ''",
    { columns: ['note'], values: [''], filters: true },
  ],
  [
    'a range',
    "SELECT 1 FROM t WHERE paid_on BETWEEN date '2024-01-01' AND '2024-01-31'",
    { columns: ['paid_on'], values: ['2024-01-01', '2024-01-31'], filters: true },
  ],
  [
    'a condition of a join',
    'SELECT 1 FROM t JOIN u ON t.id = u.id AND u.client = 310',
    { columns: ['client'], values: ['310'], filters: true },
  ],
  [
    'a subquery',
    "SELECT 1 FROM (SELECT id FROM t WHERE kind LIKE 'C%') s",
    { columns: ['kind'], values: ['C%'], filters: true },
  ],
  [
    'a CTE',
    "WITH s AS (SELECT id FROM t WHERE kind = 'C') SELECT count(*) FROM s",
    { columns: ['kind'], values: ['C'], filters: true },
  ],
  ['a factor', 'SELECT sum(amount * 0.1) FROM t', { columns: ['amount'], values: ['0.1'], filters: false }],
  ['a divisor', 'SELECT sum(amount) / 100.0 FROM t', { columns: ['amount'], values: ['100'], filters: false }],
  [
    'a branch and what it gives',
    "SELECT sum(CASE WHEN device = 'B' THEN -2 ELSE 1 END) FROM t",
    { columns: ['device'], values: ['B', '-2'], filters: false },
  ],
  [
    'a branch of a value',
    "SELECT CASE kind WHEN 'C' THEN 'order' END FROM t",
    { columns: ['kind'], values: ['C'], filters: false },
  ],
  [
    'what is computed',
    'SELECT 1 FROM (SELECT amount * x AS y FROM t) s WHERE y > 30',
    { columns: ['y'], values: ['30'], filters: true },
  ],
])('%s is a use', (_, sql, use) => {
  expect(usesOf(sql)).toEqual([use]);
});

test.each([
  ['the rank of a window', 'SELECT 1 FROM (SELECT row_number() OVER () AS rn FROM t) s WHERE rn = 1'],
  ['groups of several rows', 'SELECT kind FROM t GROUP BY kind HAVING count(*) > 1'],
  ['a percentage', 'SELECT 100.0 * count(*) FILTER (WHERE paid_on IS NOT NULL) / count(*) FROM t'],
  ['a format', "SELECT to_char(paid_on, 'YYYY-MM') FROM t GROUP BY 1 LIMIT 5"],
  ['places', 'SELECT round(sum(amount), 2) FROM t'],
  ['columns', 'SELECT 1 FROM t JOIN u ON t.kind = u.kind'],
])('%s is none', (_, sql) => {
  expect(usesOf(sql)).toEqual([]);
});

test('a text that cannot be read is told apart from one without literals', () => {
  expect(literalUses('SELECT FROM WHERE', STORED, 'postgresql')).toBeNull();
});

test('the same condition is told once', () => {
  expect(usesOf("SELECT 1 FROM t WHERE kind = 'C' UNION ALL SELECT 2 FROM t WHERE kind = 'C'")).toHaveLength(1);
});

test.each([
  ['a filter', "SELECT 1 FROM t WHERE kind = 'C'", ['kind']],
  ['through a join', "SELECT 1 FROM t JOIN u ON u.kind = t.type AND u.no = t.no WHERE t.type = 'C'", ['type', 'kind']],
  ['through two', 'SELECT 1 FROM t JOIN u ON u.b = t.a JOIN w ON w.c = u.b WHERE w.c > 3', ['c', 'b', 'a']],
  ['not by a value that is shown', "SELECT CASE kind WHEN 'C' THEN 2 END FROM t", []],
])('rows are chosen by %s', (_, sql, columns) => {
  expect(filteredBy(sql, 'postgresql')).toEqual(columns);
});

test('the padding of compared keys is no convention; that of a chosen key is', () => {
  const joined =
    "SELECT 1 FROM t JOIN u ON ltrim(t.client, '0') = ltrim(u.kind, '0') AND t.note = nullif(trim(u.device), '')";
  expect(usesOf(joined)).toEqual([]);
  expect(usesOf("SELECT 1 FROM t WHERE ltrim(client, '0') = '7'")).toEqual([
    { columns: ['client'], values: ['0', '7'], filters: true },
  ]);
});

test.each([
  ['equal', "SELECT 1 FROM t WHERE t.kind = 'C'", ['kind C']],
  ['not equal', "SELECT 1 FROM t WHERE 'C' <> kind", ['kind C']],
  ['one of a list', "SELECT 1 FROM t WHERE kind NOT IN ('C', 'D')", ['kind C', 'kind D']],
  ['a branch', "SELECT CASE WHEN kind = 'C' AND client = 310 THEN 5 END FROM t", ['kind C', 'client 310']],
  ['a case of a column', "SELECT CASE kind WHEN 'C' THEN 5 END FROM t", ['kind C']],
  ['an expression of it', 'SELECT client FROM t GROUP BY client HAVING count(kind) = 310', []],
  ['a bound', 'SELECT 1 FROM t WHERE amount > 310 AND seconds BETWEEN 3 AND 4', []],
  ['a factor', 'SELECT amount * 100 FROM t', []],
])('the codes that a column is set to: %s', (_, sql, codes) => {
  const uses = literalUses(sql, STORED, 'postgresql') ?? [];
  expect(uses.flatMap((use) => use.codes.map(({ column, value }) => `${column} ${value}`))).toEqual(codes);
});
