/** Runs methods with their seeds as durable batches, one after the other or several at the same time, under one ceiling of cost. */
import type { BoardScore, ComparedAnswer } from '../questions';
import type { MethodSpec } from '../config/method-specs';
import { isDecided, type AnswerRecord } from '../domain';
import { each } from '../limiter';
import { counted } from '../report/printable';
import { provedShare, standingOf } from '../text/standing';
import { estimateOf, estimatesText, requireUsable, totalOf } from './batch-estimate';
import { ofArm } from './batch-events';
import type { ReadyBatch, Stopped } from './batch-preflight';
import { ResultFile, type ResultLine, type Scorer } from './batch-results';
import { BatchRun } from './batch-run';
import { scopeOf, withComposition, type Arm, type Comparing } from './compare-arms';
import { EXIT, type ExitCode } from './exit';
import { holdInterrupts } from './interrupts';
import type { Io } from './io';
import { Places } from './run-places';
import { runDisplay } from './run-table';
import { recordOf, type Services } from '../app/services';
import { keepArm } from '../app/run/stored-batches';
import { openTemporal } from '../app/temporal-session';

export interface Ran {
  readonly answers: readonly ComparedAnswer[];
  /** By search id. */
  readonly records: ReadonlyMap<string, AnswerRecord>;
  readonly stopped: Stopped | null;
}

export interface RanArm extends Pick<Ran, 'answers' | 'records'> {
  readonly arm: Arm;
  /** By the benchmark's scorer, if it has one; infrastructure failures and what was cancelled have none. */
  readonly scores: ReadonlyMap<string, BoardScore>;
}

export interface RanArms extends Pick<Ran, 'stopped'> {
  readonly ran: readonly RanArm[];
  /** Answers that the store had before. */
  readonly found: number;
  /** Version of its server; null: nothing was asked. */
  readonly temporal: string | null;
  /** What the first arm that failed ended with, to be thrown once the answers are told; null: none did. */
  readonly failure: Error | null;
}

/**
 * In the order of the arms; at most `atOnce` of them at the same time, under one concurrency. After the first one that ends
 * early, the others are only read: what the store has of them costs nothing. `run`: the name of the run, for `gate batch status`.
 */
export async function runArms(
  { services, io }: Pick<Comparing, 'services' | 'io'>,
  arms: readonly Arm[],
  { atOnce = 1, run = null }: { readonly atOnce?: number; readonly run?: string | null } = {},
): Promise<RanArms> {
  const ran = new Map<Arm, RanArm>();
  const state: { stopped: Ran['stopped']; failure: Error | null; found: number } = {
    ...{ stopped: null, failure: null, found: 0 },
  };
  const stored = await each(arms, (arm) => storedOf(services, arm), 1);
  const costs = new Map(stored.flatMap((one) => one.costs));
  const open = stored.map((one) => one.open);
  const places = new Places(arms[0]?.flags.concurrency ?? 1, open);
  const held = holdInterrupts(io);
  const stopped = () => (held.count() > 0 ? 'interrupted' : state.stopped);
  const session = open.some((count) => count > 0)
    ? await openTemporal(services.config, io.env, { onProgress: (line) => io.err(`${line}\n`) })
    : null;
  const labels = arms.map((arm) => labelOf(arm, arms));
  const table =
    atOnce > 1 && io.live && session !== null
      ? runDisplay(
          arms.map(({ batch }, index) => ({ batch, label: labels[index] ?? '' })),
          io,
        )
      : null;
  const told: Io = table === null ? io : { ...io, err: (text) => table.note(text.trimEnd()) };
  try {
    const temporal = session && (await session.gate.client.workflowService.getSystemInfo({})).serverVersion;
    await each(
      arms.map((arm, index) => ({ arm, index })),
      async ({ arm, index }) => {
        if (held.count() > 1) {
          state.stopped ??= 'interrupted';
          return;
        }
        const label = labels[index] ?? '';
        if (table === null && (open[index] ?? 0) > 0 && stopped() === null)
          io.err(`[${index + 1}/${arms.length}] ${label}\n`);
        const display = table?.of(index) ?? null;
        const together = { costs, stopped, display, places: (some: number) => places.of(index, some) };
        const { spec, seed, batch } = arm;
        const part = { run, method: spec.spec, questions: batch.name, seed };
        await keepArm(services.store, batch.batchId, part);
        const one = await runArm(arm, together, atOnce === 1 ? io : labelled(told, label));
        places.of(index, 0);
        ran.set(arm, one);
        state.found += arm.batch.searches.length - one.ended;
        if (one.end !== 'completed') state.stopped ??= one.end;
        if (one.failure === null) return;
        state.failure ??= one.failure;
        // The others finish first, so it would be told late.
        if (atOnce > 1) told.err(`${label}: ${one.failure.message}\n`);
      },
      atOnce,
    );
    // There is nothing to tell before.
    if (state.failure !== null && [...ran.values()].every(({ answers }) => answers.length === 0)) throw state.failure;
    return { ...state, temporal, ran: arms.flatMap((arm) => ran.get(arm) ?? []) };
  } finally {
    table?.stop();
    try {
      await session?.close();
    } finally {
      held.release();
    }
  }
}

