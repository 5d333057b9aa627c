/**
 * The search (design §3; paper, Algorithm 1) as a loop over the `SearchSteps` port. It runs the same in a workflow, where
 * the steps are activities, and in a process, where they are functions.
 *
 * 1. No I/O, clock or randomness of its own: time comes from the hooks, everything else from the steps (rule S11).
 * 2. A search always ends: by agreement, enough candidates, a budget, iterations, or nothing left to try (S7).
 * 3. The state between two iterations is complete: a checkpoint, a continued run and a fork start from it alone.
 */
import type { EndedBy, PlanView, SearchState, Trajectory, Usage } from '../domain';
import { NO_USAGE, ROOT } from '../domain/control-view';
import { addUsage, callsLeft, exhaustedBudget, shareOfBudgets, shareOfLookups } from './state/budgets';
import {
  addUnanswerable,
  nextCandidate,
  runCandidates,
  unanswerableReason,
  withdrawRefuted,
  withLastCommit,
} from './candidate';
import { BROKEN_MODEL_FAILS, brokenModel, chooseAnswer, decided } from './choose';
import { evaluate, withScores } from './evaluate';
import { expand } from './expand';
import type { ExpansionContext } from './expansion';
import { Findings, SearchStopped } from './findings';
import { tryModel } from './try-model';
import { plansOfRoot, selectable } from './state/frontier';
import { derivations } from './state/independence';
import { mergeExpansions } from './remember/merge';
import { planRef } from './state/plan-view';
import { frontierOf, progressOf } from './progress';
import { reasonOf, Run, type SearchHooks, type SearchOutcome, type SearchStart } from './run';
import type { ControlSettings } from './state/control-settings';
import type { AnswerSummary, SearchSteps, Selected } from '../ports/search-steps';
import { enforce, steer, type Command } from './steering';
import { stopReason } from './stop';

export async function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  const loop = new SearchLoop(start, steps, hooks);
  return loop.run();
}

/** How many other plans a planner is shown, newest last. */
const SHOWN_PLANS = 8;

class SearchLoop extends Run<SearchSteps> {
  private bottleneck: string | null = null;
  private learned: string | null = null;
  /** Commands since the candidates of this iteration began to run. They are applied again to the runs' older state. */
  private said: Command[] = [];

  private get settings(): ControlSettings {
    return this.start.settings;
  }

  async run(): Promise<SearchOutcome> {
    this.attach();
    try {
      if (this.start.state === null && this.hooks.stopRequested() === null) await this.prepare();
      for (;;) {
        const endedBy = this.stop();
        if (endedBy !== null) return { kind: 'finished', summary: await this.answer(endedBy) };
        await this.iterate();
        // The last state is stored with the final record, in one step.
        if (this.stop() !== null) continue;
        await this.steps.checkpoint(this.state);
        if (this.hooks.afterIteration?.(this.state) === 'continue-as-new')
          return { kind: 'continue', state: this.state };
      }
    } catch (error) {
      // A cancelled step throws the error of its runtime; only whether cancellation was requested counts (D6).
      const stopped = this.hooks.stopRequested();
      if (stopped !== null) return { kind: 'finished', summary: await this.answer(stopped) };
      await this.finish('failed', 'error', null, reasonOf(error));
      throw error;
    }
  }

  protected override steered(command: Command): void {
    this.said.push(command);
    super.steered(command);
  }

  protected override stop(): EndedBy | null {
    const settings = { ...this.settings, budgets: this.budgets() };
    return this.hooks.stopRequested() ?? stopReason(this.state, settings, this.hooks.now());
  }

  private async prepare(): Promise<void> {
    this.report(null, null);
    const { searchId } = this.state;
    const prepared = await this.steps.prepare({ purpose: 'prepare', searchId, position: 'prepare' });
    this.state = {
      ...this.state,
      updates: [...prepared.knownUpdates],
      usage: addUsage(this.state.usage, prepared.usage),
    };
  }

