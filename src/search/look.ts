/**
 * Look, then prove (design §3): one conversation per question over the same ports as the search. The model looks, commits to
 * SQL with claims, or declines; the database decides the claims. Where they hold, the search is over, without a second
 * derivation. What goes back twice without holding is handed to the search with all that was seen.
 *
 * 1. Each turn is an iteration: its state is a search state, so that checkpoints, forks, steering and records stay the same.
 * 2. A model that keeps no format goes on with one query at a time (`methods/react.ts`); if that fails too, the search fails.
 */
import type { EndedBy, Looking } from '../domain';
import type { ReactSteps } from '../ports/react-steps';
import { NO_USAGE, ROOT } from '../domain/control-view';
import { addUsage } from './state/budgets';
import { addUnanswerable } from './candidate';
import { decided } from './choose';
import { runSearch } from './search';
import { reasonOf, Run, type SearchHooks, type SearchOutcome, type SearchStart } from './run';
import { SearchStopped, type Findings } from './findings';
import { tryModel } from './try-model';
import { nextTrajectory } from './state/archive';
import { candidateBodies } from './state/independence';
import { mergeExpansions } from './remember/merge';
import { openRisk } from './state/plan-view';
import type { AnswerSummary, Committed, Looked, LookSteps, SearchSteps } from '../ports/search-steps';
import { enforce } from './steering';

/** How often a commit or a decline goes back with its figures before the search takes over. */
const RETURNS = 2;
/** Tool calls of the fallback with single queries. */
const SINGLE_QUERIES = 20;

type Answered = Extract<Committed, { kind: 'answer' }>;

/** `single`: how a model goes on that keeps no format but may manage one query at a time. */
export async function runLook(
  start: SearchStart,
  steps: SearchSteps & ReactSteps & LookSteps,
  hooks: SearchHooks,
  single: Fallback,
): Promise<SearchOutcome> {
  return new LookLoop(start, steps, hooks, single).run();
}

type Fallback = (start: SearchStart, steps: ReactSteps, hooks: SearchHooks) => Promise<SearchOutcome>;

class LookLoop extends Run<SearchSteps & ReactSteps & LookSteps> {
  /** The search or the fallback runs, and tells of its own failure. */
  private handedOver = false;

  constructor(
    start: SearchStart,
    steps: SearchSteps & ReactSteps & LookSteps,
    hooks: SearchHooks,
    private readonly single: Fallback,
  ) {
    super(start, steps, hooks);
  }

  async run(): Promise<SearchOutcome> {
    if (this.isHandedOver()) return this.handOver();
    this.attach();
    try {
      if (this.start.state === null && this.hooks.stopRequested() === null) await this.prepare();
      for (;;) {
        const stopped = this.stop();
        if (stopped !== null) return await this.end(stopped);
        const ended = await this.turn();
        if (ended !== null) return await this.end(ended);
        if (this.isHandedOver()) {
          await this.steps.checkpoint(this.state);
          return await this.handOver();
        }
        // The last state is stored with the final record, in one step.
        if (this.stop() !== null) continue;
        await this.steps.checkpoint(this.state);
        if (this.hooks.afterIteration?.(this.state) === 'continue-as-new')
          return { kind: 'continue', state: this.state };
      }
    } catch (error) {
      if (this.handedOver) throw error;
      const stopped = this.hooks.stopRequested();
      if (stopped !== null) return this.end(stopped);
      await this.finish('failed', 'error', null, reasonOf(error));
      throw error;
    }
  }

  private get looking(): Looking {
    return this.state.looking ?? { phase: 'look', turns: [], returned: 0 };
  }

  private isHandedOver(): boolean {
    return this.looking.phase !== 'look';
  }

  /** The search or the fallback, over the same state. The turns so far are no iterations of theirs. */
  private handOver(): Promise<SearchOutcome> {
    this.handedOver = true;
    const { settings } = this.start;
    const { phase, turns } = this.looking;
    const start = { ...this.start, state: this.state };
    if (phase === 'single')
      return this.single({ ...start, settings: { ...settings, rounds: SINGLE_QUERIES } }, this.steps, this.hooks);
    const iterations = settings.iterations + turns.length;
    return runSearch({ ...start, settings: { ...settings, iterations } }, this.steps, this.hooks);
  }

  private async prepare(): Promise<void> {
    this.report(null);
    const { searchId } = this.state;
    const prepared = await this.steps.prepare({ purpose: 'prepare', searchId, position: 'prepare' });
    const usage = addUsage(this.state.usage, prepared.usage);
    this.state = { ...this.state, updates: [...prepared.knownUpdates], usage };
  }

  /** One reply and what the database says to it. Returns why the conversation ended, if it did. */
  private async turn(): Promise<EndedBy | null> {
    const { searchId, iteration } = this.state;
    const findings = this.findings(this.state);
    const position = `i${iteration}.look`;
    let committed: Committed | null = null;
    try {
      const tried = await tryModel<Looked>(
        findings,
        (thisTry) =>
          this.steps.look({
            role: 'look',
            searchId,
            position,
            ...thisTry,
            turns: this.looking.turns,
          }),
        async ({ turnId, action }, tryNumber) => {
          committed = null;
          if (action === 'look') return null;
          findings.checkpoint('sql');
          committed = await this.commit(`${position}.commit${tryNumber}`, turnId);
          findings.charge(committed.usage);
          return committed.kind === 'invalid' ? committed.error : null;
        },
      );
      if (tried === null) {
        findings.giveUp(position, 'look or commit');
        return this.next('single');
      }
      if (tried.error === null && tried.value.action === 'look') await this.query(findings, tried.value.turnId);
      return this.take(findings, tried.value.turnId, committed, tried.error);
    } catch (error) {
      if (!(error instanceof SearchStopped)) throw error;
      findings.stoppedEarly();
      return error.endedBy;
    } finally {
      this.charge(findings);
    }
  }

