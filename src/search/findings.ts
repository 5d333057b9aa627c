/**
 * What an expansion found and spent. It reads a fixed view of the search and returns its results; the archive changes only
 * when they are merged into it.
 */
import { counted } from '../counted';
import type {
  Budgets,
  EndedBy,
  FactView,
  PlanView,
  SearchEvent,
  SearchState,
  Settings,
  Trajectory,
  UpdateView,
  Usage,
} from '../domain';
import { NO_USAGE } from '../domain/control-view';
import type { MemoryRef, ModelOutcome, PlanRef, UsageDelta } from '../domain/ports/step-parts';
import { planRef } from './plan-view';
import { plansOfRoot } from './select-plan';
import { addUsage, callsLeft, exhaustedBudget, type Spending } from './budgets';
import type { SearchSteps } from '../domain/ports/steps';

/** What may change while a turn or an expansion runs: read at the moment of asking. */
export interface SearchNow {
  readonly settings: Settings;
  /** The current limits; a person may change them. */
  budgets(): Budgets;
  /** Ids of people's remarks so far. */
  remarks(): readonly string[];
  /** Called with the remarks of a prompt once a model has replied to it. */
  heard(remarks: readonly string[]): void;
  /** Null: a model may be called now. Else it resolves when the search is no longer paused. */
  paused(): Promise<void> | null;
  elapsedMs(): number;
  cancelled(): boolean;
}

/** What findings need: their limits, and the memory they add to. */
export interface FindingsContext extends SearchNow {
  readonly iteration: number;
  readonly trajectoryId: string;
  readonly updates: readonly UpdateView[];
  readonly facts: readonly FactView[];
  readonly usageBefore: Usage;
  /** Set if web lookups are allowed: those already made, and how many this expansion may still make. */
  readonly web?: { readonly known: readonly string[]; readonly mayMake: number };
}

export function webOf({ lookups = [], usage }: SearchState, settings: Settings): Pick<FindingsContext, 'web'> {
  if (settings.lookups === undefined) return {};
  return { web: { known: lookups, mayMake: Math.max(0, settings.lookups - (usage.lookups ?? 0)) } };
}

/** The results of one expansion, to be merged into the archive. */
export interface Expansion extends Pick<
  Findings,
  | (
      | 'bottleneck'
      | 'potential'
      | 'impossible'
      | 'absenceShown'
      | 'updates'
      | 'reused'
      | 'facts'
      | 'attempts'
      | 'lookups'
    )
  | ('distanceDelta' | 'usage' | 'events')
> {
  readonly trajectory: string;
  readonly via: Trajectory['via'];
  /** The plan and, after a reuse conflict, its rivals; empty if no plan was made. */
  readonly plans: readonly PlanView[];
  /** An infrastructure error. It ends the search, after the results and charges of the expansion are merged. */
  readonly failure: { readonly error: unknown } | null;
}

/** Ends an expansion early with its results so far. Never thrown out of `src/search`. */
export class SearchStopped extends Error {
  constructor(readonly endedBy: EndedBy) {
    super(`search stopped: ${endedBy}`);
    this.name = 'SearchStopped';
  }
}

/** What one expansion, or one turn of a conversation, found and spent so far. Private to it, so it may be mutable. */
export class Findings {
  plan: PlanView | null = null;
  rivals: readonly PlanView[] = [];
  /** The planner's own estimate of remaining steps, for a new plan. */
  potential: number | null = null;
  bottleneck: string | null = null;
  impossible: string | null = null;
  /** Counts show that it is impossible; else the model says so. */
  absenceShown = false;
  /** The judgement that found an interface which does not fit the rows, and its operators. */
  refit: { readonly groundingId: string; readonly operators: readonly string[] } | null = null;
  distanceDelta = 0;
  usage: Usage = NO_USAGE;
  /** Whether the prompts show people's remarks. */
  showsRemarks = true;
  readonly updates: UpdateView[] = [];
  readonly reused: string[] = [];
  readonly facts: FactView[] = [];
  readonly attempts: string[] = [];
  /** Operators whose last winner had SQL that does not run: such a verdict is no new evidence (rule S7). */
  readonly failing = new Set<string>();
  /** Ids of web observations. */
  readonly lookups: string[] = [];
  readonly events: SearchEvent[] = [];
  /** The last reply of the current step, if it was unusable. */
  private unusable: {
    readonly tries: number;
    readonly cause: string;
    readonly reply: string;
    readonly badSql: boolean;
  } | null = null;

  constructor(readonly context: FindingsContext) {}

  currentPlan(): PlanView {
    if (this.plan === null) throw new Error('an attempt needs a plan');
    return this.plan;
  }

