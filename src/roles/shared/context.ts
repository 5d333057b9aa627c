/** What every step starts from: the search's input and contents, and the ports resolved by name (design D7). */
import type { Dialect, SearchInput, Settings, SqlResult } from '../../domain';
import type {
  Clock,
  LanguageModel,
  ModelRequest,
  ObjectStore,
  Scan,
  SqlEngine,
  SqlInspector,
  Web,
} from '../../domain/ports';
import type { SqlCall, StepBase, StepOptions, UsageDelta } from '../../domain/ports/step-parts';
import { createRunStore, type RunStore } from '../../record/run-store';

export interface StepDeps {
  readonly store: ObjectStore;
  /** The model behind a configured name. */
  readonly models: (name: string) => LanguageModel;
  /** The engine by name. With `identity`: an error if this process has another database under that name. */
  readonly engine: (
    database: string,
    identity?: string,
  ) => Promise<{ readonly engine: SqlEngine; readonly inspector: SqlInspector }>;
  /** A parser for steps that run no SQL; default: the engine's. */
  readonly inspector?: (database: string, dialect: Dialect) => Promise<SqlInspector>;
  /** Absent: questions that allow the web fail here. */
  readonly web?: () => Promise<Web>;
  /** The highest token limit for repeating a reply that was cut at its limit; default: `LARGEST_OUTPUT_TOKENS`. */
  readonly outputCeiling?: number | null;
  /** Told of each model call that was not made because its reply was in the journal. */
  readonly onJournalHit?: (request: ModelRequest) => void;
  readonly clock: Clock;
}

export interface StepContext {
  readonly deps: StepDeps;
  readonly run: RunStore;
  readonly input: SearchInput;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly position: string;
}

export async function openStep(
  deps: StepDeps,
  { searchId, position }: Pick<StepBase, 'searchId' | 'position'>,
  { signal = new AbortController().signal, holding }: StepOptions = {},
): Promise<StepContext> {
  const { run } = createRunStore(deps.store, searchId, { holding }).step(position, {});
  const input = await run.get('input', searchId);
  return { deps, run, input, settings: input.settings, signal, position };
}

export function openEngine(context: StepContext): ReturnType<StepDeps['engine']> {
  return context.deps.engine(context.input.question.database, context.input.identity);
}

/** The parser for model steps. They run no SQL and may be on a worker that cannot reach the database. */
export async function openParser(context: StepContext, dialect: Dialect): Promise<SqlInspector> {
  const { deps, input } = context;
  if (deps.inspector === undefined) return (await openEngine(context)).inspector;
  return deps.inspector(input.question.database, dialect);
}

export interface SqlRun {
  readonly results: readonly SqlResult[];
  readonly takenAt: string;
  readonly usage: UsageDelta;
}

/** Runs statements in one read-only snapshot and counts their usage. */
export async function runSql(context: StepContext, statements: readonly string[]): Promise<SqlRun> {
  if (statements.length === 0) return { results: [], takenAt: now(context), usage: {} };
  const { engine } = await openEngine(context);
  const bill = openBill();
  const { results, takenAt } = await engine.run(statements, { ...sqlOptions(context), ...bill });
  return { results, takenAt, usage: addDeltas(sqlUsage(results), bill.usage()) };
}

/** Adds up what statements are billed that are run with it. */
export function openBill(): { readonly onBilled: (scan: Scan) => void; readonly usage: () => UsageDelta } {
  let usage: UsageDelta = {};
  return {
    onBilled: ({ bytes, usd }) => (usage = addDeltas(usage, { sqlBytes: bytes, sqlUsd: usd })),
    usage: () => usage,
  };
}

export function sqlOptions({ settings, signal, run, position }: StepContext) {
  return {
    timeoutMs: settings.sqlTimeoutMs,
    maxRows: settings.maxRows,
    signal,
    tag: `gate ${run.searchId} ${position}`,
  };
}

export function sqlUsage(results: readonly SqlResult[]): UsageDelta {
  return {
    sqlExecutions: results.filter((result) => result.kind !== 'refused').length,
    sqlMs: results.reduce((sum, result) => sum + elapsed(result), 0),
    sqlRows: results.reduce((sum, result) => sum + (result.kind === 'rows' ? result.rows.length : 0), 0),
  };
}

export function addDeltas(...deltas: readonly UsageDelta[]): UsageDelta {
  const sum: Record<string, number> = {};
  for (const delta of deltas) for (const [key, value] of Object.entries(delta)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}

export function now(context: StepContext): string {
  return new Date(context.deps.clock.now()).toISOString();
}

/**
 * Runs a step once: where it has ended, with the same input, it gives what is stored (D2, D5). The checkpoint that comes with
 * the input is stored with the step.
 */
export async function once<T>(
  context: StepContext,
  asked: object,
  work: (context: StepContext) => Promise<T>,
): Promise<T> {
  const { checkpoint, heldBy: _, ...input }: Pick<SqlCall, 'checkpoint' | 'heldBy'> = asked;
  const step = context.run.step(context.position, input);
  const { run } = step;
  if (checkpoint !== undefined) await run.put('checkpoint', `i${checkpoint.iteration}`, checkpoint);
  const before = await step.done();
  return before === null ? step.end(await work({ ...context, run })) : (before.output as T);
}

function elapsed(result: SqlResult): number {
  if (result.kind === 'timeout') return result.afterMs;
  return result.kind === 'refused' ? 0 : result.elapsedMs;
}
