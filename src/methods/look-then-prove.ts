/**
 * Look, then prove (design §3): one conversation per question over the same ports as the search. The model looks, commits to
 * SQL with claims, or declines; the database decides the claims. Where they hold, the search is over, without a second
 * derivation. What goes back twice without holding is handed to the search with all that was seen.
 *
 * 1. Each turn is an iteration: its state is a search state, so that checkpoints, forks, steering and records stay the same.
 * 2. A model that keeps no format goes on with one query at a time (`agent/`); if that fails too, the search fails. It fails at
 *    once where the model keeps the format and none of its SQL can be used.
 */
import type { EndedBy, Looking, SearchState } from '../domain';
import { NO_USAGE, ROOT } from '../domain/control-view';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { addUnanswerable, candidateOfRun, comparable, nextCandidateId } from '../search/candidate';
import { type Findings, SearchStopped, tryModel } from '../search/findings';
import { mergeExpansion, nextTrajectory } from '../search/remember';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../search/run';
import { runSearch } from '../search/search';
import { decided } from '../search/select-answer';
import { enforce } from '../search/steering';
import { runAgent } from './agent/loop';
import type { LookSteps, AgentSteps, SearchSteps, Gives } from '../domain/ports/steps';

/** How often a commit or a decline goes back with its figures before the search takes over. */
const RETURNS = 2;
/** Tool calls of the fallback with single queries. */
const SINGLE_QUERIES = 20;

type Answered = Extract<Gives<'commit'>, { kind: 'answer' }>;
type Steps = SearchSteps & AgentSteps & LookSteps;

export async function runLookThenProve(start: SearchStart, steps: Steps, hooks: SearchHooks): Promise<SearchOutcome> {
  if (isHandedOver(start.state)) return handOver(start, start.state, steps, hooks);
  const outcome = await new LookLoop(start, steps, hooks).run();
  return outcome.kind === 'continue' && isHandedOver(outcome.state)
    ? handOver(start, outcome.state, steps, hooks)
    : outcome;
}

type HandedOver = SearchState & { readonly looking: Looking };

function isHandedOver(state: SearchState | null): state is HandedOver {
  return state?.looking !== undefined && state.looking.phase !== 'look';
}

/** The search, or the agent with single queries, over the same state. The turns so far are no iterations of theirs. */
function handOver(start: SearchStart, state: HandedOver, steps: Steps, hooks: SearchHooks): Promise<SearchOutcome> {
  const { settings } = start;
  const { phase, turns } = state.looking;
  if (phase === 'single')
    return runAgent({ ...start, state, settings: { ...settings, rounds: SINGLE_QUERIES } }, steps, hooks);
  const iterations = settings.iterations + turns.length;
  return runSearch({ ...start, state, settings: { ...settings, iterations } }, steps, hooks);
}

class LookLoop extends Run<Steps> {
  /** Whether this turn is only for what a person said after the answer. */
  private isHearingOut = false;
  /** Claims of the last commit. */
  private proved = 0;
  private establishes = false;

  private get looking(): Looking {
    return this.state.looking ?? { phase: 'look', turns: [], returned: 0 };
  }

  protected override async prepare(): Promise<void> {
    this.tell();
    await super.prepare();
  }

  protected override save(): SearchOutcome | null {
    if (!isHandedOver(this.state)) return super.save();
    this.steps.checkpoint(this.state);
    return { kind: 'continue', state: this.state };
  }

  /** One reply and what the database says to it. Returns why the conversation ended, if it did. */
  protected async iterate(): Promise<EndedBy | null> {
    const findings = this.findings(this.state);
    const ended = await this.charged(findings, () => this.turn(findings, `i${this.state.iteration}.look`));
    return ended instanceof SearchStopped ? ended.endedBy : ended;
  }

  /** The answer, or the decline, stands unless this turn gives another. */
  protected override async hearOut(): Promise<EndedBy | null> {
    this.isHearingOut = true;
    try {
      return await this.iterate();
    } finally {
      this.isHearingOut = false;
    }
  }

