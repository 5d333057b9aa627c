/** Which literals of a submitted query come from nowhere. */
import { unknownLiterals, type Origins } from '../../../benchmarks/literal-origins';

const unknown = (sql: string, origins: Partial<Origins>): readonly string[] =>
  unknownLiterals(sql, 'sqlite', { told: '', seen: '', clock: null, ...origins });

const CLOCK = 'The current time is 2100-12-31 23:59:00.';

describe('an answer that is written into the SQL is found', () => {
  test.each<[string, string, string[]]>([
    ['How many patients are there?', 'SELECT 57', ['57']],
    ['How many patients are there?', 'SELECT 57 AS n FROM patients LIMIT 1', ['57']],
    ['Who paid most?', "SELECT 'Ann Lee'", ["'Ann Lee'"]],
    ['Who paid most?', "SELECT name FROM people WHERE name = 'Ann Lee'", ["'Ann Lee'"]],
    ['Which ids are due?', 'SELECT id FROM t WHERE id IN (1017, 1023)', ['1017', '1023']],
    ['How many are due?', 'SELECT count(*) - count(*) + 57 FROM t', ['57']],
    ['How many are due?', 'SELECT count(*) * 0 + 1017 FROM t', ['1017']],
    ['When was the last visit?', "SELECT '2099-03-17'", ["'2099-03-17'"]],
    ['How many are due?', 'WITH a AS (SELECT 57 AS n) SELECT n FROM a', ['57']],
  ])('%s %s', (told, sql, expected) => {
    expect(unknown(sql, { told: `${told} ${CLOCK}` })).toEqual(expected);
  });

  test.each([
    [`SELECT 'Ann Lee' AS "Ann Lee"`, ["'Ann Lee'"]],
    ["SELECT upper('Ann Lee'), round(42)", ["'Ann Lee'", '42']],
    ["SELECT substr('Ann Lee', 1)", ["'Ann Lee'", '1']],
    ['SELECT iif(1 = 1, 57, 0)', ['1', '57']],
    ["SELECT printf('Ann Lee')", ["'Ann Lee'"]],
    ["SELECT CAST(x'416E6E' AS TEXT)", ["'Ann'"]],
    ["VALUES ('Ann Lee', 57)", ["'Ann Lee'", '57']],
    ["VALUES (42), ('Ann Lee')", ['42', "'Ann Lee'"]],
    ["WITH v(a, b) AS (VALUES ('Ann Lee', 57)) SELECT a, b FROM v", ["'Ann Lee'", '57']],
    ["SELECT a FROM (SELECT 'Ann Lee' AS a, 57 AS b FROM people LIMIT 1)", ["'Ann Lee'", '57']],
    [`SELECT value FROM json_each('["Ann Lee"]')`, [`'["Ann Lee"]'`]],
    ['SELECT TRUE', ["'true'"]],
    ["SELECT '2100-11-30'", ["'2100-11-30'"]],
    ['SELECT 2099', ['2099']],
  ])('even if a probe has shown it, or it can be counted from the clock: %s', (sql, expected) => {
    const seen = 'name Ann Lee\nn 57 | 42 | 1 | 0';
    expect(unknown(sql, { told: `Who, how much, since when? ${CLOCK}`, seen, clock: '2100-12-31 23:59:00' })).toEqual(
      expected,
    );
  });

  test.each([
    ["SELECT * FROM (VALUES ('Ann Lee')) AS v(a)", ["'Ann Lee'"]],
    ["SELECT * FROM unnest(ARRAY['Ann Lee']) AS a", ["'Ann Lee'"]],
  ])('even if a probe has shown it: %s', (sql, literals) => {
    const origins = { told: 'Who?', seen: 'name Ann Lee', clock: null };
    expect(unknownLiterals(sql, 'postgresql', origins)).toEqual(literals);
  });

  test.each([
    ['SELECT name FROM people WHERE id IN (0, 7, 11)', ['7', '11']],
    ['SELECT name FROM people WHERE id BETWEEN 7 AND 7', ['7']],
    ['SELECT name FROM people WHERE paid = 1 AND 7 = id', ['7']],
    ['SELECT name FROM people ORDER BY 7 = id DESC LIMIT 1', ['7']],
    ['SELECT coalesce(max(a) + NULL, 7) FROM people', ['7']],
    ['SELECT 0 * count(*) + 0.4213 FROM people', ['0.4213']],
    ["SELECT 'Monday'", ["'Monday'"]],
    ["SELECT iif(count(*) > 0, 'Monday', '') FROM people", ["'Monday'"]],
    ["SELECT name FROM people WHERE code = '990'", ["'990'"]],
  ])('a small number, a share, or what looks like a format: %s', (sql, expected) => {
    expect(unknown(sql, { told: `Who is it? ${CLOCK}` })).toEqual(expected);
  });

  test.each([
    ["SELECT 'Ann Lee' WHERE EXISTS (SELECT a FROM people)", ["'Ann Lee'"]],
    ["SELECT 'Ann Lee' GROUP BY a", ["'Ann Lee'"]],
    ["SELECT a IS DISTINCT FROM b, 'Ann Lee' FROM people", ["'Ann Lee'"]],
  ])('even if a probe has shown it, whatever clause follows: %s', (sql, expected) => {
    expect(unknown(sql, { told: 'Who?', seen: 'name Ann Lee' })).toEqual(expected);
  });

  test('even if a probe has shown it, where the query reads no row for it', () => {
    const seen = 'name Ann Lee\nn 57';
    expect(unknown("SELECT 'Ann Lee', 57", { told: 'Who paid most, and how much?', seen })).toEqual([
      "'Ann Lee'",
      '57',
    ]);
    expect(unknown('WITH a AS (SELECT 57 AS n) SELECT n FROM a', { told: 'How much?', seen })).toEqual(['57']);
  });
});

