/**
 * The paper's ReAct agent over the same ports (App. B.1): one JSON action at a time, `tool_call` or `end`, within a budget
 * of tool calls: SQL, and the web if the question allows it. It uses the same question, tools, ledger and final record as the
 * search, so that the two can be compared on equal terms. By method `redel` (docs/methods) it may have helpers, each a search of
 * its own with its own conversation.
 *
 * 1. The final SQL is executed before the agent may end; an error goes back to it like any other observation.
 * 2. Its state is a search state with one trajectory, whose attempts are its turns: checkpoints and records stay the same.
 * 3. ReDel by `seed`: the ReAct agent delegates late, one narrow subtask at a time, to helpers without helpers. By `official`:
 *    the root has no tool but its helpers; helpers query, or delegate in turn, several at once.
 * 4. A helper sees its subtask alone. What it spends is charged to whoever began it, and it gets a share of what is left. One
 *    that fails is a text to its agent, not the end of the search.
 */
import type { Delegated, EndedBy, Redel } from '../../domain';
import { ROOT, toolCallsOf } from '../../domain/control-view';
import type { AnswerSummary, ChildRun } from '../../domain/ports/step-parts';
import { counted } from '../../counted';
import type { Acted, AgentSteps, HelperRun, WebRun, Gives } from '../../domain/ports/steps';
import { addUsage, budgetsOfChild } from '../../search/budgets';
import { addUnanswerable, candidateOfRun, nextCandidateId } from '../../search/candidate';
import { type Findings, reasonOf, SearchStopped, type Tried, tryModel } from '../../search/findings';
import { noted } from '../../search/plan-view';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../../search/run';
import { decided, rankClasses } from '../../search/select-answer';

export function runAgent(start: SearchStart, steps: AgentSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new AgentLoop(start, steps, hooks).run();
}

/** An action and, if it ends, the runs of its final SQL: one for each try. */
interface Turn extends Tried<Acted> {
  readonly runs: readonly Gives<'final'>[];
}

/** An action after which the agent goes on. */
type Observed = Extract<Acted, { kind: 'tool' | 'web' | 'delegate' }>;

class AgentLoop extends Run<AgentSteps> {
  /** Left out: the agent has no helpers. */
  private get redel(): Redel | undefined {
    return this.start.settings.redel;
  }

  private get delegated(): Delegated {
    return this.state.redel ?? { actions: 0, calls: 0 };
  }

  private get turns(): readonly string[] {
    return this.state.trajectories[0]?.attempts ?? [];
  }

  /** To begin a helper is no tool call of the paper's agent; upstream it is a round like any other. */
  private get callsUsed(): number {
    return this.turns.length - (this.redel?.figures === 'seed' ? this.delegated.actions : 0);
  }

  private get callsOfAll(): number {
    return (this.redel?.callsBefore ?? 0) + (toolCallsOf(this.state) ?? 0);
  }

  /** Why no tool can be called any more, as the model is told; null: one can. */
  private spent(): string | null {
    const { rounds } = this.start.settings;
    const { allCalls = Infinity } = this.redel ?? {};
    if (this.callsOfAll >= allCalls) return `all ${allCalls} tool calls of all agents are used: end with what you have`;
    return this.callsUsed < rounds ? null : `all ${rounds} tool calls are used: end with the best SQL you have`;
  }

  /** The agent takes nothing from the memory. */
  protected override async prepare(): Promise<void> {
    await super.prepare();
    this.state = { ...this.state, updates: [], ...(this.redel !== undefined && { redel: this.delegated }) };
  }

  /** The state was stored with the observation. */
  protected override save(): SearchOutcome | null {
    return this.continued();
  }

  /** Runs one action. Returns why the agent ended, if it was the last. */
  protected async iterate(): Promise<EndedBy | null> {
    const position = `i${this.state.iteration}`;
    const role = this.redel === undefined ? 'react' : 'redel';
    const findings = this.findings({ updates: [], facts: [] });
    const turn = await this.charged(findings, async () => {
      const acted = await this.act(position, role, findings);
      if (acted === null) findings.giveUp(`${position}.${role}`, 'action');
      return acted;
    });
    if (turn instanceof SearchStopped) return turn.endedBy;
    return turn === null ? 'exhausted' : this.take(position, turn);
  }

  /** The same conversation with the hint. Its answer, if it gives one, replaces the one before. */
  protected override hearOut(): Promise<EndedBy | null> {
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    return this.iterate();
  }

  private async act(position: string, role: 'react' | 'redel', findings: Findings): Promise<Turn | null> {
    const { searchId } = this.state;
    const { turns, callsUsed } = this;
    const callsLimit = this.start.settings.rounds;
    const runs: Gives<'final'>[] = [];
    const tried = await tryModel<Acted>(
      findings,
      (thisTry) => {
        const input = { searchId, position: `${position}.${role}`, ...thisTry, turns, callsUsed, callsLimit };
        const label = { label: `act (${callsUsed} of ${counted(callsLimit, 'call')} used)` };
        return role === 'react'
          ? this.steps.react({ role, ...input }, label)
          : this.steps.redel({ role, ...input }, label);
      },
      async (action, tryNumber) => {
        if (action.kind === 'tool' || action.kind === 'web') return this.spent();
        if (action.kind !== 'end') return null;
        // The final SQL is executed before the agent may end.
        const at = { searchId, position: `${position}.final${tryNumber}`, actionId: action.actionId };
        const run = await findings.sql(() =>
          this.steps.final(
            { purpose: 'final', ...at, candidateId: nextCandidateId(this.state) },
            { label: 'run the final query' },
          ),
        );
        runs.push(run);
        return run.error;
      },
    );
    return tried && { ...tried, runs };
  }

