/**
 * Gives an operator a body. The plan is replaced, never edited, and everything that rested on the old body is reconsidered:
 *
 * 1. A grounded operator that reads the changed one was proved over other inputs. It becomes assumed (rule S10), or
 *    unresolved if its SQL came from another plan and uses other names.
 * 2. A reading is immaterial only relative to the other bodies: when one changes, that is checked again (rule S9). So is a
 *    proof beside rivals that give the same answer: it becomes assumed, because they may matter now.
 */
import type { OperatorView, PlanView, UpdateView } from '../../domain';
import { descendants, findOperator } from '../state/plan-view';
import { compareText } from '../../domain/canonical';

export interface NewBody {
  readonly bodyId: string;
  /** Set when the body is proved. */
  readonly updateId: string | null;
  readonly risk: number;
  readonly assumptions: number;
  /** For a proof that holds only beside these bodies of the other operators (`UpdateView.beside`). */
  readonly beside?: readonly string[];
}

/** Risk of a body that was proved over inputs which have changed since: high enough for a new attempt. */
const UNSETTLED_RISK = 0.5;

export function applyBody(plan: PlanView, name: string, body: NewBody, updates: readonly UpdateView[] = []): PlanView {
  const before = findOperator(plan, name);
  if (before === undefined) return plan;
  const changed = before.bodyId !== body.bodyId;
  const below = changed && before.bodyId !== null ? descendants(plan, name) : new Set<string>();
  const operators = plan.operators.map((operator): OperatorView => {
    if (operator.name === name) return withBody(operator, body);
    return below.has(operator.name) && operator.updateId !== null ? unsettle(operator, plan, updates) : operator;
  });
  return recheck({ ...plan, operators }, updates);
}

/** Removes a body that does not run or was withdrawn. */
export function removeBody(plan: PlanView, name: string, updates: readonly UpdateView[] = []): PlanView {
  const below = descendants(plan, name);
  const operators = plan.operators.map((operator): OperatorView => {
    if (operator.name === name)
      return {
        ...operator,
        state: 'unresolved',
        bodyId: null,
        updateId: null,
        risk: 1,
        assumptions: 0,
        immaterial: null,
      };
    return below.has(operator.name) && operator.updateId !== null ? unsettle(operator, plan, updates) : operator;
  });
  return recheck({ ...plan, operators }, updates);
}

/**
 * Marks proofs that hold only beside the bodies of other operators, once all bodies of a settlement are written: one may have
 * been made beside another. A proof beside bodies that the plan does not have is none in it.
 */
export function holdBeside(plan: PlanView, made: readonly UpdateView[], updates: readonly UpdateView[]): PlanView {
  const operators = plan.operators.map((operator): OperatorView => {
    const beside = made.find(({ id }) => id === operator.updateId)?.beside;
    return beside === undefined ? operator : { ...operator, beside };
  });
  return recheck({ ...plan, operators }, updates);
}

export interface ImmaterialReading {
  readonly operator: string;
  readonly bodyId: string;
  /** Bodies that the other operators had when it was found. */
  readonly relativeTo: readonly string[];
}

/**
 * Writes immaterial readings into the plan and marks them as such. All together, because one may hold only relative to the
 * body of another. A reading that was found relative to bodies which the plan then does not have is not used (rule S9).
 */
export function markImmaterial(
  plan: PlanView,
  readings: readonly ImmaterialReading[],
  updates: readonly UpdateView[] = [],
): { readonly plan: PlanView; readonly marked: readonly string[] } {
  const written = readings.reduce(
    (at, { operator, bodyId }) =>
      findOperator(at, operator)?.bodyId === bodyId ? at : applyBody(at, operator, assumedBody(bodyId), updates),
    plan,
  );
  const holding = readings.filter(
    ({ operator, relativeTo }) =>
      [...relativeTo].sort(compareText).join() === otherBodies(written, operator).join() &&
      findOperator(written, operator) !== undefined,
  );
  if (holding.length < readings.length) return markImmaterial(plan, holding, updates);
  const marked = holding.map(({ operator }) => operator);
  const operators = written.operators.map((o) =>
    marked.includes(o.name) ? { ...o, immaterial: [...otherBodies(written, o.name)] } : o,
  );
  return { plan: { ...written, operators }, marked };
}

export function assumedBody(bodyId: string, risk = UNSETTLED_RISK, assumptions = 1): NewBody {
  return { bodyId, updateId: null, risk, assumptions };
}

/** Body ids of all other operators, sorted: what a materiality result is relative to. */
export function otherBodies(plan: PlanView, name: string): readonly string[] {
  return plan.operators
    .filter((operator) => operator.name !== name)
    .map((operator) => operator.bodyId ?? '')
    .sort(compareText);
}

function withBody({ beside: _, ...operator }: OperatorView, body: NewBody): OperatorView {
  return {
    ...operator,
    ...(body.beside === undefined ? {} : { beside: [...body.beside] }),
    state: body.updateId === null ? 'assumed' : 'grounded',
    bodyId: body.bodyId,
    updateId: body.updateId,
    risk: body.updateId === null ? body.risk : 0,
    assumptions: body.updateId === null ? body.assumptions : 0,
    immaterial: operator.bodyId === body.bodyId ? operator.immaterial : null,
    // New SQL alone is no new evidence; only a proof resets the count (rule S7).
    barren: body.updateId === null ? operator.barren : 0,
  };
}

/** `plan` is the plan before the change: if the operator's inputs are the ones of its proof there, the SQL can stay. */
function unsettle(operator: OperatorView, plan: PlanView, updates: readonly UpdateView[]): OperatorView {
  const source = updates.find((update) => update.id === operator.updateId);
  const isOwn = ({ local, bodyId }: UpdateView['inputs'][number]) =>
    operator.inputs.includes(local) && findOperator(plan, local)?.bodyId === bodyId;
  const bindsOwnNames = source?.inputs.every(isOwn) === true;
  return bindsOwnNames
    ? { ...operator, state: 'assumed', updateId: null, risk: UNSETTLED_RISK, assumptions: 1 }
    : { ...operator, state: 'unresolved', bodyId: null, updateId: null, risk: 1, assumptions: 0 };
}

function recheck(plan: PlanView, updates: readonly UpdateView[]): PlanView {
  const lost = plan.operators.find(
    ({ name, updateId, beside }) =>
      updateId !== null && beside !== undefined && beside.join() !== otherBodies(plan, name).join(),
  );
  if (lost === undefined) return recheckImmaterial(plan);
  const open = unsettle(lost, plan, updates);
  if (open.bodyId === null) return removeBody(plan, lost.name, updates);
  return recheck({ ...plan, operators: plan.operators.map((o) => (o === lost ? open : o)) }, updates);
}

function recheckImmaterial(plan: PlanView): PlanView {
  return {
    ...plan,
    operators: plan.operators.map((operator) =>
      operator.immaterial !== null && operator.immaterial.join() !== otherBodies(plan, operator.name).join()
        ? { ...operator, immaterial: null }
        : operator,
    ),
  };
}
