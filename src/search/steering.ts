/**
 * What a person tells a running search (hint, budget, veto, pin), as pure functions of its state: `refusal` says why a
 * command makes no sense, `steer` applies one, `enforce` holds vetoes and pins against what the search learns later.
 *
 * 1. A person's word is evidence with an author, never a proof: a pinned reading counts as settled and stays `assumed`.
 * 2. A veto withdraws an update with all its dependents (rule S10) and keeps its SQL from coming back for that operator.
 */
import type { Budgets, OperatorView, PlanView, SearchState, Settings, Steered, Steering, UpdateView } from '../domain';
import { exhaustedBudget } from './budgets';
import { withdraw } from './dependence';
import { selectable } from './frontier';

/** A remark is named before its words are stored. */
export interface Command {
  readonly steering: Exclude<Steering, { kind: 'pause' | 'resume' }>;
  /** Where the words of a hint, a veto or a pin are stored. */
  readonly remarkId: string | null;
}

const NOTHING: Steered = { remarks: [], vetoes: [], pins: [], budgets: null };
/** Every prompt shows them all. */
const MOST_REMARKS = 20;

export function budgetsOf(state: SearchState, settings: Settings): Budgets {
  return state.steered?.budgets ?? settings.budgets;
}

/** Why the command makes no sense now; null when it does. */
export function refusal(state: SearchState, settings: Settings, steering: Steering, elapsedMs: number): string | null {
  if (settings.method === 'react' && (steering.kind === 'veto' || steering.kind === 'pin'))
    return 'the method react has no groundings: give it a hint';
  switch (steering.kind) {
    case 'hint':
      return tooMany(state);
    case 'budget': {
      if (Object.keys(steering.budgets).length === 0) return 'no budget given';
      const used = exhaustedBudget(state.usage, elapsedMs, newBudgets(state, settings, steering.budgets));
      return used === null ? null : `its budget ${used} would be used up already: stop it instead`;
    }
    case 'veto': {
      const update = state.updates.find(({ id }) => id === steering.update);
      if (update === undefined) return `no update ${steering.update}; ${known(state)}`;
      return update.status === 'withdrawn' ? `update ${steering.update} is withdrawn already` : tooMany(state);
    }
    case 'pin': {
      const found = pinTarget(state, steering.target);
      if (found !== null) return isVetoed(state, found.shape, found.bodyId) ? 'it was vetoed' : tooMany(state);
      const operator = currentOperator(state, steering.target);
      if (operator !== null) return `operator ${steering.target} has no SQL yet: give a hint`;
      return `no operator or active update ${steering.target}; ${known(state)}`;
    }
    case 'pause':
    case 'resume':
    case 'stop':
      return null;
    default:
      return steering satisfies never;
  }
}

/** Expects a command that was not refused. */
export function steer(state: SearchState, settings: Settings, { steering, remarkId }: Command): SearchState {
  const steered = state.steered ?? NOTHING;
  const remarks = remarkId === null ? steered.remarks : [...steered.remarks, remarkId];
  switch (steering.kind) {
    case 'hint':
      return noted({ ...state, steered: { ...steered, remarks } }, steering.author, 'hint', remarkId ?? '');
    case 'budget': {
      const budgets = newBudgets(state, settings, steering.budgets);
      return noted({ ...state, steered: { ...steered, budgets } }, steering.author, 'budget', steering.kind);
    }
    case 'veto': {
      const update = state.updates.find(({ id }) => id === steering.update);
      if (update === undefined) return state;
      const veto = { shape: update.shape, bodyId: update.bodyId, remarkId: remarkId ?? '' };
      const next = { ...state, steered: { ...steered, remarks, vetoes: [...steered.vetoes, veto] } };
      return enforce(noted(next, steering.author, 'veto', update.id));
    }
    case 'pin': {
      const found = pinTarget(state, steering.target);
      if (found === null) return state;
      const pin = { ...found, remarkId: remarkId ?? '' };
      const pins = [...steered.pins.filter(({ shape }) => shape !== pin.shape), pin];
      return enforce(
        noted({ ...state, steered: { ...steered, remarks, pins } }, steering.author, 'pin', steering.target),
      );
    }
    case 'stop':
      return noted(state, steering.author, 'stop', 'search');
    default:
      return steering satisfies never;
  }
}

