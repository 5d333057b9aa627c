/**
 * What every way of searching has in common (`search.ts`, the methods): iterations over a state, a person's commands to it,
 * its limits, and its end. Its time comes from the hooks, so it is the same in a workflow and in a process.
 */
import type { Budgets, EndedBy, SearchState, Settings, Steering } from '../domain';
import { isCutShort, NO_USAGE, ROOT } from '../domain/control-view';
import type { AnswerSummary, ChildRun } from '../domain/ports/step-parts';
import { Findings, reasonOf, type SearchNow, SearchStopped, webOf } from './findings';
import type { Keeping } from './keep-proved';
import type { Progress } from './progress';
import { rootTrajectory } from './remember';
import { brokenModel, BrokenModelError, type Decision } from './select-answer';
import { addUsage, exhaustedBudget } from './budgets';
import { budgetsOf, heard, refusal, steer, unheardHints, type Command } from './steering';
import type { SearchSteps } from '../domain/ports/steps';

export interface SearchHooks {
  now(): number;
  /** `stop`: a person wants the answer now; the step under way is given up. */
  stopRequested(): 'cancel' | 'stop' | null;
  onProgress(progress: Progress): void;
  /** Null: not paused. Else it resolves when the search goes on. Left out: nobody can pause it. */
  paused?(): Promise<void> | null;
  /** Called once, before the first step, with the object that answers queries and takes a person's commands. */
  attach?(search: SteeredSearch): void;
  /** Asked after each checkpoint; `continue-as-new` hands the state back to the caller. */
  afterIteration?(state: SearchState): 'go-on' | 'continue-as-new';
}

export interface SteeredSearch {
  state(): SearchState;
  /** Why the command is refused now; null if it is accepted. */
  refusal(steering: Steering): string | null;
  steer(command: Command): void;
  /** Whether a hint that came too late for the last prompt gets one more turn. */
  readonly hearsOut: boolean;
}

export interface SearchStart {
  readonly searchId: string;
  readonly settings: Settings;
  /** The checkpoint to continue from; null starts a new search. */
  readonly state: SearchState | null;
}

export type SearchOutcome =
  /** `keeping`: what it proved, to be read and kept by whoever runs it; null: nothing. */
  | { readonly kind: 'finished'; readonly summary: AnswerSummary; readonly keeping: Keeping | null }
  | { readonly kind: 'continue'; readonly state: SearchState };

export abstract class Run<Steps extends Pick<SearchSteps, 'prepare' | 'checkpoint' | 'finish'>> {
  protected state: SearchState;
  private isFinishing = false;
  private keeping: Keeping | null = null;
  /** Hints for which a turn more was taken. */
  private readonly heardOut = new Set<string>();

  constructor(
    protected readonly start: SearchStart,
    protected readonly steps: Steps,
    protected readonly hooks: SearchHooks,
  ) {
    this.state = start.state ?? initialState(start.searchId, hooks.now());
  }

  /** One iteration. Returns why the search ended, if it did. */
  protected abstract iterate(): Promise<EndedBy | null>;

  /**
   * One more turn at the end, for a hint that no prompt has shown. Left out: nothing that a prompt says would change the
   * answer any more. Returns why the search ended, or null if it goes on.
   */
  protected hearOut?(): Promise<EndedBy | null>;

  /** The best answer so far. Nothing is spent if a person or a budget ended the search (D6). */
  protected abstract answer(endedBy: EndedBy): Promise<AnswerSummary>;

  async run(): Promise<SearchOutcome> {
    this.attach();
    try {
      if (this.start.state === null && this.hooks.stopRequested() === null) await this.prepare();
      for (;;) {
        let endedBy = this.stop() ?? (await this.iterate());
        while (endedBy !== null && this.hearOut !== undefined && this.isOwedATurn(endedBy))
          endedBy = await this.hearOut();
        if (endedBy !== null) return await this.end(endedBy);
        const outcome = this.save();
        if (outcome !== null) return outcome;
      }
    } catch (error) {
      // A cancelled step throws the error of its runtime; only whether cancellation was requested counts (D6).
      const stopped = this.hooks.stopRequested();
      if (stopped !== null) return this.end(stopped);
      await this.finish('failed', error instanceof BrokenModelError ? 'unusable' : 'error', null, reasonOf(error));
      throw error;
    }
  }

  private attach(): void {
    this.hooks.attach?.({
      state: () => this.state,
      refusal: (steering) =>
        this.isFinishing
          ? 'its answer is being stored'
          : refusal(this.state, this.start.settings, steering, this.elapsedMs()),
      steer: (command) => this.steered(command),
      hearsOut: this.hearOut !== undefined,
    });
  }

  protected steered(command: Command): void {
    this.state = steer(this.state, this.start.settings, command);
  }

  protected async prepare(): Promise<void> {
    const { searchId } = this.state;
    const { knownUpdates, usage } = await this.steps.prepare(
      { purpose: 'prepare', searchId, position: 'prepare' },
      { label: 'read the schema' },
    );
    this.state = { ...this.state, updates: [...knownUpdates], usage: addUsage(this.state.usage, usage) };
  }

  /** Between two iterations. Returns the outcome if another run goes on from here. */
  protected save(): SearchOutcome | null {
    // The last state is stored with the final record, in one step.
    if (this.stop() !== null) return null;
    this.steps.checkpoint(this.state);
    return this.continued();
  }

