/**
 * What `gate batch run` does: read the file, name every database, look into the store, run what is not answered yet as
 * one durable batch served by this process, score each answer as it comes, and sum up.
 *
 * 1. All that is wrong with the command line is said before anything starts.
 * 2. The store decides what is answered: a second run scores it anew and asks no model.
 * 3. An infrastructure failure is never a wrong answer; it is asked again by the next run.
 */
import { join, resolve } from 'node:path';
import { loadQuestions, QuestionFileError, type BenchmarkItem } from '../benchmarks';
import type { ResolvedDatabase } from '../config/databases';
import type { AnswerRecord } from '../domain';
import { counted } from '../report/printable';
import { compose, type Composition } from '../workers/composition';
import { createGateWorkers, installLogger } from '../workers/run-worker';
import { earlierModelQueues, modelQueues, queuesByModel } from '../workers/model-queues';
import { servingOf } from '../workers/serving';
import { batchQueue } from '../workers/task-queues';
import { checkWeb, modelsFor, webNotice } from './ask-input';
import { batchDatabases } from './batch-databases';
import { takeOverBatch } from './batch-earlier';
import { estimateBatch, estimateText } from './batch-estimate';
import { followBatch, type FollowEnd } from './batch-follow';
import { batchName, planBatch, selectItems, type Batch, type BatchFlags } from './batch-plan';
import { replaceFile, ResultFile, SUMMARY, withResultFolder } from './batch-results';
import { resultLine, type Ended } from './batch-score';
import { batchSummary, shownCommand, summaryText } from './batch-summary';
import { batchDisplay, type BatchDisplay } from './batch-table';
import { checkDatabase } from './check-database';
import { askedAnewLine, type AskedAnew } from './earlier-search';
import { CommandFailed, EXIT, UsageError, type ExitCode } from './errors';
import { watchInterrupts, type Interrupts } from './interrupts';
import type { Io } from './io';
import { limiter } from '../limiter';
import { embeddingHost, tellWhoReceivesNames, tellWhoReceivesRows } from './notice';
import { checkModel, unpricedModels } from './preflight';
import { noteSeen, recogniseAll } from './seen-databases';
import { addToIndex, batchPorts, openServices, recordOf, saveInput, type Services } from './services';
import { openTemporal } from './temporal-session';

export async function runBatchCommand(
  file: string,
  flags: BatchFlags,
  args: readonly string[],
  io: Io,
): Promise<ExitCode> {
  if (flags.out === undefined && !flags.dryRun) {
    throw new UsageError('where do the results go? add --out FOLDER (or --dry-run for an estimate)');
  }
  const services = openServices(io);
  const { config, store } = services;
  checkWeb(config, flags);
  const items = await questionsOf(resolve(io.cwd, file), flags);
  const selected = selectItems(items, flags);
  const databases = batchDatabases(config, flags.db ?? [], { selected, others: items }, io.cwd);
  const composition = await compose(config, { adHoc: databases.all.filter(({ adHoc }) => adHoc) });
  try {
    const models = modelsFor(config, flags, composition.ollamaModels ?? []);
    const name = batchName(file, flags);
    const recognised = await recogniseAll(store, databases.all);
    for (const called of new Set(selected.map((item) => databases.of(item).name))) {
      const notice = recognised.get(called)?.notice ?? null;
      if (notice !== null) io.err(`${notice}\n`);
    }
    const anew: AskedAnew[] = [];
    const batch = await planBatch({
      ...{ config, store, flags, name, items: selected, databases, models, recognised, cwd: io.cwd },
      describe: (database) => checkDatabase(composition, database),
      tell: (one) => void anew.push(one),
    });
    const [first] = anew;
    if (first !== undefined)
      io.err(`${askedAnewLine(first)}${anew.length === 1 ? '' : `; so are ${anew.length - 1} more`}\n`);
    const run = {
      services,
      composition,
      databases: databases.all,
      batch,
      flags,
      file,
      command: shownCommand(args),
      io,
    };
    if (flags.dryRun) return await dryRun(run);
    const folder = resolve(io.cwd, flags.out ?? '.');
    return await withResultFolder(folder, () => new BatchRun(run, folder).run());
  } finally {
    await composition.close();
  }
}

