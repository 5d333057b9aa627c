/**
 * What an iteration found enters the memory and the archive (Algorithm 1, UpdateArchive): new updates and plans are merged,
 * readings that they refute are withdrawn, and what a person ruled out or pinned stays so.
 */
import type { PlanView, SearchEvent, SearchState, Settings, Trajectory, UpdateView } from '../domain';
import { canonical } from '../domain/canonical';
import { ROOT } from '../domain/control-view';
import { perObject } from '../per-object';
import { addUnanswerable } from './candidate';
import type { Expansion } from './findings';
import { applyMemory, withdrawRefuted } from './memory';
import { isComplete, noted } from './plan-view';
import { LIVE, lineage, openWork, rankTrajectories, START_DISTANCE, statusOf } from './select-plan';
import { addUsage } from './budgets';
import { enforce } from './steering';

export function remember(state: SearchState, expansion: Expansion, settings: Settings): SearchState {
  const merged = enforce(withdrawRefuted(mergeExpansion(state, expansion, settings)));
  const { impossible, trajectory, absenceShown } = expansion;
  return impossible === null ? merged : addUnanswerable(merged, trajectory, impossible, absenceShown);
}

/**
 * Merges an expansion into the archive (design §3, step 6).
 *
 * 1. An expansion creates a child; parents and ancestors change only in their counters.
 * 2. Compatible trajectories of other root plans receive new updates too, as children (a reuse).
 * 3. Trajectories with the same plan state are merged: the most advanced one keeps the evidence of all.
 */

export function mergeExpansion(state: SearchState, expansion: Expansion, settings: Settings): SearchState {
  const grown = withChildren(state, expansion, settings);
  const before = new Set(state.trajectories.map(({ id }) => id));
  const isNew = (trajectory: Trajectory) => !before.has(trajectory.id);
  return compactArchive(mergeEqualPlans(reuseElsewhere(grown, expansion.trajectory, isNew, settings)));
}

export function rootTrajectory(): Trajectory {
  return {
    id: ROOT,
    parent: null,
    depth: 0,
    iteration: 0,
    status: 'open',
    via: 'root',
    plan: null,
    selections: 0,
    distance: START_DISTANCE,
    distanceAtSelection: null,
    progress: 0,
    potential: 0,
    bottleneck: null,
    attempts: [],
    mergedInto: null,
  };
}

/** Equal for plans with the same structure, meaning, bodies and proofs; names do not matter. */
export const planStateKey = perObject((plan: PlanView): string =>
  canonical(
    plan.operators.map((operator) => [
      operator.shape,
      operator.intent,
      operator.bodyId,
      operator.state,
      operator.immaterial !== null,
      operator.inputs.map((input) => plan.operators.findIndex((other) => other.name === input)),
    ]),
  ),
);

function withChildren(state: SearchState, expansion: Expansion, settings: Settings): SearchState {
  const parent = state.trajectories.find((trajectory) => trajectory.id === expansion.trajectory);
  if (parent === undefined) throw new Error(`unknown trajectory ${expansion.trajectory}`);
  const children = expansion.plans.map((plan, index): Trajectory => {
    const child = childOf(state, parent, { plan, index, planned: expansion.potential }, settings);
    const isFirst = index === 0;
    return {
      ...child,
      status: isFirst && expansion.impossible !== null ? 'impossible' : child.status,
      via: isFirst ? expansion.via : 'reuse',
      distance: parent.distance + expansion.distanceDelta,
      bottleneck: null,
      attempts: newestEvidence([...parent.attempts, ...expansion.attempts]),
    };
  });
  const trajectories = state.trajectories.map((t) => (t.id === parent.id ? selectedParent(t, expansion, settings) : t));
  return {
    ...state,
    trajectories: [...trajectories, ...children],
    updates: withReuses([...state.updates, ...expansion.updates], expansion.reused),
    facts: [...state.facts, ...expansion.facts],
    usage: addUsage(state.usage, expansion.usage),
    ...(expansion.lookups.length > 0 && { lookups: [...(state.lookups ?? []), ...expansion.lookups] }),
    events: [...state.events, ...expansion.events],
  };
}

/** The potential until the next evaluation: the planner's estimate, else the parent's, less one if something was settled. */
function potentialAfter(parent: Trajectory, plan: PlanView, planned: number | null, settings: Settings): number {
  const open = openWork(plan, settings);
  if (open === 0) return 0;
  const settled = parent.plan !== null && open < openWork(parent.plan, settings);
  return Math.max(1, planned ?? parent.potential - (settled ? 1 : 0));
}

