/**
 * The arms of a comparison: one durable batch for each method, seed and set of questions, with the id that `gate batch run`
 * gives it, so that an interrupted one goes on where it was and one done before costs nothing.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { BenchmarkItem, BoardScore, ComparedAnswer, Entrant } from '../benchmarks';
import type { MethodSpec } from '../config/method-specs';
import { isConclusive, type AnswerRecord } from '../domain';
import type { JudgeMode } from '../domain/judge-modes';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { counted } from '../report/printable';
import { provedShare } from '../text/answer-text';
import { compose, type Composition } from '../workers/composition';
import { hasNoWeb } from './ask-input';
import type { Asking } from './ask-start';
import type { BatchDatabases } from './batch-databases';
import { checkedDatabases, estimateOf, estimateText, type BatchEstimate } from './batch-estimate';
import type { Batch, BatchFlags } from './batch-plan';
import type { ReadyBatch } from './batch-preflight';
import { ResultFile, type ResultLine, type Scorer } from './batch-results';
import { BatchRun, plannedBatch } from './batch-run';
import { UsageError, type ExitCode } from './errors';
import { holdInterrupts } from './interrupts';
import type { Io } from './io';
import type { LimitFlags, ModelFlags } from './options';
import { recordOf, sha256, type Services } from './services';
import { openTemporal } from './temporal-session';

export interface CompareFlags extends LimitFlags {
  readonly methods: string;
  readonly questions?: string;
  readonly seeds: number;
  readonly db?: readonly string[];
  readonly context?: string;
  readonly instructions?: string;
  readonly model?: ModelFlags;
  readonly maxTotalCost?: number;
  readonly concurrency: number;
  readonly limit?: number;
  readonly ids?: readonly string[];
  readonly knowledge?: boolean;
  readonly docs?: readonly string[] | false;
  readonly judge?: JudgeMode;
  readonly judgeModel?: string;
  readonly dryRun?: boolean;
  readonly name?: string;
  readonly fresh?: boolean;
  readonly json?: boolean;
  readonly csv?: string;
  readonly html?: string;
  readonly record?: string;
  readonly replay?: string;
  readonly debug?: boolean;
}

/** What is asked, of which databases. */
export interface Asked {
  readonly name: string;
  readonly items: readonly BenchmarkItem[];
  readonly databases: BatchDatabases;
  readonly output: BatchFlags['output'];
  /** Of a benchmark; left out: its own. */
  readonly score?: Scorer;
}

export interface Comparing {
  readonly services: Services;
  readonly asked: Asked;
  readonly flags: CompareFlags & Pick<BatchFlags, 'web' | 'memory'>;
  readonly files: Asking['files'];
  readonly io: Io;
  /** Serves all arms, where no recording tells them apart; left out: each has its own. */
  readonly composition?: Composition;
}

/** One method with one seed. */
export interface Arm {
  readonly at: Comparing;
  readonly spec: MethodSpec;
  readonly seed: number;
  readonly flags: BatchFlags;
  readonly batch: Batch;
}

export async function withComposition<T>(
  { services, asked, files, composition: shared }: Comparing,
  scope: string,
  work: (composition: Composition) => Promise<T>,
): Promise<T> {
  if (shared !== undefined) return work(shared);
  const scoped = Object.keys(files).length === 0 ? {} : { ...files, scope };
  const composition = await compose(services.config, { adHoc: asked.databases.all, ...scoped });
  try {
    return await work(composition);
  } finally {
    await composition.close();
  }
}

const scopeOf = ({ spec }: MethodSpec, seed: number): string => `${spec} seed ${seed}`;

/** Every method asks the same databases, so what is to be said of them is said once. */
function saidOnce(io: Io): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (!said.has(text)) io.err(text);
    said.add(text);
  };
}

/** Seeds take turns before methods do. */
export async function armsOf(
  at: Comparing,
  specs: readonly MethodSpec[],
  seeds: readonly number[] = Array.from({ length: at.flags.seeds }, (_, seed) => seed),
): Promise<Arm[]> {
  const { services, asked, flags, files, io } = at;
  const { databases, items, output } = asked;
  const hash = files.replay === undefined ? null : sha256(await readFile(files.replay, 'utf8')).slice(0, 8);
  const name = hash === null ? asked.name : `${asked.name} replay-${hash}`;
  const told = { cwd: io.cwd, err: saidOnce(io) };
  const arms: Arm[] = [];
  for (const seed of seeds) {
    for (const spec of specs) {
      const withoutWeb = flags.web === true && hasNoWeb(spec.method);
      if (withoutWeb) told.err(`${asked.name}: ${spec.method} has no web, as its source; it goes without\n`);
      const ofArm: BatchFlags = { ...flags, method: spec, seed, output, ...(withoutWeb && { web: false }) };
      const batch = await withComposition(at, scopeOf(spec, seed), (composition) => {
        if (files.replay !== undefined && isEmpty(composition))
          throw new UsageError(
            `--replay: ${basename(files.replay)} holds no ${spec.spec} with seed ${seed}; add it with --record`,
          );
        return plannedBatch({ services, composition, databases, items, flags: ofArm, name, io: told });
      });
      arms.push({ at, spec, seed, flags: ofArm, batch });
    }
  }
  return arms;
}

export function isEmpty({ model }: Composition): boolean {
  return 'remaining' in model && (model.remaining as () => number)() === 0;
}

export function entrantsOf(arms: readonly Arm[]): Entrant[] {
  return [...groupBy(arms, ({ spec }) => spec.spec)].flatMap(([method, [arm]]) => {
    if (arm === undefined) return [];
    const { method: name, preset, models } = arm.batch.settings;
    return [{ method, name, preset, models }];
  });
}

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

/** One Temporal for all batches: the embedded server would start and stop with each. */
export async function isAnythingOpen({ store }: Services, arms: readonly Arm[]): Promise<boolean> {
  const searches = arms.flatMap(({ batch }) => batch.searches);
  const records = await each(searches, ({ searchId }) => recordOf(store, searchId));
  return records.some((record) => record === null || !isConclusive(record));
}

/** A new recording lacks what the store had. */
export function tellFound({ record }: Asking['files'], isNewFile: boolean, found: number, io: Io): void {
  if (!isNewFile || found === 0) return;
  io.err(
    `${counted(found, 'answer')} came from the store and ${found === 1 ? 'is' : 'are'} not in ${record ?? ''}: --fresh records all of them\n`,
  );
}

export const isNew = ({ record }: Asking['files']): boolean => record !== undefined && !existsSync(record);

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
  return checkedDatabases({ databases: [...databases.values()] });
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
