/**
 * Loads a plan by reference: interfaces from the plan's content, the current bodies and proofs, and for each body which
 * operators of this plan the names in its text refer to (rules S3, S8).
 */
import type { Assumption, Body, Dialect, Operator, Plan, Update } from '../../domain';
import { clockOperator, CLOCK, readsClock } from '../../sql/clock';
import { CompileError, compilePlan, compileSelect, type PlanOperator, type SelectText } from '../../sql/compile';
import type { PlanRef } from '../../domain/ports/step-parts';
import type { StepContext } from './context';
import { SCHEMA_ID } from '../../record/contents';

export interface LoadedOperator {
  readonly operator: Operator;
  readonly body: Body | null;
  readonly update: Update | null;
  readonly assumptions: readonly Assumption[];
}

export interface LoadedPlan {
  readonly plan: Plan;
  readonly ref: PlanRef;
  readonly operators: readonly LoadedOperator[];
  /** The relation `gate_clock` for its SQL; null: this search has no clock. */
  readonly clock: PlanOperator | null;
  readonly dialect: Dialect;
}

export async function loadPlan(context: StepContext, ref: PlanRef): Promise<LoadedPlan> {
  const plan = await context.run.get('plan', ref.planId);
  const operators = await Promise.all(plan.operators.map((operator) => loadOperator(context, operator, ref)));
  return { plan, ref, operators, ...clockOf(context, (await context.run.get('schema', SCHEMA_ID)).description) };
}

export function clockOf(
  { input: { clock } }: StepContext,
  { dialect }: { readonly dialect: Dialect },
): Pick<LoadedPlan, 'clock' | 'dialect'> {
  return { clock: clock === undefined ? null : clockOperator(clock, dialect), dialect };
}

async function loadOperator(context: StepContext, operator: Operator, ref: PlanRef): Promise<LoadedOperator> {
  const [, bodyId = null, updateId = null] = ref.bodies.find(([name]) => name === operator.name) ?? [];
  const [body, update] = await Promise.all([
    bodyId === null ? null : context.run.get('body', bodyId),
    updateId === null ? null : context.run.get('update', updateId),
  ]);
  return { operator, body, update, assumptions: await assumptionsOf(context, operator, bodyId, updateId) };
}

async function assumptionsOf(
  context: StepContext,
  operator: Operator,
  bodyId: string | null,
  updateId: string | null,
): Promise<readonly Assumption[]> {
  if (bodyId === null || updateId !== null) return [];
  if (operator.body.kind === 'assumed' && operator.body.bodyId === bodyId) return operator.body.assumptions;
  return (await context.run.find('assumptions', bodyId))?.assumptions ?? [];
}

export function findLoaded(plan: LoadedPlan, name: string): LoadedOperator | undefined {
  return plan.operators.find(({ operator }) => operator.name === name);
}

/** The same plan with other bodies for some operators. The new bodies use this plan's names. */
export function withBodies(plan: LoadedPlan, bodies: Readonly<Record<string, Body>>): LoadedPlan {
  return {
    ...plan,
    operators: plan.operators.map((each) => {
      const body = bodies[each.operator.name];
      return body === undefined ? each : { ...each, body, update: null };
    }),
  };
}

/** SQL, or why the plan is inconsistent. */
export type Compiled = { readonly sql: string; readonly error: null } | { readonly sql: null; readonly error: string };

/** The whole plan, or the part of it that yields the operator `upTo`. */
export function planSql(plan: LoadedPlan, upTo?: string): Compiled {
  return tryCompile(() => compilePlan(planOperators(plan), plan.dialect, upTo));
}

/** The whole plan with another body for one operator; null if it is inconsistent. */
export function planSqlUnder(plan: LoadedPlan, operator: string, body: Body): string | null {
  return planSql(withBodies(plan, { [operator]: body })).sql;
}

/** A SELECT over operators of the plan. */
export function selectSql(plan: LoadedPlan, select: SelectText): Compiled {
  return tryCompile(() => compileSelect(planOperators(plan), select, plan.dialect));
}

/** The first rows of it. */
export function limited({ sql, error }: Compiled, rows: number): Compiled {
  return sql === null ? { sql, error } : { sql: `SELECT * FROM (\n${sql}\n) AS checked LIMIT ${rows}`, error: null };
}

function tryCompile(compile: () => string): Compiled {
  try {
    return { sql: compile(), error: null };
  } catch (error) {
    if (error instanceof CompileError) return { sql: null, error: error.message };
    throw error;
  }
}

/** The written operators in the compiler's form: the clock first, then in plan order. */
function planOperators(plan: LoadedPlan): PlanOperator[] {
  const written = plan.operators.flatMap((loaded) =>
    loaded.body === null
      ? []
      : [{ name: loaded.operator.name, body: clocked(loaded.body), bindings: bindings(plan, loaded, loaded.body) }],
  );
  return plan.clock === null ? written : [plan.clock, ...written];
}

function clocked(body: Body): PlanOperator['body'] {
  return readsClock(body.relations) ? { ...body, reads: [...body.reads, CLOCK] } : body;
}

/** Maps the names in a body's text to operators. SQL of an update is matched by the bodies it was proved over; other SQL uses this plan's names. */
function bindings(plan: LoadedPlan, { operator, update }: LoadedOperator, body: Body): Record<string, string> {
  if (update === null) return {};
  const bound = body.reads.map((local): [string, string] => {
    if (local === update.operator && !update.inputs.some((input) => input.local === local))
      return [local, operator.name];
    const wanted = update.inputs.find((input) => input.local === local)?.bodyId;
    const fits = operator.inputs.filter((name) => findLoaded(plan, name)?.body?.bodyId === wanted);
    return [local, fits.includes(local) ? local : (fits[0] ?? local)];
  });
  return Object.fromEntries(bound);
}

/** The updates and assumed bodies of the named operators and of all that they read (rule S10). */
export function restsOn(plan: LoadedPlan, names: readonly string[]): { updates: string[]; assumedBodies: string[] } {
  const loaded = reachedFrom(plan, names);
  return {
    updates: loaded.flatMap(({ update }) => (update === null ? [] : [update.updateId])),
    assumedBodies: loaded.flatMap(({ body, update }) => (body !== null && update === null ? [body.bodyId] : [])),
  };
}

/** The named operators and all that they read. */
export function reachedFrom(plan: LoadedPlan, names: readonly string[]): readonly LoadedOperator[] {
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const loaded = findLoaded(plan, name);
    if (loaded === undefined || reached.has(name)) return;
    reached.add(name);
    loaded.operator.inputs.forEach(visit);
  };
  names.forEach(visit);
  return plan.operators.filter(({ operator }) => reached.has(operator.name));
}
