/**
 * The paper's ReAct agent over the same ports (App. B.1): one JSON action at a time, `tool_call` or `end`, within a budget
 * of tool calls: SQL, and the web if the question allows it. It uses the same question, tools, ledger and final record as the
 * search, so that the two can be compared on equal terms.
 *
 * 1. The final SQL is executed before the agent may end; an error goes back to it like any other observation.
 * 2. Its state is a search state with one trajectory, whose attempts are its turns: checkpoints and records stay the same.
 */
import type { EndedBy } from '../../domain';
import { ROOT } from '../../domain/control-view';
import type { AnswerSummary, ModelOutcome, WebTool } from '../../domain/ports/step-parts';
import { addUnanswerable, candidateOfRun, nextCandidateId } from '../../search/candidate';
import { type Findings, SearchStopped, type Tried, tryModel } from '../../search/findings';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../../search/run';
import { decided, rankClasses } from '../../search/select-answer';
import { addUsage } from '../../search/budgets';
import { counted } from '../../counted';
import type { ActInput, Acted, FinalRun, ReactSteps, RedelActed, ToolRun, WebRun } from '../../domain/ports/steps';

export function runReact(start: SearchStart, steps: ReactSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new ReactLoop(start, steps, hooks).run();
}

/** An action and, if it ends, the runs of its final SQL: one for each try. */
export interface Turn<Action> extends Tried<Action> {
  readonly runs: readonly FinalRun[];
}

/** An agent with tools; `redel.ts` gives it helpers. */
export abstract class AgentLoop<
  Steps extends Omit<ReactSteps, 'react'>,
  Action extends RedelActed = Acted,
