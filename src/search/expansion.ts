/**
 * What one expansion of a trajectory gained, and the context it ran in. An expansion reads a fixed view of the search and
 * returns its gains; the archive changes only when all expansions of an iteration are merged in a fixed order, so that
 * nothing depends on arrival order (rule S11).
 */
import type {
  Budgets,
  EndedBy,
  FactView,
  PlanView,
  SearchEvent,
  Settings,
  Trajectory,
  UpdateView,
  Usage,
} from '../domain';
import { addUsage, callsLeft, exhaustedBudget, NO_USAGE, type Spending } from './budgets';
import { canonical } from './canonical';
import type {
  CandidateInput,
  CandidateRun,
  FollowUp,
  MemoryRef,
  ModelOutcome,
  PlanRef,
  Probed,
  ProbeInput,
  SearchSteps,
  UsageDelta,
} from './steps';

/** A step that ran along with another one (D3); what it spent was charged there. */
export interface RanAhead {
  readonly input: FollowUp;
  readonly output: Probed | CandidateRun;
}

/** The output of what ran ahead, if it is what is asked for now. */
export function ranAhead(ahead: RanAhead | null | undefined, input: ProbeInput): Probed | null;
export function ranAhead(ahead: RanAhead | null | undefined, input: CandidateInput): CandidateRun | null;
export function ranAhead(ahead: RanAhead | null | undefined, input: FollowUp): RanAhead['output'] | null {
  return ahead && canonical(ahead.input) === canonical(input) ? ahead.output : null;
}

/** What a draft needs to know: the limits it works under, and the memory it adds to. */
export interface DraftContext {
  readonly settings: Settings;
  readonly iteration: number;
  readonly trajectoryId: string;
  readonly updates: readonly UpdateView[];
  readonly facts: readonly FactView[];
  readonly usageBefore: Usage;
  /** Where lookups on the web are allowed: those that the search made, and how many this expansion may still make. */
  readonly web?: { readonly known: readonly string[]; readonly mayMake: number };
  /** The limits of this expansion as they are now: a person may change them. */
  budgets(): Budgets;
  /** Ids of what people said so far. */
  remarks(): readonly string[];
  elapsedMs(): number;
  cancelled(): boolean;
}

export interface ExpansionContext extends DraftContext {
  readonly searchId: string;
  readonly steps: SearchSteps;
  readonly trajectory: Trajectory;
  /** Its id, unless it is expanded more than once in this iteration: part of every position. */
  readonly lane: string;
  /** The root alone: which of several plans that are made at the same time this is, from 1. */
  readonly variant: { readonly index: number; readonly of: number } | null;
  readonly otherPlans: readonly PlanRef[];
  /** Reasons of earlier replies that nothing can be answered. */
  readonly unanswerable: readonly string[];
  /** The run of this plan as a candidate, if it would be the next one; null where that is not sure. */
  candidateOf(plan: PlanView): CandidateInput | null;
  /** For the progress line; `usage` is what this expansion has spent so far, `plan` the one it works on. */
  report(bottleneck: string | null, learned: string | null, usage: Usage, plan: PlanView | null): void;
}

export interface Expansion {
  readonly trajectory: string;
  readonly via: Trajectory['via'];
  /** The plan worked on and, after a reuse conflict, its rivals; empty when no plan was made. */
  readonly plans: readonly PlanView[];
  readonly bottleneck: string | null;
  /** The planner's own estimate of remaining steps, for a new plan. */
  readonly potential: number | null;
  readonly impossible: string | null;
  readonly updates: readonly UpdateView[];
  readonly reused: readonly string[];
  readonly facts: readonly FactView[];
  readonly attempts: readonly string[];
  /** Observations of the web; left out where none was made. */
  readonly lookups?: readonly string[];
  readonly distanceDelta: number;
  readonly usage: Usage;
  readonly events: readonly SearchEvent[];
  readonly ahead: RanAhead | null;
  /** What infrastructure threw. It ends the search, but only once the gains and the charges of all are booked. */
  readonly failure: { readonly error: unknown } | null;
}

/** Ends an expansion early with what it has so far; never leaves `src/search`. */
export class SearchStopped extends Error {
  constructor(readonly endedBy: EndedBy) {
    super(`search stopped: ${endedBy}`);
    this.name = 'SearchStopped';
  }
}