function selectedParent(parent: Trajectory, expansion: Expansion, settings: Settings): Trajectory {
  const selections = parent.selections + 1;
  const usedUp = parent.id === ROOT ? selections >= settings.maxPlans : parent.status === 'replan';
  const closed = parent.id !== ROOT && expansion.impossible !== null;
  return {
    ...parent,
    selections,
    distanceAtSelection: parent.distance,
    // Without a child, the change of distance counts for the parent: it shows whether further work here helps.
    distance: expansion.plans.length === 0 ? parent.distance + expansion.distanceDelta : parent.distance,
    potential: parent.id === ROOT ? (expansion.potential ?? parent.potential) : parent.potential,
    // Its own evidence says that it is impossible, so it is not tried again. Other plans of the root may disagree.
    status: closed ? 'impossible' : usedUp ? 'exhausted' : parent.status,
  };
}

/** Applies new updates to compatible plans from other root plans: each gets a child with them and is merged into it. */
function reuseElsewhere(
  state: SearchState,
  worked: string,
  isNew: (trajectory: Trajectory) => boolean,
  settings: Settings,
): SearchState {
  let next = state;
  const ancestry = state.trajectories
    .filter(({ id }) => id === worked)
    .flatMap((one) => lineage(one, state.trajectories).map(({ id }) => id));
  for (const trajectory of state.trajectories) {
    // A blocked trajectory may go on with a proof from another plan.
    const receives = LIVE.includes(trajectory.status) && trajectory.plan !== null;
    if (!receives || isNew(trajectory) || ancestry.includes(trajectory.id)) continue;
    const applied = applyMemory(trajectory.plan as PlanView, state.updates);
    if (applied.reused.length === 0) continue;
    const children = applied.plans.map((plan, index) =>
      childOf(next, trajectory, { plan, index, planned: null }, settings),
    );
    next = {
      ...next,
      trajectories: [
        ...next.trajectories.map((t) =>
          t.id === trajectory.id ? { ...t, status: 'merged' as const, mergedInto: children[0]?.id ?? null } : t,
        ),
        ...children,
      ],
      updates: withReuses(next.updates, applied.reused),
    };
    for (const { operator, updates } of applied.conflicts)
      next = noted(next, 'reuse-conflict', operator, updates.join(', '));
  }
  return next;
}

function withReuses(updates: readonly UpdateView[], reused: readonly string[]): UpdateView[] {
  return updates.map((update) => {
    const times = reused.filter((id) => id === update.id).length;
    return times === 0 ? update : { ...update, reuses: update.reuses + times };
  });
}

interface NewChild {
  readonly plan: PlanView;
  readonly index: number;
  /** The planner's estimate. */
  readonly planned: number | null;
}

function childOf(
  state: SearchState,
  parent: Trajectory,
  { plan, index, planned }: NewChild,
  settings: Settings,
): Trajectory {
  return {
    ...parent,
    id: nextTrajectory(state, index),
    parent: parent.id,
    depth: parent.depth + 1,
    iteration: state.iteration,
    status: statusOf(plan, settings),
    via: 'reuse',
    plan,
    selections: 0,
    distanceAtSelection: null,
    progress: plan.operators.filter((operator) => operator.bodyId !== null).length / plan.operators.length,
    potential: potentialAfter(parent, plan, planned, settings),
  };
}

/**
 * Compares trajectories as they would be expanded: with all compatible updates applied. If updates conflict, a trajectory
 * is merged when all its rival plans are already in the archive. A plan equal to that of an exhausted trajectory is merged
 * too.
 */
function mergeEqualPlans(state: SearchState): SearchState {
  const groups = new Map<string, Trajectory[]>();
  const add = (key: string, trajectory: Trajectory) => groups.set(key, [...(groups.get(key) ?? []), trajectory]);
  const split: { readonly trajectory: Trajectory; readonly keys: readonly string[] }[] = [];
  for (const trajectory of state.trajectories) {
    if (trajectory.plan === null) continue;
    if (trajectory.status === 'exhausted') add(planStateKey(trajectory.plan), trajectory);
    if (!LIVE.includes(trajectory.status)) continue;
    const keys = applyMemory(trajectory.plan, state.updates).plans.map(planStateKey);
    if (keys.length === 1) add(keys[0] as string, trajectory);
    else split.push({ trajectory, keys });
  }
  for (const { trajectory, keys } of split)
    if (keys.every((key) => groups.has(key))) add(keys[0] as string, trajectory);
  let next = state;
  for (const group of groups.values()) {
    const survivor = survivorOf(group, state);
    if (survivor === undefined || group.length < 2) continue;
    const attempts = newestEvidence([...new Set(group.flatMap((t) => t.attempts))]);
    next = {
      ...next,
      trajectories: next.trajectories.map((t) => {
        if (t.id === survivor.id) return { ...t, attempts };
        const merges = LIVE.includes(t.status) && group.some((member) => member.id === t.id);
        return merges ? { ...t, status: 'merged', mergedInto: survivor.id } : t;
      }),
    };
    for (const { id, status } of group)
      if (id !== survivor.id && LIVE.includes(status)) next = noted(next, 'trajectories-merged', id, survivor.id);
  }
  return next;
}