describe('an answer beside what reads rows has to be told', () => {
  test.each([
    ["SELECT name, '2100-11-30' FROM people", ["'2100-11-30'"]],
    ['SELECT name, round(42), 1 FROM people', ['42', '1']],
    ["SELECT count(*), max('Ann Lee'), min(round(42)) FROM people", ["'Ann Lee'", '42']],
    ['SELECT name, TRUE FROM people', ["'true'"]],
    ["SELECT CASE WHEN 1 = 1 THEN 'yes' ELSE name END FROM people", ['1']],
    ["SELECT iif(1 = 1, 'yes', name) FROM people", ['1']],
  ])('%s', (sql, expected) => {
    const origins = { told: `Who paid most since when? ${CLOCK}`, clock: '2100-12-31 23:59:00' };
    expect(unknown(sql, origins)).toEqual(expected);
    expect(unknown(sql, { ...origins, seen: 'name Ann Lee\nd 2100-11-30 | yes | true\nn 42 | 1' })).toEqual(expected);
  });

  test('of aggregates alone that read no row, only what was told passes', () => {
    const seen = 'name Ann Lee';
    expect(unknown("SELECT max('Ann Lee') FROM people", { told: 'Who paid most?', seen })).toEqual(["'Ann Lee'"]);
    expect(unknown("SELECT max('Ann Lee') FROM people", { told: 'Is it Ann Lee?', seen })).toEqual([]);
  });

  test.each<[string, string]>([
    [
      'Female and male patients',
      "SELECT 'female', count(*) FROM p WHERE g = 'female' UNION SELECT 'male', count(*) FROM p",
    ],
    ['Which are paid?', 'SELECT id, max(CASE WHEN paid = 1 THEN 1 ELSE 0 END), sum(1) FROM o GROUP BY id'],
    ['Is it paid?', "SELECT id, CASE WHEN paid = 1 THEN 'yes' ELSE 'no' END FROM o"],
    ['Visits since last month', "SELECT count(*), date('2100-12-31', '-1 month') FROM v"],
  ])('%s %s', (told, sql) => {
    expect(unknown(sql, { told: `${told}. ${CLOCK}` })).toEqual([]);
  });
});

