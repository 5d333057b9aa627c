/**
 * ReFoRCE (docs/methods) over the same ports: a compressed schema, the header of the answer fixed first, votes that
 * each refine their SQL by execution, column exploration, and a vote on equal results.
 *
 * 1. The votes of a pass run side by side, each with an equal share of what the budgets leave, and are merged in their order.
 * 2. An iteration is a stage: the schema, some tables to link, the header, or all votes of a pass.
 * 3. A stage that a person or a limit ends keeps the candidates it has. Nothing is compared or chosen by the model then (D6).
 */
import type { CandidateView, EndedBy, Reforce, ReforceSettings } from '../../domain';
import { isCutShort, NO_USAGE, ROOT } from '../../domain/control-view';
import type { AnswerSummary, ModelOutcome } from '../../domain/ports/step-parts';
import { candidateOfRun } from '../../search/candidate';
import { askModel, Findings, SearchStopped } from '../../search/findings';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../../search/run';
import { decided } from '../../search/select-answer';
import { addUsage, shareOfBudgets } from '../../search/budgets';
import { Vote, type VoteEnd, type VoteStart } from './vote';
import { counted } from '../../counted';
import type { ReforceSteps, Given } from '../../domain/ports/steps';

export function runReforce(start: SearchStart, steps: ReforceSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new ReforceLoop(start, steps, hooks).run();
}

/** Tables that one iteration links, side by side. */
const LINKED_TOGETHER = 16;

/** What a stage that ran beside others came to. `failure`: an error that ends the search once all are merged. */
interface Stage<T> {
  readonly findings: Findings;
  readonly value: T | null;
  readonly stopped: EndedBy | null;
  readonly failure: { readonly error: unknown } | null;
}

class ReforceLoop extends Run<ReforceSteps> {
  private get settings(): ReforceSettings {
    const { reforce } = this.start.settings;
    if (reforce === undefined) throw new Error('the settings name no procedure of ReFoRCE');
    return reforce;
  }

  private get stage(): Reforce {
    if (this.state.reforce === undefined) throw new Error('the schema comes first');
    return this.state.reforce;
  }

  /** It takes nothing from the memory. */
  protected override async prepare(): Promise<void> {
    this.tell('Reads the schema');
    await super.prepare();
    this.state = { ...this.state, updates: [] };
  }

  protected async iterate(): Promise<EndedBy | null> {
    const ended = await this.nextStage();
    this.state = { ...this.state, iteration: this.state.iteration + 1 };
    return ended;
  }

  private async nextStage(): Promise<EndedBy | null> {
    const { reforce } = this.state;
    if (reforce === undefined) return this.compress([]);
    if (reforce.asked < reforce.tables) return this.link(reforce);
    if (reforce.formatId === undefined && this.settings.format) return this.fixHeader(reforce);
    return this.verdict() ?? (await this.pass(reforce));
  }

  /** Why the votes are over; null before the first pass, and before the second where the first decided nothing. */
  private verdict(): EndedBy | null {
    const { votes, explore } = this.settings;
    const { passes } = this.stage;
    if (passes === 0) return null;
    if (this.winner() !== null) return votes === 1 ? 'finished' : 'agreement';
    if (explore === 'unresolved' && passes === 1) return null;
    return this.voted().length === 0 ? 'exhausted' : 'finished';
  }

  private async compress(linked: readonly string[]): Promise<null> {
    const { searchId, iteration } = this.state;
    const position = `i${iteration}.schema`;
    const made = await this.steps.compress(
      { purpose: 'compress', searchId, position, linked },
      { label: 'compress the schema' },
    );
    const { schemaId, tables, worded } = made;
    this.charge({ usage: addUsage(NO_USAGE, made.usage), events: [] });
    const asked = linked.length > 0 ? tables : 0;
    this.take({ schemaId, worded, tables, asked, linked: [...linked], passes: 0, votes: [], agreeing: {} });
    return null;
  }

  /** Asks about the next tables. After the last, the schema shows those that are needed; if none is, it stays whole. */
  private async link({ asked, tables, schemaId, linked }: Reforce): Promise<EndedBy | null> {
    this.tell(`Links tables: ${asked} of ${tables}`);
    const next = Array.from({ length: Math.min(LINKED_TOGETHER, tables - asked) }, (_, at) => asked + at);
    const stages = await this.together(next.length, (findings, index) => {
      const table = next[index] ?? 0;
      return this.ask(findings, `i${this.state.iteration}.link${table + 1}`, 'decision on a table', (given) =>
        this.steps['reforce-link'](
          { role: 'reforce-link', ...given, schemaId, table },
          { label: `link table ${table + 1}` },
        ),
      );
    });
    const stopped = this.merge(stages);
    if (stopped !== null) return stopped;
    // As upstream, a table without a usable reply is left out.
    const kept = [...linked, ...stages.flatMap(({ value }) => value?.linkId ?? [])];
    const done = asked + next.length;
    this.take({ ...this.stage, asked: done, linked: kept });
    return done === tables && kept.length > 0 ? this.compress(kept) : null;
  }

