import type { HypothesisOutcome, PredicateOutcome, SqlResult, SqlValue, Test } from '../../../src/domain';
import { weigh } from '../../../src/sql/vacuous-test';

const containing = (part: string): string => expect.stringContaining(part) as string;
const row = (values: Record<string, SqlValue>): SqlResult => ({
  kind: 'rows',
  columns: Object.keys(values).map((name) => ({ name, kind: 'number' as const })),
  rows: [Object.values(values)],
  truncated: false,
  elapsedMs: 1,
});

interface Reading {
  readonly predicate?: string;
  readonly outcome?: PredicateOutcome;
  readonly counts?: readonly [matching: string, examined: string];
  readonly agreement?: HypothesisOutcome['agreement'];
}

function weighed(probe: string, result: SqlResult, ...readings: readonly Reading[]): HypothesisOutcome[] {
  const hypotheses: Test['hypotheses'] = readings.map(({ predicate, counts }, at) => ({
    ...{ id: `h${at + 1}`, mapping: 'm', expectation: '', bodyId: null },
    predicates: predicate === undefined ? [] : [predicate],
    agreement: counts === undefined ? null : { matching: counts[0], examined: counts[1] },
  }));
  const outcomes = readings.map(({ predicate, outcome = 'true', agreement = null }, at) => ({
    id: `h${at + 1}`,
    predicates: predicate === undefined ? [] : [{ sql: predicate, outcome, note: null }],
    agreement,
  }));
  return weigh({ probe, hypotheses }, result, outcomes, 'sqlite');
}

const COUNTED = "SELECT count(*) AS n, count(*) FILTER (WHERE unit = 'kg') AS kg, sum(w > 9) AS heavy FROM parcel";
const FILTERED = `${COUNTED} WHERE unit = 'kg' AND w IS NOT NULL`;
const all = (column: string): Reading['counts'] => [
  `(SELECT ${column} FROM observation)`,
  '(SELECT n FROM observation)',
];

describe('a predicate that says nothing about the rows is not established', () => {
  const rival = { predicate: '(SELECT heavy = 0 FROM observation)', outcome: 'false' as const };
  const noteOf = (
    probe: string,
    predicate: string,
    outcome: PredicateOutcome = 'true',
    result = row({ n: 8, kg: 8 }),
  ) => weighed(probe, result, { predicate, outcome }, rival)[0]?.predicates[0];

  test.each([
    ['(SELECT kg = n FROM observation)', 'true'],
    ['(SELECT kg >= 0.95 * n FROM observation)', 'true'],
    ['kg = 0', 'false'],
  ] as const)('where the probe filters by what it counts: %s', (predicate, outcome) => {
    expect(noteOf(FILTERED, predicate, outcome)).toMatchObject({
      outcome: 'not-established',
      note: containing("unit = 'kg' is counted among rows"),
    });
    expect(noteOf(COUNTED, predicate, outcome)).toMatchObject({ outcome, note: null });
  });

  test('beside a column that is not forced it counts', () =>
    expect(noteOf(FILTERED, '(SELECT heavy = kg FROM observation)')).toMatchObject({ outcome: 'true' }));

  test('beside a column that the probe gives under its own name it counts', () => {
    const probe = `SELECT count(*) AS n, sum(unit = 'kg') kg, limits.least FROM parcel, limits WHERE unit = 'kg'`;
    expect(noteOf(probe, 'kg >= least')).toMatchObject({ outcome: 'true', note: null });
    expect(noteOf(probe, 'kg = n')).toMatchObject({ outcome: 'not-established' });
  });

  test('a text that reads like a column is none', () =>
    expect(noteOf(FILTERED, "(SELECT max(unit) = 'kg' FROM observation)")).toMatchObject({ outcome: 'true' }));

  test('where it is true only because nothing was examined', () => {
    const predicate = '(SELECT n = 0 OR heavy = n FROM observation)';
    const none = row({ n: 0, kg: 0, heavy: 0 });
    expect(noteOf(COUNTED, predicate, 'true', none)).toMatchObject({
      outcome: 'not-established',
      note: 'it is true only because n = 0',
    });
    expect(noteOf(COUNTED, predicate, 'true', row({ n: 8, kg: 8, heavy: 8 }))).toMatchObject({ outcome: 'true' });
    // That no row is heavy is a finding.
    const finding = '(SELECT heavy = 0 OR heavy < 0.05 * n FROM observation)';
    expect(noteOf(COUNTED, finding, 'true', row({ n: 8, kg: 8, heavy: 0 }))).toMatchObject({ outcome: 'true' });
  });

  test('where every reading has the same, unless it is FALSE and refutes them all', () => {
    const [same, spaced] = ['(SELECT n > 0 FROM observation)', '( SELECT n  > 0 from observation )'];
    const outcomes = (outcome: PredicateOutcome) =>
      weighed(COUNTED, row({ n: 8 }), { predicate: same, outcome }, { predicate: spaced, outcome }).map(
        ({ predicates }) => predicates[0]?.outcome,
      );
    expect(outcomes('true')).toEqual(['not-established', 'not-established']);
    expect(outcomes('false')).toEqual(['false', 'false']);
    expect(noteOf(COUNTED, same)).toMatchObject({ outcome: 'true' });
  });
});

