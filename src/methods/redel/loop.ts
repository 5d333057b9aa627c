/**
 * The paper's ReDel baseline and ReDel as its authors built it, over the same ports: an agent that may have helpers, each a
 * search of its own with its own conversation (docs/methods).
 *
 * 1. `seed`: the ReAct agent; it delegates late, one narrow subtask at a time, to helpers without helpers.
 * 2. `official`: the root has no tool but its helpers; helpers query, or delegate in turn, several at once.
 * 3. A helper sees its subtask alone. What it spends is charged to whoever began it, and it gets a share of what is left.
 * 4. A helper that fails is a text to its agent, not the end of the search.
 */
import type { Budgets, Delegated, EndedBy, Redel } from '../../domain';
import { toolCallsOf } from '../../domain/control-view';
import type { AnswerSummary, ChildRun, ModelOutcome } from '../../domain/ports/step-parts';
import { reasonOf } from '../../search/findings';
import type { SearchHooks, SearchOutcome, SearchStart } from '../../search/run';
import { budgetsOfChild } from '../../search/budgets';
import { actLabel, AgentLoop, type Turn } from '../react/loop';
import type { ActInput, HelperRun, RedelActed, RedelSteps } from '../../domain/ports/steps';

export function runRedel(start: SearchStart, steps: RedelSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new RedelLoop(start, steps, hooks).run();
}

type Delegation = Extract<RedelActed, { kind: 'delegate' }>;

class RedelLoop extends AgentLoop<RedelSteps, RedelActed> {
  protected readonly role = 'redel';

  private get redel(): Redel {
    const { redel } = this.start.settings;
    if (redel === undefined) throw new Error('the settings have no "redel"');
    return redel;
  }

  private get delegated(): Delegated {
    return this.state.redel ?? { actions: 0, calls: 0 };
  }

  private get isHelper(): boolean {
    return this.redel.level !== undefined;
  }

  /** To begin a helper is no tool call of the paper's agent; upstream it is a round like any other. */
  protected override get callsUsed(): number {
    return this.turns.length - (this.redel.figures === 'seed' ? this.delegated.actions : 0);
  }

  private get callsOfAll(): number {
    return (this.redel.callsBefore ?? 0) + (toolCallsOf(this.state) ?? 0);
  }

  protected override spent(): string | null {
    const { allCalls = Infinity } = this.redel;
    return this.callsOfAll < allCalls
      ? super.spent()
      : `all ${allCalls} tool calls of all agents are used: end with what you have`;
  }

  protected override async prepare(): Promise<void> {
    await super.prepare();
    this.state = { ...this.state, redel: this.delegated };
  }

  protected ask(input: Omit<ActInput, 'role'>): Promise<ModelOutcome<RedelActed>> {
    return this.steps.redel({ role: 'redel', ...input }, { label: actLabel(input) });
  }

  protected async follow(position: string, turn: Turn<RedelActed>): Promise<EndedBy | null> {
    const { value: action } = turn;
    switch (action.kind) {
      case 'report':
        this.state = { ...this.state, redel: { ...this.delegated, report: action.actionId } };
        return 'finished';
      case 'delegate':
        // If this call used up the budget, nobody would read a report.
        if (this.stop() === null) await this.delegate(position, action);
        return null;
      default:
        return this.take(position, { ...turn, value: action });
    }
  }

  private async delegate(position: string, { actionId, tasks }: Delegation): Promise<void> {
    const { searchId } = this.state;
    const begun = tasks.filter((task) => task !== null);
    const ended = await Promise.all(
      tasks.map(async (task, at) => {
        const share = (text: string) => this.share(begun.indexOf(text), begun.length);
        return task === null ? null : this.helper(`${position}.helper${at + 1}`, task, share(task));
      }),
    );
    const helpers = ended.map((each) => each?.run ?? null);
    const calls = helpers.reduce((sum, run) => sum + (run !== null && 'calls' in run ? run.calls : 0), 0);
    const { delegated } = this;
    const children = ended.flatMap((each) => each?.child ?? []);
    if (children.length > 0) this.chargeChildren(children);
    this.state = {
      ...this.state,
      redel: {
        ...delegated,
        actions: delegated.actions + (begun.length > 0 ? 1 : 0),
        calls: delegated.calls + calls,
      },
    };
    const where = { searchId, position: `${position}.tool`, actionId };
    await this.observed(
      await this.steps.tool({ purpose: 'tool', ...where, helpers }, { label: 'read what the helpers found' }),
    );
  }

  private share(index: number, of: number): Budgets | null {
    return budgetsOfChild(this.budgets(), this.state.usage, this.elapsedMs(), index, of);
  }

  private async helper(
    position: string,
    text: string,
    budgets: Budgets | null,
  ): Promise<{ readonly run: HelperRun; readonly child?: ChildRun }> {
    const { redel } = this;
    if (budgets === null) return { run: { failed: 'too little of the budget is left for it' } };
    const { allCalls = Infinity, childCalls, level = 0 } = redel;
    try {
      const child = await this.steps.child({
        searchId: this.state.searchId,
        position,
        question: { text, context: null, instructions: null, documents: [] },
        settings: {
          budgets,
          rounds: Math.min(childCalls, allCalls - this.callsOfAll),
          redel: { ...redel, level: level + 1, callsBefore: this.callsOfAll },
        },
      });
      return { run: { helper: child.id, calls: child.summary.toolCalls ?? 0 }, child };
    } catch (error) {
      // That of a person who ends the search is not the helper's.
      if (this.hooks.stopRequested() !== null) throw error;
      return { run: { failed: reasonOf(error) } };
    }
  }

  /** A helper has no answer: its report goes to its agent. */
  protected override async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    if (!this.isHelper) return super.answer(endedBy);
    if (this.delegated.report !== undefined)
      return this.conclude({ status: 'answered', candidate: null, reason: null }, endedBy);
    this.requireModel(endedBy);
    return this.conclude({ status: 'abstained', candidate: null, reason: 'the helper gave no report' }, endedBy);
  }
}
