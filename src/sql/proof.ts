/**
 * What counts as proof (rules S1, S2). The database evaluates every predicate on the probe itself, one statement each and
 * all in the probe's snapshot. These functions write the statements, read the results and draw the conclusion.
 *
 * 1. A predicate is *not established*, neither TRUE nor FALSE, if its result is NULL, an error, no row, several rows, not a
 *    boolean, or certain before the probe ran.
 * 2. More FALSE predicates of a winner, or fewer of its rivals, never turn an unproved winner into a proved one.
 * 3. Nothing is proved against no one: at least one rival was refuted by its own checks. One that the data left standing
 *    blocks the proof, unless it gives the same answer.
 */
import type {
  Dialect,
  Hypothesis,
  HypothesisOutcome,
  HypothesisVerdict,
  PredicateOutcome,
  Proof,
  SqlResult,
  SqlValue,
  Test,
  TestOutcome,
  Verdict,
} from '../domain';
import { countOf, standingNote, hasLost, holds, standing } from './agreement';
import { expressionQuery, isForegone, isWithItself } from './expression';
import { normaliseSql } from './body';
import { withCtes } from './compile';
import { DIALECTS } from './dialects';
import { counted } from '../counted';

/** `probeSql` is the compiled probe. The order is fixed: per hypothesis its predicates, then its agreement. */
export function predicateStatements(
  probeSql: string,
  { hypotheses }: Pick<Test, 'hypotheses'>,
  dialect: Dialect,
): string[] {
  const probe = normaliseSql(probeSql);
  return observedExpressions({ hypotheses }).map((expressions) => overObservation(probe, expressions, dialect));
}

/** What is evaluated together, in the order in which `hypothesisOutcomes` reads it. */
export function observedExpressions({ hypotheses }: Pick<Test, 'hypotheses'>): string[][] {
  return hypotheses.flatMap(({ predicates, agreement }) => [
    ...predicates.map((predicate) => [predicate]),
    ...(agreement === null ? [] : [[agreement.matching, agreement.examined]]),
  ]);
}

function overObservation(probe: string, expressions: readonly string[], dialect: Dialect): string {
  const queries = expressions.map((expression) => expressionQuery(expression, dialect));
  const [only, ...others] = queries;
  if (others.length > 0 && DIALECTS[dialect].strictNames === true)
    return overProbe(probe, `SELECT ${queries.map((query) => `(\n${query}\n)`).join(', ')}`, dialect);
  const columns = queries.map((query, index) => `(\n${query}\n) AS part_${index + 1}`).join(' CROSS JOIN ');
  return overProbe(probe, others.length === 0 ? (only ?? '') : `SELECT * FROM ${columns}`, dialect);
}

/** A query that reads the probe's rows as the relation `observation`. */
export function overProbe(probe: string, main: string, dialect: Dialect): string {
  const query = { sql: main, hasWith: false };
  if (!/\bobservation\b/i.test(probe)) return withCtes([['observation', probe]], query, dialect).sql;
  // The probe may read a table called observation.
  if (DIALECTS[dialect].flatWith === true) {
    const ctes = [
      ['gate_probe', probe],
      ['observation', 'SELECT * FROM gate_probe'],
    ] as const;
    return withCtes(ctes, query, dialect).sql;
  }
  // SQLite would take it for the CTE itself, so there are two scopes.
  const inner = `WITH observation AS (SELECT * FROM gate_probe)\n${main}`;
  return `WITH gate_probe AS (\n${probe}\n)\nSELECT * FROM (\n${inner}\n) AS gate_value`;
}

/** `results` are in the order of `observedExpressions`; a missing one was not run. */
export function hypothesisOutcomes(
  { hypotheses }: Pick<Test, 'hypotheses'>,
  results: readonly SqlResult[],
  dialect: Dialect,
): HypothesisOutcome[] {
  const rest = results.values();
  const next = (): SqlResult | undefined => rest.next().value;
  return hypotheses.map((hypothesis) => ({
    id: hypothesis.id,
    ...(hypothesis.notStored === true ? { notStored: true } : {}),
    predicates: hypothesis.predicates.map((sql) => {
      const read = readPredicate(next(), dialect);
      return { sql, ...(isForegone(sql, dialect) ? notEstablished('it is the same whatever the probe finds') : read) };
    }),
    agreement: agreementOf(hypothesis, next, dialect),
  }));
}

/** The reading "not stored" is matched by rows that have nothing recorded. */
function agreementOf(
  { agreement, notStored }: Hypothesis,
  next: () => SqlResult | undefined,
  dialect: Dialect,
): HypothesisOutcome['agreement'] {
  const counts = agreement === null ? null : readAgreement(next());
  if (agreement === null || counts === null || isWithItself(agreement, dialect)) return null;
  const { matching, examined } = counts;
  return { matching: notStored === true ? examined - matching : matching, examined };
}