interface Running {
  readonly services: Services;
  readonly composition: Composition;
  readonly databases: readonly ResolvedDatabase[];
  readonly batch: Batch;
  readonly flags: BatchFlags;
  readonly file: string;
  readonly command: string;
  readonly io: Io;
}

const SETTLED: ReadonlySet<AnswerRecord['status']> = new Set(['answered', 'unanswerable', 'abstained']);
const SCORING_AT_ONCE = 4;
const SAVING_AT_ONCE = 16;
/** How long a model call in flight, which is paid for, may take to finish. */
const GRACE_MS = 60_000;

class BatchRun {
  private readonly interrupts: Interrupts;
  private readonly display: BatchDisplay;
  private readonly results: ResultFile;
  private readonly scoring = limiter(SCORING_AT_ONCE);
  private readonly pending = new Set<number>();
  private readonly settled: { n: number; record: AnswerRecord }[] = [];
  private readonly costs = new Map<string, number>();
  private readonly endedHere = new Set<number>();

  constructor(
    private readonly at: Running,
    private readonly folder: string,
  ) {
    this.interrupts = watchInterrupts(at.io);
    this.results = new ResultFile(
      folder,
      at.batch.questions.map(({ item }) => item.id),
    );
    this.display = batchDisplay(at.batch, at.io);
  }

  async run(): Promise<ExitCode> {
    const startedMs = this.at.io.now();
    let end: FollowEnd;
    try {
      await this.readStore();
      end = await this.ask();
      await this.scoring.idle();
    } finally {
      this.display.stop();
      this.interrupts.stopListening();
    }
    this.results.rewrite();
    return this.sumUp(end, this.at.io.now() - startedMs);
  }

  /** What is answered already is scored anew; the file of results is whole before anything is added. */
  private async readStore(): Promise<void> {
    const { services, batch } = this.at;
    const reading = limiter(SAVING_AT_ONCE);
    batch.searches.forEach(({ searchId }, n) => {
      reading.add(async () => {
        const record = await recordOf(services.store, searchId);
        if (record !== null) this.costs.set(searchId, record.usage.costUsd);
        if (record !== null && SETTLED.has(record.status)) this.settled.push({ n, record });
        else this.pending.add(n);
      });
    });
    await reading.idle();
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
      throw new CommandFailed('stopped while scoring what was answered before', EXIT.cancelled);
    this.results.rewrite();
  }

