import { readQuery, shown, textOf } from '../../../src/sql/tree';

it.each([
  'SELECT CAST(a AS SIGNED), CAST(b AS unsigned) FROM t',
  "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR '; ') FROM t",
  "SELECT group_concat(a separator ';') FROM t",
  String.raw`SELECT t.a FROM JSON_TABLE('[{"a": 1}]', '$[*]' COLUMNS (o FOR ORDINALITY, a int PATH '$.a', NESTED PATH '$.b' COLUMNS (c int PATH '$'))) AS t`,
  "SELECT REPLACE(a, 'x', 'y'), DATABASE() FROM t",
  String.raw`SELECT 'a\', a FROM t WHERE b = '\'`,
  'SELECT `a b` FROM `t`',
])('%s is read, and shown as it was written', (sql) => {
  const query = readQuery(sql, 'mysql');
  expect(query && shown(query)).toBe(sql);
});

it('a name in double quotes is a name, in backticks', () => {
  const query = readQuery('SELECT "a""b", "c" FROM "t"', 'mysql');
  expect(query && shown(query)).toBe('SELECT `a"b`, `c` FROM `t`');
});

it('what is marked does not make different texts equal', () => {
  const texts = [';', ','].map((by) => readQuery(`SELECT group_concat(a SEPARATOR '${by}') FROM t`, 'mysql'));
  expect(texts[0] && textOf(texts[0])).not.toBe(texts[1] && textOf(texts[1]));
});
