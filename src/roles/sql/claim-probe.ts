/**
 * The probe of the claims on one operator: one SELECT of one row with the counts of every claim and its rivals over the same
 * rows, and the predicates that the database evaluates on it (rules S1, S2).
 *
 * A check counts its rivals itself, side by side. Or it reads the operator and gives two counts only: then it is repeated
 * with the SQL of each rival in the operator's place.
 */
import type { Dialect, HypothesisOutcome, SqlResult, Test } from '../../domain';
import type { Agreement } from '../../sql/agreement';
import { builtOn } from '../shared/tests';
import { readClaim, readCounts, stoppedText } from '../../sql/claims';
import { hypothesisOutcomes, observedExpressions, overProbe } from '../../sql/proof';
import { selectParts, type CountingPart } from '../../sql/checks';
import type { BuiltClaim, Edited } from './commit-plan';
import { findLoaded, selectSql, withBodies, type LoadedPlan } from '../shared/load-plan';
import { single, type Statements } from '../shared/statements';
import { counted } from '../../counted';

export interface NumberedClaim extends BuiltClaim {
  /** In the commit, from 1. */
  readonly number: number;
  /** How many columns its check has. */
  readonly width: number;
}

/** A claim with the CTEs that count it, each with its columns. */
interface Laid extends NumberedClaim {
  readonly ctes: readonly CountingPart[];
  readonly isRepeated: boolean;
}

export interface Counted extends Omit<NumberedClaim, 'check' | 'rivals' | 'width'> {
  /** The SQL that counted it, complete. */
  readonly check: string;
  readonly agreement: Agreement | string;
  readonly rivals: readonly {
    readonly reading: string;
    readonly edited: Edited | null;
    readonly fault: string | null;
    readonly agreement: Agreement | null;
  }[];
}

export interface ReadProbe {
  readonly test: Test;
  readonly result: SqlResult;
  readonly hypotheses: readonly HypothesisOutcome[];
  readonly claims: readonly Counted[];
  /** The probe itself did not run. */
  readonly error: string | null;
}

export function claimProbe(
  plan: LoadedPlan,
  operator: string,
  claims: readonly NumberedClaim[],
): Statements<ReadProbe> | string {
  const laid = claims.map((claim) => lay(plan, claim));
  const wrong = laid.filter((each) => typeof each === 'string');
  if (wrong.length > 0) return wrong.join('\n');
  const sound = laid.filter((each) => typeof each !== 'string');
  const probe = selectParts(
    sound.flatMap(({ ctes }) => ctes),
    plan.dialect,
  );
  const test: Test = { operator, probe, hypotheses: hypothesesOf(plan, operator, sound) };
  const width = sound.flatMap(({ ctes }) => ctes.flatMap(({ columns }) => columns)).length;
  const values = observedExpressions(test);
  const { statements, read } = single(
    overProbe(probe, `SELECT ${['observation.*', ...values.flat()].join(', ')} FROM observation`, plan.dialect),
  );
  return {
    statements,
    read: (results) => {
      const whole = read(results);
      const result = columnsOf(whole, 0, width);
      let at = width;
      const seen = values.map((expressions) => columnsOf(whole, at, (at += expressions.length)));
      const hypotheses = hypothesisOutcomes(test, seen, plan.dialect);
      const error = result.kind === 'rows' ? null : errorOf(sound, result);
      return { test, result, hypotheses, claims: countedIn(sound, result, plan.dialect), error };
    },
  };
}

