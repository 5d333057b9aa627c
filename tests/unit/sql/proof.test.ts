import Database from 'libsql';
import fc from '../../helpers/property';
import type { HypothesisOutcome, PredicateOutcome, SqlResult, SqlValue, Test, TestOutcome } from '../../../src/domain';
import {
  hypothesisOutcomes,
  keepVerdict,
  predicateStatements,
  prove,
  readAgreement,
  readPredicate,
} from '../../../src/sql/proof';
import { namesSomething } from '../../../src/sql/expression';

const containing = (part: string): string => expect.stringContaining(part) as string;
const rows = (values: SqlValue[][]): SqlResult => ({
  kind: 'rows',
  columns: (values[0] ?? ['?']).map((_, index) => ({ name: `c${index}`, kind: 'other' as const })),
  rows: values,
  truncated: false,
  elapsedMs: 1,
});
const hypothesis = (id: string, predicates: string[], agreement: Test['hypotheses'][number]['agreement'] = null) => ({
  id,
  mapping: id,
  expectation: id,
  predicates,
  agreement,
  bodyId: null,
});
const outcome = (
  id: string,
  predicates: PredicateOutcome[],
  agreement: HypothesisOutcome['agreement'] = null,
): HypothesisOutcome => ({
  id,
  predicates: predicates.map((each) => ({ sql: 'p', outcome: each, note: null })),
  agreement,
});
const observed = (hypotheses: HypothesisOutcome[], result: SqlResult = rows([[1]])): TestOutcome => ({
  operator: 'op_a',
  probeSql: 'SELECT 1',
  result,
  hypotheses,
  materiality: null,
});
const supported = { hypothesis: 'h1', verdict: 'supported' as const, reason: 'r', overruled: null };
const proof = (test: TestOutcome, more: Partial<Parameters<typeof prove>[0]> = {}) =>
  prove({
    outcome: test,
    verdicts: [supported],
    winner: 'h1',
    bodyError: null,
    columnsDiffer: null,
    mode: 'execution',
    ...more,
  });

function run(sql: string): SqlResult {
  const database = new Database(':memory:');
  try {
    return rows(database.prepare(sql).raw(true).all() as SqlValue[][]);
  } finally {
    database.close();
  }
}

function judge(probe: string, predicate: string): PredicateOutcome {
  const [statement] = predicateStatements(probe, { hypotheses: [hypothesis('h1', [predicate])] }, 'sqlite');
  return readPredicate(run(statement ?? ''), 'sqlite').outcome;
}