  /** Format restriction: once a question, for all votes. */
  private async fixHeader({ schemaId }: Reforce): Promise<EndedBy | null> {
    this.tell('Fixes the header of the answer');
    const stages = await this.together(1, (findings) =>
      this.ask(findings, `i${this.state.iteration}.format`, 'header', (given) =>
        this.steps['reforce-format'](
          { role: 'reforce-format', ...given, schemaId },
          { label: 'fix the header of the answer' },
        ),
      ),
    );
    const stopped = this.merge(stages);
    this.take({ ...this.stage, formatId: stages[0]?.value?.formatId ?? null });
    return stopped;
  }

  private async pass({ passes, schemaId, formatId = null }: Reforce): Promise<EndedBy | null> {
    const { votes, explore } = this.settings;
    const explores = explore === 'always' || passes > 0;
    const { searchId, iteration } = this.state;
    const candidateOf = (index: number) => `c${passes * votes + index + 1}`;
    let ended = 0;
    const stages = await this.together(votes, async (findings, index) => {
      this.tell(`${ended} of ${votes} votes are over${explores ? '; they explore columns first' : ''}`);
      const vote: VoteStart = {
        ...{ searchId, position: `i${iteration}.v${index + 1}`, seedShift: index, candidateId: candidateOf(index) },
        ...{ schemaId, formatId, explores, settings: this.settings },
      };
      const value = await new Vote(vote, this.steps, findings).run();
      ended += 1;
      this.tell(`${ended} of ${votes} votes are over`);
      return value;
    });
    this.takeVotes(stages, candidateOf);
    const stopped = this.merge(stages);
    if (this.hooks.stopRequested() !== null) return stopped;
    this.take({ ...this.stage, passes: passes + 1 });
    await this.compare(explores);
    return stages.every(({ value }) => value === null) ? stopped : this.verdict();
  }

  /** The candidates of a whole pass take the place of those before. */
  private takeVotes(stages: readonly Stage<VoteEnd>[], candidateOf: (index: number) => string): void {
    const made = stages.flatMap(({ value }, index): CandidateView[] => {
      const run = value?.run ?? null;
      const id = candidateOf(index);
      return run === null ? [] : [{ ...candidateOfRun(this.state, ROOT, null, run), id, resultClass: id }];
    });
    const isWhole = stages.every(({ value }) => value !== null);
    const { candidates } = isWhole ? this.withdrawn() : this.state;
    // A pass that was cut short begins anew where the search goes on.
    const before = candidates.filter(({ id }) => made.every((each) => each.id !== id));
    this.state = { ...this.state, candidates: [...before, ...made] };
    const votes = stages.map(({ value, stopped }, index) => ({
      vote: `v${index + 1}`,
      candidate: (value?.run ?? null) === null ? null : candidateOf(index),
      ended: value?.ended ?? stopped ?? 'error',
    }));
    this.take({ ...this.stage, votes, agreeing: {} });
  }

  /** Which results of the last pass are equal. */
  private async compare(explored: boolean): Promise<void> {
    const candidates = this.voted();
    if (candidates.length < 2) return;
    const { searchId, iteration } = this.state;
    const position = `i${iteration}.agree`;
    const { agreeing } = await this.steps.agree(
      { purpose: 'agree', searchId, position, candidates, explored },
      { label: `compare ${candidates.length} results` },
    );
    this.take({
      ...this.stage,
      agreeing: Object.fromEntries(Object.entries(agreeing).map(([id, all]) => [id, [...all]])),
    });
    this.state = {
      ...this.state,
      candidates: this.state.candidates.map((each) => {
        const first = candidates.find((id) => id === each.id || agreeing[each.id]?.includes(id));
        return first === undefined ? each : { ...each, resultClass: first };
      }),
    };
  }

  /** The candidates of the last pass, in the order of the votes. */
  private voted(): readonly string[] {
    return this.stage.votes.flatMap(({ candidate }) => candidate ?? []);
  }

  /** Of the largest group of equal results; null if two are largest, or no two results are equal. */
  private winner(): string | null {
    const [only, ...others] = this.voted();
    if (this.settings.votes === 1) return only ?? null;
    if (only === undefined || others.length === 0) return null;
    const largest = this.largest();
    const agreeing = this.stage.agreeing[largest[0] ?? '']?.length ?? 0;
    return largest.length > agreeing + 1 ? null : (largest[0] ?? null);
  }

