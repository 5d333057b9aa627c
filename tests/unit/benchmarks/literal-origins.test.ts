/** Which literals of a submitted query come from nowhere. */
import { unknownLiterals, type Origins } from '../../../src/benchmarks/literal-origins';

const unknown = (sql: string, origins: Partial<Origins>): readonly string[] =>
  unknownLiterals(sql, 'sqlite', { told: '', seen: '', clock: null, ...origins }).literals;

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

  test('even if a probe has shown it, where the query reads no row for it', () => {
    const seen = 'name Ann Lee\nn 57';
    expect(unknown("SELECT 'Ann Lee', 57", { told: 'Who paid most, and how much?', seen })).toEqual([
      "'Ann Lee'",
      '57',
    ]);
    expect(unknown('WITH a AS (SELECT 57 AS n) SELECT n FROM a', { told: 'How much?', seen })).toEqual(['57']);
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
    ['Patients in their 40s', 'SELECT count(*) FROM p WHERE age BETWEEN 40 AND 49'],
    ['What percentage is paid?', 'SELECT round(100.0 * sum(paid) / count(*), 2) FROM o'],
    ['The top three', 'SELECT a FROM t ORDER BY b DESC LIMIT 3'],
    ['The median', 'SELECT a FROM t ORDER BY a LIMIT 1 OFFSET (SELECT count(*) / 2 FROM t)'],
    ['In hours', 'SELECT (julianday(b) - julianday(a)) * 24 FROM t'],
    ['Visits in March 2100', "SELECT count(*) FROM v WHERE strftime('%Y-%m', d) = '2100-03'"],
    ['Visits in March 2100', "SELECT count(*) FROM v WHERE d >= '2100-03-01' AND d < '2100-04-01'"],
    ['Visits in the second quarter of 2100', "SELECT count(*) FROM v WHERE d BETWEEN '2100-04-01' AND '2100-06-30'"],
    ['Visits last month', "SELECT count(*) FROM v WHERE d >= '2100-11-01' AND d < '2100-12-01'"],
    ['Visits since 1 year ago', "SELECT count(*) FROM v WHERE d >= datetime('2100-12-31 23:59:00', '-1 year')"],
    ['Visits in the last 10 days', "SELECT count(*) FROM v WHERE d >= '2100-12-21'"],
    ['Shipped on weekends', "SELECT count(*) FROM v WHERE strftime('%w', d) IN ('0', '6')"],
    ['Is it paid?', "SELECT CASE WHEN paid = 1 THEN 'yes' ELSE 'no' END FROM o"],
    ['Names', "SELECT first || ' ' || last FROM p"],
  ])('%s %s', (told, sql) => {
    expect(unknown(sql, { told: `${told} ${CLOCK}` })).toEqual([]);
  });

  test('a code that a probe has shown', () => {
    const sql = "SELECT count(*) FROM visits WHERE kind = 'EMERGENCY ROOM' AND code = 8302";
    expect(unknown(sql, { told: 'ER visits' })).toEqual(["'EMERGENCY ROOM'", '8302']);
    expect(unknown(sql, { told: 'ER visits', seen: 'kind emergency room | clinic\ncode 8302' })).toEqual([]);
  });
});

test('a date that nothing leads to is found', () => {
  expect(unknown("SELECT count(*) FROM v WHERE d = '2100-07-19'", { told: `Visits last month. ${CLOCK}` })).toEqual([
    "'2100-07-19'",
  ]);
});

test('what cannot be parsed is said, and all its strings and numbers have to be known', () => {
  const sql = "SELECT substring(a from '[0-9]+') FROM t WHERE b = 'Ann Lee'";
  const found = unknownLiterals(sql, 'postgresql', { told: 'Who?', seen: '', clock: null });
  expect(found).toEqual({ literals: ["'Ann Lee'"], unparsed: true });
});