function lay(plan: LoadedPlan, claim: NumberedClaim): Laid | string {
  const { number, width, rivals, check } = claim;
  const isRepeated = width === 2 && rivals.length > 0;
  if (!isRepeated && width !== 2 + rivals.length)
    return `the check of claim ${number} gives ${counted(width, 'column')}: give examined, matching and one count for each of its ${counted(rivals.length, 'rival')}, in order; or examined and matching only, where it reads the operator`;
  const sqlOf = (over: LoadedPlan) => selectSql(over, check).sql ?? '';
  const own = {
    name: `claim_${number}`,
    columns: [
      `examined_${number}`,
      `matching_${number}`,
      ...(isRepeated ? [] : rivals.map((_, at) => `rival_${number}_${at + 1}`)),
    ],
    sql: sqlOf(plan),
  };
  if (!isRepeated) return { ...claim, ctes: [own], isRepeated };
  const read = check.relations.map((name) => name.toLowerCase());
  const repeated = rivals.map(({ reading, edited, fault }, at) => {
    if (edited === null)
      return `claim ${number}, rival "${reading}": ${fault ?? 'give instead, or count it in the check'}`;
    if (!read.some((name) => builtOn(plan.plan.operators, edited.operator).has(name)))
      return `the check of claim ${number} gives two counts only but does not read ${edited.operator}, so "${reading}" would count the same: count each rival in the check`;
    return {
      name: `claim_${number}_${at + 1}`,
      columns: [`examined_${number}_${at + 1}`, `rival_${number}_${at + 1}`],
      sql: sqlOf(withBodies(plan, { [edited.operator]: edited.body })),
    };
  });
  const wrong = repeated.find((each) => typeof each === 'string');
  if (wrong !== undefined) return wrong;
  return { ...claim, ctes: [own, ...repeated.filter((each) => typeof each !== 'string')], isRepeated };
}

/** `h1` says that all claims hold; every rival, that as large a share of its claim's rows match it. */
function hypothesesOf(plan: LoadedPlan, operator: string, claims: readonly Laid[]): Test['hypotheses'] {
  const [only, second] = claims;
  const value = (sql: string): string => `(SELECT ${sql} FROM observation)`;
  const counts = (matching: string, examined: string) => ({ matching: value(matching), examined: value(examined) });
  const own: Test['hypotheses'][number] = {
    id: 'h1',
    mapping: claims.map(({ statement }) => statement).join(' '),
    expectation: '',
    predicates: claims.map(({ number }) => value(`matching_${number} = examined_${number}`)),
    agreement:
      only === undefined || second !== undefined ? null : counts(`matching_${only.number}`, `examined_${only.number}`),
    bodyId: findLoaded(plan, operator)?.body?.bodyId ?? null,
  };
  const rivals = claims.flatMap(({ number, isRepeated, rivals: all }) =>
    all.map(({ reading, edited }, at) => {
      const [matching, examined] = [
        `rival_${number}_${at + 1}`,
        isRepeated ? `examined_${number}_${at + 1}` : `examined_${number}`,
      ];
      return {
        mapping: reading,
        expectation: '',
        predicates: [
          value(`${matching} * examined_${number} >= matching_${number} * ${comparedWith(number, matching, examined)}`),
        ],
        agreement: counts(matching, examined),
        bodyId: edited?.operator === operator ? edited.body.bodyId : null,
      };
    }),
  );
  return [own, ...rivals.map((rival, at) => ({ id: `h${at + 2}`, ...rival }))];
}

/** The rows that `repeatedCounts` compares, as all engines write it. */
function comparedWith(number: number, matching: string, examined: string): string {
  const own = `examined_${number}`;
  if (examined === own) return own;
  return `CASE WHEN ${matching} < ${examined} AND ${examined} < ${own} THEN ${own} ELSE ${examined} END`;
}

function countedIn(laid: readonly Laid[], result: SqlResult, dialect: Dialect): Counted[] {
  let column = 0;
  return laid.map(({ number, operator, statement, rows, ctes, rivals }) => {
    const from = column;
    column += ctes.reduce((sum, { columns }) => sum + columns.length, 0);
    const seen = readClaim(readCounts(columnsOf(result, from, column), 2), rivals.length);
    return {
      ...{ number, operator, statement, rows, check: selectParts(ctes, dialect), agreement: seen.agreement },
      rivals: rivals.map((rival, at) => ({ ...rival, agreement: seen.rivals[at] ?? null })),
    };
  });
}

/** The columns of one claim alone, so that one that gives no counts says nothing of the others. */
function columnsOf(result: SqlResult, from: number, to: number): SqlResult {
  if (result.kind !== 'rows') return result;
  const { columns, rows } = result;
  return { ...result, columns: columns.slice(from, to), rows: rows.map((row) => row.slice(from, to)) };
}

function errorOf(claims: readonly Laid[], result: Exclude<SqlResult, { kind: 'rows' }>): string {
  const which = claims.map(({ number }) => `claim ${number}`).join(' or ');
  if (result.kind !== 'timeout') return `the check of ${which}: ${result.message}`;
  return `the check of ${which}, with its rivals, was ${stoppedText(result)}: join grouped subqueries instead of a subquery for each row`;
}