/** The growing side of an expansion; private to one expansion, so it may mutate. */
export class Draft {
  plan: PlanView | null = null;
  rivals: readonly PlanView[] = [];
  potential: number | null = null;
  bottleneck: string | null = null;
  impossible: string | null = null;
  distanceDelta = 0;
  usage: Usage = NO_USAGE;
  ahead: RanAhead | null = null;
  readonly updates: UpdateView[] = [];
  readonly reused: string[] = [];
  readonly facts: FactView[] = [];
  readonly attempts: string[] = [];
  /** Operators whose last winner had SQL that does not run: such a verdict settles nothing (rule S7). */
  readonly failing = new Set<string>();
  readonly lookups: string[] = [];
  readonly events: SearchEvent[] = [];
  /** The last reply of the step under way, when it could not be used. */
  private unusable: { readonly tries: number; readonly cause: string; readonly reply: string } | null = null;

  constructor(private readonly context: DraftContext) {}

  charge(delta: UsageDelta): void {
    this.usage = addUsage(this.usage, delta);
  }

  /** Before every step: a used-up budget or a cancellation ends the expansion here. */
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

  /** Null where the search may not look anything up. */
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

  /** After each reply of a model step. */
  heard(outcome: ModelOutcome<unknown>, tries: number): void {
    this.charge(outcome.usage);
    if (outcome.kind === 'ok') this.unusable = null;
    else this.unusable = { tries, cause: outcome.cause ?? outcome.error, reply: outcome.reply ?? '' };
  }

  /** A step is given up, `what` would have been its reply; for want of a usable one, that is told with it. */
  giveUp(subject: string, what: string): void {
    const { unusable } = this;
    this.unusable = null;
    if (unusable === null) this.note('step-failed', subject, `no usable ${what} after all retries`);
    else {
      const { iteration } = this.context;
      const detail = `no usable ${what} in ${unusable.tries === 1 ? '1 try' : `${unusable.tries} tries`}: ${unusable.cause}`;
      this.events.push({ iteration, kind: 'step-failed', subject, detail, reply: unusable.reply });
    }
  }

  /** A budget has ended the step under way. One bad reply is no broken model yet: the next might have been better. */
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
      updates: this.updates,
      reused: this.reused,
      facts: this.facts,
      attempts: this.attempts,
      ...(this.lookups.length === 0 ? {} : { lookups: this.lookups }),
      distanceDelta: this.distanceDelta,
      usage: this.usage,
      events: this.events,
      ahead: this.ahead,
      failure,
    };
  }
}

/** A prompt has room for so many; a long search proves more. */
const KNOWN = 60;

function newest(entries: readonly (UpdateView | FactView)[]): string[] {
  const active = entries.filter(({ status }) => status === 'active');
  return active.slice(-KNOWN).map(({ id }) => id);
}

export interface Tried<T> {
  readonly value: T;
  /** The execution error that remained after the last try, if any. */
  readonly error: string | null;
}

/**
 * A model step with its retries: an unusable reply, or one that `accept` finds to fail when executed, is tried again with
 * the exact error (paper, App. B.4). Every try is charged. Null when no try gave a usable reply. When the search is stopped
 * between two tries, what the last usable reply was worth is kept: it is paid for.
 */
export async function tryModel<T>(
  draft: Draft,
  retries: number,
  call: (tryNumber: number, executionError: string | undefined) => Promise<ModelOutcome<T>>,
  accept: (value: T, tryNumber: number) => Promise<string | null> = () => Promise.resolve(null),
): Promise<Tried<T> | null> {
  let last: Tried<T> | null = null;
  let executionError: string | undefined;
  for (let tryNumber = 0; tryNumber <= retries; tryNumber++) {
    if (last !== null && draft.stopped('model') !== null) return last;
    draft.checkpoint('model');
    const outcome = await call(tryNumber, executionError);
    draft.heard(outcome, tryNumber + 1);
    executionError = undefined;
    if (outcome.kind === 'invalid') continue;
    const error = await accept(outcome.value, tryNumber);
    last = { value: outcome.value, error };
    if (error === null) return last;
    executionError = error;
  }
  return last;
}
