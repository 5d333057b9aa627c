/**
 * What `gate batch run` does: read the file, name every database, look into the store, run what is not answered yet as
 * one durable batch served by this process, score each answer as it comes, and sum up.
 *
 * 1. All that is wrong with the command line is said before anything starts.
 * 2. The store decides what is answered: a second run scores it anew and asks no model.
 * 3. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import { resolve } from 'node:path';
import { hasGold, loadQuestions, type BenchmarkItem } from '../questions';
import { isDecided, type AnswerRecord } from '../domain';
import { counted } from '../report/printable';
import { compose, type Composition } from '../workers/composition';
import { checkWeb, modelsFor, offeredModels } from '../app/question-input';
import { withEvents } from './batch-events';
import { batchDatabases, type BatchDatabases } from './batch-databases';
import { sumUp, type BatchEnd } from './batch-ending';
import { dryRun } from './batch-estimate';
import { followBatch } from './batch-follow';
import { batchName, planBatch, selectItems, type Batch, type BatchFlags } from './batch-plan';
import {
  batchPreflight,
  openSearches,
  saveQuestions,
  storedRecords,
  tellNoGold,
  type ReadyBatch,
  type Stopped,
} from './batch-preflight';
import { ResultFile, withResultFolder, resultLine, type Ended } from './batch-results';
import { withBatchServed } from './batch-serve';
import { shownCommand } from './batch-summary';
import { batchDisplay, type BatchDisplay } from './batch-table';
import { GateError, UsageError } from '../app/errors';
import type { ExitCode } from './exit';
import { pause, watchInterrupts, type Interrupts } from './interrupts';
import type { Io } from './io';
import { limiter } from '../limiter';
import { openServices, recordOf, type Services } from '../app/services';
import { keepCommand } from '../app/run/stored-batches';

export async function runBatchCommand(
  file: string,
  flags: BatchFlags,
  args: readonly string[],
  streams: Io,
): Promise<ExitCode> {
  const io = flags.events ? withEvents(streams) : streams;
  if (flags.detach && flags.dryRun) throw new UsageError('--dry-run starts nothing: leave --detach out');
  if (flags.detach && flags.maxTotalCost !== undefined)
    throw new UsageError('--max-total-cost: nobody watches what a detached batch costs; leave one of them out');
  if (flags.out === undefined && !flags.dryRun && !flags.detach) {
    throw new UsageError('where do the results go? add --out FOLDER (or --dry-run for an estimate)');
  }
  const services = openServices(io);
  const { config } = services;
  checkWeb(config, flags);
  const items = await questionsOf(resolve(io.cwd, file), flags);
  const selected = selectItems(items, flags);
  const databases = batchDatabases(config, flags.db ?? [], { selected, others: items }, io.cwd);
  const isScored = (item: BenchmarkItem): boolean => hasGold(item, false);
  // A file without any is there to be answered.
  if (selected.some(isScored)) tellNoGold(selected, isScored, io);
  const composition = await compose(config, { adHoc: databases.all });
  try {
    const name = batchName(file, flags);
    const batch = await plannedBatch({ services, composition, databases, items: selected, flags, name, io });
    const run = { services, composition, databases: databases.all, batch, flags, files: {}, io };
    if (flags.retryOf !== undefined && flags.retryOf !== batch.batchId)
      throw new UsageError(
        `${flags.retryOf}: its file, settings or databases have changed since; the same command is another batch now`,
      );
    if (flags.dryRun) return await dryRun(run);
    const folder = resolve(io.cwd, flags.out ?? '.');
    const out = flags.out === undefined ? null : folder;
    await keepCommand(services.store, batch.batchId, { name, cwd: io.cwd, out, args });
    if (flags.detach) return await (await import('./batch-detached')).detachBatch(run);
    return await withResultFolder(folder, async () => {
      const results = new ResultFile(
        folder,
        batch.questions.map(({ item }) => item.id),
      );
      const ended = await new BatchRun(run, results).run();
      return sumUp(run, { ...ended, results, folder, file, command: shownCommand(args) });
    });
  } finally {
    await composition.close();
  }
}

interface Planned {
  readonly services: Services;
  readonly composition: Composition;
  readonly databases: BatchDatabases;
  readonly items: readonly BenchmarkItem[];
  readonly flags: BatchFlags;
  readonly name: string;
  readonly io: Pick<Io, 'cwd' | 'err'>;
}

/** What the flags ask for. */
export async function plannedBatch({
  services,
  composition,
  databases,
  items,
  flags,
  name,
  io,
}: Planned): Promise<Batch> {
  const { config, store } = services;
  const models = modelsFor(config, flags, offeredModels(composition));
  return planBatch({ ...{ config, store, flags, name, items, databases, models }, cwd: io.cwd });
}

const SCORING_AT_ONCE = 4;
const PLACE_POLL_MS = 250;

/** Scores what is answered, asks the rest, and scores it as it comes. */
export class BatchRun {
  private readonly interrupts: Interrupts;
  private readonly display: BatchDisplay;
  private readonly scoring = limiter(SCORING_AT_ONCE);
  private readonly pending = new Set<number>();
  private readonly settled: { n: number; record: AnswerRecord }[] = [];
  private readonly costs: Map<string, number>;
  private readonly endedHere = new Set<number>();
  private detached = false;

