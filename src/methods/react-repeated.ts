/**
 * The paper's repeated ReAct (§ Cost Analysis): independent runs of `react` as children, all at once, each with a seed of its
 * own; then one call chooses among their answers as the paper's selector does.
 *
 * 1. A run knows nothing of the others and has an equal share of the budgets; one model call is kept for the choice.
 * 2. A run that fails is one answer less. The question fails only if all of them do.
 */
import type { EndedBy } from '../domain';
import { ROOT } from '../domain/control-view';
import type { AnswerSummary, ChildRun } from '../domain/ports/step-parts';
import { addUnanswerable, candidateOfRun, comparable, nextCandidateId } from '../search/candidate';
import { reasonOf } from '../search/findings';
import { noted } from '../search/plan-view';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../search/run';
import { BrokenModelError, chooseByNumber, judge, judged } from '../search/select-answer';
import { addUsage, budgetsOfChild } from '../search/budgets';
import type { ChildSteps } from '../domain/ports/step-parts';
import type { AllSteps } from '../domain/ports/steps';

type RepeatedSteps = Pick<AllSteps, 'prepare' | 'checkpoint' | 'finish' | 'select' | 'adopt'> & ChildSteps;

export function runReactRepeated(start: SearchStart, steps: RepeatedSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new RepeatedRuns(start, steps, hooks).run();
}

class RepeatedRuns extends Run<RepeatedSteps> {
  private readonly ended: ChildRun[] = [];

  private get runs(): number {
    return this.start.settings.repeated?.runs ?? 0;
  }

  protected async iterate(): Promise<EndedBy> {
    this.tell();
    const settled = await Promise.allSettled(Array.from({ length: this.runs }, (_, index) => this.runOne(index)));
    const ended = settled.map((one) => (one.status === 'fulfilled' ? one.value : null));
    this.chargeChildren(ended.filter((run) => run !== null));
    for (const run of ended) if (run !== null) await this.take(run);
    const failures = settled.flatMap((one, index) => {
      const error = one.status === 'rejected' ? (one.reason as Error) : failureOf(one.value);
      return error === null ? [] : [{ error, index }];
    });
    if (failures.length === this.runs) {
      // Unusable replies are the model's; anything else that ended a run hid what it would have answered.
      const outside = failures.find(({ error }) => !(error instanceof BrokenModelError)) ?? failures[0];
      if (outside !== undefined) throw outside.error;
    }
    for (const { error, index } of failures)
      this.state = noted(this.state, 'step-failed', positionOf(index), reasonOf(error));
    return 'finished';
  }

  /** null: its share of a budget is nothing. */
  private async runOne(index: number): Promise<ChildRun | null> {
    const { searchId, usage } = this.state;
    const spoken = addUsage(usage, { llmCalls: 1 });
    const budgets = budgetsOfChild(this.budgets(), spoken, this.elapsedMs(), index, this.runs);
    if (budgets === null) return null;
    const run = await this.steps.child({
      ...{ searchId, position: positionOf(index), seedOffset: index },
      settings: { budgets },
    });
    this.ended.push(run);
    this.tell();
    return run;
  }

  /** A run that was stopped counts with the best that it had. */
  private async take({ id: child, summary }: ChildRun): Promise<void> {
    if (summary.status === 'unanswerable')
      this.state = addUnanswerable(this.state, ROOT, summary.reason ?? 'no reason given');
    if (summary.sql === null || (summary.status !== 'answered' && summary.status !== 'cancelled')) return;
    const { searchId } = this.state;
    const candidateId = nextCandidateId(this.state);
    const against = comparable(this.state);
    const run = await this.steps.adopt({ searchId, position: `adopt.${candidateId}`, child, candidateId, against });
    const candidate = candidateOfRun(this.state, ROOT, null, run);
    this.state = { ...this.state, candidates: [...this.state.candidates, candidate] };
  }

  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    const choice = chooseByNumber(this.state, endedBy);
    if (choice.kind === 'decided')
      return this.conclude(choice.candidate === null ? { ...choice, reason: NO_ANSWER } : choice, endedBy);
    const tried = await this.modelStep('select', 'choice', (findings) =>
      judge(this.steps, this.state, choice, findings),
    );
    return this.conclude(judged(this.state, choice.classes, tried), this.hooks.stopRequested() ?? endedBy);
  }

  private tell(): void {
    const { ended, runs } = this;
    const usage = ended.reduce((sum, run) => addUsage(sum, run.usage), this.state.usage);
    this.report({ iteration: ended.length, iterations: runs, trajectories: runs, open: runs - ended.length, usage });
  }
}

const NO_ANSWER = 'none of its runs gave an answer';

function positionOf(index: number): string {
  return `run${index + 1}`;
}

function failureOf(run: ChildRun | null): Error | null {
  if (run?.summary.status !== 'failed') return null;
  const reason = run.summary.reason ?? 'no reason given';
  return run.summary.endedBy === 'unusable' ? new BrokenModelError(reason) : new Error(reason);
}