describe('S2: predicates are evaluated by the database on the probe itself', () => {
  test.each([
    'SELECT 1 AS n UNION ALL SELECT 2;',
    'WITH t AS (SELECT 1 AS n UNION ALL SELECT 2) SELECT n FROM t',
    'SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2) ORDER BY n DESC; -- two rows',
  ])('any form of probe takes predicates: %s', (probe) => {
    const test = {
      hypotheses: [
        hypothesis('h1', ['(SELECT count(*) FROM observation) = 2;', '(SELECT max(n) FROM observation) > 5 -- no'], {
          matching: '(SELECT count(*) FROM observation WHERE n > 1)',
          examined: '(SELECT count(*) FROM observation)',
        }),
        hypothesis('h2', ['(SELECT max(nothing) FROM observation) = 1', 'SELECT sum(n) = NULL FROM observation']),
      ],
    };
    const statements = predicateStatements(probe, test, 'sqlite');
    const database = new Database(':memory:');
    const results = statements.map((sql): SqlResult => {
      try {
        return rows(database.prepare(sql).raw(true).all() as SqlValue[][]);
      } catch (error) {
        return { kind: 'sql-error', message: (error as Error).message, code: null, elapsedMs: 1 };
      }
    });
    database.close();
    const [h1, h2] = hypothesisOutcomes(test, results, 'sqlite');
    expect(h1).toMatchObject({
      predicates: [{ outcome: 'true' }, { outcome: 'false' }],
      agreement: { matching: 1, examined: 2 },
    });
    expect(h2?.predicates.map((each) => each.outcome)).toEqual(['not-established', 'not-established']);
    expect(h2?.predicates[0]?.note).toContain('nothing');
  });

  test.each<[string, string, PredicateOutcome]>([
    ['a bare expression over the one row', 'SELECT 3 AS n, 3 AS fits', 'true'],
    ['a bare expression over several rows', 'SELECT 3 AS n, 3 AS fits UNION ALL SELECT 3, 0', 'not-established'],
  ])('%s', (_, probe, expected) => {
    for (const predicate of [
      'fits = n',
      '(fits = n)',
      '(SELECT fits = n FROM observation)',
      '((SELECT fits = n FROM observation)) ;',
      'fits = (SELECT max(n) FROM observation) AND fits = n',
    ])
      expect(judge(probe, predicate)).toBe(expected);
  });

  test('counts of agreement may be bare as well, and a column of several rows is no count', () => {
    const test = { hypotheses: [hypothesis('h1', [], { matching: 'fits', examined: '(SELECT n FROM observation)' })] };
    const count = (probe: string) => {
      const [statement] = predicateStatements(probe, test, 'sqlite');
      return readAgreement(run(statement ?? ''));
    };
    expect(count('SELECT 3 AS n, 2 AS fits')).toEqual({ matching: 2, examined: 3 });
    expect(count('SELECT 3 AS n, 2 AS fits UNION ALL SELECT 3, 1')).toBeNull();
  });

  const five = 'SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5';

  test.each<[string, PredicateOutcome]>([
    // An aggregate beside a subquery is taken over the observation.
    ['count(*) = (SELECT count(*) FROM observation WHERE n > 0)', 'true'],
    ['count(*) = (SELECT count(*) FROM observation WHERE n = 1)', 'false'],
    ['count(*) FILTER (WHERE n IN (SELECT n FROM observation WHERE n > 3)) = 2', 'true'],
    ['NOT EXISTS (SELECT 1 FROM observation WHERE n > 5) AND count(*) = 1', 'false'],
    ['max(n) = (SELECT count(*) FROM observation)', 'true'],
    ["(SELECT count(*) FROM observation WHERE n > 4) = 1 -- count('x')", 'true'],
    ['max((SELECT min(n) FROM observation), (SELECT max(n) FROM observation)) = 5', 'true'],
    ["group_concat(n) LIKE (SELECT min(n) FROM observation) || '%'", 'true'],
    ['sum(1) = (SELECT count(*) FROM observation)', 'true'],
    // No row of several is taken for the value.
    ['(SELECT n FROM observation) = 1', 'not-established'],
    ['1 = (SELECT n FROM observation ORDER BY n)', 'not-established'],
    ['(SELECT max(n, 0) FROM observation) = 1', 'not-established'],
    ['count(*) > (SELECT n FROM observation)', 'not-established'],
    ['1 IN ((SELECT n FROM observation))', 'not-established'],
    ['coalesce((SELECT n FROM observation), 0) = 1', 'not-established'],
    ['WITH low AS (SELECT n FROM observation) SELECT n = 1 FROM low', 'not-established'],
    ['(WITH low AS (SELECT n FROM observation) SELECT n = 1 FROM low)', 'not-established'],
    // One row is a value.
    ['(SELECT n FROM observation ORDER BY n LIMIT 1) = 1', 'true'],
    ['(SELECT n FROM observation WHERE n > 4) = (SELECT max(n) FROM observation)', 'true'],
    ['3 IN (SELECT n FROM observation) AND EXISTS (SELECT n FROM observation)', 'true'],
    ['WITH low AS (SELECT min(n) AS least FROM observation) SELECT least = 1 FROM low', 'true'],
    ["(SELECT 'select' || count(*) FROM observation) = 'select5'", 'true'],
  ])('over five rows %s is %s', (predicate, expected) => expect(judge(five, predicate)).toBe(expected));

  test('a table named observation is not the observation', () => {
    const database = new Database(':memory:');
    database.exec('CREATE TABLE observation (n); INSERT INTO observation VALUES (1), (2), (3)');
    const predicates = [
      '(SELECT count(*) FROM observation) = 2',
      'sum(n) = 5',
      'WITH a AS (SELECT 1) SELECT count(*) = 2 FROM observation',
    ];
    const test = { hypotheses: [hypothesis('h1', predicates, { matching: 'max(n)', examined: 'sum(n)' })] };
    const statements = predicateStatements('SELECT n FROM observation WHERE n > 1', test, 'sqlite');
    const results = statements.map((sql) => rows(database.prepare(sql).raw(true).all() as SqlValue[][]));
    database.close();
    expect(hypothesisOutcomes(test, results, 'sqlite')[0]).toMatchObject({
      predicates: [{ outcome: 'true' }, { outcome: 'true' }, { outcome: 'true' }],
      agreement: { matching: 3, examined: 5 },
    });
  });

  test('a bracket in a text or a comment closes nothing', () => {
    expect(judge("SELECT ')' AS mark", "(SELECT mark = ')' /* ) */ FROM observation)")).toBe('true');
    expect(judge('SELECT 2 AS n', '(SELECT n FROM observation) = (SELECT count(*) + 1 FROM observation)')).toBe('true');
  });

  test('a bare expression of literals says nothing about the data', () => {
    for (const empty of ['1 = 1', 'TRUE', "'a' = 'a' AND NOT 1 IS NULL", 'CAST(1 AS int) = 1', '1 = 1 -- n'])
      expect(namesSomething(empty, 'sqlite')).toBe(false);
    for (const named of ['n > 0', 'count(*) = 1', '"Weight" IN (1, 2)', 'sum(1) = 3', "x' = 1"])
      expect(namesSomething(named, 'sqlite')).toBe(true);
  });

  test.each<[string, SqlResult | undefined, 'sqlite' | 'postgresql', PredicateOutcome]>([
    ['TRUE', rows([[true]]), 'postgresql', 'true'],
    ['FALSE', rows([[false]]), 'postgresql', 'false'],
    ['1 in SQLite', rows([[1]]), 'sqlite', 'true'],
    ['0 in SQLite', rows([[0]]), 'sqlite', 'false'],
    ['2 in SQLite', rows([[2]]), 'sqlite', 'not-established'],
    ['1 in PostgreSQL', rows([[1]]), 'postgresql', 'not-established'],
    ['the text true', rows([['true']]), 'postgresql', 'not-established'],
    ['NULL', rows([[null]]), 'postgresql', 'not-established'],
    ['no row', rows([]), 'sqlite', 'not-established'],
    ['several rows', rows([[true], [true]]), 'postgresql', 'not-established'],
    ['an error', { kind: 'sql-error', message: 'no', code: null, elapsedMs: 1 }, 'sqlite', 'not-established'],
    ['a timeout', { kind: 'timeout', afterMs: 1 }, 'sqlite', 'not-established'],
    ['nothing run', undefined, 'sqlite', 'not-established'],
  ])('a predicate that gives %s', (_, result, dialect, expected) =>
    expect(readPredicate(result, dialect).outcome).toBe(expected),
  );

  test('an agreement needs two counts of which the first is not larger', () => {
    expect(readAgreement(rows([[3, '4']]))).toEqual({ matching: 3, examined: 4 });
    for (const bad of [
      [5, 4],
      [null, 4],
      [-1, 4],
      [0.5, 4],
    ])
      expect(readAgreement(rows([bad]))).toBeNull();
  });
});