  private async iterate(): Promise<void> {
    const second = this.secondOpinion();
    if (second === null) await this.evaluate();
    const left = callsLeft(this.state.usage, this.budgets()) ?? Infinity;
    const width = Math.max(1, Math.min(this.settings.parallelism, left));
    const chosen = second === null ? this.choose(width) : [second];
    const expansions = await Promise.all(
      chosen.map((trajectory, index) => expand(this.context(trajectory, { index, of: chosen.length }, chosen))),
    );
    this.state = enforce(withdrawRefuted(mergeExpansions(this.state, expansions, this.settings)));
    for (const { impossible, trajectory, absenceShown } of expansions) {
      if (impossible !== null) this.state = addUnanswerable(this.state, trajectory, impossible, absenceShown);
    }
    const failure = expansions.find((expansion) => expansion.failure !== null)?.failure ?? null;
    if (failure !== null) throw failure.error;
    this.said = [];
    const keep = (state: SearchState) =>
      (this.state = this.said.reduce((at, command) => steer(at, this.settings, command), state));
    const ahead = expansions.map((expansion) => expansion.ahead);
    await runCandidates(this.state, this.steps, (state) => this.mayRun(state), keep, ahead);
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    this.report(this.bottleneck, this.learned);
  }

  /** The best trajectories. Free places go to the root again, because several plans of it can be made independently. */
  private choose(width: number): readonly Trajectory[] {
    const best = frontierOf(this.state, this.settings).slice(0, width);
    const root = best.find(({ id }) => id === ROOT);
    if (root === undefined) return best;
    const more = Math.min(width - best.length, this.settings.maxPlans - root.selections - 1);
    return [...best, ...Array.from({ length: Math.max(0, more) }, () => root)];
  }

  /**
   * The root, as long as there are fewer derivations than `cMin`: a second derivation says more about open doubts than
   * further attempts on the first, and choosing it needs no evaluation. Not in preset `paper`.
   */
  private secondOpinion(): Trajectory | null {
    if (!this.settings.followOn || this.settings.parallelism > 1) return null;
    const made = derivations(this.state.candidates).length;
    if (made === 0 || made >= this.settings.cMin) return null;
    return selectable(this.state.trajectories).find((trajectory) => trajectory.id === ROOT) ?? null;
  }

  /** One model call scores the open trajectories. Skipped while only one is open. */
  private async evaluate(): Promise<void> {
    const open = frontierOf(this.state, this.settings);
    if (open.length < 2) return;
    const position = `i${this.state.iteration}.evaluate`;
    const tried = await this.modelStep(position, 'evaluation', (findings) =>
      evaluate(this.steps, this.state, open, position, findings),
    );
    if (tried !== null) this.state = withScores(this.state, tried.value);
  }

