/**
 * One batch of a run: the answers that the store has are scored, the others asked as one durable batch that this process serves, and
 * each is scored as it comes.
 *
 * 1. The store decides what is answered: asked again, it is scored anew without a model.
 * 2. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import type { BatchOutcome } from '../../domain/ports/batch';
import { isDecided, type AnswerRecord } from '../../domain';
import { each, limiter } from '../../limiter';
import type { BoardScore } from '../../questions';
import { storeInput } from '../../record/run-store';
import { counted } from '../../report/printable';
import { GateError } from '../errors';
import { inputOf, recordOf, saveAsked } from '../services';
import { withComposition, scopeOf, type Arm, type AskingRun, type ReadyArm } from './arms';
import { followBatch, type FollowEnd } from './follow-batch';
import { pause } from '../waiting';
import { resultLine, type ResultFile, type Scorer } from './results';
import { withBatchServed } from './serve-batch';
import { isToRetry, storedBatch } from './stored-batches';

/** Why a run asks no further question. */
export type Stopped = 'interrupted' | 'cancelled' | 'ceiling' | 'failed';

/** What the batches of a run share while they ask. */
interface Sharing {
  /** Why nothing more is asked; null: it goes on. */
  readonly stopped: () => Stopped | null;
  /** How many questions of this batch may run at the same time now, as so many of them are open. */
  readonly places: (open: number) => number;
}

const SCORING_AT_ONCE = 4;
const PLACE_POLL_MS = 250;

/** Of each search, in their order; null: it has none yet. */
export type StoredRecords = readonly (AnswerRecord | null)[];

export function storedRecords(
  { services }: Pick<AskingRun, 'services'>,
  { batch }: Pick<Arm, 'batch'>,
): Promise<StoredRecords> {
  return each(batch.searches, ({ searchId }) => recordOf(services.store, searchId));
}

/** Positions of the searches to ask: those that have not ended well, or in a retry those that failed. */
export async function openSearches(
  { services, retry }: Pick<AskingRun, 'services' | 'retry'>,
  { batch }: Pick<Arm, 'batch'>,
  records: StoredRecords,
): Promise<Set<number>> {
  const open = new Set(records.flatMap((record, n) => (record !== null && isDecided(record) ? [] : [n])));
  if (retry === undefined || open.size === 0) return open;
  if (batch.batchId !== retry.batchId) return new Set();
  const { questions } = await storedBatch(services.store, { id: batch.batchId, startedMs: 0 });
  return new Set(questions.flatMap((question, n) => (open.has(n) && isToRetry(question, retry.undecided) ? [n] : [])));
}

export class AskedBatch {
  /** By the benchmark's scorer, if it has one; infrastructure failures and what was cancelled have none. */
  readonly scores = new Map<string, BoardScore>();
  readonly records = new Map<string, AnswerRecord>();
  /** Questions of this run, by position: they are open when it begins. */
  pending: ReadonlySet<number> = new Set();
  /** Others work on it. */
  detached = false;
  private readonly scoring = limiter(SCORING_AT_ONCE);
  private readonly endedHere = new Set<number>();

  constructor(
    private readonly run: AskingRun,
    readonly arm: Arm,
    private readonly index: number,
    private readonly results: Pick<ResultFile, 'add'>,
  ) {}

  /** Questions that ended in this run. */
  get ended(): number {
    return this.endedHere.size;
  }

  /** Scores what is answered before anything is asked. */
  async scoreStored(records: StoredRecords): Promise<void> {
    const { run, arm } = this;
    const { batch } = arm;
    this.pending = await openSearches(run, arm, records);
    const settled = records.flatMap((record, n) => (record !== null && isDecided(record) ? [{ n, record }] : []));
    for (const record of records) if (record !== null) run.costs.set(record.id, record.usage.costUsd);
    if (settled.length > 0 && this.pending.size > 0)
      this.note(
        `${settled.length} of ${counted(batch.searches.length, 'question')} answered before; they cost nothing`,
      );
    await this.withComposition(async (ready) => {
      for (const { n, record } of settled) this.score(ready, n, { kind: 'answer', status: record.status }, record);
      await this.scoring.idle();
    });
    if (run.stopping.quit.aborted) throw new GateError('stopped while scoring what was answered before', 'cancelled');
  }

