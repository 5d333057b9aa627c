/**
 * `probe`: runs the probes of a proposal with their predicates and agreement counts, all in one snapshot (rule S2). Then it
 * runs the whole plan under each rival reading, if that can show that the choice is immaterial (rule S9).
 */
import type { Body, Dialect, MaterialityOutcome, SqlResult, Test, TestOutcome } from '../domain';
import type { SqlInspector } from '../ports';
import { compilePlan, compileSelect } from '../search/compile';
import { materialityCombinations, operatorMateriality, type Combination } from '../search/materiality';
import { hypothesisOutcomes, predicateStatements, type PredicateStatement } from '../search/proof';
import type { Probed, ProbeInput } from '../search/steps';
import { tryCompile } from './body-errors';
import { addDeltas, once, openInspector, runSql, type SqlRun, type StepContext } from './context';
import { builtOn, findLoaded, loadPlan, planOperators, withBodies, type LoadedPlan } from './load-plan';

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
      const observed = readTests(prepared, results, dialect);
      const material = await materiality(context, plan, proposal.tests, dialect);
      const tests = observed.map((outcome) => ({
        ...outcome,
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

type Materiality = MaterialityOutcome & { readonly bodyId: string | null };
interface MaterialityRun {
  readonly of: (operator: string) => Materiality | null;
  readonly usage: SqlRun['usage'];
}

const NOT_RUN: MaterialityRun = { of: () => null, usage: {} };

/** Runs only if every operator has SQL in every combination. A compile error means that some operators have none. */
async function materiality(
  context: StepContext,
  plan: LoadedPlan,
  tests: readonly Test[],
  dialect: Dialect,
): Promise<MaterialityRun> {
  if (!context.settings.materiality) return NOT_RUN;
  const readings = tests.map((test) => ({
    operator: test.operator,
    bodies: test.hypotheses.map(({ bodyId }) => bodyId),
    current: findLoaded(plan, test.operator)?.body?.bodyId ?? null,
  }));
  const tested = new Set(tests.map(({ operator }) => operator));
  const others = plan.operators.filter(({ operator }) => !tested.has(operator.name));
  const combinations = others.every(({ body }) => body !== null) ? materialityCombinations(readings) : null;
  if (combinations === null) return NOT_RUN;
  const bodies = await loadBodies(context, combinations);
  const compiled = combinations.map(
    (combination) => tryCompile(() => compileWith(plan, combination, bodies, dialect)).sql,
  );
  const statements = compiled.filter((sql) => sql !== null);
  if (statements.length < combinations.length) return NOT_RUN;
  const { results, usage } = await runSql(context, statements);
  const current = Object.fromEntries(readings.map((each) => [each.operator, each.current]));
  const fixed = others.flatMap(({ body }) => (body === null ? [] : [body.bodyId]));
  const runs = { combinations, results, ordered: plan.plan.ordered };
  return { of: (operator) => operatorMateriality(operator, runs, { current, fixed }), usage };
}

async function loadBodies(
  context: StepContext,
  combinations: readonly Combination[],
): Promise<ReadonlyMap<string, Body>> {
  const ids = [...new Set(combinations.flatMap((combination) => Object.values(combination)))];
  const bodies = await Promise.all(ids.map((id) => context.run.get('body', id)));
  return new Map(bodies.map((body) => [body.bodyId, body]));
}

function compileWith(
  plan: LoadedPlan,
  combination: Combination,
  bodies: ReadonlyMap<string, Body>,
  dialect: Dialect,
): string {
  const changed = Object.entries(combination).flatMap(([name, id]): [string, Body][] => {
    const body = bodies.get(id);
    return body === undefined || findLoaded(plan, name)?.body?.bodyId === id ? [] : [[name, body]];
  });
  return compilePlan(planOperators(withBodies(plan, Object.fromEntries(changed))), dialect);
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

function outcomeOf(result: SqlResult): Probed['tests'][number]['outcome'] {
  return result.kind === 'rows' && result.rows.length === 0 ? 'empty' : result.kind;
}
