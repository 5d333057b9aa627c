/**
 * Checks whether the proofs of an answer still hold. The probes that proved its readings run again with their predicates
 * (rules S1, S2), and the whole plan runs under the rival readings that made no difference (rule S9). Each recheck returns
 * its statements, so that all of them run in one snapshot with the answer's own SQL.
 */
import type { Dialect, Evidence, SqlResult, Test, TestOutcome, Update } from '../domain';
import { withClock } from '../sql/clock';
import { compilePlan } from '../sql/compile';
import { decideMateriality } from '../sql/materiality';
import { prove } from '../sql/proof';
import { layTest, readTest, runOf, type TestRun } from '../sql/test-runs';
import { weigh } from '../sql/vacuous-test';
import { tryCompile } from './body-errors';
import type { StepContext } from './context';
import { excerpt } from './evidence-record';
import { mergedOutcomes } from './ground';
import { findLoaded, planOperators, withBodies, type LoadedPlan } from './load-plan';
import { KNOWN } from './memory';
import { createRunStore } from '../record/run-store';

export interface Recheck {
  readonly operator: string;
  readonly statements: readonly string[];
  readonly read: (results: readonly SqlResult[], answer: SqlResult) => Rechecked;
}

export interface Rechecked {
  /** Why it no longer holds; null if it does. */
  readonly why: string | null;
  /** The current result of the probe. */
  readonly evidence: Partial<Pick<Evidence, 'probe' | 'observed'>>;
}

/** The probes of the attempt that proved a reading. */
export async function proofRecheck(context: StepContext, updateId: string, dialect: Dialect): Promise<Recheck> {
  const update = await context.run.get('update', updateId);
  const { operator } = update;
  const seen = await attemptOf(context, update);
  const judged = seen.find(({ observationId }) => observationId === update.observationId);
  if (judged === undefined) return lost(operator, 'its evidence is no longer in the store');
  const { clock } = context.input;
  const nowText = (sql: string): string => (clock === undefined ? sql : withClock(sql, clock, dialect));
  const again = seen.map(({ observationId, outcome, test }) => {
    const readings = outcome.hypotheses.flatMap(({ id, run }) => (run === undefined ? [] : [id]));
    const runs = (readings.length === 0 ? [null] : readings).map((reading): TestRun => {
      const { probeSql, result } = runOf(outcome, reading);
      // A probe that could not run then proved nothing.
      const ran = result.kind === 'rows';
      return { reading, probe: ran ? { sql: nowText(probeSql) } : { error: 'the probe did not run' } };
    });
    return { observationId, outcome, test, laid: layTest(test, runs) };
  });
  return {
    operator,
    statements: again.flatMap(({ laid }) => laid.statements),
    read: (results) => {
      let at = 0;
      const outcomes = again.map(({ observationId, outcome, test, laid }) => {
        const own = results.slice(at, (at += laid.statements.length));
        const now: TestOutcome = own.length === 0 ? outcome : { ...outcome, ...readTest(laid, own, dialect) };
        return { observationId, test, before: outcome, now };
      });
      const shown = outcomes.find(({ observationId }) => observationId === judged.observationId)?.now ?? judged.outcome;
      const why = unprovedBy(context, update, judged.winner, shown, outcomes);
      const { probeSql, result } = runOf(shown, judged.winner);
      return { why, evidence: { probe: probeSql, observed: excerpt(result) } };
    },
  };
}

interface Reobserved {
  readonly test: Test;
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
  const checks = (tests: readonly TestOutcome[]) =>
    prove({
      ...{ outcome: { ...shown, hypotheses: mergedOutcomes([{ tests: [...tests] }], operator) }, verdicts, winner },
      ...{ equivalent, bodyError: null, columnsDiffer: null, mode: settings.proof },
    }).checks;
  // An earlier version asked less of a proof: what was never met has not changed.
  const weighed = (test: Test, outcome: TestOutcome) => ({
    ...outcome,
    hypotheses: weigh(test, outcome.result, outcome.hypotheses),
  });
  const before = checks(outcomes.map((each) => weighed(each.test, each.before)));
  const unmet = checks(outcomes.map(({ test, now }) => weighed(test, now))).find(
    ({ met }, index) => !met && before[index]?.met !== false,
  );
  return unmet === undefined ? null : `${operator} is no longer proved: ${unmet.requirement} (${unmet.seen})`;
}