describe('what counts are worth is said beside them', () => {
  const of = (matching: number, examined: number) => ({ matching, examined });
  const noteOf = (probe: string, ...readings: Reading[]) => weighed(probe, row({ n: 8 }), ...readings)[0];
  const lower = { counts: all('heavy'), agreement: of(3, 120) };

  test.each<[string, HypothesisOutcome['agreement'], string | undefined]>([
    ['all rows', of(120, 120), undefined],
    ['some rows', of(70, 120), undefined],
    ['exceptions', of(118, 120), 'it holds with 2 exceptions'],
    ['few rows', of(4, 4), 'fewer than 5 rows decide nothing'],
  ])('%s', (_, agreement, note) => {
    const seen = noteOf(COUNTED, { counts: all('kg'), agreement }, lower);
    expect(seen?.agreement).toEqual(agreement);
    expect(seen?.agreementNote).toBe(note);
  });

  test('counts of what the probe filters by are none', () => {
    expect(noteOf(FILTERED, { counts: all('kg'), agreement: of(120, 120) }, lower)).toMatchObject({
      agreement: null,
      agreementNote: containing("it counts unit = 'kg' among rows"),
    });
  });

  test('counts of the same expression under two names are none', () => {
    const twice = 'SELECT count(*) AS n, count(*) AS kg, sum(w > 9) AS heavy FROM parcel';
    expect(noteOf(twice, { counts: all('kg'), agreement: of(120, 120) }, lower)).toMatchObject({
      agreement: null,
      agreementNote: containing('the same expression'),
    });
  });

  test('a count under a condition is another one than the count of all rows, unless the probe filters by that', () => {
    const rows = 'SELECT unit, w FROM parcel';
    const kilos = "(SELECT count(*) FROM observation WHERE unit = 'kg')";
    const counts = [kilos, '(SELECT count(*) FROM observation)'] as const;
    expect(noteOf(rows, { counts, agreement: of(120, 120) }, lower)).toMatchObject({ agreement: of(120, 120) });
    const filtered = noteOf(`${rows} WHERE unit = 'kg'`, { counts, agreement: of(120, 120) }, lower);
    expect(filtered).toMatchObject({ agreement: null, agreementNote: containing("it counts unit = 'kg' among rows") });
    expect(noteOf(rows, { counts: [kilos, kilos], agreement: of(120, 120) }, lower)).toMatchObject({
      agreement: null,
      agreementNote: containing('the same expression'),
    });
  });

  test('the same counts for every reading tell none apart', () => {
    const same = { counts: all('kg'), agreement: of(120, 120) };
    expect(noteOf(COUNTED, same, { ...same, counts: all('heavy') })?.agreementNote).toContain('tells none apart');
    expect(noteOf(COUNTED, same)?.agreementNote).toBeUndefined();
  });

  test('a probe that is no plain SELECT is left as it is', () => {
    const seen = noteOf(`${FILTERED} UNION ALL ${FILTERED}`, { counts: all('kg'), agreement: of(120, 120) }, lower);
    expect(seen).toMatchObject({ agreement: of(120, 120) });
  });
});