  private async ask(): Promise<FollowEnd> {
    const { services, composition, batch, flags, io } = this.at;
    const { config, store } = services;
    if (this.pending.size === 0) return 'completed';
    if (this.interrupts.count() > 0) return 'interrupted';
    if (this.spent()) {
      this.display.note('the batch has reached --max-total-cost: no question starts');
      return 'ceiling';
    }
    await this.preflight();
    const saving = limiter(SAVING_AT_ONCE);
    for (const n of this.pending) {
      const input = batch.searches[n];
      if (input === undefined) continue;
      saving.add(async () => {
        await saveInput(store, input);
        await addToIndex(store, input, io.now());
      });
    }
    await saving.idle();
    installLogger('WARN', (line) => flags.debug && this.display.note(line));
    const session = await openTemporal(config, io.env, { onProgress: (line) => this.display.note(line) });
    try {
      if (session.uiUrl !== null) {
        this.display.note(
          `Temporal UI ${session.uiUrl}/namespaces/${session.namespace}/workflows/batch-${batch.batchId}`,
        );
      }
      const limited = modelQueues(config, composition, Object.values(batch.settings.models));
      const serving = servingOf(config, composition, this.at.databases);
      const note = (line: string): void => this.display.note(line);
      const earlier = await takeOverBatch({ session, batch, pending: this.pending, serving, note, nowMs: io.now() });
      const workers = await createGateWorkers({
        ...{
          address: session.address,
          namespace: session.namespace,
          steps: composition.steps,
          batch: batchPorts(store),
          dataConverter: session.dataConverter,
        },
        ...(session.connectionOptions === null ? {} : { connectionOptions: session.connectionOptions as never }),
        ...{
          databases: [],
          ownQueues: [batchQueue(batch.batchId, serving), batchQueue(batch.scope, serving), ...earlier],
        },
        maxModelCalls: Math.max(64, flags.concurrency + 16),
        modelQueues: [...limited, ...(earlier.length === 0 ? [] : earlierModelQueues(config))],
        graceMs: GRACE_MS,
      });
      const working = workers.run();
      // Its error, if it has one, ends the following below.
      const stopped = working.catch(() => undefined);
      const broken = working.then(() =>
        Promise.reject(new CommandFailed('the worker stopped; run the same command again to continue')),
      );
      broken.catch(() => undefined);
      let end: FollowEnd;
      try {
        end = await followBatch({
          ...{ session, store, batch, pending: this.pending, concurrency: flags.concurrency },
          ...{ interrupts: this.interrupts, display: this.display, spent: () => this.spent() },
          modelTimeoutMs: config.models.requestTimeoutMs,
          models: queuesByModel(limited),
          serving,
          broken,
          ended: (n, outcome) => {
            this.endedHere.add(n);
            this.scoring.add(async () => {
              const record = await recordOf(store, batch.searches[n]?.searchId ?? '');
              this.score(n, { outcome, record }, true);
            });
          },
        });
        if (end === 'interrupted') {
          this.display.note(
            `pausing: running steps may finish (up to ${GRACE_MS / 1000} s), nothing is cancelled; interrupt again to quit at once`,
          );
        }
      } finally {
        workers.stop();
        await Promise.race([stopped, this.interrupts.second]);
      }
      await this.findEnded();
      return end;
    } finally {
      await session.close();
    }
  }

  /** What ended after the batch's workflow was last heard. */
  private async findEnded(): Promise<void> {
    const { services, batch } = this.at;
    for (const n of this.pending) {
      if (this.endedHere.has(n)) continue;
      const record = await recordOf(services.store, batch.searches[n]?.searchId ?? '');
      if (record === null || !SETTLED.has(record.status)) continue;
      this.endedHere.add(n);
      this.score(n, { outcome: { kind: 'answer', status: record.status }, record }, true);
    }
  }

  private score(n: number, ended: Ended, now: boolean): void {
    const { batch, composition } = this.at;
    const searchId = batch.searches[n]?.searchId;
    if (searchId !== undefined && ended.record !== null) this.costs.set(searchId, ended.record.usage.costUsd);
    for (const question of batch.questions.filter(({ input }) => input.searchId === searchId)) {
      this.scoring.add(async () => {
        try {
          const line = await resultLine(question, ended, composition.engine, this.interrupts.quit);
          this.results.add(line);
          this.display.ended(line, now);
        } catch (error) {
          // Told to quit: the next run scores it.
          if (!this.interrupts.quit.aborted) throw error;
        }
      });
    }
  }