  /** Ends the search with an answer. Asks the judge only if execution leaves a choice. */
  private async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.ending = true;
    this.state = withLastCommit(this.state, endedBy);
    const broken = brokenModel(this.state, endedBy);
    if (broken !== null && (this.hooks.patched?.(BROKEN_MODEL_FAILS) ?? true)) throw broken;
    const choice = chooseAnswer(this.state, endedBy);
    if (choice.kind === 'decided') return this.conclude(choice, endedBy);
    const tried = await this.modelStep('select', 'choice', (findings) =>
      tryModel<Selected>(findings, (thisTry) =>
        this.steps.select({
          role: 'select',
          searchId: this.state.searchId,
          position: 'select',
          ...thisTry,
          candidates: choice.classes.map(({ representative, support }) => ({
            id: representative.id,
            agreesWith: support,
            unanswerable: unanswerableReason(this.state, representative.id),
          })),
        }),
      ),
    );
    // Without a usable reply of the judge, the ranking by execution decides.
    const shown = choice.classes.map(({ representative }) => representative);
    const selected = tried === null ? shown[0] : shown.find(({ id }) => id === tried.value.candidate);
    if (selected === undefined) {
      const reason = tried?.value.reason ?? 'no candidate was reliable enough';
      return this.conclude({ kind: 'decided', status: 'abstained', candidate: null, reason }, endedBy);
    }
    return this.conclude(decided(this.state, selected), endedBy);
  }

  private conclude(choice: ReturnType<typeof decided>, reached: EndedBy): Promise<AnswerSummary> {
    // The search may have been cancelled during the judge's call.
    const endedBy = this.hooks.stopRequested() ?? reached;
    const status = endedBy === 'cancel' ? 'cancelled' : choice.status;
    return this.finish(status, endedBy, choice.candidate, choice.reason);
  }

  /** Null if a budget or a cancellation ended the step. What it spent is charged in any case. */
  private async modelStep<T>(
    position: string,
    what: string,
    step: (findings: Findings) => Promise<T | null>,
  ): Promise<T | null> {
    const findings = new Findings(this.context(this.state.trajectories[0] as Trajectory));
    try {
      const made = await step(findings);
      if (made === null) findings.giveUp(position, what);
      return made;
    } catch (error) {
      if (!(error instanceof SearchStopped)) throw error;
      findings.giveUp(position, what);
      return null;
    } finally {
      this.charge(findings);
    }
  }

  private mayRun(state: SearchState): boolean {
    const budget = exhaustedBudget(state.usage, this.elapsedMs(), this.budgets(), 'sql');
    return this.hooks.stopRequested() === null && budget === null;
  }

  private context(
    trajectory: Trajectory,
    share = { index: 0, of: 1 },
    chosen: readonly Trajectory[] = [trajectory],
  ): ExpansionContext {
    const { state, hooks } = this;
    const twins = chosen.filter((other) => other === trajectory).length;
    const twin = chosen.slice(0, share.index + 1).filter((other) => other === trajectory).length;
    return {
      searchId: state.searchId,
      settings: this.settings,
      // New limits apply at once, also to expansions under way.
      budgets: () =>
        share.of === 1 ? this.budgets() : shareOfBudgets(this.budgets(), state.usage, share.index, share.of),
      remarks: () => this.state.steered?.remarks ?? [],
      steps: this.steps,
      iteration: state.iteration,
      trajectory,
      trajectoryId: trajectory.id,
      position: `i${state.iteration}.${trajectory.id}${twin === 1 ? '' : `-${twin}`}`,
      variant: twins === 1 ? null : { index: twin, of: twins },
      updates: state.updates,
      facts: state.facts,
      otherPlans: plansOfRoot(state.trajectories)
        .flatMap((t) => (t.plan === null ? [] : [planRef(t.plan)]))
        .slice(-SHOWN_PLANS),
      unanswerable: state.events.filter(({ kind }) => kind === 'unanswerable').map(({ detail }) => detail),
      looked: state.looking?.turns ?? [],
      usageBefore: state.usage,
      ...this.web(share),
      candidateOf: (plan) => (share.of === 1 ? nextCandidate(state, plan) : null),
      elapsedMs: () => this.elapsedMs(),
      cancelled: () => hooks.stopRequested() !== null,
      report: (bottleneck, learned, usage, plan) => this.report(bottleneck, learned ?? this.learned, usage, plan),
    };
  }

  private web({ index, of }: { readonly index: number; readonly of: number }): Pick<ExpansionContext, 'web'> {
    const limit = this.settings.lookups;
    if (limit === undefined) return {};
    const mayMake = shareOfLookups(limit, this.state.usage, index, of);
    return { web: { known: this.state.lookups ?? [], mayMake } };
  }

  private report(
    bottleneck: string | null,
    learned: string | null,
    underWay: Usage = NO_USAGE,
    plan: PlanView | null = null,
  ): void {
    this.bottleneck = bottleneck;
    this.learned = learned;
    this.hooks.onProgress(progressOf(this.state, this.settings, { bottleneck, learned, underWay, plan }));
  }
}
