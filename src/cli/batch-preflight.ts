/** What is checked and told before a batch asks anything: its databases, its models, and who receives rows. */
import type { BenchmarkItem } from '../questions';
import { someOf } from '../counted';
import { isDecided, type AnswerRecord } from '../domain';
import { each } from '../limiter';
import type { ResolvedDatabase } from '../config/databases';
import { counted } from '../report/printable';
import type { Composition } from '../workers/composition';
import { webNotice } from '../app/question-input';
import type { Asking } from '../app/start-search';
import type { Batch, BatchFlags } from './batch-plan';
import type { Scorer } from './batch-results';
import type { BatchDisplay } from './batch-table';
import { checkDatabase } from '../app/check-database';
import type { Io } from './io';
import { tellWhoReceivesRows } from '../app/notice';
import { checkModel, unpricedModels } from '../app/model-check';
import { addToIndex, recordOf, saveInput, type Services } from '../app/services';
import { isToRetry, storedBatch } from '../app/run/stored-batches';

/** Why a run asks no further question. */
export type Stopped = 'interrupted' | 'cancelled' | 'ceiling' | 'failed';

/** A batch that is about to run. */
export interface ReadyBatch {
  readonly services: Services;
  readonly composition: Composition;
  readonly databases: readonly ResolvedDatabase[];
  readonly batch: Batch;
  readonly flags: BatchFlags;
  /** The file that the exchanges with the model are written to, or read from. */
  readonly files: Asking['files'];
  readonly io: Io;
  /** With other batches of one run; left out: it is alone. */
  readonly together?: {
    /** What each search of the run has cost. */
    readonly costs: Map<string, number>;
    /** Why nothing more is asked; null: it goes on. */
    readonly stopped: () => Stopped | null;
    /** How many of its questions may run at the same time now, as so many of them are open. */
    readonly places: (open: number) => number;
    /** Its line of the run's live table; null: it tells by itself how it goes. */
    readonly display: BatchDisplay | null;
  };
  /** Judges in place of the question's own gold; left out: that does. */
  readonly score?: Scorer;
}

/** The record of each search, in their order; null: it has none yet. */
export function storedRecords({ services, batch }: ReadyBatch): Promise<(AnswerRecord | null)[]> {
  return each(batch.searches, ({ searchId }) => recordOf(services.store, searchId));
}

/** Positions of the searches to ask: those that have not ended well, or in a retry those that failed. */
export async function openSearches(
  { services, batch, flags }: ReadyBatch,
  records: readonly (AnswerRecord | null)[],
): Promise<Set<number>> {
  const open = new Set(records.flatMap((record, n) => (record !== null && isDecided(record) ? [] : [n])));
  if (flags.retryOf === undefined || open.size === 0) return open;
  const { questions } = await storedBatch(services.store, { id: batch.batchId, startedMs: 0 });
  return new Set(questions.flatMap((question, n) => (open.has(n) && isToRetry(question, flags.undecided) ? [n] : [])));
}

/** What a worker reads of the questions, and what lists them. */
export async function saveQuestions({ services, batch, io }: ReadyBatch, pending: ReadonlySet<number>): Promise<void> {
  await each(
    batch.searches.filter((_, n) => pending.has(n)),
    async (input) => {
      await saveInput(services.store, input);
      await addToIndex(services.store, input, io.now());
    },
  );
}

export async function batchPreflight(
  ready: ReadyBatch,
  pending: ReadonlySet<number>,
  note: (line: string) => void,
): Promise<void> {
  const { services, composition, batch, flags } = ready;
  const open = new Set([...pending].map((n) => batch.searches[n]?.question.database ?? ''));
  const asked = new Map(batch.questions.map(({ database }) => [database.name, database]));
  const checks = await Promise.allSettled(
    [...asked.values()].filter(({ name }) => open.has(name)).map(({ name }) => checkDatabase(composition, name)),
  );
  const failed = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason as Error] : []));
  // One server that is down is one line, however many databases it holds.
  const problems = [...new Map(failed.map((problem) => [problem.message, problem])).values()];
  for (const problem of problems.slice(0, -1)) note(`gate: ${problem.message}`);
  const last = problems.at(-1);
  if (last !== undefined) throw last;
  if (ready.files.replay === undefined) await checkReceivers(ready, note);
  const notice = webNotice(services.config, flags);
  if (notice !== null) note(notice);
  for (const { item, database } of batch.questions) {
    if (item.engine === null || item.engine === database.dialect) continue;
    const line = `${item.database ?? database.name} is ${database.dialect} here, the file says ${item.engine}: its gold SQL may fail`;
    note(line);
    break;
  }
}

/** The model is there, and who receives rows is told. */
async function checkReceivers(
  { services, composition, databases, batch, files }: ReadyBatch,
  note: (line: string) => void,
): Promise<void> {
  const { config } = services;
  const models = [...new Set(Object.values(batch.settings.models))];
  await checkModel(config, composition, models);
  if (files.record !== undefined) {
    const { noteOf, prepareRecording } = await import('../adapters/recording');
    await prepareRecording(files.record, noteOf(composition.model));
  }
  const receivers = {
    endpoint: composition.model.endpoint,
    // All databases of the batch, also those whose questions are finished: the notice is shown once.
    database: [...new Set(batch.searches.map(({ question }) => question.database))].sort().join("', '"),
    identity: [...new Set(databases.map(({ identity }) => identity))].sort().join(' '),
    unpriced: unpricedModels(config, models),
    costCeilingUsd: batch.settings.budgets.costUsd,
  };
  const tell = { err: (text: string) => note(text.trimEnd()) };
  tellWhoReceivesRows(config.folders, receivers, tell);
}

/** Before anything is asked: what has no gold is in no score. */
export function tellNoGold(
  items: readonly BenchmarkItem[],
  isScored: (item: BenchmarkItem) => boolean,
  io: Pick<Io, 'err'>,
  of = '',
): void {
  const without = items.filter((item) => !isScored(item)).map(({ id }) => id);
  if (without.length > 0)
    io.err(`${of}${counted(without.length, 'question')} without gold (${someOf(without)}), in no accuracy\n`);
}