  private commit(position: string, turnId: string): Promise<Committed> {
    const { searchId, candidates } = this.state;
    return this.steps.commit({
      purpose: 'commit',
      searchId,
      position,
      turnId,
      candidateId: `c${candidates.length + 1}`,
      trajectory: nextTrajectory(this.state),
      returned: this.looking.returned,
      against: candidates.filter((c) => c.kind === 'rows' && c.outcome === 'rows').map((c) => c.id),
    });
  }

  private async query(findings: Findings, turnId: string): Promise<void> {
    findings.checkpoint('sql');
    const { searchId } = this.state;
    const queried = await this.steps.queries({ purpose: 'queries', searchId, position: `${turnId}.queries`, turnId });
    findings.charge(queried.usage);
  }

  private take(findings: Findings, turnId: string, committed: Committed | null, error: string | null): EndedBy | null {
    const { looking } = this;
    this.state = { ...this.state, looking: { ...looking, turns: [...looking.turns, turnId] } };
    // SQL that does not run after all retries: the search plans anew, with what was seen.
    if (error !== null) return this.next('search');
    if (committed === null) return this.next('look');
    switch (committed.kind) {
      case 'invalid':
        return this.next('search');
      case 'decline':
        this.state = addUnanswerable(this.withdrawn(), ROOT, committed.reason);
        return committed.settled ? this.settled() : this.returned();
      case 'answer':
        this.takeAnswer(findings, turnId, committed);
        if (committed.declined !== null) {
          this.state = addUnanswerable(this.withdrawn(), ROOT, committed.declined);
          return this.settled();
        }
        // A commit to what a person has ruled out goes back like one that the data contradict.
        return committed.settled && this.hasAnswer() ? this.settled() : this.returned();
      default:
        return committed satisfies never;
    }
  }

  private hasAnswer(): boolean {
    return this.state.candidates.at(-1)?.status === 'active';
  }

  /** The last state has a number of its own, so that it does not replace the checkpoint before it. */
  private settled(): EndedBy {
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    return 'settled';
  }

  private returned(): EndedBy | null {
    const returned = this.looking.returned + 1;
    this.state = { ...this.state, looking: { ...this.looking, returned } };
    return this.next(returned > RETURNS ? 'search' : 'look');
  }

  private next(phase: Looking['phase']): null {
    const { state } = this;
    // The search tests what was left open before it believes the answer.
    const candidates = phase === 'search' ? this.withdrawn().candidates : state.candidates;
    this.state = { ...state, candidates, iteration: state.iteration + 1, looking: { ...this.looking, phase } };
    this.report(null);
    return null;
  }

  private takeAnswer(findings: Findings, turnId: string, { plan, run, updates, evidenceId, learned }: Answered): void {
    const before = this.withdrawn();
    const earlier = before.trajectories.filter(({ id }) => id !== ROOT);
    const trajectories = before.trajectories.map((t) =>
      t.id === ROOT ? t : { ...t, status: 'exhausted' as const, plan: null },
    );
    findings.plan = plan;
    findings.updates.push(...updates);
    const looked = this.looking.turns.filter((id) => id !== turnId);
    const seen = [...earlier.flatMap(({ attempts }) => attempts), ...looked];
    findings.attempts.push(...new Set(seen), ...(evidenceId === null ? [] : [evidenceId]));
    const id = nextTrajectory(before);
    // Usage and events of the turn are added at its end.
    const expansion = { ...findings.result('plan'), usage: NO_USAGE, events: [] };
    const merged = mergeExpansions({ ...before, trajectories }, [expansion], this.start.settings);
    const { outcome, rowCount, trivial, control, equalTo } = run;
    const cId = `c${before.candidates.length + 1}`;
    const candidate = {
      ...{ id: cId, trajectory: id, kind: 'rows' as const, outcome, rowCount, trivial, control },
      resultClass: before.candidates.find((c) => c.id === equalTo)?.resultClass ?? cId,
      bodies: candidateBodies(plan),
      openRisk: openRisk(plan),
      status: 'active' as const,
    };
    this.state = enforce({ ...merged, candidates: [...merged.candidates, candidate] });
    this.report(learned);
  }

  private async end(endedBy: EndedBy): Promise<SearchOutcome> {
    return { kind: 'finished', summary: await this.answer(this.hooks.stopRequested() ?? endedBy) };
  }

  /** The last commit or decline: the model has chosen already. */
  private answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.ending = true;
    const last = this.state.candidates.filter(({ status }) => status === 'active').at(-1);
    if (last === undefined) {
      const isEarly = this.state.candidates.length === 0;
      const reason = isEarly ? 'it ended before the first commit' : 'what it committed to was ruled out';
      return this.finish(endedBy === 'cancel' ? 'cancelled' : 'abstained', endedBy, null, reason);
    }
    const { status, candidate, reason } = decided(this.state, last);
    return this.finish(endedBy === 'cancel' ? 'cancelled' : status, endedBy, candidate, reason);
  }

  private report(learned: string | null): void {
    const { state } = this;
    const plan = state.trajectories.at(-1)?.plan?.operators ?? [];
    this.hooks.onProgress({
      iteration: this.looking.turns.length,
      iterations: this.start.settings.iterations,
      trajectories: state.trajectories.length,
      open: 1,
      bottleneck: null,
      learned,
      candidates: state.candidates.length,
      usage: state.usage,
      plan: plan.map(({ name, state: is, updateId }) => ({ name, state: is, updateId })),
      frontier: [],
    });
  }
}
