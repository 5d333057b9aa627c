/**
 * Candidates (design §3, step 7): every complete plan is run whole, once per derivation; proving one of its assumptions
 * later updates it in place (rule S4).
 */
import type { CandidateView, EndedBy, PlanView, SearchState, Trajectory } from '../domain';
import { compareText } from '../domain/canonical';
import { isCutShort, ROOT } from '../domain/control-view';
import { perObject } from '../per-object';
import { isComplete, noted, openRisk, planRef } from './plan-view';
import { refutedReading } from './memory';
import { addUsage } from './budgets';
import { textOf } from '../sql/body';
import type { CandidateRun, SearchSteps, Given } from '../domain/ports/steps';

const UNANSWERABLE_CLASS = 'unanswerable';

/**
 * Runs complete plans that are not candidates yet, oldest trajectory first, one after another (rule S11). A plan that rests
 * on a refuted reading is not run; it loses the reading when it is expanded (rule S10).
 */
export async function runCandidates(
  state: SearchState,
  steps: SearchSteps,
  mayRun: (state: SearchState) => boolean,
  /** Called with the state after each run, so that nothing is lost if a later run throws. */
  keep: (state: SearchState) => void = () => undefined,
): Promise<SearchState> {
  let next = state;
  for (const trajectory of state.trajectories) {
    if (!isCandidate(trajectory) || refutedReading(trajectory.plan, state) !== undefined) continue;
    const known = knownCandidate(next, trajectory.plan);
    if (known === undefined) {
      if (mayRun(next)) {
        const input = candidateInput(next, trajectory);
        next = takeRun(next, trajectory, await steps.candidate(input, { label: `run candidate ${input.candidateId}` }));
      }
    } else if (known.outcome === 'rows') next = refresh(next, known, trajectory);
    else next = needsReplan(next, trajectory);
    keep(next);
  }
  return next;
}

/** Records that the database cannot answer as a candidate, to be weighed against the others: a model's reply, or shown by counts. */
export function addUnanswerable(
  state: SearchState,
  trajectory: string,
  reason: string,
  absenceShown = false,
): SearchState {
  const id = nextCandidateId(state);
  const candidate: CandidateView = {
    id,
    trajectory,
    kind: 'unanswerable',
    outcome: 'rows',
    rowCount: 0,
    trivial: false,
    control: null,
    resultClass: UNANSWERABLE_CLASS,
    bodies: [],
    openRisk: 0,
    status: 'active',
    ...(absenceShown && { absenceShown }),
  };
  return noted({ ...state, candidates: [...state.candidates, candidate] }, 'unanswerable', id, reason);
}

/**
 * A search that is ended before it found anything answers with the last commit of its conversation, which went back because of
 * a doubt (D6). Not if a proof or a person has ruled that out since: then its plan is another one.
 */
export function withLastCommit(state: SearchState, endedBy: EndedBy): SearchState {
  if (state.looking?.phase !== 'search' || !isCutShort(endedBy) || usable(state.candidates).length > 0) return state;
  const plans = state.trajectories.filter(isCandidate).filter(({ plan }) => refutedReading(plan, state) === undefined);
  const kept = new Set(plans.map(({ plan }) => derivationKey(candidateBodies(plan))));
  const last = state.candidates.filter((c) => c.outcome === 'rows' && kept.has(derivationKey(c.bodies))).at(-1);
  const candidates = state.candidates.map((c) => (c === last ? { ...c, status: 'active' as const } : c));
  return { ...state, candidates };
}

export function unanswerableReason(state: SearchState, candidate: string): string | null {
  return state.events.find((event) => event.kind === 'unanswerable' && event.subject === candidate)?.detail ?? null;
}

type WithPlan = Trajectory & { readonly plan: NonNullable<Trajectory['plan']> };

function isCandidate(trajectory: Trajectory): trajectory is WithPlan {
  const live = trajectory.status === 'open' || trajectory.status === 'complete' || trajectory.status === 'exhausted';
  return live && trajectory.plan !== null && isComplete(trajectory.plan);
}

