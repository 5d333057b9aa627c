/**
 * Questions about a plan's control view: what is written, what may be tested, what is still doubtful. SQL is not needed.
 */
import type { OperatorView, PlanView } from '../../domain';
import type { PlanRef } from '../../ports/search-steps';

/**
 * From this risk on, an assumption is worth a probe and an answer is called doubtful. Our own value, not the paper's. A
 * lower risk means that the planner would be surprised to be wrong.
 */
export const DOUBT = 0.3;

/** Iterations without new evidence after which an operator is blocked (rule S7). */
export const BLOCKED_AFTER = 2;

export function planRef(plan: PlanView): PlanRef {
  return { planId: plan.planId, bodies: plan.operators.map((o) => [o.name, o.bodyId, o.updateId] as const) };
}

export function findOperator(plan: PlanView, name: string): OperatorView | undefined {
  return plan.operators.find((operator) => operator.name === name);
}

export function isComplete(plan: PlanView): boolean {
  return plan.operators.every((operator) => operator.bodyId !== null);
}

/** Names of the operators that read `name`, directly or through others. */
export function descendants(plan: PlanView, name: string): ReadonlySet<string> {
  const found = new Set<string>([name]);
  for (const operator of plan.operators)
    if (operator.inputs.some((input) => found.has(input))) found.add(operator.name);
  found.delete(name);
  return found;
}

/** Names of the operators that `name` reads, directly or through others. */
export function ancestors(plan: PlanView, name: string): ReadonlySet<string> {
  const found = new Set(findOperator(plan, name)?.inputs ?? []);
  for (const operator of [...plan.operators].reverse())
    if (found.has(operator.name)) operator.inputs.forEach((input) => found.add(input));
  return found;
}

/** Whether it is testable (rule S7): its inputs are grounded or assumed, so a probe can read them. */
export function isTestable(plan: PlanView, operator: OperatorView): boolean {
  return operator.inputs.every((input) => typeof findOperator(plan, input)?.bodyId === 'string');
}

export function isBlocked(operator: OperatorView): boolean {
  return operator.barren >= BLOCKED_AFTER;
}

/** Whether resolving it could still change the answer. With proof `model`, written SQL counts as grounded (paper). */
export function needsWork(operator: OperatorView, proof: 'execution' | 'model'): boolean {
  if (operator.state === 'unresolved') return true;
  return (
    proof === 'execution' && operator.state === 'assumed' && operator.immaterial === null && operator.risk >= DOUBT
  );
}

/** The highest open risk in the plan; immaterial readings have none. */
export function openRisk(plan: PlanView): number {
  return plan.operators.reduce(
    (highest, o) => (o.state === 'assumed' && o.immaterial === null ? Math.max(highest, o.risk) : highest),
    0,
  );
}
