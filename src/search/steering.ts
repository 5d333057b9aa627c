/**
 * Commands of a person to a running search (hint, budget, veto, pin), as pure functions of its state. `refusal` says why a
 * command is refused, `steer` applies one, `enforce` upholds vetoes and pins against later findings of the search.
 *
 * 1. A person's word is evidence with an author, never a proof: a pinned reading counts as settled and stays `assumed`.
 * 2. A veto withdraws an update with all its dependents (rule S10), and its SQL is not used again for that operator.
 * 3. A pin withdraws other readings of the same intent. A veto of a pinned reading removes the pin.
 */
import type {
  Budgets,
  OperatorView,
  SearchState,
  Settings,
  Steered,
  Steering,
  SteeringOf,
  Trajectory,
  UpdateView,
  MethodName,
} from '../domain';
import type { HumanVerdict } from '../domain/state';
import { applyBody, assumedBody, findOperator, noted } from './plan-view';
import { exhaustedBudget } from './budgets';
import { compareText } from '../domain/canonical';
import { withdraw } from './memory';
import { LIVE } from './select-plan';

/** A command, with the id of its remark: the id exists before the words are stored. */
export interface Command {
  readonly steering: Exclude<Steering, { kind: 'pause' | 'resume' }>;
  /** Where the words of a hint, a veto or a pin are stored. */
  readonly remarkId: string | null;
}

const NOTHING: Steered = { remarks: [], vetoes: [], pins: [], budgets: null };
/** The most remarks per search, because every prompt shows all of them. */
const MOST_REMARKS = 20;

export function budgetsOf(state: SearchState, settings: Settings): Budgets {
  return state.steered?.budgets ?? settings.budgets;
}

/** Hints that no model has replied to yet. */
export function unheardHints({ steered }: SearchState): readonly string[] {
  return steered?.unheard ?? [];
}

/** A model replied to a prompt with these remarks. */
export function heard(state: SearchState, remarks: readonly string[]): SearchState {
  const { steered } = state;
  const left = unheardHints(state).filter((id) => !remarks.includes(id));
  if (steered === undefined || left.length === unheardHints(state).length) return state;
  return { ...state, steered: { ...steered, unheard: left } };
}

/** Commands that carry nothing that could be wrong. */
export function isBare(steering: Steering): steering is SteeringOf<'pause' | 'resume' | 'stop'> {
  return steering.kind === 'pause' || steering.kind === 'resume' || steering.kind === 'stop';
}

const WITHOUT_GROUNDINGS: ReadonlySet<MethodName> = new Set(['react', 'redel', 'reforce']);

/** Why the command is refused now; null if it is accepted. */
export function refusal(state: SearchState, settings: Settings, steering: Steering, elapsedMs: number): string | null {
  const { method } = settings;
  if (WITHOUT_GROUNDINGS.has(method) && (steering.kind === 'veto' || steering.kind === 'pin'))
    return `the method ${method} has no groundings: give it a hint`;
  if (settings.repeated !== undefined && steering.kind === 'budget')
    return 'its runs have their shares already: stop it, or ask again with other limits';
  if (isBare(steering)) return null;
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
    default:
      return steering satisfies never;
  }
}

/** Expects a command that was not refused. */
export function steer(state: SearchState, settings: Settings, { steering, remarkId }: Command): SearchState {
  const steered = state.steered ?? NOTHING;
  const remarks = remarkId === null ? steered.remarks : [...steered.remarks, remarkId];
  const told = (next: SearchState, subject: string) =>
    noted(next, 'steered', subject, `${steering.kind} by ${steering.author}`);
  switch (steering.kind) {
    case 'hint': {
      const unheard = [...unheardHints(state), ...(remarkId === null ? [] : [remarkId])];
      const byProgram = steering.byProgram === true ? { byProgram: steering.byProgram } : {};
      return told({ ...state, steered: { ...steered, remarks, unheard, ...byProgram } }, remarkId ?? '');
    }
    case 'budget': {
      const budgets = newBudgets(state, settings, steering.budgets);
      return told({ ...state, steered: { ...steered, budgets } }, steering.kind);
    }
    case 'veto': {
      const update = state.updates.find(({ id }) => id === steering.update);
      if (update === undefined) return state;
      const veto = { shape: update.shape, bodyId: update.bodyId, remarkId: remarkId ?? '' };
      const pins = steered.pins.filter(({ shape, bodyId }) => shape !== veto.shape || bodyId !== veto.bodyId);
      const next = { ...state, steered: { ...steered, remarks, pins, vetoes: [...steered.vetoes, veto] } };
      return enforce(told(next, update.id));
    }
    case 'pin': {
      const found = pinTarget(state, steering.target);
      if (found === null) return state;
      const pin = { ...found, remarkId: remarkId ?? '' };
      // A new pin replaces an earlier one for the same intent.
      const others = steered.pins.filter(({ shape, intent }) => shape !== pin.shape || intent !== pin.intent);
      const pins = [...others, pin];
      return enforce(told({ ...state, steered: { ...steered, remarks, pins } }, steering.target));
    }
    case 'stop':
      return told(state, 'search');
    default:
      return steering satisfies never;
  }
}