  charge(delta: UsageDelta): void {
    this.usage = addUsage(this.usage, delta);
  }

  /** One step of the database, charged. Ends the expansion if nothing is left for it. */
  async sql<T extends { readonly usage: UsageDelta }>(step: () => Promise<T>): Promise<T> {
    this.checkpoint('sql');
    const made = await step();
    this.charge(made.usage);
    return made;
  }

  /** Called before every step. Ends the expansion if a budget is used up or the search is cancelled. */
  checkpoint(spending: Spending): void {
    const stopped = this.stopped(spending);
    if (stopped !== null) throw new SearchStopped(stopped);
  }

  stopped(spending: Spending): EndedBy | null {
    if (this.context.cancelled()) return 'cancel';
    const spent = addUsage(this.context.usageBefore, this.usage);
    const budget = exhaustedBudget(spent, this.context.elapsedMs(), this.context.budgets(), spending);
    return budget === null ? null : `budget:${budget}`;
  }

  callsLeft(): number | null {
    return callsLeft(addUsage(this.context.usageBefore, this.usage), this.context.budgets());
  }

  /** Null if the search may not use the web. */
  lookupsLeft(): number | null {
    const { web } = this.context;
    return web === undefined ? null : web.mayMake - this.lookups.length;
  }

  memory(): MemoryRef {
    const remarks = this.context.remarks();
    const web = [...(this.context.web?.known ?? []), ...this.lookups];
    return {
      ...(remarks.length > 0 && { remarks }),
      ...(web.length > 0 && { web }),
      updates: newest(this.allUpdates()),
      facts: newest([...this.context.facts, ...this.facts]),
    };
  }

  allUpdates(): readonly UpdateView[] {
    return [...this.context.updates, ...this.updates];
  }

  note(kind: SearchEvent['kind'], subject: string, detail: string): void {
    this.events.push({ iteration: this.context.iteration, kind, subject, detail });
  }

  /** Called before every model call. What is told or limited during a pause counts for the call after it. */
  async mayAsk(): Promise<void> {
    for (let paused = this.context.paused(); paused !== null; paused = this.context.paused()) await paused;
    this.checkpoint('model');
  }

  /** Called after each reply of a model step, with the memory that its prompt showed. */
  heard(outcome: ModelOutcome<unknown>, tries: number, { remarks = [] }: MemoryRef): void {
    if (this.showsRemarks) this.context.heard(remarks);
    this.charge(outcome.usage);
    if (outcome.kind === 'ok') this.unusable = null;
    else {
      const { error, cause = error, reply = '', badSql = false } = outcome;
      this.unusable = { tries, cause, reply, badSql };
    }
  }

  /** Whether the last reply had its format, and only its SQL could not be used. */
  hasBadSql(): boolean {
    return this.unusable?.badSql === true;
  }

  /** Records that a step was given up. `what` names the reply it needed; the cause of the last unusable reply is added. */
  giveUp(subject: string, what: string): void {
    const { unusable } = this;
    this.unusable = null;
    if (unusable === null) this.note('step-failed', subject, `no usable ${what} after all retries`);
    else {
      const { iteration } = this.context;
      const detail = `no usable ${what} in ${counted(unusable.tries, 'try', 'tries')}: ${unusable.cause}`;
      this.events.push({ iteration, kind: 'step-failed', subject, detail, reply: unusable.reply });
    }
  }

  /** Records that a budget ended the current step after an unusable reply. That does not count as a broken model. */
  stoppedEarly(): void {
    const { unusable } = this;
    if (unusable === null) return;
    if (unusable.tries > 1) this.giveUp(unusable.reply, 'reply');
    else this.note('step-failed', unusable.reply, `stopped after a reply that could not be used: ${unusable.cause}`);
  }

  result(via: Trajectory['via'], failure: Expansion['failure'] = null): Expansion {
    const plans = this.plan === null ? [] : [this.plan, ...this.rivals];
    return Object.assign(this, { trajectory: this.context.trajectoryId, via, plans, failure });
  }
}

/** How many updates, and how many facts, a prompt shows; a long search proves more. */
const KNOWN = 60;

function newest(entries: readonly (UpdateView | FactView)[]): string[] {
  const active = entries.filter(({ status }) => status === 'active');
  return active.slice(-KNOWN).map(({ id }) => id);
}

/** The innermost message: runtimes wrap a step's error, and the user needs the part that says what to change. */
export function reasonOf(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}

export interface Tried<T> {
  readonly value: T;
  /** The execution error that remained after the last try, if any. */
  readonly error: string | null;
}

