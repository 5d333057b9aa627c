/**
 * What an expansion found and spent. It reads a fixed view of the search and returns its results; the archive changes only
 * when they are merged into it.
 */
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
import type { MemoryRef, ModelOutcome, UsageDelta } from '../ports/search-steps';
import { addUsage, callsLeft, exhaustedBudget, type Spending } from './state/budgets';
import { counted } from '../counted';

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

export interface Expansion {
  readonly trajectory: string;
  readonly via: Trajectory['via'];
  /** The plan and, after a reuse conflict, its rivals; empty if no plan was made. */
  readonly plans: readonly PlanView[];
  readonly bottleneck: string | null;
  /** The planner's own estimate of remaining steps, for a new plan. */
  readonly potential: number | null;
  readonly impossible: string | null;
  /** Whether counts show that; else the model says so. */
  readonly absenceShown?: boolean;
  readonly updates: readonly UpdateView[];
  readonly reused: readonly string[];
  readonly facts: readonly FactView[];
  readonly attempts: readonly string[];
  /** Ids of web observations; absent if there are none. */
  readonly lookups?: readonly string[];
  readonly distanceDelta: number;
  readonly usage: Usage;
  readonly events: readonly SearchEvent[];
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
  potential: number | null = null;
  bottleneck: string | null = null;
  impossible: string | null = null;
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
      ...(remarks.length === 0 ? {} : { remarks }),
      ...(web.length === 0 ? {} : { web }),
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
    return {
      trajectory: this.context.trajectoryId,
      via,
      plans: this.plan === null ? [] : [this.plan, ...this.rivals],
      bottleneck: this.bottleneck,
      potential: this.potential,
      impossible: this.impossible,
      ...(this.absenceShown ? { absenceShown: true } : {}),
      updates: this.updates,
      reused: this.reused,
      facts: this.facts,
      attempts: this.attempts,
      ...(this.lookups.length === 0 ? {} : { lookups: this.lookups }),
      distanceDelta: this.distanceDelta,
      usage: this.usage,
      events: this.events,
      failure,
    };
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
