/**
 * What every way of searching has in common (`search.ts`, `look.ts`, the methods): a state, a person's commands to it, its
 * limits, and its end. Its time comes from the hooks, so it is the same in a workflow and in a process.
 */
import type { Budgets, EndedBy, SearchState, Steering } from '../domain';
import { NO_USAGE, ROOT } from '../domain/control-view';
import type { AnswerSummary, SearchSteps } from '../ports/search-steps';
import { Findings } from './findings';
import type { Progress } from './progress';
import { rootTrajectory } from './remember/merge';
import { addUsage, exhaustedBudget } from './state/budgets';
import type { ControlSettings } from './state/control-settings';
import { budgetsOf, refusal, steer, type Command } from './steering';

export interface SearchHooks {
  now(): number;
  /** `stop`: a person wants the answer now; the step under way is given up. */
  stopRequested(): 'cancel' | 'stop' | null;
  onProgress(progress: Progress): void;
  /** Called once, before the first step, with the object that answers queries and takes a person's commands. */
  attach?(search: SteeredSearch): void;
  /** Whether a running search takes the changed path of this name (docs/changing-the-search.md); in a process, always. */
  patched?(id: string): boolean;
  /** Asked after each checkpoint; `continue-as-new` hands the state back to the caller. */
  afterIteration?(state: SearchState): 'go-on' | 'continue-as-new';
}

export interface SteeredSearch {
  state(): SearchState;
  /** Why the command is refused now; null if it is accepted. */
  refusal(steering: Steering): string | null;
  steer(command: Command): void;
}

export interface SearchStart {
  readonly searchId: string;
  readonly settings: ControlSettings;
  /** The checkpoint to continue from; null starts a new search. */
  readonly state: SearchState | null;
}

export type SearchOutcome =
  | { readonly kind: 'finished'; readonly summary: AnswerSummary }
  | { readonly kind: 'continue'; readonly state: SearchState };

export abstract class Run<Steps extends Pick<SearchSteps, 'finish'>> {
  protected state: SearchState;
  protected ending = false;

  constructor(
    protected readonly start: SearchStart,
    protected readonly steps: Steps,
    protected readonly hooks: SearchHooks,
  ) {
    this.state = start.state ?? initialState(start.searchId, hooks.now());
  }

  protected attach(): void {
    this.hooks.attach?.({
      state: () => this.state,
      refusal: (steering) =>
        this.ending ? 'the search is ending' : refusal(this.state, this.start.settings, steering, this.elapsedMs()),
      steer: (command) => this.steered(command),
    });
  }

  protected steered(command: Command): void {
    this.state = steer(this.state, this.start.settings, command);
  }

  /** Whether a person or a limit ends it now. */
  protected stop(): EndedBy | null {
    const stopped = this.hooks.stopRequested();
    if (stopped !== null) return stopped;
    const budget = exhaustedBudget(this.state.usage, this.elapsedMs(), this.budgets());
    return budget === null ? null : `budget:${budget}`;
  }

  protected budgets(): Budgets {
    return budgetsOf(this.state, this.start.settings);
  }

  protected elapsedMs(): number {
    return this.hooks.now() - this.state.startedAtMs;
  }

  /** Of one turn. `memory`: what its prompts show as known. */
  protected findings(memory: Pick<SearchState, 'updates' | 'facts'>): Findings {
    return new Findings({
      settings: this.start.settings,
      usageBefore: this.state.usage,
      updates: memory.updates,
      facts: memory.facts,
      budgets: () => this.budgets(),
      remarks: () => this.state.steered?.remarks ?? [],
      iteration: this.state.iteration,
      trajectoryId: ROOT,
      elapsedMs: () => this.elapsedMs(),
      cancelled: () => this.hooks.stopRequested() !== null,
    });
  }

  /** Charges what was spent, however the turn ended. */
  protected charge({ usage, events }: Pick<Findings, 'usage' | 'events'>): void {
    const { state } = this;
    this.state = { ...state, usage: addUsage(state.usage, usage), events: [...state.events, ...events] };
  }

  /** The state with all candidates given up: a later one replaces them. */
  protected withdrawn(): SearchState {
    const candidates = this.state.candidates.map((c) => ({ ...c, status: 'withdrawn' as const }));
    return { ...this.state, candidates };
  }

  protected finish(
    status: AnswerSummary['status'],
    endedBy: EndedBy,
    chosen: string | null,
    reason: string | null,
  ): Promise<AnswerSummary> {
    return this.steps.finish({ searchId: this.state.searchId, state: this.state, status, endedBy, chosen, reason });
  }
}

export function initialState(searchId: string, nowMs: number): SearchState {
  return {
    schemaVersion: 1,
    searchId,
    iteration: 1,
    startedAtMs: nowMs,
    trajectories: [rootTrajectory()],
    updates: [],
    facts: [],
    candidates: [],
    usage: NO_USAGE,
    events: [],
  };
}

/** The innermost message: runtimes wrap a step's error, and the user needs the part that says what to change. */
export function reasonOf(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}