/** Applies vetoes and pins again. Called after every change of updates or plans. */
export function enforce(state: SearchState): SearchState {
  const steered = state.steered;
  if (steered === undefined || (steered.vetoes.length === 0 && steered.pins.length === 0)) return state;
  let next = state;
  for (const { id, status, shape, intent, bodyId } of state.updates) {
    if (status !== 'active') continue;
    if (isVetoed(state, shape, bodyId)) next = withdraw(next, id, 'vetoed');
    else if (isRival(steered, { shape, intent, bodyId })) next = withdraw(next, id, PINNED);
  }
  for (let back = broughtBack(next, steered); back.size > 0; back = broughtBack(next, steered))
    for (const [id, reason] of back) next = withdraw(next, id, reason);
  return { ...next, trajectories: next.trajectories.map((trajectory) => keepPinned(trajectory, steered, next)) };
}

const PINNED = 'another reading was pinned';

/**
 * Readings that are in use but must not be, with the reason: a person ruled them out, or a concurrent expansion took them
 * from the memory before they were withdrawn.
 */
function broughtBack(state: SearchState, steered: Steered): ReadonlyMap<string, string> {
  const entries = [...state.updates, ...state.facts];
  const gone = new Set(entries.filter(({ status }) => status === 'withdrawn').map(({ id }) => id));
  const found = new Map<string, string>();
  const use = (id: string | null): void => {
    if (id !== null && gone.has(id)) found.set(id, 'withdrawn before');
  };
  for (const operator of state.trajectories.flatMap(({ plan }) => plan?.operators ?? [])) {
    const { updateId, bodyId, shape } = operator;
    use(updateId);
    if (updateId !== null || bodyId === null) continue;
    if (isVetoed(state, shape, bodyId)) found.set(bodyId, 'vetoed');
    else if (isRival(steered, { ...operator, bodyId })) found.set(bodyId, PINNED);
  }
  for (const { status, dependsOn } of entries) if (status === 'active') dependsOn.forEach(use);
  const vetoed = new Set(steered.vetoes.map(({ bodyId }) => bodyId));
  for (const { status, bodies, trajectory } of state.candidates) {
    if (status !== 'active') continue;
    // In a long search the plan may have been dropped: then only the SQL tells which reading it was.
    const hasPlan = state.trajectories.some(({ id, plan }) => id === trajectory && plan !== null);
    for (const { updateId, bodyId } of bodies)
      if (updateId === null && !hasPlan && vetoed.has(bodyId)) found.set(bodyId, 'vetoed');
      else use(updateId);
  }
  return found;
}

type Reading = Pick<UpdateView, 'shape' | 'intent' | 'bodyId'>;

/** Whether it is other SQL for a pinned intent. Not if another pin keeps the same body, because bodies are withdrawn by id. */
function isRival({ pins }: Steered, { shape, intent, bodyId }: Reading): boolean {
  return (
    pins.some((pin) => pin.shape === shape && pin.intent === intent && pin.bodyId !== bodyId) &&
    pins.every((pin) => pin.bodyId !== bodyId)
  );
}

/**
 * Sets the risk of a pinned reading to zero, so that it gets no more attempts; it does not count as proved. If the same
 * operator has no SQL in this plan, the pinned SQL is written in.
 */
function keepPinned(trajectory: Trajectory, { pins }: Steered, { updates }: SearchState): Trajectory {
  if (trajectory.plan === null) return trajectory;
  let plan = trajectory.plan;
  for (const { name } of plan.operators) {
    const operator = findOperator(plan, name);
    const pin = pins.find((one) => operator !== undefined && isWrittenFor(one, operator));
    if (operator?.bodyId === null && pin !== undefined)
      plan = applyBody(plan, name, assumedBody(pin.bodyId, 0), updates);
  }
  const isWritten = plan !== trajectory.plan;
  const operators = plan.operators.map((operator) =>
    operator.state === 'assumed' && pins.some((p) => p.shape === operator.shape && p.bodyId === operator.bodyId)
      ? { ...operator, risk: 0 }
      : operator,
  );
  const status = isWritten && trajectory.status === 'replan' ? 'open' : trajectory.status;
  return { ...trajectory, status, plan: { ...plan, operators } };
}

function isWrittenFor({ shape, intent, written }: HumanVerdict, operator: OperatorView): boolean {
  return (
    written !== undefined &&
    shape === operator.shape &&
    intent === operator.intent &&
    written.operator === operator.name &&
    [...written.inputs].sort(compareText).join() === [...operator.inputs].sort(compareText).join()
  );
}

function pinTarget(state: SearchState, target: string): Omit<HumanVerdict, 'remarkId'> | null {
  const update = state.updates.find(({ id, status }) => id === target && status === 'active');
  if (update !== undefined) return { shape: update.shape, bodyId: update.bodyId, intent: update.intent };
  const operator = currentOperator(state, target);
  if (operator === null || operator.bodyId === null) return null;
  const { shape, bodyId, intent, name, inputs, updateId } = operator;
  // The SQL of an update may use the names of another plan, so it is applied from the memory, with its proof.
  return { shape, bodyId, intent, ...(updateId === null ? { written: { operator: name, inputs } } : {}) };
}

/** The operator as in the newest plan that counts, preferably one with SQL. */
function currentOperator(state: SearchState, name: string): OperatorView | null {
  const live = state.trajectories.filter(({ status }) => LIVE.includes(status));
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
