/**
 * Reuse of grounding updates (rule S3; paper, "Reusing grounding updates").
 *
 * 1. An update fits an operator when the structural keys are equal (base relations, body ids of the input operators,
 *    output names and types, grain), the planner named the same intent, and all operators that the inputs read in turn have
 *    the bodies over which the update was proved. If it was proved beside rivals that give the same answer, all others have.
 * 2. If updates with different bodies fit, none is applied blindly: one plan per body, as rivals.
 * 3. Names do not matter: inputs are matched by body id and bound by alias when compiled (rule S8).
 */
import type { OperatorView, PlanView, UpdateView } from '../../domain';
import { applyBody, otherBodies } from './update';
import { canonical, compareText } from '../../domain/canonical';
import { perObject } from '../state/memo';
import { ancestors, findOperator } from '../state/plan-view';

/** The most rival plans from one application; more would fill the frontier. */
const MAX_RIVALS = 4;

export interface MemoryApplication {
  /** One plan, or rivals when updates conflict. */
  readonly plans: readonly PlanView[];
  /** Ids of updates applied, once for each operator that got one. */
  readonly reused: readonly string[];
  readonly conflicts: readonly { readonly operator: string; readonly updates: readonly string[] }[];
}

const structuralKeys = perObject((plan: PlanView) =>
  perObject((operator: OperatorView): string | null => {
    const inputs = operator.inputs.map((input) => findOperator(plan, input)?.bodyId ?? null);
    return inputs.includes(null)
      ? null
      : canonical([operator.shape, operator.intent, (inputs as string[]).sort(compareText)]);
  }),
);

/** The structural key; null while an input has no body. */
export function structuralKey(plan: PlanView, operator: OperatorView): string | null {
  return structuralKeys(plan)(operator);
}

export const updateKey = perObject((update: UpdateView): string =>
  canonical([update.shape, update.intent, update.inputs.map((input) => input.bodyId).sort(compareText)]),
);

/** Active updates that fit, oldest first, one for each distinct body. */
export function fittingUpdates(
  plan: PlanView,
  operator: OperatorView,
  updates: readonly UpdateView[],
): readonly UpdateView[] {
  const key = structuralKey(plan, operator);
  const fits = updates.filter(
    (update) =>
      update.status === 'active' &&
      update.reusable !== false &&
      updateKey(update) === key &&
      holdsBeside(update, plan, operator) &&
      sawAllBelow(update, plan, operator, updates),
  );
  return fits.filter((update, index) => fits.findIndex((other) => other.bodyId === update.bodyId) === index);
}

/** A proof beside rivals that give the same answer holds in no plan in which they may matter (rule S9). */
function holdsBeside({ beside }: UpdateView, plan: PlanView, { name }: OperatorView): boolean {
  return beside === undefined || beside.join() === otherBodies(plan, name).join();
}

/** Whether all operators below have the bodies of the proof. An input with the same SQL may read other rows if they differ. */
function sawAllBelow(
  update: UpdateView,
  plan: PlanView,
  operator: OperatorView,
  updates: readonly UpdateView[],
): boolean {
  // The update does not list what it depends on: the structural key must suffice.
  if (update.dependsOn.length === 0) return true;
  const bodyOf = (id: string) => updates.find((other) => other.id === id)?.bodyId ?? id;
  const seen = new Set([...update.inputs.map(({ bodyId }) => bodyId), ...update.dependsOn.map(bodyOf)]);
  return [...ancestors(plan, operator.name)].every((name) => seen.has(findOperator(plan, name)?.bodyId ?? ''));
}

/** Applies all compatible updates, operator by operator in dependency order. Grounded operators keep their proof. */
export function applyMemory(plan: PlanView, updates: readonly UpdateView[]): MemoryApplication {
  let rivals: readonly PlanView[] = [plan];
  const conflicts = new Map<string, readonly string[]>();
  for (const { name } of plan.operators) {
    rivals = rivals.flatMap((rival) => {
      const operator = findOperator(rival, name);
      if (operator === undefined || operator.state === 'grounded') return [rival];
      const fits = fittingUpdates(rival, operator, updates);
      const ids = fits.map((update) => update.id);
      if (fits.length > 1) conflicts.set(name, [...new Set([...(conflicts.get(name) ?? []), ...ids])]);
      return fits.length === 0 ? [rival] : fits.map((update) => ground(rival, name, update, updates));
    });
    rivals = rivals.slice(0, MAX_RIVALS);
  }
  return {
    plans: rivals,
    reused: reusedIn(plan, rivals),
    conflicts: [...conflicts].map(([operator, ids]) => ({ operator, updates: ids })),
  };
}

/** Updates that were newly applied in one of the plans kept, once for each operator. */
function reusedIn(plan: PlanView, rivals: readonly PlanView[]): readonly string[] {
  return plan.operators.flatMap((before) => {
    const taken = rivals.map((rival) => findOperator(rival, before.name)?.updateId ?? null);
    return [...new Set(taken)].filter((id) => id !== null && id !== before.updateId) as string[];
  });
}

function ground(plan: PlanView, name: string, update: UpdateView, updates: readonly UpdateView[]): PlanView {
  const { id: updateId, bodyId, beside } = update;
  const body = { bodyId, updateId, risk: 0, assumptions: 0, ...(beside === undefined ? {} : { beside }) };
  return applyBody(plan, name, body, updates);
}
