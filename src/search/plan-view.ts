/**
 * Questions about a plan's control view: what is written, what may be tested, what is still doubtful. SQL is not needed.
 */
import type { OperatorView, PlanView, SearchEvent, SearchState, UpdateView } from '../domain';
import { compareText } from '../domain/canonical';
import type { PlanRef } from '../domain/ports/step-parts';

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
function descendants(plan: PlanView, name: string): ReadonlySet<string> {
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

/** Which operators of a plan are attempted next (rule S7; Algorithm 1, Bottleneck). */

/**
 * The operators to attempt next: the preferred bottleneck first, then unresolved ones in plan order, then assumptions by
 * falling risk. At most `breadth`, and none that depends on another of them (design §3, step 4, Breadth).
 */
export function chooseBottlenecks(
  plan: PlanView,
  options: {
    readonly breadth: number;
    readonly preferred: string | null;
    readonly proof: 'execution' | 'model';
    readonly except?: ReadonlySet<string>;
  },
): readonly string[] {
  const open = plan.operators.filter(
    (o) => needsWork(o, options.proof) && !isBlocked(o) && isTestable(plan, o) && options.except?.has(o.name) !== true,
  );
  const rank = (o: OperatorView): number =>
    o.name === options.preferred ? -1 : o.state === 'unresolved' ? 0 : 2 - o.risk;
  const chosen: string[] = [];
  for (const operator of [...open].sort(
    (a, b) => rank(a) - rank(b) || plan.operators.indexOf(a) - plan.operators.indexOf(b),
  )) {
    const below = descendants(plan, operator.name);
    const dependent = chosen.some((name) => below.has(name) || descendants(plan, name).has(operator.name));
    if (!dependent && chosen.length < options.breadth) chosen.push(operator.name);
  }
  return chosen;
}

/** Whether an attempt could still change the answer of this plan. */
export function hasBottleneck(plan: PlanView, proof: 'execution' | 'model'): boolean {
  return chooseBottlenecks(plan, { breadth: 1, preferred: null, proof }).length > 0;
}

/**
 * Gives an operator a body. The plan is replaced, never edited, and everything that rested on the old body is reconsidered:
 *
 * 1. A grounded operator that reads the changed one was proved over other inputs. It becomes assumed (rule S10), or
 *    unresolved if its SQL came from another plan and uses other names.
 * 2. A reading is immaterial only relative to the other bodies: when one changes, that is checked again (rule S9). So is a
 *    proof beside rivals that give the same answer: it becomes assumed, because they may matter now.
 */

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
  const isChanged = before.bodyId !== null && before.bodyId !== body.bodyId;
  return changed(plan, name, (operator) => withBody(operator, body), updates, isChanged);
}

/** Removes a body that does not run or was withdrawn. */
export function removeBody(plan: PlanView, name: string, updates: readonly UpdateView[] = []): PlanView {
  return changed(plan, name, (operator) => ({ ...operator, ...UNRESOLVED, immaterial: null }), updates, true);
}

const UNPROVED = { state: 'assumed', updateId: null, risk: UNSETTLED_RISK, assumptions: 1 } as const;
const UNRESOLVED = { state: 'unresolved', bodyId: null, updateId: null, risk: 1, assumptions: 0 } as const;

/** `unsettles`: proofs over the operator were made over other rows. */
function changed(
  plan: PlanView,
  name: string,
  change: (operator: OperatorView) => OperatorView,
  updates: readonly UpdateView[],
  unsettles: boolean,
): PlanView {
  const below = unsettles ? descendants(plan, name) : new Set<string>();
  const operators = plan.operators.map((operator) => {
    if (operator.name === name) return change(operator);
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

interface ImmaterialReading {
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

function withBody({ beside: _, ...operator }: OperatorView, { beside, ...body }: NewBody): OperatorView {
  const isProved = body.updateId !== null;
  return {
    ...operator,
    ...body,
    ...(beside !== undefined && { beside: [...beside] }),
    ...(isProved && { risk: 0, assumptions: 0 }),
    state: isProved ? 'grounded' : 'assumed',
    immaterial: operator.bodyId === body.bodyId ? operator.immaterial : null,
    // New SQL alone is no new evidence; only a proof resets the count (rule S7).
    barren: isProved ? 0 : operator.barren,
  };
}

/** `plan` is the plan before the change: if the operator's inputs are the ones of its proof there, the SQL can stay. */
function unsettle(operator: OperatorView, plan: PlanView, updates: readonly UpdateView[]): OperatorView {
  const source = updates.find((update) => update.id === operator.updateId);
  const isOwn = ({ local, bodyId }: UpdateView['inputs'][number]) =>
    operator.inputs.includes(local) && findOperator(plan, local)?.bodyId === bodyId;
  const bindsOwnNames = source?.inputs.every(isOwn) === true;
  return bindsOwnNames ? { ...operator, ...UNPROVED } : { ...operator, ...UNRESOLVED };
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

/** The state with one more event. */
export function noted(state: SearchState, kind: SearchEvent['kind'], subject: string, detail: string): SearchState {
  return { ...state, events: [...state.events, { iteration: state.iteration, kind, subject, detail }] };
}
