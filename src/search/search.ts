/**
 * The search (design §3; paper, Algorithm 1) as a loop over the `SearchSteps` port. It runs the same in a workflow, where
 * the steps are activities, and in a process, where they are functions.
 *
 * 1. No I/O, clock or randomness of its own: time comes from the hooks, everything else from the steps (rule S11).
 * 2. A search always ends: by agreement, enough candidates, a budget, iterations, or nothing left to try (S7).
 * 3. The state between two iterations is complete: a checkpoint, a continued run and a fork start from it alone.
 */
import { counted } from '../counted';
import type { CandidateView, EndedBy, PlanView, SearchState, Settings, Trajectory, Usage } from '../domain';
import { isProved, NO_USAGE } from '../domain/control-view';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { agrees, derivations, independentSupport, resultClasses, runCandidates, withLastCommit } from './candidate';
import { expand } from './expand';
import { type Expansion, expansionContext, tryModel } from './findings';
import { provedAnswer } from './keep-proved';
import { remember } from './remember';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from './run';
import { chooseAnswer, chooseByNumber, isSound, judge, judged, type Decision } from './select-answer';
import { density, frontierOf, rootOf, score, secondDerivation, selectable, selectPlan } from './select-plan';
import { addUsage, exhaustedBudget } from './budgets';
import { steer, type Command } from './steering';
import { perObject } from '../per-object';
import { planRef } from './plan-view';
import type { SearchSteps } from '../domain/ports/steps';

export function runSearch(start: SearchStart, steps: SearchSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new SearchLoop(start, steps, hooks).run();
}

class SearchLoop extends Run<SearchSteps> {
  private bottleneck: string | null = null;
  private learned: string | null = null;
  /** Commands since the candidates of this iteration began to run. They are applied again to the runs' older state. */
  private said: Command[] = [];

  /** One iteration of Algorithm 1. */
  protected async iterate(): Promise<null> {
    return this.work(await this.evaluateAndSelect());
  }

  /** Another plan, made by a planner who is told the hint. */
  protected override hearOut(): Promise<null> {
    return this.work(rootOf(this.state));
  }

  private async work(selected: Trajectory): Promise<null> {
    const expansion = await this.expand(selected);
    this.state = remember(this.state, expansion, this.settings);
    if (expansion.failure !== null) throw expansion.failure.error;
    await this.runCandidates();
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    this.show(this.bottleneck, this.learned);
    return null;
  }

  /** Algorithm 1, Terminate. */
  protected override stop(): EndedBy | null {
    const settings = { ...this.settings, budgets: this.budgets() };
    return this.hooks.stopRequested() ?? stopReason(this.state, settings, this.hooks.now());
  }

  /** Algorithm 1, EvaluatePlans and SelectPlan. */
  private async evaluateAndSelect(): Promise<Trajectory> {
    const second = secondDerivation(this.state, this.settings);
    if (second !== null) return second;
    await this.evaluate();
    return selectPlan(this.state, this.settings);
  }

  /** One model call scores the open trajectories. Skipped while only one is open. */
  private async evaluate(): Promise<void> {
    const open = frontierOf(this.state, this.settings);
    if (open.length < 2 || this.settings.without === 'plan-evaluation') return;
    const { searchId, iteration, trajectories } = this.state;
    const position = `i${iteration}.evaluate`;
    const shown = open.map((trajectory) => ({
      id: trajectory.id,
      depth: trajectory.depth,
      plan: trajectory.plan === null ? null : planRef(trajectory.plan),
      distance: trajectory.distance,
      density: density(trajectory, trajectories),
      attempts: trajectory.attempts,
    }));
    const tried = await this.modelStep(position, 'evaluation', (findings) =>
      tryModel(findings, (thisTry) =>
        this.steps.evaluate(
          { role: 'evaluate', searchId, position, ...thisTry, trajectories: shown },
          { label: `compare ${counted(open.length, 'trajectory', 'trajectories')}` },
        ),
      ),
    );
    const scores = new Map(tried?.value.scores.map(({ trajectory, ...scored }) => [trajectory, scored]));
    const scored = this.state.trajectories.map((each) => {
      const { progress, potential, bottleneck } = scores.get(each.id) ?? each;
      return { ...each, progress, potential, bottleneck };
    });
    if (tried !== null) this.state = { ...this.state, trajectories: scored };
  }

  /** Algorithm 1, Plan and the attempts on its bottleneck. */
  private expand(selected: Trajectory): Promise<Expansion> {
    return expand(
      expansionContext(this.state, selected, {
        ...this.now(),
        steps: this.steps,
        report: (bottleneck, learned, usage, plan) => this.show(bottleneck, learned ?? this.learned, usage, plan),
      }),
    );
  }

  /** The final SQL of every plan that is complete becomes a candidate. */
  private async runCandidates(): Promise<void> {
    this.said = [];
    const keep = (state: SearchState) =>
      (this.state = this.said.reduce((at, command) => steer(at, this.settings, command), state));
    await runCandidates(this.state, this.steps, (state) => this.mayRun(state), keep);
  }

  private mayRun(state: SearchState): boolean {
    const budget = exhaustedBudget(state.usage, this.elapsedMs(), this.budgets(), 'sql');
    return this.hooks.stopRequested() === null && budget === null;
  }

