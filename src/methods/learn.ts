/**
 * Learns a database without a question (docs/layer.md): its tables group by group, in turns of queries and claims that the database
 * decides, until the model says that nothing is left of a group, or nothing new is found. It ends after the last group or at a
 * limit, and the next lesson begins where it stopped. What turns prove is read and kept some claims at a time. Its state is a search
 * state, so that checkpoints, limits, steering and records are those of a search.
 */
import type { EndedBy, Lesson } from '../domain';
import { readingOf } from '../domain/control-view';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { Run, type SearchHooks, type SearchOutcome, type SearchStart } from '../search/run';
import { askModel, SearchStopped } from '../search/findings';
import { nearlySpent } from '../search/budgets';
import { keepProved } from '../search/keep-proved';
import { counted } from '../counted';
import type { LearnSteps } from '../domain/ports/steps';

/** Turns in a row without a new proof, after which nothing more is expected of a group. */
const BARREN = 2;
/** So many proofs are worth a reading of their own. */
const ENOUGH = 10;

export function runLearn(start: SearchStart, steps: LearnSteps, hooks: SearchHooks): Promise<SearchOutcome> {
  return new LearnLoop(start, steps, hooks).run();
}

class LearnLoop extends Run<LearnSteps> {
  private proved = 0;
  private get turns(): readonly string[] {
    return this.state.looking?.turns ?? [];
  }

  private get lesson(): Lesson {
    return this.state.lesson ?? { group: 0, begun: 0, unread: [], proofs: 0 };
  }

  /** Turns of the group since its last proof; of `returned` in the state. */
  private get barren(): number {
    return this.state.looking?.returned ?? 0;
  }

  protected async iterate(): Promise<EndedBy | null> {
    const { searchId, iteration } = this.state;
    const position = `i${iteration}.learn`;
    const findings = this.findings(this.state);
    const outcome = await this.charged(findings, async () => {
      const learned = await askModel(findings, { position, what: 'lesson' }, (thisTry) =>
        this.steps.learn(
          {
            ...{ role: 'learn', searchId, position, ...thisTry },
            ...{ turns: this.turns, limit: this.start.settings.iterations },
            ...{ group: this.lesson.group, begun: this.lesson.begun },
          },
          { label: `learn (turn ${this.turns.length + 1})` },
        ),
      );
      if (learned === null) return null;
      const { turnId, done, groups } = learned;
      const { proved, open } = await findings.sql(() =>
        this.steps.prove(
          { purpose: 'prove', searchId, position: `${position}.prove`, turnId },
          { label: 'decide the claims' },
        ),
      );
      // What did not hold is told first, and may be mended.
      return { turnId, done: done && open === 0, groups, proved };
    });
    if (outcome instanceof SearchStopped) return outcome.endedBy;
    if (outcome === null) return 'exhausted';
    const returned = outcome.proved > 0 ? 0 : this.barren + 1;
    const turns = [...this.turns, outcome.turnId];
    const { group, begun, unread, proofs } = this.lesson;
    // The first turns may look before they claim.
    const isOver = outcome.done || (returned >= BARREN && turns.length - begun > BARREN);
    this.state = {
      ...{ ...this.state, iteration: iteration + 1 },
      looking: { phase: 'look', turns, returned: isOver ? 0 : returned },
      lesson: {
        ...(isOver ? { group: group + 1, begun: turns.length } : { group, begun }),
        ...(outcome.proved > 0
          ? { unread: [...unread, outcome.turnId], proofs: proofs + outcome.proved }
          : { unread, proofs }),
      },
    };
    const isLast = isOver && group + 1 >= outcome.groups;
    const isAtLimit = turns.length >= this.start.settings.iterations;
    const isShort = nearlySpent(this.state.usage, this.elapsedMs(), this.budgets());
    if (isLast || isAtLimit || isShort || this.lesson.proofs >= ENOUGH) await this.keep();
    this.proved += outcome.proved;
    this.report({
      iteration: turns.length,
      learned: learnedText(outcome.proved, isOver ? group + 1 : group, outcome.groups),
      candidates: 0,
      proved: this.proved,
    });
    if (isLast) return 'finished';
    return isAtLimit ? 'iterations' : null;
  }

  protected override hearOut(): Promise<EndedBy | null> {
    return this.iterate();
  }

  protected async answer(endedBy: EndedBy): Promise<AnswerSummary> {
    if (this.turns.length === 0) this.requireModel(endedBy);
    const status = this.turns.length === 0 ? 'abstained' : 'answered';
    return this.conclude({ status, candidate: null, reason: counted(this.turns.length, 'turn') }, endedBy);
  }

  /** What is not read when a limit or a person ends the lesson, the lesson reads when it goes on. */
  private async keep(): Promise<void> {
    const before = [...this.lesson.unread];
    const turnId = before.pop();
    if (this.start.settings.layer !== 'on' || turnId === undefined) return;
    const kept = { searchId: this.state.searchId, position: readingOf(turnId), turnId, before };
    await this.dispensable(kept.position, async (findings) => {
      const isRead = await keepProved(this.steps, findings, kept);
      if (isRead) this.state = { ...this.state, lesson: { ...this.lesson, unread: [], proofs: 0 } };
    });
  }
}

/** `2 more conventions proved; 1 of 8 groups of tables learned`; null: nothing to tell. */
function learnedText(proved: number, done: number, groups: number): string | null {
  const parts = [
    ...(proved === 0 ? [] : [`${counted(proved, 'more convention')} proved`]),
    ...(groups <= 1 ? [] : [`${done} of ${groups} groups of tables learned`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}