  async ask(sharing: Sharing): Promise<FollowEnd | Stopped> {
    const { run, index, pending } = this;
    if (pending.size === 0) return 'completed';
    const stopped = await this.waitForPlace(sharing);
    if (stopped !== null) return stopped;
    return this.withComposition(async (ready) => {
      try {
        await saveQuestions(ready, pending);
        const { end, detached } = await withBatchServed(ready, pending, (served) =>
          followBatch({
            ...served,
            ...{ ready, index, pending },
            concurrency: () => this.places(sharing),
            spent: () => this.spent(),
            ended: (n, outcome) => this.endedNow(ready, n, outcome),
          }),
        );
        this.detached = detached;
        await this.findEnded(ready);
        return end;
      } finally {
        // Also after an error: what has ended is scored.
        await this.scoring.idle();
        run.tell({ kind: 'over', arm: index });
      }
    });
  }

  private note(text: string): void {
    this.run.tell({ kind: 'note', arm: this.index, text });
  }

  private withComposition<T>(work: (ready: ReadyArm) => Promise<T>): Promise<T> {
    const { run, arm } = this;
    return withComposition(run, arm.set.databases, scopeOf(arm), (composition) =>
      work({ run, arm, composition, note: (line) => this.note(line) }),
    );
  }

  /** Null: it has one, and may begin. */
  private async waitForPlace(sharing: Sharing): Promise<Stopped | null> {
    for (;;) {
      if (this.run.stopping.asked.aborted) return 'interrupted';
      const stopped = sharing.stopped();
      if (stopped !== null) return stopped;
      if (this.spent()) {
        this.note('the batch has reached --max-total-cost: no question starts');
        return 'ceiling';
      }
      if (this.places(sharing) > 0) return null;
      await pause(PLACE_POLL_MS, this.run.stopping.quit);
    }
  }

  private places({ places }: Sharing): number {
    return places(this.pending.size - this.endedHere.size);
  }

  private spent(): boolean {
    const { costs, maxTotalCost = Infinity } = this.run;
    return [...costs.values()].reduce((sum, cost) => sum + cost, 0) >= maxTotalCost;
  }

  private endedNow(ready: ReadyArm, n: number, outcome: BatchOutcome): void {
    this.endedHere.add(n);
    this.scoring.add(async () => {
      const record = await recordOf(ready.run.services.store, this.arm.batch.searches[n]?.searchId ?? '');
      this.score(ready, n, outcome, record);
    });
  }

  /** Questions that ended after the batch's workflow was last heard. */
  private async findEnded(ready: ReadyArm): Promise<void> {
    for (const n of this.pending) {
      if (this.endedHere.has(n)) continue;
      const record = await recordOf(ready.run.services.store, this.arm.batch.searches[n]?.searchId ?? '');
      if (record !== null && isDecided(record)) this.endedNow(ready, n, { kind: 'answer', status: record.status });
    }
  }

  private score({ run, composition }: ReadyArm, n: number, outcome: BatchOutcome, record: AnswerRecord | null): void {
    const { arm, index } = this;
    const { set, spec, seed, batch } = arm;
    const searchId = batch.searches[n]?.searchId ?? '';
    if (record !== null) {
      run.costs.set(searchId, record.usage.costUsd);
      this.records.set(searchId, record);
    }
    const of = { set: set.name, method: spec.spec, seed };
    const signal = run.stopping.quit;
    const scoring = { of, engineOf: composition.engine, signal, scorer: this.scorer(), rows: run.rows };
    for (const question of batch.questions.filter(({ input }) => input.searchId === searchId)) {
      this.scoring.add(async () => {
        try {
          const line = await resultLine(question, { outcome, record }, scoring);
          this.results.add(line);
          run.tell({ kind: 'ended', arm: index, line, now: this.endedHere.has(n) });
        } catch (error) {
          // Told to quit: the next run scores it.
          if (!signal.aborted) throw error;
        }
      });
    }
  }

  private scorer(): Scorer | undefined {
    const { board } = this.arm.set;
    if (board === null) return undefined;
    return async (item, record, engine, options) => {
      const score = await board.score(item, record, engine, options);
      if (score.verdict !== 'infrastructure' && score.verdict !== 'cancelled') this.scores.set(item.id, score);
      return score;
    };
  }
}

/** What a worker reads of the questions, and what lists them. `gate ops gc` counts the age of the others anew, too. */
export async function saveQuestions({ run, arm }: ReadyArm, pending: ReadonlySet<number>): Promise<void> {
  const { services, surroundings } = run;
  const { store } = services;
  await each([...arm.batch.searches.entries()], async ([n, input]) => {
    if (pending.has(n)) await saveAsked(store, input, surroundings.now());
    const before = pending.has(n) ? null : await inputOf(store, input.searchId);
    if (before !== null) await storeInput(store, before);
  });
}
