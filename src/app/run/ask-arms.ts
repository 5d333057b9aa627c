/**
 * Asks the batches of a run, several at a time, under one concurrency and one ceiling of cost.
 *
 * 1. What the store has is scored first, and costs nothing.
 * 2. After the first batch that ends early, no other begins.
 */
import type { AnswerRecord } from '../../domain';
import { each } from '../../limiter';
import type { BoardScore, ResultLine } from '../../questions';
import { openTemporal } from '../open-temporal';
import type { Arm, AskingRun } from './arms';
import { AskedBatch, type Stopped, type StoredRecords } from './ask-batch';
import type { ResultFile } from './results';
import { keepAsked, type Asked } from './stored-batches';

/** Batches that run at the same time: what one has no question for is left to the next ones. */
const AT_ONCE = 4;

export interface AskedArm {
  readonly arm: Arm;
  readonly lines: readonly ResultLine[];
  /** By search id. */
  readonly records: ReadonlyMap<string, AnswerRecord>;
  /** By the benchmark's scorer, if it has one; infrastructure failures and what was cancelled have none. */
  readonly scores: ReadonlyMap<string, BoardScore>;
}

interface AskedArms {
  readonly asked: readonly AskedArm[];
  readonly stopped: Stopped | null;
  /** What the first arm that failed ended with, to be thrown once the answers are told; null: none did. */
  readonly failure: Error | null;
  /** Answers that the store had before. */
  readonly found: number;
  /** Version of its server; null: nothing was asked. */
  readonly temporal: string | null;
  /** Others work on a batch of it. */
  readonly detached: boolean;
}

/** `stored`: the records of each arm. `plan`: how the batches were asked for, which is kept with each. */
export async function askArms(
  run: AskingRun,
  stored: readonly StoredRecords[],
  results: ResultFile,
  plan: Omit<Asked, 'isMasked' | 'questions' | 'method' | 'seed'>,
): Promise<AskedArms> {
  const { arms, services, surroundings, stopping, tell } = run;
  // Exchanges of several batches at the same time would be mixed in one recording.
  const atOnce = run.composition === null ? 1 : AT_ONCE;
  const state: { stopped: Stopped | null; failure: Error | null } = { stopped: null, failure: null };
  const batches = arms.map((arm, index) => new AskedBatch(run, arm, index, results));
  tell({ kind: 'planned', arms });
  await each([...batches.entries()], ([index, batch]) => batch.scoreStored(stored[index] ?? []), atOnce);
  results.rewrite(inOrder(arms, results.all()));
  const places = new Places(
    run.concurrency,
    batches.map(({ pending }) => pending.size),
  );
  const stopped = (): Stopped | null => (stopping.asked.aborted ? 'interrupted' : state.stopped);
  const onProgress = (text: string): void => tell({ kind: 'note', arm: null, text });
  // One Temporal for all batches: the embedded server would start and stop with each.
  const session = batches.some(({ pending }) => pending.size > 0)
    ? await openTemporal(services.config, surroundings.env, { onProgress })
    : null;
  try {
    const temporal = session && (await session.gate.client.workflowService.getSystemInfo({})).serverVersion;
    await each(
      batches.map((batch, index) => ({ batch, index })),
      async ({ batch, index }) => {
        const { arm } = batch;
        const { spec, seed } = arm;
        const kept = { ...plan, questions: arm.set.name, method: spec.spec, seed };
        await keepAsked(services.store, arm.batch.batchId, kept);
        try {
          const end = await batch.ask({ stopped, places: (open) => places.of(index, open) });
          if (end !== 'completed') state.stopped ??= end;
        } catch (error) {
          state.stopped ??= 'failed';
          state.failure ??= error as Error;
          // The others finish first, so it would be told late.
          if (arms.length > 1) tell({ kind: 'note', arm: index, text: (error as Error).message });
        } finally {
          places.of(index, 0);
        }
      },
      atOnce,
    );
    const lines = inOrder(arms, results.all());
    // There is nothing to tell before.
    if (state.failure !== null && lines.length === 0) throw state.failure;
    results.rewrite(lines);
    return {
      ...state,
      temporal,
      asked: batches.map(({ arm, records, scores }) => ({ arm, records, scores, lines: linesOf(arm, lines) })),
      found: batches.reduce((sum, { arm, ended }) => sum + arm.batch.searches.length - ended, 0),
      detached: batches.some(({ detached }) => detached),
    };
  } finally {
    await session?.close();
  }
}

const linesOf = ({ set, spec, seed }: Arm, lines: readonly ResultLine[]): ResultLine[] =>
  lines.filter((line) => line.set === set.name && line.method === spec.spec && line.seed === seed);

/** As the arms and the files have them. */
export function inOrder(arms: readonly Arm[], lines: readonly ResultLine[]): ResultLine[] {
  return arms.flatMap((arm) => {
    const byId = new Map(linesOf(arm, lines).map((line) => [line.id, line]));
    return arm.batch.questions.flatMap(({ item }) => byId.get(item.id) ?? []);
  });
}

/**
 * How the batches of a run share its concurrency. One comes after the other: each leaves to the next what it has no open question
 * for, so all places are in use until the last batch ends, and a batch only ever gets more of them.
 */
export class Places {
  private readonly open: number[];

  /** `open`: open questions of each batch, in their order. */
  constructor(
    private readonly concurrency: number,
    open: readonly number[],
  ) {
    this.open = [...open];
  }

  /** How many questions of this batch may run at the same time, as so many of them are open. */
  of(batch: number, open: number): number {
    this.open[batch] = open;
    return Math.max(
      0,
      this.open.slice(0, batch).reduce((left, before) => left - before, this.concurrency),
    );
  }
}