> extends Run<Steps> {
  protected get turns(): readonly string[] {
    return this.state.trajectories[0]?.attempts ?? [];
  }

  protected get callsUsed(): number {
    return this.turns.length;
  }

  protected abstract readonly role: 'react' | 'redel';

  protected abstract ask(input: Omit<ActInput, 'role'>): Promise<ModelOutcome<Action>>;

  /** Why no tool can be called any more, as the model is told; null: one can. */
  protected spent(): string | null {
    const { rounds } = this.start.settings;
    return this.callsUsed < rounds ? null : `all ${rounds} tool calls are used: end with the best SQL you have`;
  }

  /** What follows the action. Returns why the agent ended, if it was the last. */
  protected abstract follow(position: string, turn: Turn<Action>): Promise<EndedBy | null>;

  /** The agent takes nothing from the memory. */
  protected override async prepare(): Promise<void> {
    await super.prepare();
    this.state = { ...this.state, updates: [] };
  }

  /** The state was stored with the observation. */
  protected override save(): Promise<SearchOutcome | null> {
    return Promise.resolve(this.continued());
  }

  /** Runs one action. Returns why the agent ended, if it was the last. */
  protected async iterate(): Promise<EndedBy | null> {
    const position = `i${this.state.iteration}`;
    const findings = this.findings({ updates: [], facts: [] });
    const turn = await this.charged(findings, async () => {
      const acted = await this.act(position, findings);
      if (acted === null) findings.giveUp(`${position}.${this.role}`, 'action');
      return acted;
    });
    if (turn instanceof SearchStopped) return turn.endedBy;
    return turn === null ? 'exhausted' : this.follow(position, turn);
  }

  /** The same conversation with the hint. Its answer, if it gives one, replaces the one before. */
  protected override hearOut(): Promise<EndedBy | null> {
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    return this.iterate();
  }

  private async act(position: string, findings: Findings): Promise<Turn<Action> | null> {
    const runs: FinalRun[] = [];
    const tried = await tryModel<Action>(
      findings,
      (thisTry) =>
        this.ask({
          searchId: this.state.searchId,
          position: `${position}.${this.role}`,
          ...thisTry,
          turns: this.turns,
          callsUsed: this.callsUsed,
          callsLimit: this.start.settings.rounds,
        }),
      async (action: RedelActed, tryNumber) => {
        if (action.kind === 'tool' || action.kind === 'web') return this.spent();
        if (action.kind !== 'end') return null;
        const run = await this.runFinal(`${position}.final${tryNumber}`, action.actionId, findings);
        runs.push(run);
        return run.error;
      },
    );
    return tried && { ...tried, runs };
  }

  protected async take(position: string, { value: action, error, runs }: Turn<Acted>): Promise<EndedBy | null> {
    switch (action.kind) {
      case 'unanswerable':
        this.state = addUnanswerable(this.withdrawn(), ROOT, action.reason);
        return 'finished';
      case 'end':
        for (const run of runs.slice(-1)) this.takeCandidate(run);
        if (error !== null) this.failed(position, error);
        return error === null ? 'finished' : (this.stop() ?? 'finished');
      case 'tool':
        if (error !== null) return this.stop() ?? 'iterations';
        // If this call used up the budget, nobody would read the result.
        if (this.stop() === null) await this.runTool(position, action.actionId);
        return null;
      case 'web':
        if (error !== null) return this.stop() ?? 'iterations';
        if (this.stop() === null) await this.runWeb(position, action.actionId, action.tool);
        return null;
      default:
        return action satisfies never;
    }
  }

  private failed(position: string, error: string): void {
    const { iteration, events } = this.state;
    const failed = {
      iteration,
      kind: 'step-failed' as const,
      subject: `${position}.final`,
      detail: error.split('\n')[0] ?? error,
    };
    this.state = { ...this.state, events: [...events, failed] };
  }

  /** The final SQL is executed before the agent may end. */
  private async runFinal(position: string, actionId: string, findings: Findings): Promise<FinalRun> {
    findings.checkpoint('sql');
    const { searchId } = this.state;
    const candidateId = nextCandidateId(this.state);
    const run = await this.steps.final(
      { purpose: 'final', searchId, position, actionId, candidateId },
      { label: 'run the final query' },
    );
    findings.charge(run.usage);
    return run;
  }

  private async runTool(position: string, actionId: string): Promise<void> {
    const { searchId } = this.state;
    const run = await this.steps.tool(
      { purpose: 'tool', searchId, position: `${position}.tool`, actionId },
      { label: 'query' },
    );
    await this.observed(run);
  }

  private async runWeb(position: string, actionId: string, tool: WebTool): Promise<void> {
    const { searchId } = this.state;
    const where = { searchId, position: `${position}.web`, actionId, tool };
    await this.observed(await this.steps.web({ purpose: 'web', ...where, turns: this.turns }));
  }

  protected async observed(run: ToolRun | WebRun): Promise<void> {
    this.state = {
      ...this.state,
      iteration: this.state.iteration + 1,
      usage: addUsage(this.state.usage, run.usage),
      trajectories: this.state.trajectories.map((t, at) =>
        at === 0 ? { ...t, attempts: [...t.attempts, run.observationId] } : t,
      ),
    };
    this.report();
    await this.steps.checkpoint(this.state);
  }

  private takeCandidate(run: FinalRun): void {
    const candidate = candidateOfRun(this.state, ROOT, null, run);
    const { candidates } = run.outcome === 'rows' ? this.withdrawn() : this.state;
    this.state = { ...this.state, candidates: [...candidates, candidate] };
  }

  /** The answer is the final SQL that ran: the agent has already chosen. */
  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.requireModel(endedBy);
    const best = rankClasses(this.state)[0];
    if (best !== undefined) return this.conclude(decided(this.state, best.representative), endedBy);
    const error = this.state.events.findLast(({ subject }) => subject.endsWith('.final'))?.detail;
    const reason = error === undefined ? 'the agent gave no answer' : `its final SQL did not run: ${error}`;
    return this.conclude({ status: 'abstained', candidate: null, reason }, endedBy);
  }

  private report(): void {
    this.hooks.onProgress({
      iteration: this.turns.length,
      iterations: this.start.settings.rounds,
      trajectories: 1,
      open: 1,
      bottleneck: null,
      learned: null,
      candidates: this.state.candidates.length,
      usage: this.state.usage,
      plan: [],
      frontier: [],
    });
  }
}

export function actLabel({ callsUsed, callsLimit }: Pick<ActInput, 'callsUsed' | 'callsLimit'>): string {
  return `act (${callsUsed} of ${counted(callsLimit, 'call')} used)`;
}

class ReactLoop extends AgentLoop<ReactSteps> {
  protected readonly role = 'react';

  protected ask(input: Omit<ActInput, 'role'>): Promise<ModelOutcome<Acted>> {
    return this.steps.react({ role: 'react', ...input }, { label: actLabel(input) });
  }

  protected follow(position: string, turn: Turn<Acted>): Promise<EndedBy | null> {
    return this.take(position, turn);
  }
}