  protected override steered(command: Command): void {
    this.said.push(command);
    super.steered(command);
  }

  /** Algorithm 1, SelectAnswer. Asks the judge only if execution leaves a choice. */
  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.state = withLastCommit(this.state, endedBy);
    this.requireModel(endedBy);
    const choose = this.settings.method === 'paper' ? chooseByNumber : chooseAnswer;
    for (let round = 1; ; round++) {
      const endedNow = this.hooks.stopRequested() ?? endedBy;
      const choice = choose(this.state, endedNow);
      if (choice.kind === 'decided') {
        if (!this.isOwedATurn(endedNow)) return this.conclusion(choice, endedNow);
        // A hint during the judge's call, beside a veto that left him nothing to choose from.
        await this.hearOut();
        continue;
      }
      const said = this.state.steered?.remarks.length;
      const position = round === 1 ? 'select' : `again${round}.select`;
      const tried = await this.modelStep(position, 'choice', (findings) =>
        judge(this.steps, this.state, choice, findings, position),
      );
      // What a person says during the judge's call is judged with, too.
      if (said === this.state.steered?.remarks.length)
        return this.conclusion(judged(this.state, choice.classes, tried), this.hooks.stopRequested() ?? endedBy);
    }
  }

  /** What the probes proved of the answer enters the layer of the database. */
  private conclusion(decision: Decision, endedBy: EndedBy): Promise<AnswerSummary> {
    const candidateId = provedAnswer(this.state, this.settings, decision, endedBy);
    if (candidateId !== null) this.keepAfterwards({ candidateId });
    return this.conclude(decision, endedBy);
  }

  protected override async prepare(): Promise<void> {
    this.show(null, null);
    await super.prepare();
  }

  private get settings(): Settings {
    return this.start.settings;
  }

  /** `underWay`, `plan`: what the step under way has spent and works on, which the state does not show yet. */
  private show(
    bottleneck: string | null,
    learned: string | null,
    underWay: Usage = NO_USAGE,
    plan: PlanView | null = null,
  ): void {
    this.bottleneck = bottleneck;
    this.learned = learned;
    const { state, settings } = this;
    const open = frontierOf(state, settings);
    const shown = plan ?? state.trajectories.findLast((trajectory) => trajectory.plan !== null)?.plan;
    this.report({
      iteration: Math.min(state.iteration, settings.iterations),
      trajectories: state.trajectories.length,
      open: open.length,
      bottleneck,
      learned,
      proved: state.updates.filter(({ status }) => status === 'active').length,
      usage: addUsage(state.usage, underWay),
      plan: (shown?.operators ?? []).map(({ name, state: is, updateId }) => ({ name, state: is, updateId })),
      frontier: open.map((trajectory) => {
        const { id, status, bottleneck: of } = trajectory;
        return { id, score: score(trajectory, state.trajectories, settings), status, bottleneck: of };
      }),
    });
  }
}

/** When a search ends, and why (design §3, step 8). A search always ends: iterations and plans of the root are bounded. */
export function stopReason(state: SearchState, settings: Settings, nowMs: number): EndedBy | null {
  const budget = exhaustedBudget(state.usage, nowMs - state.startedAtMs, settings.budgets);
  const made = derivations(state.candidates).length;
  if (made >= settings.cMin && hasAgreement(state.candidates)) return 'agreement';
  if (settings.secondDerivation === 'when-doubtful' && isBeyondDoubt(state.candidates)) return 'settled';
  if (made >= settings.cMax) return 'candidates';
  if (budget !== null) return `budget:${budget}`;
  if (state.iteration > settings.iterations) return 'iterations';
  if (selectable(state.trajectories).length === 0) return 'exhausted';
  return null;
}

/** Whether one class of equal results has independent support, and more of it than any other class. */
export const hasAgreement = perObject((candidates: readonly CandidateView[]): boolean => {
  const classes = resultClasses(candidates).map((members) => ({ members, support: independentSupport(members) }));
  const most = Math.max(0, ...classes.map(({ support }) => support));
  const [winner, ...ties] = classes.filter(({ support }) => support === most);
  return winner !== undefined && ties.length === 0 && agrees(winner.members);
});

/**
 * Whether no doubt is left: a second derivation of a proved reading only says it in other words. Another result, or a reply
 * that the question is unanswerable, is a doubt, unless the data proved this one and no other. Of plans that find nothing to
 * plan with, the second has seen the reason of the first; a third was never seen to differ.
 */
const isBeyondDoubt = perObject((candidates: readonly CandidateView[]): boolean => {
  const classes = resultClasses(candidates);
  const sound = classes.filter((members) => members.some(isSound));
  if (classes.length === 1) return sound.length === 1 || isTwiceUnanswerable(classes[0] ?? []);
  const isShown = (member: CandidateView) => isSound(member) && (member.absenceShown === true || isProved(member));
  return sound.length === 1 && sound.some((members) => members.some(isShown));
});

function isTwiceUnanswerable(members: readonly CandidateView[]): boolean {
  return members.length > 1 && members.every(({ kind }) => kind === 'unanswerable');
}