describe('S1: proof', () => {
  const won = outcome('h1', ['true']);
  const lost = outcome('h2', ['false']);

  const of = (matching: number, examined: number) => ({ matching, examined });
  const counts = (id: string, matching: number, examined: number, ...predicates: PredicateOutcome[]) =>
    outcome(id, predicates, of(matching, examined));
  const same = outcome('h3', ['true']);
  type More = Partial<Parameters<typeof prove>[0]>;

  test.each<[string, HypothesisOutcome[], More?]>([
    ['a true winner over a false rival, with a body that runs', [won, lost]],
    ['120 of 120 rows against 68 of 120', [counts('h1', 120, 120), counts('h2', 68, 120)]],
    ['as many rows as the floor', [counts('h1', 5, 5, 'true'), lost]],
    ['a rival that gives the same answer, if another was refuted', [won, lost, same], { equivalent: ['h3'] }],
    ['counts over the same rows', [counts('h1', 118, 118), counts('h2', 68, 118)]],
    ['a verdict and a running body, by model', [outcome('h1', []), outcome('h2', [])], { mode: 'model' }],
  ])('%s: proved', (_, hypotheses, more = {}) => expect(proof(observed(hypotheses), more).proved).toBe(true));

  test.each<[string, HypothesisOutcome[], More?, SqlResult?]>([
    ['an empty observation', [won, lost], {}, rows([])],
    ['a failed observation', [won, lost], {}, { kind: 'timeout', afterMs: 1 }],
    ['a winner without an established predicate', [outcome('h1', ['not-established']), lost]],
    ['a winner without a predicate', [outcome('h1', []), lost]],
    ['a winner with one false predicate among true ones', [outcome('h1', ['true', 'false']), lost]],
    ['a rival that is not false', [won, outcome('h2', ['not-established'])]],
    ['a winner without a rival', [won]],
    ['a winner whose only rival gives the same answer', [won, outcome('h2', ['true'])], { equivalent: ['h2'] }],
    ['a rival that is true as well', [won, lost, same]],
    ['a body that does not run', [won, lost], { bodyError: 'no such column' }],
    ['a body that does not run, by model', [won, lost], { mode: 'model', bodyError: 'no such table' }],
    ['a body with other columns', [won, lost], { columnsDiffer: 'n is missing' }],
    ['no winner', [won, lost], { winner: null }],
    ['a winner the judge left open', [won, lost], { verdicts: [{ ...supported, verdict: 'open' }] }],
    ['119 of 120 rows', [counts('h1', 119, 120), counts('h2', 68, 120)]],
    ['a reading with exceptions, whatever its predicate lets pass', [counts('h1', 119, 120, 'true'), lost]],
    ['fewer rows than the floor', [counts('h1', 4, 4, 'true'), lost]],
    ['agreement over nothing', [counts('h1', 0, 0)]],
    ['an equal count', [counts('h1', 9, 9), counts('h2', 9, 9)]],
    ['counts over other rows', [counts('h1', 118, 118), counts('h2', 68, 120)]],
  ])('%s: not proved', (_, hypotheses, more = {}, result = rows([[1]])) => {
    const made = proof(observed(hypotheses, result), more);
    expect(made.proved).toBe(false);
    expect(made.checks.some((check) => !check.met && check.seen !== '')).toBe(true);
  });

  test('exceptions are counted in words', () => {
    const made = proof(observed([counts('h1', 119, 120, 'true'), lost]));
    expect(made.checks.find(({ met }) => !met)?.seen).toContain('119 of 120 rows match: it holds with 1 exception');
  });

  test('what was certain before the probe ran proves nothing, and refutes no rival', () => {
    const settled = (own: Test['hypotheses'][number], ...rivals: Test['hypotheses']) => {
      const test = { hypotheses: [own, ...rivals] };
      const statements = predicateStatements(
        'SELECT 3 AS n UNION ALL SELECT 7 UNION ALL VALUES (4), (5), (6)',
        test,
        'sqlite',
      );
      const results = statements.map((sql) => run(sql));
      return proof(observed(hypothesisOutcomes(test, results, 'sqlite')));
    };
    const honest = hypothesis('h1', ['count(*) FILTER (WHERE n > 9) = 0']);
    const wrong = hypothesis('h9', ['max(n) > 9']);
    expect(settled(honest, hypothesis('h2', ['max(n) > 9'])).proved).toBe(true);
    expect(settled(honest, hypothesis('h2', ['count(*) < 0'])).proved).toBe(false);
    expect(settled(hypothesis('h1', ['count(*) >= 0']), wrong).proved).toBe(false);
    const all = '(SELECT count(*) FROM observation)';
    expect(settled(hypothesis('h1', [], { matching: 'count(*)', examined: all }), wrong).proved).toBe(false);
    expect(settled(hypothesis('h1', [], { matching: 'count(n)', examined: all }), wrong).proved).toBe(true);
  });

  const states = fc.constantFrom<PredicateOutcome[]>('true', 'false', 'not-established');
  const agreements = fc.option(
    fc.tuple(fc.nat(5), fc.nat(5)).map(([a, b]) => ({ matching: Math.min(a, b), examined: Math.max(a, b) })),
  );
  const hypotheses = fc.array(fc.tuple(fc.array(states, { maxLength: 3 }), agreements), { minLength: 1, maxLength: 4 });

  test('another false predicate of the winner never proves, nor does taking one from a rival', () =>
    fc.assert(
      fc.property(hypotheses, (made) => {
        const all = made.map(([predicates, agreement], index) => outcome(`h${index + 1}`, predicates, agreement));
        const [own, ...rivals] = all;
        if (own === undefined) return;
        const worse = { ...own, predicates: [...own.predicates, { sql: 'p', outcome: 'false' as const, note: null }] };
        expect(proof(observed([worse, ...rivals])).proved).toBe(false);
        if (proof(observed(all)).proved) return;
        const spared = rivals.map((rival) => ({
          ...rival,
          predicates: rival.predicates.filter((each) => each.outcome !== 'false'),
        }));
        expect(proof(observed([own, ...spared])).proved).toBe(false);
      }),
    ));
});

describe('a verdict that the data contradicts is never stored', () => {
  const judged = (verdict: 'supported' | 'refuted' | 'open') => ({ hypothesis: 'h1', verdict, reason: 'r' });

  test('supported against a false predicate becomes refuted', () => {
    expect(keepVerdict(judged('supported'), outcome('h1', ['true', 'false']))).toMatchObject({
      verdict: 'refuted',
      overruled: containing('false'),
    });
  });

  test('refuted against true predicates becomes open, unless a partial count may be the reason', () => {
    expect(keepVerdict(judged('refuted'), outcome('h1', ['true'])).verdict).toBe('open');
    expect(keepVerdict(judged('refuted'), outcome('h1', ['true'], { matching: 3, examined: 9 })).verdict).toBe(
      'refuted',
    );
  });

  test('what the data does not contradict is kept as it is', () => {
    for (const verdict of ['supported', 'refuted', 'open'] as const) {
      expect(keepVerdict(judged(verdict), outcome('h1', ['not-established']))).toMatchObject({
        verdict,
        overruled: null,
      });
    }
  });
});
