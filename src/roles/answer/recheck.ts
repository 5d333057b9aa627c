/**
 * Checks whether the proofs of an answer still hold. The probes that proved its readings run again with their predicates
 * (rules S1, S2), and the whole plan runs under the rival readings that made no difference (rule S9). Each recheck returns
 * its statements, so that all of them run in one snapshot with the answer's own SQL.
 */
import type { Dialect, Evidence, SqlResult, TestOutcome, Update } from '../../domain';
import { withClock } from '../../sql/clock';
import { decideMateriality } from '../../sql/materiality';
import { prove, layTest, runOf, type TestRun } from '../../sql/proof';
import { weigh } from '../../sql/vacuous-test';
import { mergedOutcomes, testOf } from '../shared/attempts';
import type { StepContext } from '../shared/context';
import { excerpt } from './evidence-record';
import { findLoaded, planSqlUnder, type LoadedPlan } from '../shared/load-plan';
import { together, type Statements } from '../shared/statements';

export type Recheck = Statements<(answer: SqlResult) => Rechecked>;

export interface Rechecked {
  readonly operator: string;
  /** Why it no longer holds; null if it does. */
  readonly why: string | null;
  /** The current result of the probe. */
  readonly evidence: Partial<Pick<Evidence, 'probe' | 'observed'>>;
}

/** The probes of the attempt that proved a reading. */
export async function proofRecheck(context: StepContext, updateId: string, dialect: Dialect): Promise<Recheck> {
  const update = await context.run.get('update', updateId);
  const { operator } = update;
  const { winner, seen } = await attemptOf(context, update);
  const judged = seen.find(({ observationId }) => observationId === update.observationId);
  if (judged === undefined) return lost(operator, 'its evidence is no longer in the store');
  const timed = (sql: string): string => withClock(sql, context.input.clock, dialect);
  const again = together(
    seen.map(({ observationId, outcome, test }): Statements<Reobserved> => {
      const readings = outcome.hypotheses.flatMap(({ id, run }) => (run === undefined ? [] : [id]));
      const runs = (readings.length === 0 ? [null] : readings).map((reading): TestRun => {
        const { probeSql, result } = runOf(outcome, reading);
        // A probe that could not run then proved nothing.
        const ran = result.kind === 'rows';
        return { reading, probe: ran ? { sql: timed(probeSql) } : { error: 'the probe did not run' } };
      });
      const laid = layTest(test, runs, dialect);
      const read = (results: readonly SqlResult[]): TestOutcome => {
        if (results.length === 0) return outcome;
        const again = { ...outcome, ...laid.read(results) };
        if (context.settings.proof === 'model') return again;
        return { ...again, hypotheses: weigh(test, again.result, again.hypotheses, dialect) };
      };
      return {
        statements: laid.statements,
        read: (results) => ({ observationId, before: outcome, now: read(results) }),
      };
    }),
  );
  return {
    statements: again.statements,
    read: (results) => {
      const outcomes = again.read(results);
      const shown = outcomes.find(({ observationId }) => observationId === judged.observationId)?.now ?? judged.outcome;
      const why = unprovedBy(context, update, winner, shown, outcomes);
      const { probeSql, result } = runOf(shown, winner);
      return () => ({ operator, why, evidence: { probe: probeSql, observed: excerpt(result) } });
    },
  };
}

interface Reobserved {
  readonly observationId: string;
  readonly before: TestOutcome;
  readonly now: TestOutcome;
}