  protected continued(): SearchOutcome | null {
    const isContinued = this.hooks.afterIteration?.(this.state) === 'continue-as-new';
    return isContinued ? { kind: 'continue', state: this.state } : null;
  }

  /** Once for each hint: a turn without a reply shows it to nobody. */
  protected isOwedATurn(endedBy: EndedBy): boolean {
    const hints = unheardHints(this.state).filter((id) => !this.heardOut.has(id));
    if (hints.length === 0 || isCutShort(endedBy)) return false;
    for (const id of hints) this.heardOut.add(id);
    return exhaustedBudget(this.state.usage, this.elapsedMs(), this.budgets(), 'model') === null;
  }

  private async end(endedBy: EndedBy): Promise<SearchOutcome> {
    const summary = await this.answer(this.hooks.stopRequested() ?? endedBy);
    return { kind: 'finished', summary, keeping: this.state.steered?.byProgram === true ? null : this.keeping };
  }

  /** Of the answer that is about to be stored. */
  protected keepAfterwards(of: Keeping['of']): void {
    const { searchId, iteration, usage } = this.state;
    this.keeping = { searchId, iteration, usage, budgets: this.budgets(), of };
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

  protected now(): SearchNow {
    return {
      settings: this.start.settings,
      budgets: () => this.budgets(),
      remarks: () => this.state.steered?.remarks ?? [],
      heard: (remarks) => (this.state = heard(this.state, remarks)),
      paused: () => this.hooks.paused?.() ?? null,
      elapsedMs: () => this.elapsedMs(),
      cancelled: () => this.hooks.stopRequested() !== null,
    };
  }

  /** Of one turn. `memory`: what its prompts show as known. */
  protected findings({ updates, facts }: Pick<SearchState, 'updates' | 'facts'>): Findings {
    const { iteration, usage: usageBefore } = this.state;
    const web = webOf(this.state, this.start.settings);
    return new Findings({ ...this.now(), ...web, iteration, trajectoryId: ROOT, updates, facts, usageBefore });
  }

  /** Charges a turn, however it ends. Returns why, if a person or a limit ended it early. */
  protected async charged<T>(findings: Findings, turn: () => Promise<T>): Promise<T | SearchStopped> {
    try {
      return await turn();
    } catch (error) {
      if (!(error instanceof SearchStopped)) throw error;
      findings.stoppedEarly();
      return error;
    } finally {
      this.charge(findings);
    }
  }

  /** Work at the end, besides the answer, which stands whether or not it succeeds. */
  protected async dispensable(position: string, work: (findings: Findings) => Promise<void>): Promise<void> {
    const findings = this.findings(this.state);
    await this.charged(findings, async () => {
      try {
        await work(findings);
      } catch (error) {
        if (error instanceof SearchStopped) throw error;
        findings.note('step-failed', position, reasonOf(error));
      }
    });
  }

  /** Null if a budget or a cancellation ended the step. What it spent is charged in any case. */
  protected async modelStep<T>(
    position: string,
    what: string,
    step: (findings: Findings) => Promise<T | null>,
  ): Promise<T | null> {
    const findings = this.findings(this.state);
    const made = await this.charged(findings, async () => {
      const value = await step(findings);
      if (value === null) findings.giveUp(position, what);
      return value;
    });
    return made instanceof SearchStopped ? null : made;
  }

  /** To whoever watches; what is left out is as for a search without plans. */
  protected report(now: Partial<Progress> = {}): void {
    const { iteration, candidates, usage } = this.state;
    this.hooks.onProgress({
      ...{ iteration, iterations: this.start.settings.iterations, trajectories: 1, open: 1, bottleneck: null },
      ...{ learned: null, candidates: candidates.length, usage, plan: [], frontier: [], ...now },
    });
  }

  protected charge({ usage, events }: Pick<Findings, 'usage' | 'events'>): void {
    const { state } = this;
    this.state = { ...state, usage: addUsage(state.usage, usage), events: [...state.events, ...events] };
  }

  /** Charges children that ended, in the order of their places. */
  protected chargeChildren(runs: readonly ChildRun[]): void {
    const { state } = this;
    const children = [...new Set([...(state.children ?? []), ...runs.map(({ id }) => id)])];
    this.state = { ...state, children, usage: runs.reduce((sum, { usage }) => addUsage(sum, usage), state.usage) };
  }

  /** The state with all candidates given up: a later one replaces them. */
  protected withdrawn(): SearchState {
    const candidates = this.state.candidates.map((c) => ({ ...c, status: 'withdrawn' as const }));
    return { ...this.state, candidates };
  }

  /** Throws if the model was too broken to search with. */
  protected requireModel(endedBy: EndedBy): void {
    const broken = brokenModel(this.state, endedBy);
    if (broken !== null) throw broken;
  }

  protected conclude(
    { status, candidate, reason }: Pick<Decision, 'status' | 'candidate' | 'reason'>,
    endedBy: EndedBy,
  ): Promise<AnswerSummary> {
    return this.finish(endedBy === 'cancel' ? 'cancelled' : status, endedBy, candidate, reason);
  }

  private finish(
    status: AnswerSummary['status'],
    endedBy: EndedBy,
    chosen: string | null,
    reason: string | null,
  ): Promise<AnswerSummary> {
    this.isFinishing = true;
    return this.steps.finish({ searchId: this.state.searchId, state: this.state, status, endedBy, chosen, reason });
  }
}

export function initialState(searchId: string, nowMs: number): SearchState {
  return {
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