/** All observations of the attempt on the operator, with their tests and the winning reading. */
async function attemptOf(context: StepContext, update: Update) {
  const run = evidenceRun(context, update);
  const { operator, groundingId, observationId } = update;
  const grounding = groundingId === null ? null : await run.find('grounding', groundingId);
  const winner = grounding?.groundings.find((each) => each.operator === operator)?.winner ?? null;
  const ids = grounding?.observations ?? (observationId === null ? [] : [observationId]);
  const found = ids.map(async (id) => {
    const observation = await run.find('observation', id);
    const proposal = observation === null ? null : await run.find('proposal', observation.proposalId);
    const outcome = observation?.tests.find((test) => test.operator === operator);
    const test = proposal?.tests.find((each) => each.operator === operator);
    return outcome === undefined || test === undefined ? [] : [{ observationId: id, outcome, test, winner }];
  });
  return (await Promise.all(found)).flat();
}

function lost(operator: string, why: string): Recheck {
  return { operator, statements: [], read: () => ({ why: `${operator}: ${why}`, evidence: {} }) };
}

/** Runs the plan under each rival body of an operator whose reading made no difference. */
export async function materialityRecheck(
  context: StepContext,
  plan: LoadedPlan,
  operator: string,
  attempts: readonly string[],
  dialect: Dialect,
): Promise<Recheck> {
  const { run } = context;
  const proposed = attempts.map(async (id) => {
    const observation = await run.find('observation', id);
    return observation === null ? [] : ((await run.find('proposal', observation.proposalId))?.tests ?? []);
  });
  const tests = (await Promise.all(proposed)).flat().filter((test) => test.operator === operator);
  const rivals = tests.flatMap(({ hypotheses }) => hypotheses.flatMap(({ bodyId }) => bodyId ?? []));
  return rivalsRecheck(context, plan, operator, rivals, dialect);
}

/** The same for a proof beside rivals that gave the same answer; null if it had none. */
export async function sameAnswerRecheck(
  context: StepContext,
  plan: LoadedPlan,
  operator: string,
  updateId: string,
  dialect: Dialect,
): Promise<Recheck | null> {
  const update = await context.run.get('update', updateId);
  const rivals = update.sameAnswer?.rivals.map(({ bodyId }) => bodyId) ?? [];
  return rivals.length === 0
    ? null
    : rivalsRecheck({ run: evidenceRun(context, update) }, plan, operator, rivals, dialect);
}

/** The evidence of an update from the memory is in the search that proved it. */
function evidenceRun({ deps, run }: StepContext, { updateId, searchId }: Update): StepContext['run'] {
  return updateId.startsWith(KNOWN) ? createRunStore(deps.store, searchId, deps.hash) : run;
}

async function rivalsRecheck(
  { run }: Pick<StepContext, 'run'>,
  plan: LoadedPlan,
  operator: string,
  rivals: readonly string[],
  dialect: Dialect,
): Promise<Recheck> {
  const current = findLoaded(plan, operator)?.body?.bodyId;
  const other = [...new Set(rivals)].filter((id) => id !== current);
  const bodies = await Promise.all(other.map((id) => run.get('body', id)));
  const compiled = bodies.map((body) =>
    tryCompile(() => compilePlan(planOperators(withBodies(plan, { [operator]: body })), dialect)),
  );
  if (compiled.length === 0 || compiled.some(({ sql }) => sql === null))
    return lost(operator, 'its rival readings cannot be run again');
  return {
    operator,
    statements: compiled.flatMap(({ sql }) => sql ?? []),
    read: (results, answer) => {
      const { immaterial, reason } = decideMateriality([answer, ...results], plan.plan.ordered);
      return {
        why: immaterial ? null : `the reading of ${operator} made no difference and now does: ${reason}`,
        evidence: {},
      };
    },
  };
}
