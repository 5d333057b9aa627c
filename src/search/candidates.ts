/**
 * Candidates (design §3, step 7): every complete plan is run whole, once per derivation; proving one of its assumptions
 * later updates it in place (rule S4).
 */
import type { CandidateView, SearchState, Trajectory } from '../domain';
import { addUsage } from './budgets';
import { candidateBodies, derivationKey } from './independence';
import { isComplete, openRisk, planRef } from './plan-view';
import type { SearchSteps } from './steps';

export const UNANSWERABLE_CLASS = 'unanswerable';

/** Runs what is complete and not yet a candidate, oldest trajectory first, one after another (rule S11). */
export async function runCandidates(
  state: SearchState,
  steps: SearchSteps,
  mayRun: (state: SearchState) => boolean,
  /** Told after each run, so that a later one that throws takes nothing away. */
  keep: (state: SearchState) => void = () => undefined,
): Promise<SearchState> {
  let next = state;
  for (const trajectory of state.trajectories) {
    if (!isCandidate(trajectory)) continue;
    const key = derivationKey(candidateBodies(trajectory.plan));
    const known = next.candidates.find(
      (c) => c.kind === 'rows' && c.status === 'active' && derivationKey(c.bodies) === key,
    );
    if (known === undefined) {
      if (mayRun(next)) next = await runOne(next, steps, trajectory);
    } else if (known.outcome === 'rows') next = refresh(next, known, trajectory);
    else next = needsReplan(next, trajectory);
    keep(next);
  }
  return next;
}

/** The model says that the database cannot answer: recorded beside the others, and weighed like them. */
export function addUnanswerable(state: SearchState, trajectory: string, reason: string): SearchState {
  const id = `c${state.candidates.length + 1}`;
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
  };
  return {
    ...state,
    candidates: [...state.candidates, candidate],
    events: [...state.events, { iteration: state.iteration, kind: 'unanswerable', subject: id, detail: reason }],
  };
}

export function unanswerableReason(state: SearchState, candidate: string): string | null {
  return state.events.find((event) => event.kind === 'unanswerable' && event.subject === candidate)?.detail ?? null;
}

type WithPlan = Trajectory & { readonly plan: NonNullable<Trajectory['plan']> };

function isCandidate(trajectory: Trajectory): trajectory is WithPlan {
  const live = trajectory.status === 'open' || trajectory.status === 'complete' || trajectory.status === 'exhausted';
  return live && trajectory.plan !== null && isComplete(trajectory.plan);
}

async function runOne(state: SearchState, steps: SearchSteps, trajectory: WithPlan): Promise<SearchState> {
  const id = `c${state.candidates.length + 1}`;
  const run = await steps.candidate({
    purpose: 'candidate',
    searchId: state.searchId,
    position: `i${state.iteration}.${id}`,
    candidateId: id,
    trajectory: trajectory.id,
    plan: planRef(trajectory.plan),
    against: state.candidates.filter((c) => c.kind === 'rows' && c.outcome === 'rows').map((c) => c.id),
  });
  const equal = state.candidates.find((c) => c.id === run.equalTo);
  const candidate: CandidateView = {
    id,
    trajectory: trajectory.id,
    kind: 'rows',
    outcome: run.outcome,
    rowCount: run.rowCount,
    trivial: run.trivial,
    control: run.control,
    resultClass: equal?.resultClass ?? id,
    bodies: candidateBodies(trajectory.plan),
    openRisk: openRisk(trajectory.plan),
    status: 'active',
  };
  const next = {
    ...state,
    usage: addUsage(state.usage, run.usage),
    candidates: [...state.candidates, candidate],
  };
  return run.outcome === 'rows' ? next : needsReplan(next, trajectory);
}

/** A whole that does not run although its parts do needs another plan. */
function needsReplan(state: SearchState, trajectory: Trajectory): SearchState {
  if (trajectory.status === 'exhausted') return state;
  return {
    ...state,
    trajectories: state.trajectories.map((t) =>
      t.id === trajectory.id ? { ...t, status: 'replan' as const, distance: t.distance + 1 } : t,
    ),
  };
}

function refresh(state: SearchState, known: CandidateView, trajectory: WithPlan): SearchState {
  const bodies = candidateBodies(trajectory.plan);
  const proofs = (all: CandidateView['bodies']) => all.filter((body) => body.updateId !== null).length;
  if (proofs(bodies) <= proofs(known.bodies) && openRisk(trajectory.plan) >= known.openRisk) return state;
  const updated = { ...known, bodies, openRisk: openRisk(trajectory.plan), trajectory: trajectory.id };
  return { ...state, candidates: state.candidates.map((c) => (c.id === known.id ? updated : c)) };
}