  /** The members of all groups of the largest size; empty if no two results are equal. */
  private largest(): readonly string[] {
    const { agreeing } = this.stage;
    const most = Math.max(0, ...Object.values(agreeing).map((others) => others.length));
    return most === 0 ? [] : this.voted().filter((id) => agreeing[id]?.length === most);
  }

  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    const maySpend = !isCutShort(endedBy);
    const chosen = await this.chosen(maySpend);
    const candidate = this.state.candidates.find(({ id }) => id === chosen);
    if (candidate === undefined) return this.abstain(endedBy);
    if (maySpend && this.stage.worded) await this.phrase(candidate.id);
    return this.conclude(decided(this.state, candidate), endedBy);
  }

  private abstain(endedBy: EndedBy): Promise<AnswerSummary> {
    const votes = this.state.reforce?.votes ?? [];
    if (votes.length > 0 && votes.every(({ ended }) => ended === 'no-reply')) this.requireModel(endedBy);
    const reason = votes.length === 0 ? 'it ended before the votes' : 'no vote found SQL that runs and returns rows';
    return this.conclude({ status: 'abstained', candidate: null, reason }, endedBy);
  }

  private async chosen(mayAsk: boolean): Promise<string | null> {
    if (this.state.reforce === undefined) return null;
    const winner = this.winner();
    if (winner !== null) return winner;
    const largest = this.largest();
    const among = largest.length > 0 ? largest : this.voted();
    const [first = null, second] = among;
    // Of the pass before, if this one was cut short.
    if (first === null) return this.state.candidates.find(({ status }) => status === 'active')?.id ?? null;
    if (!mayAsk || this.settings.choose === 'first' || second === undefined) return first;
    let choice: string = first;
    await this.dispensable('choose', async (findings) => {
      const { schemaId } = this.stage;
      const reply = await this.ask(findings, 'choose', 'choice', (given) =>
        this.steps['reforce-choose'](
          { role: 'reforce-choose', ...given, schemaId, candidates: [...among] },
          { label: `choose among ${counted(among.length, 'candidate')}` },
        ),
      );
      choice = reply?.candidate ?? first;
    });
    return choice;
  }

  private async phrase(candidateId: string): Promise<void> {
    await this.dispensable('phrase', async (findings) => {
      const { schemaId } = this.stage;
      await this.ask(findings, 'phrase', 'sentence', (given) =>
        this.steps['reforce-answer'](
          { role: 'reforce-answer', ...given, schemaId, candidateId },
          { label: 'answer from the result' },
        ),
      );
    });
  }

  private ask<T>(
    findings: Findings,
    position: string,
    what: string,
    call: (given: Common) => Promise<ModelOutcome<T>>,
  ): Promise<T | null> {
    const { searchId } = this.state;
    return askModel<T>(findings, { position, what }, (thisTry) => call({ searchId, position, ...thisTry }));
  }

  /** Runs `count` pieces of work side by side; none is lost if another fails. */
  private together<T>(
    count: number,
    work: (findings: Findings, index: number) => Promise<T | null>,
  ): Promise<Stage<T>[]> {
    const { iteration, usage: usageBefore } = this.state;
    const one = async (_: unknown, index: number): Promise<Stage<T>> => {
      const findings = new Findings({
        ...this.now(),
        budgets: () => shareOfBudgets(this.budgets(), usageBefore, index, count),
        ...{ iteration, trajectoryId: ROOT, updates: [], facts: [], usageBefore },
      });
      try {
        return { findings, value: await work(findings, index), stopped: null, failure: null };
      } catch (error) {
        if (!(error instanceof SearchStopped)) return { findings, value: null, stopped: null, failure: { error } };
        findings.stoppedEarly();
        return { findings, value: null, stopped: error.endedBy, failure: null };
      }
    };
    return Promise.all(Array.from({ length: count }, one));
  }

  /** Charges all, then throws the first failure. Returns why one was stopped. */
  private merge(stages: readonly Stage<unknown>[]): EndedBy | null {
    for (const { findings } of stages) this.charge(findings);
    const observed = stages.flatMap(({ findings }) => findings.attempts);
    const [root, ...others] = this.state.trajectories;
    if (root !== undefined)
      this.state = { ...this.state, trajectories: [{ ...root, attempts: [...root.attempts, ...observed] }, ...others] };
    const failure = stages.find((stage) => stage.failure !== null)?.failure ?? null;
    if (failure !== null) throw failure.error;
    return stages.find(({ stopped }) => stopped !== null)?.stopped ?? null;
  }

  private take(reforce: Reforce): void {
    this.state = { ...this.state, reforce };
  }

  private tell(now: string): void {
    const found = this.state.reforce?.votes.filter(({ candidate }) => candidate !== null).length ?? 0;
    const { format, explore } = this.settings;
    const linking = Math.ceil((this.state.reforce?.tables ?? 0) / LINKED_TOGETHER);
    // How many there are at most, as far as it is known.
    const iterations = 1 + linking + Number(format) + (explore === 'unresolved' ? 2 : 1);
    this.report({ iterations, learned: now, candidates: found });
  }
}

/** What every model step is given. */
type Common = Omit<Given<'reforce-format'>, 'role' | 'schemaId'>;
