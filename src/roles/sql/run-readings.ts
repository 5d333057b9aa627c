/**
 * Runs the whole plan under each reading that the checks of a test left standing (rule S9), one combination after another in
 * one snapshot: which readings give the same answer, and whether the choice makes no difference at all.
 */
import type { Body, HypothesisOutcome, MaterialityOutcome, Test, TestOutcome } from '../../domain';
import {
  materialityCombinations,
  operatorMateriality,
  sameAnswers,
  type Combination,
  type Readings,
} from '../../sql/materiality';
import { leftStanding } from '../../sql/agreement';
import { loadBodies } from '../shared/bodies';
import { runSql, type SqlRun, type StepContext } from '../shared/context';
import { findLoaded, planSql, withBodies, type LoadedPlan } from '../shared/load-plan';

export type Materiality = MaterialityOutcome & { readonly bodyId: string | null };
export interface ReadingsRun {
  readonly of: (operator: string) => Materiality | null;
  readonly sameAnswer: (readings: Standing | undefined, hypothesis: string) => Pick<HypothesisOutcome, 'sameAnswer'>;
  readonly usage: SqlRun['usage'];
}

const NOT_RUN: ReadingsRun = { of: () => null, sameAnswer: () => ({}), usage: {} };

/** The readings of an operator that its checks left standing. */
export interface Standing extends Readings {
  readonly hypotheses: readonly { readonly id: string; readonly bodyId: string | null }[];
  /** Whether the checks refuted another one: then the data has spoken, and what is left is to be judged. */
  readonly refuted: boolean;
}

export function readingsOf(
  { operator, hypotheses }: Test,
  outcome: TestOutcome | undefined,
  plan: LoadedPlan,
): Standing {
  const left = leftStanding(outcome?.hypotheses ?? []);
  const open = hypotheses.filter(({ id }) => left.includes(id));
  return {
    operator,
    hypotheses: open,
    bodies: open.map(({ bodyId }) => bodyId),
    current: findLoaded(plan, operator)?.body?.bodyId ?? null,
    refuted: open.length < hypotheses.length,
  };
}

/** Runs only if every operator has SQL in every combination. A compile error means that some operators have none. */
export async function runReadings(
  context: StepContext,
  plan: LoadedPlan,
  readings: readonly Standing[],
): Promise<ReadingsRun> {
  if (!context.settings.materiality) return NOT_RUN;
  const tested = new Set(readings.map(({ operator }) => operator));
  const others = plan.operators.filter(({ operator }) => !tested.has(operator.name));
  const combinations = others.every(({ body }) => body !== null) ? materialityCombinations(readings) : null;
  if (combinations === null) return NOT_RUN;
  const bodies = await loadBodies(
    context,
    combinations.flatMap((each) => Object.values(each)),
  );
  const statements = combinations.flatMap((combination) => planSql(planWith(plan, combination, bodies)).sql ?? []);
  if (statements.length < combinations.length) return NOT_RUN;
  const { results, usage } = await runSql(context, statements);
  const current = Object.fromEntries(readings.map((each) => [each.operator, each.current]));
  const fixed = others.flatMap(({ body }) => (body === null ? [] : [body.bodyId]));
  const runs = { combinations, results, ordered: plan.plan.ordered };
  const decided = new Map(
    readings.map((each) => [each.operator, operatorMateriality(each.operator, runs, { current, fixed })]),
  );
  return {
    of: (operator) => judgeable(decided.get(operator) ?? null, readings, operator),
    sameAnswer: (standing, hypothesis) => (standing === undefined ? {} : same(standing, hypothesis, runs, fixed)),
    usage,
  };
}

/** What has been refuted stays in the proof: only a choice between readings that all stand can be immaterial. */
function judgeable(made: Materiality | null, readings: readonly Standing[], operator: string): Materiality | null {
  const of = readings.find((each) => each.operator === operator);
  if (made === null || of === undefined) return null;
  if (of.refuted) return { ...made, immaterial: false };
  return of.bodies.includes(null) ? { ...made, immaterial: false, reason: 'a reading has no SQL' } : made;
}

function same(
  { operator, hypotheses }: Standing,
  hypothesis: string,
  runs: Parameters<typeof sameAnswers>[1],
  fixed: readonly string[],
): Pick<HypothesisOutcome, 'sameAnswer'> {
  const own = hypotheses.find(({ id }) => id === hypothesis)?.bodyId ?? null;
  const under = sameAnswers(operator, runs, fixed);
  const found = hypotheses.flatMap(({ id, bodyId }) => {
    if (id === hypothesis || own === null || bodyId === null) return [];
    const relativeTo = under(own, bodyId).map((others) => [...others]);
    return relativeTo.length === 0 ? [] : [{ as: id, relativeTo }];
  });
  return found.length === 0 ? {} : { sameAnswer: found };
}

function planWith(plan: LoadedPlan, combination: Combination, bodies: ReadonlyMap<string, Body>): LoadedPlan {
  const changed = Object.entries(combination).flatMap(([name, id]): [string, Body][] => {
    const body = bodies.get(id);
    return body === undefined || findLoaded(plan, name)?.body?.bodyId === id ? [] : [[name, body]];
  });
  return withBodies(plan, Object.fromEntries(changed));
}
