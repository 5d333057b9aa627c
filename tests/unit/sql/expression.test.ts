import Database from 'libsql';
import { isForegone, isWithItself } from '../../../src/sql/expression';
import { predicateStatements } from '../../../src/sql/proof';

const NONE = 'SELECT NULL AS n, NULL AS kind WHERE 1 = 0';
const NOTHING = 'SELECT NULL AS n, NULL AS kind';
const SOME = "SELECT 3 AS n, 'a' AS kind UNION ALL SELECT 7, 'b' UNION ALL SELECT 7, 'b'";
const ONE = "SELECT 3 AS n, 'a' AS kind";

function gives(probe: string, predicate: string): unknown {
  const hypothesis = { id: 'h1', mapping: '', expectation: '', predicates: [predicate], agreement: null, bodyId: null };
  const [statement] = predicateStatements(probe, { hypotheses: [hypothesis] }, 'sqlite');
  const database = new Database(':memory:');
  try {
    const rows = database
      .prepare(statement ?? '')
      .raw(true)
      .all() as unknown[][];
    return rows.length === 1 ? rows[0]?.[0] : `${rows.length} rows`;
  } finally {
    database.close();
  }
}

describe('S1: a claim that comes out the same whatever the probe finds', () => {
  test.each([
    'count(*) >= 0',
    'COUNT( * )>=0 ;',
    '(count(*)) > -1',
    '0 <= count(DISTINCT n)',
    'count(*) <> -1',
    'count(*) < 0',
    '-1 > count(*)',
    'count(n) IS NOT NULL',
    'count(*) FILTER (WHERE n > 5) >= 0',
    "(SELECT count(*) FROM observation WHERE kind = ' from ') >= 0",
    '(SELECT count(*) AS c FROM observation) is null',
    'SELECT count(*) >= 0 FROM observation',
    '(SELECT count(CASE WHEN n > 5 THEN 1 END) >= 0 FROM observation WHERE n > 1)',
    '(count(*) >= 0)',
    'NOT (count(*) < 0)',
    'count(n) = count( n )',
    'count(*) >= 0 OR count(n) > -1',
    'SELECT count(*) >= 0 FROM observation WHERE n IN (SELECT n FROM observation GROUP BY n LIMIT 1)',
  ])('is known by its form: %s', (predicate) => {
    expect(isForegone(predicate, 'sqlite')).toBe(true);
    const found = [NONE, NOTHING, ONE, SOME].map((probe) => gives(probe, predicate));
    expect(new Set(found).size).toBe(1);
  });

  test.each([
    '1 = 1',
    "TRUE AND 'a' <> 'b'",
    '(SELECT 1 = 1 FROM observation LIMIT 1)',
    'SELECT TRUE FROM observation',
    'CASE WHEN 1 = 1 THEN TRUE END',
    'CAST(1 AS integer) = 1',
    "abs(1) = 1 AND DATE('now') > '2020-01-01'",
    'SELECT (1) = 1 FROM observation -- count(n)',
  ])('is a constant, also beside the observation: %s', (predicate) =>
    expect(isForegone(predicate, 'sqlite')).toBe(true),
  );

  test.each([
    'count(*) > 0',
    'count(*) >= 1',
    'count(*) <= 3',
    'count(*) = 0',
    '0 < count(*)',
    '0 >= count(n)',
    'count(*) FILTER (WHERE n > 7) = 0',
    'NOT EXISTS (SELECT 1 FROM observation WHERE n > 7)',
    'EXISTS (SELECT 1 FROM observation)',
    'sum(n) >= 0',
    'min(n) >= 0',
    'count(*) - 3 >= 0',
    '3 - count(*) >= 0',
    'max(n) - count(*) >= 0',
    'count(*) + min(n) >= 0',
    'n IS NOT NULL',
    '(SELECT count(*) - 9 FROM observation) >= 0',
    '(SELECT sum(n) - count(*) FROM observation) >= 0',
    '(SELECT count(*) FROM observation HAVING count(*) > 2) >= 0',
    '(SELECT count(*) FROM observation GROUP BY kind LIMIT 1) >= 0',
    '(SELECT TRUE FROM observation WHERE n = 3)',
    'SELECT n = 3 FROM observation LIMIT 1',
    'count(*) >= 0 AND max(n) = 7',
    "kind = 'count(*) >= 0'",
    'count(*) >= 0 OR max(n) = 7',
    'count(*) OVER () >= 0',
    'sum(1) >= 3',
    'n IS DISTINCT FROM 3',
    'SELECT 3 IS NOT DISTINCT FROM n FROM observation',
  ])('is not: %s', (predicate) => expect(isForegone(predicate, 'sqlite')).toBe(false));

  test('a number agrees with itself', () => {
    const examined = '(SELECT count(*) FROM observation)';
    expect(isWithItself({ matching: 'count( * )', examined }, 'sqlite')).toBe(true);
    expect(isWithItself({ matching: '(SELECT COUNT(*) FROM observation WHERE n > 0)', examined }, 'sqlite')).toBe(
      false,
    );
    expect(isWithItself({ matching: 'fits', examined: 'n' }, 'sqlite')).toBe(false);
  });
});