export function readPredicate(
  result: SqlResult | undefined,
  dialect: Dialect,
): { readonly outcome: PredicateOutcome; readonly note: string | null } {
  const row = singleRow(result, 1);
  if (typeof row === 'string') return notEstablished(row);
  const value = row[0] ?? null;
  if (value === null) return notEstablished('it is NULL');
  if (typeof value === 'boolean') return { outcome: value ? 'true' : 'false', note: null };
  if (DIALECTS[dialect].numbersAsTruth && (value === 1 || value === 0))
    return { outcome: value === 1 ? 'true' : 'false', note: null };
  return notEstablished(`it is ${JSON.stringify(value)}, not true or false`);
}

function notEstablished(note: string): { outcome: 'not-established'; note: string } {
  return { outcome: 'not-established', note };
}

/** Rows that agree and rows examined. Null unless both are counts and the first is not larger than the second. */
export function readAgreement(result: SqlResult | undefined): { matching: number; examined: number } | null {
  const row = singleRow(result, 2);
  if (typeof row === 'string') return null;
  const [matching = null, examined = null] = row.map(countOf);
  return matching === null || examined === null || matching > examined ? null : { matching, examined };
}

/** The single row, or why there is none. */
function singleRow(result: SqlResult | undefined, width: number): readonly SqlValue[] | string {
  if (result === undefined) return 'it was not evaluated';
  if (result.kind === 'timeout') return `it timed out after ${result.afterMs} ms`;
  if (result.kind !== 'rows') return result.message;
  const [row, second] = result.rows;
  if (row === undefined) return 'it gave no row';
  if (second !== undefined || result.truncated) return 'it gave several rows';
  return row.length === width ? row : `it gave ${counted(row.length, 'column')}`;
}

/** The verdict to store. One that the data contradicts is replaced, and `overruled` says what was replaced and why. */
export function keepVerdict(
  judged: { readonly hypothesis: string; readonly verdict: Verdict; readonly reason: string },
  outcome: HypothesisOutcome,
): HypothesisVerdict {
  const said = standing(outcome);
  if (judged.verdict === 'supported' && said === 'false') {
    return {
      ...judged,
      verdict: 'refuted',
      overruled: `the judge said supported, but its own predicate is false: ${firstFalse(outcome)}`,
    };
  }
  // A partial agreement may be the judge's reason to refute. Without one, nothing in the data speaks against the hypothesis.
  const { agreement } = outcome;
  const nothingAgainst = agreement === null || agreement.matching === agreement.examined;
  if (judged.verdict === 'refuted' && said === 'true' && nothingAgainst) {
    return {
      ...judged,
      verdict: 'open',
      overruled: 'the judge said refuted, but its own predicates are true and none is false',
    };
  }
  return { ...judged, overruled: null };
}

function firstFalse(outcome: HypothesisOutcome): string {
  return outcome.predicates.find((predicate) => predicate.outcome === 'false')?.sql ?? '';
}

interface ProofInput {
  readonly outcome: TestOutcome;
  readonly verdicts: readonly HypothesisVerdict[];
  readonly winner: string | null;
  /** Rivals under which the plan gives the same answer as under the winner, with the bodies that it has now (rule S9). */
  readonly equivalent?: readonly string[];
  /** null when the body ran over its inputs, else the error. */
  readonly bodyError: string | null;
  /** null when the columns are the declared ones, else the difference. */
  readonly columnsDiffer: string | null;
  readonly mode: 'execution' | 'model';
}

type Check = Proof['checks'][number];

/** Checks each requirement of rule S1 and notes what was seen. Mode `model`: the judge's verdict and a running body suffice. */
export function prove(input: ProofInput): Proof {
  const checks = [
    judgeCheck(input),
    ...(input.mode === 'execution' ? executionChecks(input) : []),
    check('the body runs over its inputs', input.bodyError === null, input.bodyError ?? 'it ran'),
    check('the body returns the declared columns', input.columnsDiffer === null, input.columnsDiffer ?? 'it does'),
  ];
  return { proved: checks.every((each) => each.met), checks };
}

function check(requirement: string, met: boolean, seen: string): Check {
  return { requirement, met, seen };
}

function judgeCheck({ winner, verdicts }: ProofInput): Check {
  const verdict = verdicts.find((each) => each.hypothesis === winner);
  const seen =
    winner === null ? 'no winner' : (verdict?.overruled ?? `${winner} ${verdict?.verdict ?? 'without a verdict'}`);
  return check('the judge supports the winner', verdict?.verdict === 'supported', seen);
}

