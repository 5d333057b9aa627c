/**
 * Learns a database without a question (docs/layer.md): turns of queries and claims, decided by the database, until the model says
 * that nothing is left, nothing new is found, or a limit is reached. What a turn proves is read and kept before the next one
 * begins, so that a lesson that ends early keeps it. Its state is a search state, so that checkpoints, limits, steering and
 * records are those of a search.
 */
import type { EndedBy } from '../domain';
import { readingOf } from '../domain/control-view';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../search/run';
import { askModel, SearchStopped } from '../search/findings';
import { keepProved } from '../search/keep-proved';
import { counted } from '../counted';
import type { LearnSteps, Learned } from '../domain/ports/steps';

/** Turns in a row without a new proof, after which nothing more is expected. */
const BARREN = 2;

export function runLearn(start: SearchStart, steps: LearnSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new LearnLoop(start, steps, hooks).run();
}

class LearnLoop extends Run<LearnSteps> {
  private proved = 0;
  private get turns(): readonly string[] {
    return this.state.looking?.turns ?? [];
  }

  /** Turns since the last proof; of `returned` in the state. */
  private get barren(): number {
    return this.state.looking?.returned ?? 0;
  }

  protected async iterate(): Promise<EndedBy | null> {
    const { searchId, iteration } = this.state;
    const position = `i${iteration}.learn`;
    const findings = this.findings(this.state);
    const outcome = await this.charged(findings, async () => {
      const learned = await askModel<Learned>(findings, { position, what: 'lesson' }, (thisTry) =>
        this.steps.learn(
          {
            ...{ role: 'learn', searchId, position, ...thisTry },
            ...{ turns: this.turns, limit: this.start.settings.iterations },
          },
          { label: `learn (turn ${this.turns.length + 1})` },
        ),
      );
      if (learned === null) return null;
      const { turnId, done } = learned;
      const { proved } = await findings.sql(() =>
        this.steps.prove(
          { purpose: 'prove', searchId, position: `${position}.prove`, turnId },
          { label: 'decide the claims' },
        ),
      );
      return { turnId, done, proved };
    });
    if (outcome instanceof SearchStopped) return outcome.endedBy;
    if (outcome === null) return 'exhausted';
    const returned = outcome.proved > 0 ? 0 : this.barren + 1;
    const turns = [...this.turns, outcome.turnId];
    this.state = { ...this.state, iteration: iteration + 1, looking: { phase: 'look', turns, returned } };
    if (outcome.proved > 0) await this.keep(outcome.turnId);
    this.proved += outcome.proved;
    this.report({
      iteration: turns.length,
      learned: outcome.proved === 0 ? null : `${counted(outcome.proved, 'more convention')} proved`,
      candidates: 0,
      proved: this.proved,
    });
    // The first turns may look before they claim.
    if (outcome.done || (returned >= BARREN && turns.length > BARREN)) return 'finished';
    return turns.length >= this.start.settings.iterations ? 'iterations' : null;
  }

  protected override hearOut(): Promise<EndedBy | null> {
    return this.iterate();
  }

  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    if (this.turns.length === 0) this.requireModel(endedBy);
    const status = this.turns.length === 0 ? 'abstained' : 'answered';
    return this.conclude({ status, candidate: null, reason: counted(this.turns.length, 'turn') }, endedBy);
  }

  private async keep(turnId: string): Promise<void> {
    if (this.start.settings.layer !== 'on') return;
    const kept = { searchId: this.state.searchId, position: readingOf(turnId), turnId };
    await this.dispensable(kept.position, (findings) => keepProved(this.steps, findings, kept));
  }
}