export function nextCandidateId({ candidates }: SearchState): string {
  return `c${candidates.length + 1}`;
}

/** The candidates that a new result is compared with, oldest first (rule S5). */
export function comparable({ candidates }: SearchState): readonly string[] {
  return candidates.filter(({ kind, outcome }) => kind === 'rows' && outcome === 'rows').map(({ id }) => id);
}

/** The next candidate. Without a plan nothing of it is proved. */
export function candidateOfRun(
  state: SearchState,
  trajectory: string,
  plan: PlanView | null,
  { outcome, rowCount, trivial, control, equalTo }: CandidateRun,
): CandidateView {
  const id = nextCandidateId(state);
  return {
    ...{ id, trajectory, kind: 'rows', outcome, rowCount, trivial, control },
    resultClass: state.candidates.find((candidate) => candidate.id === equalTo)?.resultClass ?? id,
    bodies: plan === null ? [] : candidateBodies(plan),
    openRisk: plan === null ? 1 : openRisk(plan),
    status: 'active',
  };
}

/** The input of the next candidate run for a complete plan of this trajectory. */
function candidateInput(state: SearchState, { id: trajectory, plan }: WithPlan): Given<'candidate'> {
  const id = nextCandidateId(state);
  return {
    purpose: 'candidate',
    searchId: state.searchId,
    position: `i${state.iteration}.${id}`,
    candidateId: id,
    trajectory,
    plan: planRef(plan),
    against: comparable(state),
  };
}

function knownCandidate(state: SearchState, plan: PlanView): CandidateView | undefined {
  const key = derivationKey(candidateBodies(plan));
  return state.candidates.find((c) => c.kind === 'rows' && c.status === 'active' && derivationKey(c.bodies) === key);
}

function takeRun(state: SearchState, trajectory: WithPlan, run: CandidateRun): SearchState {
  const candidate = candidateOfRun(state, trajectory.id, trajectory.plan, run);
  const next = {
    ...state,
    usage: addUsage(state.usage, run.usage),
    candidates: [...state.candidates, candidate],
  };
  return run.outcome === 'rows' ? next : needsReplan(next, trajectory);
}

/** Marks a trajectory for a new plan: its parts run, but the whole does not. */
function needsReplan(state: SearchState, trajectory: Trajectory): SearchState {
  if (trajectory.status === 'exhausted') return state;
  return {
    ...state,
    trajectories: state.trajectories.map((t) =>
      t.id === trajectory.id ? { ...t, status: 'replan' as const, distance: t.distance + 1 } : t,
    ),
  };
}

/** Keeps the version with more proofs, then the one with less doubt: an unproved plan with the same SQL removes no proof. */
function refresh(state: SearchState, known: CandidateView, trajectory: WithPlan): SearchState {
  const bodies = candidateBodies(trajectory.plan);
  const risk = openRisk(trajectory.plan);
  const proofs = (all: CandidateView['bodies']) => all.filter((body) => body.updateId !== null).length;
  const gained = proofs(bodies) - proofs(known.bodies);
  if (gained < 0 || (gained === 0 && risk >= known.openRisk)) return state;
  const updated = { ...known, bodies, openRisk: risk, trajectory: trajectory.id };
  return { ...state, candidates: state.candidates.map((c) => (c.id === known.id ? updated : c)) };
}

/**
 * Independence of derivations and agreement of candidates (rules S4 and S5).
 *
 * 1. A derivation is the set of its body ids. Names of operators do not matter.
 * 2. Two derivations are independent when they share no unproved body. Bodies that read only operators and rest on no
 *    assumption do not count: they are arithmetic, and two plans may well write the same final sum.
 * 3. Agreement on an empty, NULL or zero result counts only with a control count above zero of rows examined. A candidate
 *    that examined no rows agrees with nothing.
 */

