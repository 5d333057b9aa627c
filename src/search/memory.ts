/**
 * Reuse of grounding updates (rule S3; paper, "Reusing grounding updates").
 *
 * 1. An update fits an operator when the structural keys are equal (base relations, body ids of the input operators,
 *    output names and types, grain), the planner named the same intent, and all operators that the inputs read in turn have
 *    the bodies over which the update was proved. If it was proved beside rivals that give the same answer, all others have.
 * 2. If updates with different bodies fit, none is applied blindly: one plan per body, as rivals.
 * 3. Names do not matter: inputs are matched by body id and bound by alias when compiled (rule S8).
 */
import type { OperatorView, PlanView, SearchState, Trajectory, UpdateView } from '../domain';
import { canonical, compareText } from '../domain/canonical';
import { perObject } from '../per-object';
import { ancestors, applyBody, findOperator, noted, otherBodies, removeBody } from './plan-view';

/** The most rival plans from one application; more would fill the frontier. */
const MAX_RIVALS = 4;

interface MemoryApplication {
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

/**
 * Withdraws everything that rests on an assumed body if a proof now gives the same operator another body: the reading has
 * lost (rule S10). Its plan continues with the proved body and can become a candidate of its own.
 */
export function withdrawRefuted(state: SearchState): SearchState {
  return withdrawOver(withdrawCandidates(state), refutedBodies(state));
}

function withdrawCandidates(state: SearchState): SearchState {
  return state.candidates.reduce((at, { id, trajectory, status, bodies }) => {
    const plan = state.trajectories.find((each) => each.id === trajectory)?.plan ?? null;
    const loser = plan === null ? undefined : refutedReading(plan, state);
    if (status !== 'active' || !bodies.some(({ bodyId }) => bodyId === loser?.bodyId)) return at;
    const candidates = at.candidates.map((c) => (c.id === id ? { ...c, status: 'withdrawn' as const } : c));
    const detail = `another reading of ${loser?.name ?? ''} was proved`;
    return noted({ ...at, candidates }, 'update-withdrawn', id, detail);
  }, state);
}

/** Assumed bodies that have lost, unless another plan still uses the same body for a reading that is not refuted. */
function refutedBodies(state: SearchState): ReadonlySet<string> {
  const [lost, kept] = [new Set<string>(), new Set<string>()];
  for (const trajectory of state.trajectories) {
    const { plan } = trajectory;
    for (const operator of plan?.operators ?? []) {
      if (plan === null || operator.bodyId === null) continue;
      if (isRefuted(plan, operator, state)) lost.add(operator.bodyId);
      else if (counts(trajectory)) kept.add(operator.bodyId);
    }
  }
  return new Set([...lost].filter((body) => !kept.has(body)));
}

/** An assumed body of the plan that has lost, if any. */
export function refutedReading(plan: PlanView, state: SearchState): OperatorView | undefined {
  return plan.operators.find((operator) => isRefuted(plan, operator, state));
}

/**
 * Whether the operator's assumed body has lost to a proof that the plan has not adopted yet. Beside a proof that was made
 * beside rivals with the same answer it may be one of them.
 */
function isRefuted(plan: PlanView, operator: OperatorView, { updates }: SearchState): boolean {
  const fits = operator.state === 'assumed' ? fittingUpdates(plan, operator, updates) : [];
  const proved = fits.filter(({ beside }) => beside === undefined);
  return proved.length > 0 && proved.every((update) => update.bodyId !== operator.bodyId);
}

/**
 * Dependence (rule S10): updates, facts and candidates list what they rest on; a refutation or a veto is an appended
 * event that withdraws all dependents. Nothing is deleted.
 */

/** Withdraws an update, a fact or an assumed body and, to a fixed point, everything that rests on it. */
export function withdraw(state: SearchState, id: string, reason: string): SearchState {
  const gone = dependentsOf(state, id);
  const next = marked(state, gone, (subject) => (subject === id ? reason : `rested on ${id}`));
  return { ...next, trajectories: next.trajectories.map((trajectory) => reopen(trajectory, gone, state.updates)) };
}

/**
 * Withdraws updates and facts that were established over an assumed body which has lost to a proof since. As long as a plan
 * that counts uses one of them, all of them stay: the plan adopts the proof when it is next expanded or merged.
 */
function withdrawOver(state: SearchState, bodies: ReadonlySet<string>): SearchState {
  const entries = [...state.updates, ...state.facts].filter(({ status }) => status === 'active');
  const lost = [...bodies].filter((body) => entries.some(({ dependsOn }) => dependsOn.includes(body)));
  return lost.reduce((at, body) => {
    const gone = new Set([...dependentsOf(at, body)].filter((id) => id !== body));
    if (at.trajectories.some((trajectory) => uses(trajectory, gone))) return at;
    return marked(at, gone, () => `rested on ${body}, and another reading was proved`);
  }, state);
}

/** Marks the updates and facts in `gone`, and candidates that use them, as withdrawn; an event for each id says why. */
function marked(state: SearchState, gone: ReadonlySet<string>, why: (id: string) => string): SearchState {
  const mark = <T extends { readonly id: string }>(entry: T) =>
    gone.has(entry.id) ? { ...entry, status: 'withdrawn' as const } : entry;
  const next: SearchState = {
    ...state,
    updates: state.updates.map(mark),
    facts: state.facts.map(mark),
    candidates: state.candidates.map((candidate) =>
      candidate.bodies.some((body) => gone.has(body.updateId ?? body.bodyId))
        ? { ...candidate, status: 'withdrawn' }
        : candidate,
    ),
  };
  return [...gone].reduce((at, id) => noted(at, 'update-withdrawn', id, why(id)), next);
}

/** Whether the plan of a trajectory still counts: not if it was merged or found impossible. */
export const counts = ({ status }: Pick<Trajectory, 'status'>): boolean =>
  status !== 'merged' && status !== 'impossible';

function uses(trajectory: Trajectory, ids: ReadonlySet<string>): boolean {
  if (!counts(trajectory)) return false;
  return trajectory.plan?.operators.some(({ updateId }) => updateId !== null && ids.has(updateId)) === true;
}

/** The id itself and everything active that depends on it, directly or not. */
export function dependentsOf(state: SearchState, id: string): ReadonlySet<string> {
  const gone = new Set([id]);
  const entries = [...state.updates, ...state.facts].filter((entry) => entry.status === 'active');
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of entries) {
      if (!gone.has(entry.id) && entry.dependsOn.some((dependency) => gone.has(dependency))) {
        gone.add(entry.id);
        grown = true;
      }
    }
  }
  return gone;
}

/** Removes bodies one by one, so that proofs over them and immaterial readings beside them are checked again each time. */
function reopen(trajectory: Trajectory, gone: ReadonlySet<string>, updates: readonly UpdateView[]): Trajectory {
  const lost = (trajectory.plan?.operators ?? []).filter((o) => gone.has(o.updateId ?? o.bodyId ?? ''));
  if (trajectory.plan === null || lost.length === 0) return trajectory;
  const names = new Set(lost.map((operator) => operator.name));
  const without = lost.reduce((plan, operator) => removeBody(plan, operator.name, updates), trajectory.plan);
  const operators = without.operators.map((o) => (names.has(o.name) ? { ...o, barren: 0 } : o));
  const reopens = trajectory.status === 'complete' || trajectory.status === 'replan';
  return { ...trajectory, status: reopens ? 'open' : trajectory.status, plan: { ...without, operators } };
}