  private async turn(findings: Findings, position: string): Promise<EndedBy | null> {
    let committed: Gives<'commit'> | null = null;
    const tried = await tryModel(
      findings,
      (thisTry) =>
        this.steps.look(
          {
            role: 'look',
            searchId: this.state.searchId,
            position,
            ...thisTry,
            turns: this.looking.turns,
            ...(this.isHearingOut && { hearsOut: true }),
          },
          { label: `look or commit (turn ${this.looking.turns.length + 1})` },
        ),
      async ({ turnId, action }, tryNumber) => {
        committed = null;
        if (action === 'look') return null;
        const { state, looking } = this;
        const at = { searchId: state.searchId, position: `${position}.commit${tryNumber}`, turnId };
        const candidate = { candidateId: nextCandidateId(state), trajectory: nextTrajectory(state) };
        committed = await findings.sql(() =>
          this.steps.commit(
            {
              purpose: 'commit',
              ...at,
              ...candidate,
              returned: looking.returned,
              turns: looking.turns,
              against: comparable(state),
            },
            { label: 'decide the claims' },
          ),
        );
        return committed.kind === 'invalid' ? committed.error : null;
      },
    );
    if (tried === null) {
      const badSql = findings.hasBadSql();
      findings.giveUp(position, badSql ? 'SQL' : 'look or commit');
      if (this.isHearingOut) return this.endSettled();
      // It keeps the format and wrote no SQL so far: single queries would not mend that.
      return badSql && this.looking.turns.length === 0 ? 'exhausted' : this.next('single');
    }
    if (tried.error !== null && this.isHearingOut) return this.endSettled();
    const { searchId } = this.state;
    const { turnId, action } = tried.value;
    if (tried.error === null && action === 'look')
      await findings.sql(() =>
        this.steps.queries({ purpose: 'queries', searchId, position: `${turnId}.queries`, turnId }, { label: 'look' }),
      );
    return this.take(findings, turnId, committed, tried.error);
  }

  private take(
    findings: Findings,
    turnId: string,
    committed: Gives<'commit'> | null,
    error: string | null,
  ): EndedBy | null {
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
        return committed.settled ? this.endSettled() : this.goBack();
      case 'answer':
        this.takeAnswer(findings, turnId, committed);
        if (committed.declined !== null) {
          this.state = addUnanswerable(this.withdrawn(), ROOT, committed.declined);
          return this.endSettled();
        }
        // A commit to what a person has ruled out goes back like one that the data contradict.
        return committed.settled && this.hasAnswer() ? this.endSettled() : this.goBack();
      default:
        return committed satisfies never;
    }
  }

  private hasAnswer(): boolean {
    return this.state.candidates.at(-1)?.status === 'active';
  }

  /** The last state has a number of its own, so that it does not replace the checkpoint before it. */
  private endSettled(): EndedBy {
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    return 'settled';
  }

  private goBack(): EndedBy | null {
    const returned = this.looking.returned + 1;
    this.state = { ...this.state, looking: { ...this.looking, returned } };
    return this.next(returned > RETURNS ? 'search' : 'look');
  }

  private next(phase: Looking['phase']): null {
    const { state } = this;
    // The search tests what was left open before it believes the answer.
    const candidates = phase === 'search' ? this.withdrawn().candidates : state.candidates;
    this.state = { ...state, candidates, iteration: state.iteration + 1, looking: { ...this.looking, phase } };
    this.tell();
    return null;
  }

  private takeAnswer(
    findings: Findings,
    turnId: string,
    { plan, run, updates, evidenceId, learned, proved = 0, establishes = false }: Answered,
  ): void {
    this.proved = proved;
    this.establishes = establishes;
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
    // Usage and events of the turn are added at its end.
    const expansion = { ...findings.result('plan'), usage: NO_USAGE, events: [] };
    const merged = mergeExpansion({ ...before, trajectories }, expansion, this.start.settings);
    const candidate = candidateOfRun(before, nextTrajectory(before), plan, run);
    this.state = enforce({ ...merged, candidates: [...merged.candidates, candidate] });
    this.tell(learned);
  }

  /** The last commit or decline: the model has chosen already. What the commit proved enters the layer of the database. */
  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    this.requireModel(endedBy);
    if (endedBy === 'settled' && this.start.settings.layer === 'on' && this.hasAnswer() && this.establishes)
      this.keepAfterwards({ turnId: this.looking.turns.at(-1) ?? '' });
    const last = this.state.candidates.filter(({ status }) => status === 'active').at(-1);
    if (last !== undefined) return this.conclude(decided(this.state, last), endedBy);
    const isEarly = this.state.candidates.length === 0;
    const reason = isEarly ? 'it ended before the first commit' : 'what it committed to was ruled out';
    return this.conclude({ status: 'abstained', candidate: null, reason }, endedBy);
  }

  private tell(learned: string | null = null): void {
    const { trajectories } = this.state;
    const plan = trajectories.at(-1)?.plan?.operators ?? [];
    this.report({
      iteration: this.looking.turns.length,
      trajectories: trajectories.length,
      learned,
      proved: this.proved,
      plan: plan.map(({ name, state, updateId }) => ({ name, state, updateId })),
    });
  }
}
