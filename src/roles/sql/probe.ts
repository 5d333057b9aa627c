/**
 * `probe`: runs the probes of a proposal with their predicates and agreement counts, all in one snapshot (rule S2). Then it
 * runs the whole plan under each reading that these left standing, one combination after another in one snapshot: which give the
 * same answer, and whether the choice makes no difference at all (rule S9).
 */
import type { Body, MaterialityOutcome, Test, TestOutcome, HypothesisOutcome } from '../../domain';
import type { SqlInspector } from '../../domain/ports';
import { layTest, resultsOf, type TestRun } from '../../sql/proof';
import { builtOn } from '../shared/tests';
import { weigh } from '../../sql/vacuous-test';
import { addDeltas, openEngine, runSql, type StepContext, type SqlRun } from '../shared/context';
import { findLoaded, loadPlan, selectSql, withBodies, type LoadedPlan, planSql } from '../shared/load-plan';
import { loadBodies } from '../shared/bodies';
import { together, type Statements } from '../shared/statements';
import {
  materialityCombinations,
  operatorMateriality,
  sameAnswers,
  type Combination,
  type Readings,
} from '../../sql/materiality';
import { leftStanding } from '../../sql/agreement';
import type { Given, Gives } from '../../domain/ports/steps';

export async function probe(context: StepContext, step: Given<'probe'>): Promise<Gives<'probe'>> {
  const proposal = await context.run.get('proposal', step.proposalId);
  const plan = await loadPlan(context, step.plan);
  const { inspector } = await openEngine(context);
  const ids = proposal.tests.flatMap(({ hypotheses }) => hypotheses.flatMap(({ bodyId }) => bodyId ?? []));
  const bodies = await loadBodies(context, ids);
  const prepared = together(proposal.tests.map((test) => prepareTest(test, plan, bodies, inspector)));
  const { results, takenAt, usage } = await runSql(context, prepared.statements);
  const seen = prepared.read(results);
  // With proof by model the checks only help the judge.
  const observed = seen.map((outcome, at): TestOutcome => {
    const test = proposal.tests[at];
    if (context.settings.proof === 'model' || test === undefined) return outcome;
    return { ...outcome, hypotheses: weigh(test, outcome.result, outcome.hypotheses, plan.dialect) };
  });
  const readings = proposal.tests.map((test, index) => readingsOf(test, observed[index], plan));
  const material = await runReadings(context, plan, readings);
  const tests = observed.map((outcome, index) => ({
    ...outcome,
    hypotheses: outcome.hypotheses.map((each) => ({ ...each, ...material.sameAnswer(readings[index], each.id) })),
    materiality: withoutBody(material.of(outcome.operator)),
  }));
  const observationId = step.position;
  await context.run.put('observation', observationId, {
    observationId,
    proposalId: step.proposalId,
    tests,
    takenAt,
  });
  return {
    observationId,
    tests: observed.map((outcome) => ({
      operator: outcome.operator,
      outcome: outcomeOf(outcome),
      immaterial: immaterialOf(material.of(outcome.operator)),
    })),
    usage: addDeltas(usage, material.usage),
  };
}

type Bodies = ReadonlyMap<string, Body>;

/** The plan may have changed since the test was written: the operators that it reads must still have SQL. */
function prepareTest(test: Test, plan: LoadedPlan, bodies: Bodies, inspector: SqlInspector): Statements<TestOutcome> {
  const inspection = inspector.inspect(test.probe);
  const laid = (runs: readonly TestRun[]): Statements<TestOutcome> => {
    const { statements, read } = layTest(test, runs, plan.dialect);
    return { statements, read: (results) => ({ operator: test.operator, materiality: null, ...read(results) }) };
  };
  const asOne = (probe: TestRun['probe']) => laid([{ reading: null, probe }]);
  if (inspection.kind !== 'select') return asOne({ error: inspection.message });
  const below = builtOn(plan.plan.operators, test.operator);
  const read = inspection.relations.map((name) => name.toLowerCase());
  const missing = read.filter((name) => {
    const loaded = findLoaded(plan, name);
    return loaded !== undefined && name !== test.operator && (loaded.body === null || below.has(name));
  });
  if (missing.length > 0)
    return asOne({ error: `the probe reads ${missing.join(', ')}, which has no SQL or is under test` });
  const compiled = (at: LoadedPlan): TestRun['probe'] => {
    const { sql, error } = selectSql(at, { ...inspection, sql: test.probe });
    return sql === null ? { error } : { sql };
  };
  if (!read.includes(test.operator)) return asOne(compiled(plan));
  const runs = test.hypotheses.map(({ id, bodyId }): TestRun => {
    const body = bodies.get(bodyId ?? '');
    const error = `the probe reads ${test.operator}, for which ${id} has no SQL`;
    return {
      reading: id,
      probe: body === undefined ? { error } : compiled(withBodies(plan, { [test.operator]: body })),
    };
  });
  return laid(runs);
}

function withoutBody(outcome: Materiality | null): MaterialityOutcome | null {
  if (outcome === null) return null;
  const { combinations, immaterial, reason, relativeTo } = outcome;
  return { combinations, immaterial, reason, relativeTo };
}

function immaterialOf(outcome: Materiality | null): Gives<'probe'>['tests'][number]['immaterial'] {
  if (outcome === null || !outcome.immaterial || outcome.bodyId === null) return null;
  return { relativeTo: outcome.relativeTo, bodyId: outcome.bodyId };
}

function outcomeOf(outcome: TestOutcome): Gives<'probe'>['tests'][number]['outcome'] {
  const results = resultsOf(outcome);
  const result = results.find((each) => each.kind === 'rows' && each.rows.length > 0) ?? results[0] ?? outcome.result;
  return result.kind === 'rows' && result.rows.length === 0 ? 'empty' : result.kind;
}

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