describe('what was told or seen, and what belongs to SQL, is no answer', () => {
  test.each<[string, string]>([
    ['Which drugs did patient 10023 get?', 'SELECT drug FROM p WHERE subject_id = 10023'],
    ['How many female patients are there?', "SELECT count(*) FROM p WHERE gender = 'female'"],
    ['Orders above five thousand dollars', 'SELECT * FROM o WHERE amount > 5000'],
    ['Orders above 1,500 dollars', 'SELECT * FROM o WHERE amount > 1500'],
    ['Won by more than five seconds', 'SELECT count(*) FROM r WHERE gap_ms > 5000'],
    ['At least 20 % of them', 'SELECT a FROM t WHERE share >= 0.2'],
    ['What percentage is paid?', 'SELECT round(100.0 * sum(paid) / count(*), 2) FROM o'],
    ['The top three', 'SELECT a FROM t ORDER BY b DESC LIMIT 3'],
    ['The median', 'SELECT a FROM t ORDER BY a LIMIT 1 OFFSET (SELECT count(*) / 2 FROM t)'],
    ['In hours', 'SELECT (julianday(b) - julianday(a)) * 24 FROM t'],
    ['Visits in March 2100', "SELECT count(*) FROM v WHERE strftime('%Y-%m', d) = '2100-03'"],
    ['Visits in March 2100', "SELECT count(*) FROM v WHERE d >= '2100-03-01' AND d < '2100-04-01'"],
    ['Visits last month', "SELECT count(*) FROM v WHERE d >= '2100-11-01' AND d < '2100-12-01'"],
    ['Visits since 1 year ago', "SELECT count(*) FROM v WHERE d >= datetime('2100-12-31 23:59:00', '-1 year')"],
    ['Shipped on weekends', "SELECT count(*) FROM v WHERE strftime('%w', d) IN ('0', '6')"],
    ['Visits in any March', "SELECT count(*) FROM v WHERE strftime('%m', d) = '03'"],
    ['Is it paid?', "SELECT CASE WHEN paid = 1 THEN 'yes' ELSE 'no' END FROM o"],
    ['Names', "SELECT first || ' ' || last FROM p"],
    ['Average price', "SELECT printf('%.2f', avg(price)) FROM o"],
    ['By month', "SELECT printf('%04d-%02d', y, m), coalesce(region, 'Unknown') FROM o"],
    ['Moving average', 'SELECT avg(a) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM t ORDER BY 2'],
    ['Due', "SELECT date(d, '+' || n || ' days') FROM t"],
  ])('%s %s', (told, sql) => {
    expect(unknown(sql, { told: `${told} ${CLOCK}` })).toEqual([]);
  });

  test('a code that a probe has shown', () => {
    const sql = "SELECT count(*) FROM visits WHERE kind = 'EMERGENCY ROOM' AND code = 8302";
    expect(unknown(sql, { told: 'ER visits' })).toEqual(["'EMERGENCY ROOM'", '8302']);
    expect(unknown(sql, { told: 'ER visits', seen: 'kind emergency room | clinic\ncode 8302' })).toEqual([]);
  });
});

test.each([
  ['sqlite', "SELECT json_extract(doc, '$.items[10].price') FROM o"],
  ['postgresql', "SELECT doc #>> '{items,10,price}', doc -> 'items' -> 10 ->> 'price' FROM o"],
] as const)('a path of JSON whose keys were seen, in %s', (dialect, sql) => {
  const of = (seen: string) => unknownLiterals(sql, dialect, { told: 'What does it cost?', seen, clock: null });
  expect(of('items {"id": 10, "price": 3}')).toEqual([]);
  expect(of('')).not.toEqual([]);
});

test.each(['999', '990.00', 'FM999,990.00'])('the format %s of a number is no number', (format) => {
  const sql = `SELECT to_char(a, '${format}') FROM t`;
  expect(unknownLiterals(sql, 'postgresql', { told: 'All', seen: '', clock: null })).toEqual([]);
});

test('a long line of signs takes no time', () => {
  const line = `${'-'.repeat(60)} end`;
  expect(unknown(`SELECT date(a, '${line}') FROM t`, { told: 'All' })).toEqual([`'${line}'`]);
});

test('a date that nothing leads to is found', () => {
  expect(unknown("SELECT count(*) FROM v WHERE d = '2100-07-19'", { told: `Visits last month. ${CLOCK}` })).toEqual([
    "'2100-07-19'",
  ]);
});
