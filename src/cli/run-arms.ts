/** Runs methods with their seeds as durable batches, one after the other or several at the same time, under one ceiling of cost. */
import type { BoardScore, ComparedAnswer } from '../benchmarks';
import type { MethodSpec } from '../config/method-specs';
import type { AnswerRecord } from '../domain';
import { each } from '../limiter';
import { provedShare } from '../text/answer-text';
import { requireUsable, estimateOf, estimateText, type BatchEstimate } from './batch-estimate';
import type { ReadyBatch } from './batch-preflight';
import { ResultFile, type ResultLine, type Scorer } from './batch-results';
import { BatchRun } from './batch-run';
import { isAnythingOpen, scopeOf, withComposition, type Arm, type Comparing } from './compare-arms';
import type { ExitCode } from './errors';
import { holdInterrupts } from './interrupts';
import type { Io } from './io';
import { recordOf } from './services';
import { openTemporal } from './temporal-session';

export interface Ran {
  readonly answers: readonly ComparedAnswer[];
  /** By search id. */
  readonly records: ReadonlyMap<string, AnswerRecord>;
  readonly stopped: 'interrupted' | 'cancelled' | 'ceiling' | null;
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
}

/** In the order of the arms. `atOnce`: how many of them run at the same time; each has its part of the concurrency. */
export async function runArms(
  { services, io }: Pick<Comparing, 'services' | 'io'>,
  arms: readonly Arm[],
  { atOnce = 1 }: { readonly atOnce?: number } = {},
): Promise<RanArms> {
  const ran = new Map<Arm, RanArm>();
  const state: { stopped: Ran['stopped']; found: number } = { stopped: null, found: 0 };
  const costs = new Map<string, number>();
  const held = holdInterrupts(io);
  const session = (await isAnythingOpen(services, arms))
    ? await openTemporal(services.config, io.env, { onProgress: (line) => io.err(`${line}\n`) })
    : null;
  try {
    const temporal = session && (await session.gate.client.workflowService.getSystemInfo({})).serverVersion;
    await each(
      arms.map((arm, index) => ({ arm, index })),
      async ({ arm, index }) => {
        if (held.count() > 0) state.stopped ??= 'interrupted';
        if (state.stopped !== null) return;
        const label = labelOf(arm, arms);
        if (session !== null) io.err(`[${index + 1}/${arms.length}] ${label}\n`);
        const one = await runArm(arm, costs, atOnce === 1 ? io : labelled(io, label)).catch((error: unknown) => {
          state.stopped ??= 'cancelled';
          // The others finish first, so it would be told late.
          if (atOnce > 1) io.err(`${label}: ${error instanceof Error ? error.message : String(error)}\n`);
          throw error;
        });
        state.found += arm.batch.searches.length - one.ended;
        ran.set(arm, one);
        if (one.end !== 'completed') state.stopped ??= one.end;
      },
      atOnce,
    );
    return { ...state, temporal, ran: arms.flatMap((arm) => ran.get(arm) ?? []) };
  } finally {
    try {
      await session?.close();
    } finally {
      held.release();
    }
  }
}

/** What tells it from the others. */
function labelOf({ at, spec, seed }: Arm, arms: readonly Arm[]): string {
  const differs = (of: (arm: Arm) => unknown): boolean => new Set(arms.map(of)).size > 1;
  return [
    ...(differs((arm) => arm.at.asked.name) ? [`${at.asked.name}:`] : []),
    `${spec.spec}${differs((arm) => arm.seed) ? `, seed ${seed}` : ''}`,
  ].join(' ');
}

/** Several arms write lines, each with its name: no table can be redrawn in place. */
function labelled(io: Io, label: string): Io {
  return { ...io, live: false, err: (text) => io.err(`${label}: ${text}`) };
}

async function runArm(arm: Arm, costs: Map<string, number>, io: Io) {
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
      ...{ services, composition, databases: asked.databases.all, batch, flags, files, io, costs },
      ...(scored && { score: scored }),
    };
    const { end, ended } = await new BatchRun(ready, results).run();
    const lines = results.all();
    const own = await each(lines, ({ searchId }) => recordOf(services.store, searchId));
    return {
      ...{ arm, scores, end, ended },
      answers: lines.map((line, n) => answerOf(line, own[n] ?? null, spec, seed)),
      records: new Map(own.flatMap((record) => (record === null ? [] : [[record.id, record]]))),
    };
  });
}

/** What each method would cost, one after the other; databases are looked at once for each. */
export async function estimated(arms: readonly Arm[], flags: { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  const estimates: (BatchEstimate & { readonly method: string; readonly seed: number })[] = [];
  for (const { at, spec, seed, flags: own, batch } of arms) {
    const { services, asked, files } = at;
    const estimate = await withComposition(at, scopeOf(spec, seed), (composition) =>
      estimateOf({ services, composition, databases: asked.databases.all, batch, flags: own, files, io }),
    );
    estimates.push({ method: spec.spec, seed, ...estimate });
  }
  if (flags.json) io.out(`${JSON.stringify(estimates, null, 2)}\n`);
  else
    for (const [n, arm] of arms.entries()) {
      const estimate = estimates[n];
      if (estimate !== undefined) io.out(`${labelOf(arm, arms)}\n${estimateText(estimate, io.columns)}\n`);
    }
  const databases = new Map(estimates.flatMap((one) => one.databases).map((one) => [one.database, one]));
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
  };
}