/** The one to keep: finished before exhausted before others, then one that descends from another, the deepest, the oldest. */
function survivorOf(group: readonly Trajectory[], state: SearchState): Trajectory | undefined {
  const ids = new Set(group.map((t) => t.id));
  const descends = (t: Trajectory) => lineage(t, state.trajectories).some(({ id }) => id !== t.id && ids.has(id));
  const rank = (t: Trajectory) =>
    (t.status === 'complete' && t.plan !== null && isComplete(t.plan) ? 0 : t.status === 'exhausted' ? 2 : 4) +
    (descends(t) ? 0 : 1);
  const place = ({ id }: Trajectory) => state.trajectories.findIndex((other) => other.id === id);
  return [...group].sort((a, b) => rank(a) - rank(b) || b.depth - a.depth || place(a) - place(b))[0];
}

/**
 * Keeps the state of a long search small. Checkpoints and continue-as-new carry it through hundreds of iterations, so it
 * holds only what may still be worked on. What is dropped is still in earlier checkpoints.
 *
 * 1. At most `KEPT` trajectories carry a plan: ended ones lose theirs first, oldest first, then open ones by rank.
 * 2. A trajectory without a plan stays while it is an ancestor of one with a plan: density counts ancestors (rule S6).
 * 3. What rules still read is always kept: reasons of unanswerable replies, remarks of people, active candidates.
 */

export const KEPT = 64;
const KEPT_EVENTS = 200;
/** How many evidence ids a trajectory keeps for prompts, newest last. */
const KEPT_EVIDENCE = 40;

/** A new id. Ids are never reused, even after trajectories were dropped. */
export function nextTrajectory(state: SearchState, index = 0): string {
  const newest = Math.max(...state.trajectories.map(({ id }) => Number(id.slice(1))));
  return `t${newest + 1 + index}`;
}

function newestEvidence(attempts: readonly string[]): string[] {
  return attempts.slice(-KEPT_EVIDENCE);
}

export function compactArchive(state: SearchState): SearchState {
  const withPlan = state.trajectories.filter(({ plan }) => plan !== null);
  if (withPlan.length <= KEPT && state.events.length <= KEPT_EVENTS) return state;
  const lost = new Set(losers(withPlan, state).slice(0, Math.max(0, withPlan.length - KEPT)));
  const trajectories = state.trajectories.map((t) => (lost.has(t.id) ? withoutPlan(t) : t));
  return { ...state, trajectories: withAncestors(trajectories), events: newestEvents(state.events) };
}

/** Trajectories in the order in which they lose their plans. */
function losers(withPlan: readonly Trajectory[], state: SearchState): string[] {
  const answered = new Set(state.candidates.filter(({ status }) => status === 'active').map((c) => c.trajectory));
  const isOpen = (t: Trajectory) => t.status === 'open' || t.status === 'replan';
  const ended = withPlan.filter((t) => !isOpen(t) && !answered.has(t.id));
  const open = rankTrajectories(withPlan.filter(isOpen), state.trajectories, { exploration: 'code' });
  const rest = withPlan.filter((t) => !isOpen(t) && answered.has(t.id));
  return [...ended, ...[...open].reverse(), ...rest].map(({ id }) => id);
}

function withoutPlan(trajectory: Trajectory): Trajectory {
  const isOpen = trajectory.status === 'open' || trajectory.status === 'replan';
  return { ...trajectory, plan: null, attempts: [], status: isOpen ? 'exhausted' : trajectory.status };
}

function withAncestors(trajectories: readonly Trajectory[]): Trajectory[] {
  const withPlan = trajectories.filter(({ plan }) => plan !== null);
  const needed = new Set([ROOT, ...withPlan.flatMap((t) => lineage(t, trajectories).map(({ id }) => id))]);
  return trajectories.filter(({ id }) => needed.has(id));
}

function newestEvents(events: readonly SearchEvent[]): SearchEvent[] {
  const isRead = ({ kind }: SearchEvent) => kind === 'unanswerable' || kind === 'steered';
  const cut = Math.max(0, events.length - KEPT_EVENTS);
  return events.filter((event, at) => at >= cut || isRead(event));
}