/** Of an arm before anything is asked: what its searches have cost, and how many are open. */
async function storedOf({ store }: Services, { batch }: Arm) {
  const records = await each(batch.searches, ({ searchId }) => recordOf(store, searchId));
  return {
    costs: records.flatMap((record): [string, number][] =>
      record === null ? [] : [[record.id, record.usage.costUsd]],
    ),
    open: records.filter((record) => record === null || !isDecided(record)).length,
  };
}

/** What tells it from the others. */
function labelOf({ at, spec, seed }: Arm, arms: readonly Arm[]): string {
  const differs = (of: (arm: Arm) => unknown): boolean => new Set(arms.map(of)).size > 1;
  return [
    ...(differs((arm) => arm.at.asked.name) ? [`${at.asked.name}:`] : []),
    `${spec.spec}${differs((arm) => arm.seed) ? `, seed ${seed}` : ''}`,
  ].join(' ');
}

/** Several arms write lines, each with its name. */
function labelled(io: Io, label: string): Io {
  if (io.emit !== undefined) return ofArm(io, label, io.emit);
  return { ...io, live: false, err: (text) => io.err(`${label}: ${text}`) };
}

async function runArm(arm: Arm, together: NonNullable<ReadyBatch['together']>, io: Io) {
  const { at, spec, seed, flags, batch } = arm;
  const { services, asked, files } = at;
  const scores = new Map<string, BoardScore>();
  const { score } = asked;
  const scored: Scorer | undefined =
    score &&
    (async (item, ...rest) => {
      const found = await score(item, ...rest);
      if (found.verdict !== 'infrastructure' && found.verdict !== 'cancelled') scores.set(item.id, found);
      return found;
    });
  return withComposition(at, scopeOf(spec, seed), async (composition) => {
    const results = new ResultFile(
      null,
      asked.items.map(({ id }) => id),
    );
    const ready: ReadyBatch = {
      ...{ services, composition, databases: asked.databases.all, batch, flags, files, io, together },
      ...(scored && { score: scored }),
    };
    const { end, ended, failure } = await new BatchRun(ready, results).run().then(
      (one) => ({ ...one, failure: null }),
      (error: unknown) => ({ end: 'failed' as const, ended: 0, failure: error as Error }),
    );
    const lines = results.all();
    const own = await each(lines, ({ searchId }) => recordOf(services.store, searchId));
    return {
      ...{ arm, scores, end, ended, failure },
      answers: lines.map((line, n) => answerOf(line, own[n] ?? null, spec, seed)),
      records: new Map(own.flatMap((record) => (record === null ? [] : [[record.id, record]]))),
    };
  });
}

/** What each batch would cost, one after the other, and all of them; databases are looked at once for each. */
export async function estimated(arms: readonly Arm[], flags: { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  const batches = await each(
    arms,
    async ({ at, spec, seed, flags: own, batch }) => {
      const { services, asked, files } = at;
      const estimate = await withComposition(at, scopeOf(spec, seed), (composition) =>
        estimateOf({ services, composition, databases: asked.databases.all, batch, flags: own, files, io }),
      );
      return { method: spec.spec, seed, set: asked.name, ...estimate };
    },
    1,
  );
  if (flags.json) io.out(`${JSON.stringify({ batches, sum: totalOf(batches) }, null, 2)}\n`);
  else {
    const labels = arms.map((arm) => labelOf(arm, arms));
    io.out(
      estimatesText(
        batches.map((one, n) => ({ ...one, label: labels[n] ?? '' })),
        io.columns,
      ),
    );
  }
  const databases = new Map(batches.flatMap((one) => one.databases).map((one) => [one.database, one]));
  return requireUsable({ databases: [...databases.values()] });
}

function answerOf(line: ResultLine, record: AnswerRecord | null, { spec }: MethodSpec, seed: number): ComparedAnswer {
  const { id, database, searchId, status, verdict, verdictReason, sql, usage, wallMs } = line;
  return {
    ...{ method: spec, seed, id, database, searchId, status, verdict, reason: verdictReason, sql },
    ...{ calls: usage?.llmCalls ?? null, promptTokens: usage?.promptTokens ?? null },
    ...{ cachedTokens: usage?.cachedTokens ?? null, completionTokens: usage?.completionTokens ?? null },
    ...{ costUsd: usage?.costUsd ?? null, wallMs },
    proved: record === null ? null : provedShare(record),
    standing: record === null ? null : standingOf(record),
  };
}

export function ending(
  { answers, stopped, failure }: Pick<Ran, 'answers' | 'stopped'> & Pick<RanArms, 'failure'>,
  expected: number,
  flags: { readonly fresh?: boolean },
  io: Io,
): ExitCode {
  if (failure !== null) throw failure;
  const open = expected - answers.length;
  if (stopped !== null) {
    const why =
      stopped === 'ceiling'
        ? 'raise --max-total-cost and run it again'
        : `run the same command${flags.fresh ? ' without --fresh' : ''} again`;
    io.err(`${counted(open, 'answer')} open: ${why} to go on; nothing is paid twice\n`);
    return EXIT.cancelled;
  }
  const failed = answers.filter(({ verdict }) => verdict === 'infrastructure').length;
  if (failed + open === 0) return EXIT.ok;
  io.err(`${counted(failed + open, 'infrastructure failure')}: the same command asks them again\n`);
  return EXIT.failed;
}