/** Holds what people decided against what was merged since: called after every change of updates or plans. */
export function enforce(state: SearchState): SearchState {
  const steered = state.steered;
  if (steered === undefined || (steered.vetoes.length === 0 && steered.pins.length === 0)) return state;
  let next = state;
  for (const update of state.updates.filter(({ status }) => status === 'active')) {
    const rival = steered.pins.some((pin) => pin.shape === update.shape && pin.bodyId !== update.bodyId);
    if (isVetoed(state, update.shape, update.bodyId)) next = withdraw(next, update.id, 'vetoed');
    else if (rival) next = withdraw(next, update.id, 'another reading was pinned');
  }
  const withdrawn = new Set(next.updates.filter(({ status }) => status === 'withdrawn').map(({ id }) => id));
  for (const operator of next.trajectories.flatMap(({ plan }) => plan?.operators ?? [])) {
    const vetoed = operator.bodyId !== null && isVetoed(next, operator.shape, operator.bodyId);
    if (vetoed && operator.updateId === null) next = withdraw(next, operator.bodyId ?? '', 'vetoed');
    // An expansion that was under way may have brought it back.
    if (operator.updateId !== null && withdrawn.has(operator.updateId))
      next = withdraw(next, operator.updateId, 'vetoed');
  }
  return { ...next, trajectories: next.trajectories.map((t) => ({ ...t, plan: pinned(t.plan, steered) })) };
}

/** A pinned reading leaves no doubt to work on, and says so by its risk; it is not called proved. */
function pinned(plan: PlanView | null, { pins }: Steered): PlanView | null {
  if (plan === null) return null;
  return {
    ...plan,
    operators: plan.operators.map((operator) =>
      operator.state === 'assumed' && pins.some((p) => p.shape === operator.shape && p.bodyId === operator.bodyId)
        ? { ...operator, risk: 0 }
        : operator,
    ),
  };
}

function pinTarget(state: SearchState, target: string): { readonly shape: string; readonly bodyId: string } | null {
  const update = state.updates.find(({ id, status }) => id === target && status === 'active');
  if (update !== undefined) return { shape: update.shape, bodyId: update.bodyId };
  const operator = currentOperator(state, target);
  return operator === null || operator.bodyId === null ? null : { shape: operator.shape, bodyId: operator.bodyId };
}

/** As the newest plan that is still worked on has it. */
function currentOperator(state: SearchState, name: string): OperatorView | null {
  const live = [...selectable(state.trajectories), ...state.trajectories.filter(({ status }) => status === 'complete')];
  const operators = live.flatMap(({ plan }) => plan?.operators.filter((operator) => operator.name === name) ?? []);
  return operators.filter(({ bodyId }) => bodyId !== null).at(-1) ?? operators.at(-1) ?? null;
}

function isVetoed(state: SearchState, shape: string, bodyId: string): boolean {
  return state.steered?.vetoes.some((veto) => veto.shape === shape && veto.bodyId === bodyId) ?? false;
}

function newBudgets(state: SearchState, settings: Settings, change: Partial<Budgets>): Budgets {
  return { ...budgetsOf(state, settings), ...change };
}

function tooMany(state: SearchState): string | null {
  const told = state.steered?.remarks.length ?? 0;
  return told < MOST_REMARKS ? null : `it has been told ${MOST_REMARKS} times: fork it with a better question`;
}

function known({ updates }: SearchState): string {
  const active = updates.filter(({ status }) => status === 'active').map((update: UpdateView) => update.id);
  return active.length === 0 ? 'nothing is proved yet' : `known: ${active.slice(-10).join(', ')}`;
}

function noted(state: SearchState, author: string, what: string, subject: string): SearchState {
  const event = { iteration: state.iteration, kind: 'steered' as const, subject, detail: `${what} by ${author}` };
  return { ...state, events: [...state.events, event] };
}