  constructor(
    private readonly at: ReadyBatch,
    private readonly results: ResultFile,
  ) {
    this.costs = at.together?.costs ?? new Map<string, number>();
    this.interrupts = watchInterrupts(at.io);
    this.display = at.together?.display ?? batchDisplay(at.batch, at.io);
  }

  async run(): Promise<BatchEnd> {
    const startedMs = this.at.io.now();
    let end: BatchEnd['end'];
    try {
      await this.readStore();
      end = await this.ask();
    } finally {
      // Also after an error: what has ended is scored.
      await this.scoring.idle().finally(() => {
        this.display.stop();
        this.interrupts.stopListening();
      });
    }
    this.results.rewrite();
    return { end, wallMs: this.at.io.now() - startedMs, ended: this.endedHere.size, detached: this.detached };
  }

  /** What is answered already is scored anew; the file of results is whole before anything is added. */
  private async readStore(): Promise<void> {
    const { batch } = this.at;
    const records = await storedRecords(this.at);
    for (const n of await openSearches(this.at, records)) this.pending.add(n);
    for (const [n, record] of records.entries()) {
      if (record !== null) this.costs.set(batch.searches[n]?.searchId ?? '', record.usage.costUsd);
      if (record !== null && isDecided(record)) this.settled.push({ n, record });
    }
    if (this.settled.length > 0 && this.pending.size > 0) {
      this.display.note(
        `${this.settled.length} of ${counted(batch.searches.length, 'question')} answered before; they cost nothing`,
      );
    }
    for (const { n, record } of this.settled) {
      this.score(n, { outcome: { kind: 'answer', status: record.status }, record }, false);
    }
    await this.scoring.idle();
    if (this.interrupts.quit.aborted)
      throw new GateError('stopped while scoring what was answered before', 'cancelled');
    this.results.rewrite();
  }

  private async ask(): Promise<BatchEnd['end']> {
    const { services, batch, flags } = this.at;
    const { config, store } = services;
    if (this.pending.size === 0) return 'completed';
    const stopped = await this.waitForPlace();
    if (stopped !== null) return stopped;
    await batchPreflight(this.at, this.pending, (line) => this.display.note(line));
    await saveQuestions(this.at, this.pending);
    const note = (line: string): void => this.display.note(line);
    const follow: Parameters<typeof withBatchServed>[0]['follow'] = (served) =>
      followBatch({
        ...served,
        ...{ store, batch, pending: this.pending, concurrency: () => this.places() },
        ...{ interrupts: this.interrupts, display: this.display, spent: () => this.spent() },
        modelTimeoutMs: config.models.requestTimeoutMs,
        modelOutageMs: config.models.outageMs,
        only: flags.retryOf !== undefined,
        ended: (n, outcome) => {
          this.endedHere.add(n);
          this.scoring.add(async () => {
            const record = await recordOf(store, batch.searches[n]?.searchId ?? '');
            this.score(n, { outcome, record }, true);
          });
        },
      });
    const { pending, interrupts } = this;
    const { end, detached } = await withBatchServed({ ready: this.at, pending, interrupts, note, follow });
    this.detached = detached;
    await this.findEnded();
    return end;
  }

  /** Null: it has one, and may begin. */
  private async waitForPlace(): Promise<Stopped | null> {
    for (;;) {
      if (this.interrupts.count() > 0) return 'interrupted';
      const stopped = this.at.together?.stopped() ?? null;
      if (stopped !== null) return stopped;
      if (this.spent()) {
        this.display.note('the batch has reached --max-total-cost: no question starts');
        return 'ceiling';
      }
      if (this.places() > 0) return null;
      await pause(PLACE_POLL_MS, this.interrupts.quit);
    }
  }

  private places(): number {
    const { together, flags } = this.at;
    return together?.places(this.pending.size - this.endedHere.size) ?? flags.concurrency;
  }

  /** What ended after the batch's workflow was last heard. */
  private async findEnded(): Promise<void> {
    const { services, batch } = this.at;
    for (const n of this.pending) {
      if (this.endedHere.has(n)) continue;
      const record = await recordOf(services.store, batch.searches[n]?.searchId ?? '');
      if (record === null || !isDecided(record)) continue;
      this.endedHere.add(n);
      this.score(n, { outcome: { kind: 'answer', status: record.status }, record }, true);
    }
  }

  private score(n: number, ended: Ended, now: boolean): void {
    const { batch, composition, score: scorer, flags } = this.at;
    const searchId = batch.searches[n]?.searchId;
    if (searchId !== undefined && ended.record !== null) this.costs.set(searchId, ended.record.usage.costUsd);
    for (const question of batch.questions.filter(({ input }) => input.searchId === searchId)) {
      this.scoring.add(async () => {
        try {
          const line = await resultLine(question, ended, composition.engine, this.interrupts.quit, {
            ...(scorer && { scorer }),
            rows: flags.rows ?? false,
          });
          this.results.add(line);
          this.display.ended(line, now);
        } catch (error) {
          // Told to quit: the next run scores it.
          if (!this.interrupts.quit.aborted) throw error;
        }
      });
    }
  }

  private spent(): boolean {
    const { maxTotalCost } = this.at.flags;
    if (maxTotalCost === undefined) return false;
    return [...this.costs.values()].reduce((sum, cost) => sum + cost, 0) >= maxTotalCost;
  }
}

export function questionsOf(path: string, flags: Pick<BatchFlags, 'knowledge'>): Promise<BenchmarkItem[]> {
  return loadQuestions(path, { hiddenKnowledge: flags.knowledge ?? false });
}