/** Why the winner is no longer proved: a predicate that was true and is not, or another requirement of rule S1; else null. */
function unprovedBy(
  { settings }: StepContext,
  { operator, verdicts, sameAnswer }: Update,
  winner: string | null,
  shown: TestOutcome,
  outcomes: readonly Reobserved[],
): string | null {
  for (const { before, now } of outcomes) {
    const was = before.hypotheses.find(({ id }) => id === winner)?.predicates ?? [];
    const is = now.hypotheses.find(({ id }) => id === winner)?.predicates ?? [];
    const fallen = is.find(({ outcome }, index) => outcome !== 'true' && was[index]?.outcome === 'true');
    if (fallen !== undefined) {
      const found = fallen.outcome === 'false' ? 'false' : `not established (${fallen.note ?? ''})`;
      return `what proved ${operator} is now ${found}: ${fallen.sql}`;
    }
  }
  const equivalent = sameAnswer?.rivals.map(({ hypothesis }) => hypothesis) ?? [];
  const checks = (tests: TestOutcome[]) =>
    prove({
      outcome: { ...shown, hypotheses: mergedOutcomes([{ tests }], operator) },
      verdicts,
      winner,
      equivalent,
      bodyError: null,
      columnsDiffer: null,
      mode: settings.proof,
    }).checks;
  const was = checks(outcomes.map(({ before }) => before));
  const unmet = checks(outcomes.map(({ now }) => now)).find(({ met }, index) => !met && was[index]?.met !== false);
  return unmet === undefined ? null : `${operator} is no longer proved: ${unmet.requirement} (${unmet.seen})`;
}

/** All observations of the attempt on the operator, with their tests, and the winning reading. */
async function attemptOf(context: StepContext, update: Update) {
  const { run } = context;
  const { operator, groundingId, observationId } = update;
  const grounding = groundingId === null ? null : await run.find('grounding', groundingId);
  const winner = grounding?.groundings.find((each) => each.operator === operator)?.winner ?? null;
  const ids = grounding?.observations ?? (observationId === null ? [] : [observationId]);
  const seen = await Promise.all(ids.map((id) => testOf(run, id, operator)));
  return { winner, seen: seen.filter((each) => each !== null) };
}

function lost(operator: string, why: string): Recheck {
  return { statements: [], read: () => () => ({ operator, why: `${operator}: ${why}`, evidence: {} }) };
}

/** Runs the plan under each rival body of an operator whose reading made no difference. */
export async function materialityRecheck(
  context: StepContext,
  plan: LoadedPlan,
  operator: string,
  attempts: readonly string[],
): Promise<Recheck> {
  const { run } = context;
  const proposed = attempts.map(async (id) => {
    const observation = await run.find('observation', id);
    return observation === null ? [] : ((await run.find('proposal', observation.proposalId))?.tests ?? []);
  });
  const tests = (await Promise.all(proposed)).flat().filter((test) => test.operator === operator);
  const rivals = tests.flatMap(({ hypotheses }) => hypotheses.flatMap(({ bodyId }) => bodyId ?? []));
  return rivalsRecheck(run, plan, operator, rivals);
}

/** The same for a proof beside rivals that gave the same answer; null if it had none. */
export async function sameAnswerRecheck(
  context: StepContext,
  plan: LoadedPlan,
  operator: string,
  updateId: string,
): Promise<Recheck | null> {
  const update = await context.run.get('update', updateId);
  const rivals = update.sameAnswer?.rivals.map(({ bodyId }) => bodyId) ?? [];
  return rivals.length === 0 ? null : rivalsRecheck(context.run, plan, operator, rivals);
}

async function rivalsRecheck(
  run: StepContext['run'],
  plan: LoadedPlan,
  operator: string,
  rivals: readonly string[],
): Promise<Recheck> {
  const current = findLoaded(plan, operator)?.body?.bodyId;
  const other = [...new Set(rivals)].filter((id) => id !== current);
  const bodies = await Promise.all(other.map((id) => run.get('body', id)));
  const statements = bodies.flatMap((body) => planSqlUnder(plan, operator, body) ?? []);
  if (statements.length === 0 || statements.length < bodies.length)
    return lost(operator, 'its rival readings cannot be run again');
  return {
    statements,
    read: (results) => (answer) => {
      const { immaterial, reason } = decideMateriality([answer, ...results], plan.plan.ordered);
      const why = immaterial ? null : `the reading of ${operator} made no difference and now does: ${reason}`;
      return { operator, why, evidence: {} };
    },
  };
}