  private async preflight(): Promise<void> {
    const { services, composition, batch } = this.at;
    const { config } = services;
    const open = new Set([...this.pending].map((n) => batch.searches[n]?.question.database ?? ''));
    const asked = new Map(batch.questions.map(({ database }) => [database.name, database]));
    const checks = await Promise.allSettled(
      [...asked.values()]
        .filter(({ name }) => open.has(name))
        .map(async (database) => {
          const { fingerprint } = await checkDatabase(composition, database.name);
          await noteSeen(services.store, database, fingerprint, this.at.io.now());
        }),
    );
    const failed = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason as Error] : []));
    // One server that is down is one line, however many databases it holds.
    const problems = [...new Map(failed.map((problem) => [problem.message, problem])).values()];
    for (const problem of problems.slice(0, -1)) this.display.note(`gate: ${problem.message}`);
    const last = problems.at(-1);
    if (last !== undefined) throw last;
    const models = [...new Set(Object.values(batch.settings.models))];
    await checkModel(config, composition, models);
    const receivers = {
      endpoint: composition.model.endpoint,
      // All databases of the batch, also those whose questions are finished: the notice is shown once.
      database: [...new Set(batch.searches.map(({ question }) => question.database))].sort().join("', '"),
      identity: [...new Set(this.at.databases.map(({ identity }) => identity))].sort().join(' '),
      unpriced: unpricedModels(config, models),
      costCeilingUsd: batch.settings.budgets.costUsd,
    };
    const tell = { err: (text: string) => this.display.note(text.trimEnd()) };
    tellWhoReceivesRows(config.folders, receivers, tell);
    const endpoint = embeddingHost(config);
    if (endpoint !== null) tellWhoReceivesNames(config.folders, { ...receivers, endpoint }, tell);
    const notice = webNotice(config, this.at.flags);
    if (notice !== null) this.display.note(notice);
    for (const { item, database } of batch.questions) {
      if (item.engine === null || item.engine === database.dialect) continue;
      const line = `${item.database ?? database.name} is ${database.dialect} here, the file says ${item.engine}: its gold SQL may fail`;
      this.display.note(line);
      break;
    }
  }

  private spent(): boolean {
    const { maxTotalCost } = this.at.flags;
    if (maxTotalCost === undefined) return false;
    return [...this.costs.values()].reduce((sum, cost) => sum + cost, 0) >= maxTotalCost;
  }

  private sumUp(end: FollowEnd, wallMs: number): ExitCode {
    const { services, batch, flags, file, command, io } = this.at;
    const summary = batchSummary(this.results.all(), {
      ...{ batch, file, command, concurrency: flags.concurrency, knowledge: flags.knowledge ?? false },
      endedAt: new Date(io.now()).toISOString(),
      unpricedModels: unpricedModels(services.config, [...new Set(Object.values(batch.settings.models))]),
      run: { wallMs, ended: this.endedHere.size },
    });
    const json = `${JSON.stringify(summary, null, 2)}\n`;
    replaceFile(join(this.folder, SUMMARY), json);
    io.out(flags.json ? json : summaryText(summary, io.columns));
    io.err(`${join(this.folder, 'results.jsonl')}, ${SUMMARY} (${batch.batchId})\n`);
    if (end === 'interrupted') {
      const open = counted(summary.notAsked, 'question');
      io.err(
        `paused with ${open} open; run the same command${flags.fresh ? ' without --fresh' : ''} again to continue; nothing is paid twice\n`,
      );
      return EXIT.cancelled;
    }
    if (end === 'cancelled' || end === 'ceiling') {
      const why =
        end === 'ceiling' ? 'raise --max-total-cost and run it again' : 'the batch was cancelled; run it again';
      io.err(`${counted(summary.notAsked, 'question')} not asked: ${why} to continue\n`);
      return EXIT.cancelled;
    }
    const { count } = summary.infrastructureFailures;
    if (count === 0 && summary.complete) return EXIT.ok;
    io.err(`${counted(count + summary.notAsked, 'infrastructure failure')}: the same command asks them again\n`);
    return EXIT.failed;
  }
}

async function dryRun({ services, composition, batch, flags, io }: Running): Promise<ExitCode> {
  const { config, store } = services;
  const settled = new Set<string>();
  for (const { searchId } of batch.searches) {
    const record = await recordOf(store, searchId);
    if (record !== null && SETTLED.has(record.status)) settled.add(searchId);
  }
  const estimate = await estimateBatch(config, composition, batch, settled);
  io.out(flags.json ? `${JSON.stringify(estimate, null, 2)}\n` : estimateText(estimate, io.columns));
  const unusable = estimate.databases.filter(({ problem }) => problem !== null);
  if (unusable.length === 0) return EXIT.ok;
  throw new CommandFailed(
    `${unusable.length} of ${counted(estimate.databases.length, 'database')} cannot be used: ${unusable.map(({ database, problem }) => `${database} (${problem ?? ''})`).join('; ')}`,
  );
}

async function questionsOf(path: string, flags: BatchFlags): Promise<BenchmarkItem[]> {
  try {
    return await loadQuestions(path, { hiddenKnowledge: flags.knowledge ?? false });
  } catch (error) {
    if (error instanceof QuestionFileError) throw new UsageError(error.message);
    throw error;
  }
}
