/**
 * `probe`: runs the probes of a proposal with their predicates and agreement counts, all in one snapshot (rule S2). Then it
 * runs the whole plan under each reading that these have not refuted, if that can show that the choice is immaterial, or that
 * some of them give the same answer (rule S9).
 */
import type { Dialect, MaterialityOutcome, SqlResult, Test, TestOutcome } from '../domain';
import type { SqlInspector } from '../ports';
import { compileSelect } from '../search/compile';
import { hypothesisOutcomes, predicateStatements, type PredicateStatement } from '../search/proof';
import { weigh } from '../search/vacuous-test';
import type { Probed, ProbeInput } from '../search/steps';
import { tryCompile } from './body-errors';
import { addDeltas, once, openInspector, runSql, type StepContext } from './context';
import { builtOn, findLoaded, loadPlan, planOperators, type LoadedPlan } from './load-plan';
import { readingsOf, runReadings, type Materiality } from './run-readings';

export async function probe(context: StepContext, step: ProbeInput): Promise<Probed> {
  return once(
    context,
    async () => {
      const proposal = await context.run.get('proposal', step.proposalId);
      const plan = await loadPlan(context, step.plan);
      const { inspector, dialect } = await openInspector(context);
      const prepared = proposal.tests.map((test) => prepareTest(test, plan, inspector, dialect));
      const { results, takenAt, usage } = await runSql(
        context,
        prepared.flatMap(({ statements }) => statements),
      );
      const seen = readTests(prepared, results, dialect);
      // With proof by model the checks only help the judge.
      const observed =
        context.settings.proof === 'model' ? seen : seen.map((outcome, at) => weighed(prepared[at], outcome));
      const readings = proposal.tests.map((test, index) => readingsOf(test, observed[index], plan));
      const material = await runReadings(context, plan, readings, dialect);
      const tests = observed.map((outcome, index) => ({
        ...outcome,
        hypotheses: outcome.hypotheses.map((each) => ({ ...each, ...material.sameAnswer(readings[index], each.id) })),
        materiality: withoutBody(material.of(outcome.operator)),
      }));
      const observationId = step.position;
      await context.run.put('observation', observationId, {
        schemaVersion: 1,
        observationId,
        proposalId: step.proposalId,
        tests,
        takenAt,
      });
      return {
        observationId,
        tests: observed.map((outcome) => ({
          operator: outcome.operator,
          outcome: outcomeOf(outcome.result),
          immaterial: immaterialOf(material.of(outcome.operator)),
        })),
        usage: addDeltas(usage, material.usage),
      };
    },
    step,
  );
}

interface PreparedTest {
  readonly test: Test;
  readonly probeSql: string;
  /** Why the probe cannot run in the current plan. */
  readonly error: string | null;
  readonly predicates: readonly PredicateStatement[];
  /** The probe, then its predicates. */
  readonly statements: readonly string[];
}

/** The plan may have changed since the test was written: the operators that it reads must still have SQL. */
function prepareTest(test: Test, plan: LoadedPlan, inspector: SqlInspector, dialect: Dialect): PreparedTest {
  const inspection = inspector.inspect(test.probe);
  if (inspection.kind !== 'select') return unable(test, inspection.message);
  const below = builtOn(plan, test.operator);
  const missing = inspection.relations.filter((name) => {
    const loaded = findLoaded(plan, name.toLowerCase());
    return loaded !== undefined && (loaded.body === null || below.has(loaded.operator.name));
  });
  if (missing.length > 0)
    return unable(test, `the probe reads ${missing.join(', ')}, which has no SQL or is under test`);
  const select = { sql: test.probe, relations: inspection.relations, hasWith: inspection.hasWith };
  const { sql, error } = tryCompile(() => compileSelect(planOperators(plan), select, dialect));
  if (sql === null) return unable(test, error);
  const predicates = predicateStatements(sql, test);
  return { test, probeSql: sql, error: null, predicates, statements: [sql, ...predicates.map((each) => each.sql)] };
}

function unable(test: Test, error: string): PreparedTest {
  return { test, probeSql: test.probe, error, predicates: [], statements: [] };
}

function readTests(prepared: readonly PreparedTest[], results: readonly SqlResult[], dialect: Dialect): TestOutcome[] {
  let at = 0;
  return prepared.map(({ test, probeSql, error, predicates, statements }) => {
    const [result, ...values] = results.slice(at, (at += statements.length));
    return {
      operator: test.operator,
      probeSql,
      result: result ?? { kind: 'refused', message: error ?? 'the probe was not run' },
      hypotheses: hypothesisOutcomes(test, predicates, values, dialect),
      materiality: null,
    };
  });
}

function withoutBody(outcome: Materiality | null): MaterialityOutcome | null {
  if (outcome === null) return null;
  const { combinations, immaterial, reason, relativeTo } = outcome;
  return { combinations, immaterial, reason, relativeTo };
}

function immaterialOf(outcome: Materiality | null): Probed['tests'][number]['immaterial'] {
  if (outcome === null || !outcome.immaterial || outcome.bodyId === null) return null;
  return { relativeTo: outcome.relativeTo, bodyId: outcome.bodyId };
}

function weighed(prepared: PreparedTest | undefined, outcome: TestOutcome): TestOutcome {
  if (prepared === undefined) return outcome;
  return { ...outcome, hypotheses: weigh(prepared.test, outcome.result, outcome.hypotheses) };
}

function outcomeOf(result: SqlResult): Probed['tests'][number]['outcome'] {
  return result.kind === 'rows' && result.rows.length === 0 ? 'empty' : result.kind;
}