const derivationKey = perObject((bodies: readonly { readonly bodyId: string }[]): string =>
  // No `canonical` needed: an array of strings has one JSON form.
  JSON.stringify([...new Set(bodies.map((body) => body.bodyId))].sort(compareText)),
);

const texts = perObject((bodies: CandidateView['bodies']): CandidateView['bodies'] =>
  bodies.map((body) => ({ ...body, bodyId: textOf(body.bodyId) })),
);

export const candidateBodies = perObject((plan: PlanView): CandidateView['bodies'] =>
  plan.operators.map((operator) => ({
    operator: operator.name,
    bodyId: operator.bodyId ?? '',
    updateId: operator.updateId,
    counts: operator.state !== 'grounded' && (operator.readsBase || operator.assumptions > 0),
  })),
);

export function areIndependent(a: CandidateView, b: CandidateView): boolean {
  // Two unanswerable replies are independent, unless they are about the same plan; the root has none.
  if (a.kind === 'unanswerable' || b.kind === 'unanswerable')
    return a.id !== b.id && (a.trajectory !== b.trajectory || a.trajectory === ROOT);
  const [one, two] = [texts(a.bodies), texts(b.bodies)];
  if (derivationKey(one) === derivationKey(two)) return false;
  const unproved = new Set(one.filter((body) => body.counts).map((body) => body.bodyId));
  return !two.some((body) => body.counts && unproved.has(body.bodyId));
}

/** Distinct derivations with a usable result; `cMin` and `cMax` count these. */
export const derivations = perObject((candidates: readonly CandidateView[]): readonly CandidateView[] => {
  const seen = new Set<string>();
  return usable(candidates).filter(({ kind, bodies }) => {
    if (kind === 'unanswerable') return true;
    const isNew = !seen.has(derivationKey(bodies));
    seen.add(derivationKey(bodies));
    return isNew;
  });
});

export function usable(candidates: readonly CandidateView[]): readonly CandidateView[] {
  return candidates.filter((candidate) => candidate.status === 'active' && candidate.outcome === 'rows');
}

/** Members of one result class, grouped, oldest class first. */
export function resultClasses(candidates: readonly CandidateView[]): readonly (readonly CandidateView[])[] {
  const classes = new Map<string, CandidateView[]>();
  for (const candidate of usable(candidates)) {
    const members = classes.get(candidate.resultClass);
    if (members === undefined) classes.set(candidate.resultClass, [candidate]);
    else members.push(candidate);
  }
  return [...classes.values()];
}

/** Finding the largest set takes exponential time. With more members than this, a set found greedily is used. */
const EXACT = 16;

/** Size of the largest set of pairwise independent members. With very many members it may be too small, never too large. */
export function independentSupport(members: readonly CandidateView[]): number {
  if (members.length > EXACT) return firstIndependent(members).length;
  const [first, ...rest] = members;
  if (first === undefined) return 0;
  const others = rest.filter((other) => areIndependent(first, other));
  const withFirst = 1 + independentSupport(others);
  // If the first conflicts with none, it is in a largest set; else try with and without it.
  return others.length === rest.length ? withFirst : Math.max(withFirst, independentSupport(rest));
}

function firstIndependent(members: readonly CandidateView[]): readonly CandidateView[] {
  const chosen: CandidateView[] = [];
  for (const member of members) if (chosen.every((other) => areIndependent(other, member))) chosen.push(member);
  return chosen;
}

/** Whether a class of equal results may stop a search: it has independent support that is not only empty results. */
export function agrees(members: readonly CandidateView[]): boolean {
  const grounded = members.some((m) => m.kind === 'unanswerable' || !m.trivial || (m.control ?? 0) > 0);
  // An empty result from no examined rows supports nothing.
  const telling = members.filter((m) => m.kind === 'unanswerable' || !m.trivial || m.control !== 0);
  return grounded && independentSupport(telling) >= 2;
}