/** The part of a model step's input that differs from try to try. */
interface Try {
  readonly tryNumber: number;
  readonly executionError?: string;
  readonly memory: MemoryRef;
}

/**
 * A model step with its retries. After an unusable reply, or one that fails in `accept` when executed, the model is asked
 * again with the exact error (paper, App. B.4). Every try is charged. Null if no try gave a usable reply. If the search is
 * stopped between two tries, the last usable reply is kept, since it is paid for.
 */
export async function tryModel<T>(
  findings: Findings,
  ask: (thisTry: Try) => Promise<ModelOutcome<T>>,
  accept: (value: T, tryNumber: number) => Promise<string | null> = () => Promise.resolve(null),
): Promise<Tried<T> | null> {
  let last: Tried<T> | null = null;
  let error: string | null = null;
  // A later try repeats the conversation of the first.
  let memory: MemoryRef | null = null;
  for (let tryNumber = 0; tryNumber <= findings.context.settings.parseRetries; tryNumber++) {
    if (last !== null && findings.stopped('model') !== null) return last;
    await findings.mayAsk();
    const failed = error === null ? {} : { executionError: error };
    memory ??= findings.memory();
    const outcome = await ask({ tryNumber, ...failed, memory });
    findings.heard(outcome, tryNumber + 1, memory);
    error = null;
    if (outcome.kind === 'invalid') continue;
    error = await accept(outcome.value, tryNumber);
    last = { value: outcome.value, error };
    if (error === null) return last;
  }
  return last;
}

/** One without execution. Null, and recorded as given up, if no reply could be used. */
export async function askModel<T>(
  findings: Findings,
  { position, what }: { readonly position: string; readonly what: string },
  ask: (thisTry: Try) => Promise<ModelOutcome<T>>,
): Promise<T | null> {
  const tried = await tryModel<T>(findings, ask);
  if (tried === null) findings.giveUp(position, what);
  return tried?.value ?? null;
}

/** What an expansion reads: a fixed view of the search (rule S11). */
export interface ExpansionContext extends FindingsContext {
  readonly searchId: string;
  readonly steps: SearchSteps;
  readonly trajectory: Trajectory;
  /** The start of the positions of all its steps: iteration and trajectory. */
  readonly position: string;
  readonly otherPlans: readonly PlanRef[];
  /** Reasons of earlier replies that the question is unanswerable. */
  readonly unanswerable: readonly string[];
  /** Turns of the conversation that came before the search. */
  readonly looked: readonly string[];
  /** For the progress line; `usage` is what this expansion has spent so far, `plan` the one it works on. */
  report(bottleneck: string | null, learned: string | null, usage: Usage, plan: PlanView | null): void;
}

/**
 * What a proposal and a judgement are told of earlier attempts on the bottleneck (paper, "Summarizing execution evidence").
 * Without it each attempt is a retry of its own.
 */
export function evidence(
  { settings, trajectory }: ExpansionContext,
  findings: Findings,
  memory: MemoryRef,
): { readonly memory: MemoryRef; readonly attempts: readonly string[] } {
  return settings.without === 'evidence-summary'
    ? { memory: { ...memory, facts: [] }, attempts: [] }
    : { memory, attempts: [...trajectory.attempts, ...findings.attempts] };
}

/** How many other plans a planner is shown, newest last. */
const SHOWN_PLANS = 8;

/** Of updates that no other plan may take over, those of its own plan. */
function knownUpdates(updates: readonly UpdateView[], { plan }: Trajectory): readonly UpdateView[] {
  const own = plan?.operators.map(({ updateId }) => updateId) ?? [];
  return updates.filter(({ id, reusable }) => reusable !== false || own.includes(id));
}

export function expansionContext(
  state: SearchState,
  trajectory: Trajectory,
  search: SearchNow & Pick<ExpansionContext, 'steps' | 'report'>,
): ExpansionContext {
  return {
    ...search,
    searchId: state.searchId,
    iteration: state.iteration,
    trajectory,
    trajectoryId: trajectory.id,
    position: `i${state.iteration}.${trajectory.id}`,
    updates: knownUpdates(state.updates, trajectory),
    facts: state.facts,
    otherPlans: plansOfRoot(state.trajectories)
      .flatMap(({ plan }) => (plan === null ? [] : [planRef(plan)]))
      .slice(-SHOWN_PLANS),
    unanswerable: state.events.filter(({ kind }) => kind === 'unanswerable').map(({ detail }) => detail),
    looked: state.looking?.turns ?? [],
    usageBefore: state.usage,
    ...webOf(state, search.settings),
  };
}
