/**
 * The paper's ReAct agent over the same ports (App. B.1): one JSON action at a time, `tool_call` or `end`, within a budget
 * of tool calls: SQL, and the web if the question allows it. It uses the same question, tools, ledger and final record as the
 * search, so that the two can be compared on equal terms.
 *
 * 1. The final SQL is executed before the agent may end; an error goes back to it like any other observation.
 * 2. Its state is a search state with one trajectory, whose attempts are its turns: checkpoints and records stay the same.
 */
import type { EndedBy } from '../domain';
import { ROOT } from '../domain/control-view';
import { addUsage } from '../search/state/budgets';
import { addUnanswerable } from '../search/candidate';
import { BROKEN_MODEL_FAILS, brokenModel, decided, rankClasses } from '../search/choose';
import { reasonOf, Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../search/run';
import { SearchStopped } from '../search/findings';
import { tryModel } from '../search/try-model';
import type { Acted, FinalRun, ReactSteps, ToolRun } from '../ports/react-steps';
import type { AnswerSummary, WebRun, WebTool } from '../ports/search-steps';

export async function runReact(start: SearchStart, steps: ReactSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new ReactLoop(start, steps, hooks).run();
}

class ReactLoop extends Run<ReactSteps> {
  async run(): Promise<SearchOutcome> {
    this.attach();
    try {
      if (this.start.state === null && this.hooks.stopRequested() === null) await this.prepare();
      for (;;) {
        const endedBy = this.stop() ?? (await this.turn());
        if (endedBy !== null)
          return { kind: 'finished', summary: await this.answer(this.hooks.stopRequested() ?? endedBy) };
        if (this.hooks.afterIteration?.(this.state) === 'continue-as-new')
          return { kind: 'continue', state: this.state };
      }
    } catch (error) {
      const stopped = this.hooks.stopRequested();
      if (stopped !== null) return { kind: 'finished', summary: await this.answer(stopped) };
      await this.finish('failed', 'error', null, reasonOf(error));
      throw error;
    }
  }

  private get turns(): readonly string[] {
    return this.state.trajectories[0]?.attempts ?? [];
  }

  private async prepare(): Promise<void> {
    const { searchId } = this.state;
    const prepared = await this.steps.prepare({ purpose: 'prepare', searchId, position: 'prepare' });
    this.state = { ...this.state, usage: addUsage(this.state.usage, prepared.usage) };
  }

  /** Runs one action. Returns why the agent ended, if it was the last. */
  private async turn(): Promise<EndedBy | null> {
    const { searchId, iteration } = this.state;
    const { settings } = this.start;
    const findings = this.findings({ updates: [], facts: [] });
    const position = `i${iteration}`;
    const runs: FinalRun[] = [];
    const stepped = tryModel<Acted>(
      findings,
      (thisTry) =>
        this.steps.act({
          role: 'react',
          searchId,
          position: `${position}.react`,
          ...thisTry,
          turns: this.turns,
          callsUsed: this.turns.length,
          callsLimit: settings.rounds,
        }),
      async (action, tryNumber) => {
        if ((action.kind === 'tool' || action.kind === 'web') && this.turns.length >= settings.rounds)
          return `all ${settings.rounds} tool calls are used: end with the best SQL you have`;
        if (action.kind !== 'end') return null;
        findings.checkpoint('sql');
        const final = await this.steps.final({
          purpose: 'final',
          searchId,
          position: `${position}.final${tryNumber}`,
          actionId: action.actionId,
          candidateId: this.nextCandidate(),
        });
        findings.charge(final.usage);
        runs.push(final);
        return final.error;
      },
    );
    const acted = await stepped
      .then((tried) => {
        if (tried === null) findings.giveUp(`${position}.react`, 'action');
        return tried;
      })
      .catch((error: unknown) => {
        if (!(error instanceof SearchStopped)) throw error;
        findings.stoppedEarly();
        return error;
      })
      .finally(() => this.charge(findings));
    if (acted instanceof SearchStopped) return acted.endedBy;
    if (acted === null) return 'exhausted';
    const action = acted.value;
    switch (action.kind) {
      case 'unanswerable':
        this.state = addUnanswerable(this.withdrawn(), ROOT, action.reason);
        return 'finished';
      case 'end':
        for (const run of runs.slice(-1)) this.takeCandidate(run);
        return acted.error === null ? 'finished' : (this.stop() ?? 'finished');
      case 'tool':
        if (acted.error !== null) return this.stop() ?? 'iterations';
        // If this call used up the budget, nobody would read the result.
        if (this.stop() === null) await this.runTool(position, action.actionId);
        return null;
      case 'web':
        if (acted.error !== null) return this.stop() ?? 'iterations';
        if (this.stop() === null) await this.runWeb(position, action.actionId, action.tool);
        return null;
      default:
        return action satisfies never;
    }
  }

  private async runTool(position: string, actionId: string): Promise<void> {
    const { searchId } = this.state;
    const run = await this.steps.tool({ purpose: 'tool', searchId, position: `${position}.tool`, actionId });
    await this.observed(run);
  }

  private async runWeb(position: string, actionId: string, tool: WebTool): Promise<void> {
    const { searchId } = this.state;
    const where = { searchId, position: `${position}.web`, actionId, tool };
    await this.observed(await this.steps.web({ purpose: 'web', ...where, turns: this.turns }));
  }

  private async observed(run: ToolRun | WebRun): Promise<void> {
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

  private nextCandidate(): string {
    return `c${this.state.candidates.length + 1}`;
  }

  private takeCandidate(run: FinalRun): void {
    const id = this.nextCandidate();
    const candidate = {
      id,
      trajectory: ROOT,
      kind: 'rows' as const,
      outcome: run.outcome,
      rowCount: run.rowCount,
      trivial: run.trivial,
      control: run.control,
      resultClass: id,
      bodies: [],
      openRisk: 1,
      status: 'active' as const,
    };
    const { candidates } = run.outcome === 'rows' ? this.withdrawn() : this.state;
    this.state = { ...this.state, candidates: [...candidates, candidate] };
  }

  /** The answer is the final SQL that ran: the agent has already chosen. */
  private async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.ending = true;
    const broken = brokenModel(this.state, endedBy);
    if (broken !== null && (this.hooks.patched?.(BROKEN_MODEL_FAILS) ?? true)) throw broken;
    const best = rankClasses(this.state)[0];
    if (best === undefined) {
      const reason = this.state.candidates.length > 0 ? 'its final SQL did not run' : 'the agent gave no answer';
      return this.finish(endedBy === 'cancel' ? 'cancelled' : 'abstained', endedBy, null, reason);
    }
    const { status, candidate, reason } = decided(this.state, best.representative);
    return this.finish(endedBy === 'cancel' ? 'cancelled' : status, endedBy, candidate, reason);
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