function executionChecks({ outcome, winner, equivalent = [] }: ProofInput): Check[] {
  const own = outcome.hypotheses.find((each) => each.id === winner);
  const result = own?.run?.result ?? outcome.result;
  const rows = check('the observation has rows', result.kind === 'rows' && result.rows.length > 0, seenResult(result));
  if (own === undefined) return [rows, check('the winner is one of the hypotheses', false, winner ?? 'no winner')];
  const rivals = outcome.hypotheses.filter((each) => each !== own);
  const lost = rivals.filter((rival) => hasLost(rival, own));
  return [
    rows,
    own.notStored === true
      ? check('nothing is recorded for all examined, beside a positive control', holds(own), seenHypothesis(own))
      : own.agreement === null
        ? check('at least one predicate of the winner is true', holds(own), seenHypothesis(own))
        : check('all rows examined match the winner, and there are enough', holds(own), seenHypothesis(own)),
    check('no predicate of the winner is false', standing(own) !== 'false', seenHypothesis(own)),
    ...rivals.map((rival) =>
      !lost.includes(rival) && equivalent.includes(rival.id)
        ? check(`the rival ${rival.id} gives the same answer`, true, 'the whole plan was run under both')
        : check(
            `the rival ${rival.id} has a false predicate, or fewer of the same rows match it`,
            lost.includes(rival),
            seenHypothesis(rival),
          ),
    ),
    check('at least one rival is refuted', lost.length > 0, lost.map(({ id }) => id).join(', ') || 'none'),
  ];
}

function seenResult(result: SqlResult): string {
  if (result.kind === 'timeout') return `a timeout after ${result.afterMs} ms`;
  if (result.kind !== 'rows') return result.message;
  return result.truncated ? `${result.rows.length} or more rows` : counted(result.rows.length, 'row');
}

function seenHypothesis(outcome: HypothesisOutcome): string {
  const predicates = outcome.predicates.map((each) =>
    each.note === null ? each.outcome : `${each.outcome} (${each.note})`,
  );
  const agreement = outcome.agreement === null ? [] : [agreementText(outcome.agreement)];
  return [...predicates, ...agreement].join('; ') || 'no predicate';
}

/** The counts in words, for example `118 of 120 rows match: it holds with 2 exceptions`. */
function agreementText(agreement: NonNullable<HypothesisOutcome['agreement']>): string {
  const { matching, examined } = agreement;
  const note = standingNote(agreement);
  return `${matching} of ${counted(examined, 'row')} ${matching === 1 ? 'matches' : 'match'}${note === null ? '' : `: ${note}`}`;
}

/**
 * The runs of a test's probe. It runs once for all readings; where it reads the operator under test, once for each reading,
 * with the reading's SQL in the operator's place, and each reading is judged by its own run. All runs and their predicates
 * are evaluated in one snapshot (rule S2).
 */

export interface TestRun {
  /** Id of the hypothesis that is evaluated on it; null: all of them. */
  readonly reading: string | null;
  /** The compiled probe, or why there is none. */
  readonly probe: { readonly sql: string } | { readonly error: string };
}

/** The statements of a test, of each run its probe and then its predicates, and how their results are read. */
export function layTest(test: Test, runs: readonly TestRun[], dialect: Dialect) {
  const laid = runs.map(({ reading, probe }) => {
    const hypotheses = test.hypotheses.filter(({ id }) => reading === null || id === reading);
    const statements = 'error' in probe ? [] : [probe.sql, ...predicateStatements(probe.sql, { hypotheses }, dialect)];
    return { reading, probe, hypotheses, statements };
  });
  const read = (results: readonly SqlResult[]): Pick<TestOutcome, 'probeSql' | 'result' | 'hypotheses'> => {
    let at = 0;
    const ran = laid.map(({ reading, probe, hypotheses, statements }) => {
      const [result, ...values] = results.slice(at, (at += statements.length));
      const seen: Ran = {
        probeSql: 'sql' in probe ? probe.sql : test.probe,
        result: result ?? { kind: 'refused', message: 'error' in probe ? probe.error : 'the probe was not run' },
      };
      const outcomes = hypothesisOutcomes({ hypotheses }, values, dialect);
      return { seen, outcomes: reading === null ? outcomes : outcomes.map((each) => ({ ...each, run: seen })) };
    });
    const none: Ran = { probeSql: test.probe, result: { kind: 'refused', message: 'the probe was not run' } };
    return { ...(ran[0]?.seen ?? none), hypotheses: ran.flatMap(({ outcomes }) => outcomes) };
  };
  return { statements: laid.flatMap(({ statements }) => statements), read };
}

type Ran = NonNullable<HypothesisOutcome['run']>;

/** The query that was run for a reading, with its result. */
export function runOf(outcome: Pick<TestOutcome, 'probeSql' | 'result' | 'hypotheses'>, reading: string | null): Ran {
  const own = outcome.hypotheses.find(({ id }) => id === reading)?.run;
  return own ?? { probeSql: outcome.probeSql, result: outcome.result };
}

/** The results of all runs, the first one first. */
export function resultsOf({ result, hypotheses }: Pick<TestOutcome, 'result' | 'hypotheses'>): readonly SqlResult[] {
  const own = hypotheses.flatMap(({ run }) => (run === undefined ? [] : [run.result]));
  return own.length === 0 ? [result] : own;
}