  /** What follows the action. Returns why the agent ended, if it was the last. */
  private async take(position: string, { value: action, error, runs }: Turn): Promise<EndedBy | null> {
    switch (action.kind) {
      case 'unanswerable':
        this.state = addUnanswerable(this.withdrawn(), ROOT, action.reason);
        return 'finished';
      case 'report':
        this.state = { ...this.state, redel: { ...this.delegated, report: action.actionId } };
        return 'finished';
      case 'end':
        for (const run of runs.slice(-1)) this.takeCandidate(run);
        if (error === null) return 'finished';
        this.state = noted(this.state, 'step-failed', `${position}.final`, error.split('\n')[0] ?? error);
        return this.stop() ?? 'finished';
      default:
        if (error !== null) return this.stop() ?? 'iterations';
        // If this call used up the budget, nobody would read the result.
        if (this.stop() === null) await this.observe(position, action);
        return null;
    }
  }

  private async observe(position: string, action: Observed): Promise<void> {
    const run = await this.observation(position, action);
    this.state = {
      ...this.state,
      iteration: this.state.iteration + 1,
      usage: addUsage(this.state.usage, run.usage),
      trajectories: this.state.trajectories.map((t, at) =>
        at === 0 ? { ...t, attempts: [...t.attempts, run.observationId] } : t,
      ),
    };
    this.report({ iteration: this.turns.length, iterations: this.start.settings.rounds });
    this.steps.checkpoint(this.state);
  }

  private async observation(position: string, action: Observed): Promise<Gives<'tool'> | WebRun> {
    const at = { searchId: this.state.searchId, actionId: action.actionId };
    const tool = { purpose: 'tool' as const, ...at, position: `${position}.tool` };
    switch (action.kind) {
      case 'web': {
        const { turns } = this;
        return this.steps.web({ purpose: 'web', ...at, position: `${position}.web`, tool: action.tool, turns });
      }
      case 'tool':
        return this.steps.tool(tool, { label: 'query' });
      case 'delegate': {
        const helpers = await this.delegate(position, action.tasks);
        return this.steps.tool({ ...tool, helpers }, { label: 'read what the helpers found' });
      }
      default:
        return action satisfies never;
    }
  }

  private async delegate(
    position: string,
    tasks: Extract<Observed, { kind: 'delegate' }>['tasks'],
  ): Promise<readonly (HelperRun | null)[]> {
    const begun = tasks.filter((task) => task !== null);
    const ended = await Promise.all(
      tasks.map(async (task, at) => (task === null ? null : this.helper(`${position}.helper${at + 1}`, task, begun))),
    );
    const children = ended.flatMap((each) => each?.child ?? []);
    if (children.length > 0) this.chargeChildren(children);
    const { delegated } = this;
    const redel = {
      ...delegated,
      actions: delegated.actions + (begun.length > 0 ? 1 : 0),
      calls: children.reduce((sum, { summary }) => sum + (summary.toolCalls ?? 0), delegated.calls),
    };
    this.state = { ...this.state, redel };
    return ended.map((each) => each?.run ?? null);
  }

  private async helper(
    position: string,
    text: string,
    begun: readonly string[],
  ): Promise<{ readonly run: HelperRun; readonly child?: ChildRun }> {
    const { redel, callsOfAll: callsBefore } = this;
    const { child: begin } = this.steps;
    if (redel === undefined || begin === undefined) throw new Error('an agent without helpers delegated');
    const { searchId, usage } = this.state;
    const budgets = budgetsOfChild(this.budgets(), usage, this.elapsedMs(), begun.indexOf(text), begun.length);
    if (budgets === null) return { run: { failed: 'too little of the budget is left for it' } };
    const { allCalls = Infinity, childCalls, level = 0 } = redel;
    try {
      const child = await begin({
        ...{ searchId, position },
        question: { text, context: null, instructions: null, documents: [] },
        settings: {
          budgets,
          rounds: Math.min(childCalls, allCalls - callsBefore),
          redel: { ...redel, level: level + 1, callsBefore },
        },
      });
      return { run: { helper: child.id, calls: child.summary.toolCalls ?? 0 }, child };
    } catch (error) {
      // That of a person who ends the search is not the helper's.
      if (this.hooks.stopRequested() !== null) throw error;
      return { run: { failed: reasonOf(error) } };
    }
  }

  private takeCandidate(run: Gives<'final'>): void {
    const candidate = candidateOfRun(this.state, ROOT, null, run);
    const { candidates } = run.outcome === 'rows' ? this.withdrawn() : this.state;
    this.state = { ...this.state, candidates: [...candidates, candidate] };
  }

  /** The answer is the final SQL that ran: the agent has already chosen. A helper has none: its report goes to its agent. */
  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    if (this.delegated.report !== undefined)
      return this.conclude({ status: 'answered', candidate: null, reason: null }, endedBy);
    this.requireModel(endedBy);
    const best = rankClasses(this.state)[0];
    if (best !== undefined) return this.conclude(decided(this.state, best.representative), endedBy);
    const error = this.state.events.findLast(({ subject }) => subject.endsWith('.final'))?.detail;
    const none = this.redel?.level === undefined ? 'the agent gave no answer' : 'the helper gave no report';
    const reason = error === undefined ? none : `its final SQL did not run: ${error}`;
    return this.conclude({ status: 'abstained', candidate: null, reason }, endedBy);
  }
}
