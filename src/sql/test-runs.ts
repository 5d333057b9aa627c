/**
 * The runs of a test's probe. It runs once for all readings; where it reads the operator under test, once for each reading,
 * with the reading's SQL in the operator's place, and each reading is judged by its own run. All runs and their predicates
 * are evaluated in one snapshot (rule S2).
 */
import type { Dialect, HypothesisOutcome, SqlResult, Test, TestOutcome } from '../domain';
import { hypothesisOutcomes, predicateStatements, type PredicateStatement } from './proof';

export interface TestRun {
  /** Id of the hypothesis that is evaluated on it; null: all of them. */
  readonly reading: string | null;
  /** The compiled probe, or why there is none. */
  readonly probe: { readonly sql: string } | { readonly error: string };
}

interface LaidRun extends TestRun {
  readonly hypotheses: Test['hypotheses'];
  readonly predicates: readonly PredicateStatement[];
  /** The probe, then its predicates. */
  readonly statements: readonly string[];
}

export interface LaidTest {
  readonly test: Test;
  readonly runs: readonly LaidRun[];
  readonly statements: readonly string[];
}

export function layTest(test: Test, runs: readonly TestRun[], dialect: Dialect): LaidTest {
  const laid = runs.map((run): LaidRun => {
    const hypotheses = test.hypotheses.filter(({ id }) => run.reading === null || id === run.reading);
    if ('error' in run.probe) return { ...run, hypotheses, predicates: [], statements: [] };
    const predicates = predicateStatements(run.probe.sql, { hypotheses }, dialect);
    return { ...run, hypotheses, predicates, statements: [run.probe.sql, ...predicates.map(({ sql }) => sql)] };
  });
  return { test, runs: laid, statements: laid.flatMap(({ statements }) => statements) };
}

/** `results` are those of the test's statements, in their order. */
export function readTest(
  { test, runs }: LaidTest,
  results: readonly SqlResult[],
  dialect: Dialect,
): Pick<TestOutcome, 'probeSql' | 'result' | 'hypotheses'> {
  let at = 0;
  const read = runs.map(({ reading, probe, hypotheses, predicates, statements }) => {
    const [result, ...values] = results.slice(at, (at += statements.length));
    const seen: Ran = {
      probeSql: 'sql' in probe ? probe.sql : test.probe,
      result: result ?? { kind: 'refused', message: 'error' in probe ? probe.error : 'the probe was not run' },
    };
    const outcomes = hypothesisOutcomes({ hypotheses }, predicates, values, dialect);
    return { seen, outcomes: reading === null ? outcomes : outcomes.map((each) => ({ ...each, run: seen })) };
  });
  const first: Ran = read[0]?.seen ?? {
    probeSql: test.probe,
    result: { kind: 'refused', message: 'the probe was not run' },
  };
  return { ...first, hypotheses: read.flatMap(({ outcomes }) => outcomes) };
}

type Ran = NonNullable<HypothesisOutcome['run']>;

/** What was run and seen for a reading. */
export function runOf(outcome: Pick<TestOutcome, 'probeSql' | 'result' | 'hypotheses'>, reading: string | null): Ran {
  const own = outcome.hypotheses.find(({ id }) => id === reading)?.run;
  return own ?? { probeSql: outcome.probeSql, result: outcome.result };
}

/** The results of all runs, the first one first. */
export function resultsOf({ result, hypotheses }: Pick<TestOutcome, 'result' | 'hypotheses'>): readonly SqlResult[] {
  const own = hypotheses.flatMap(({ run }) => (run === undefined ? [] : [run.result]));
  return own.length === 0 ? [result] : own;
}
