/**
 * `gate-bench score`: a predictions file made by anyone, judged by the rules of its benchmark. All that is wrong with the
 * folder, the file or the databases is said before the first query. What could not be judged is counted apart, and said.
 */
import { resolve } from 'node:path';
import * as z from 'zod';
import { loadConfig } from '../src/config';
import { questionDatabases } from '../src/app/run/question-databases';
import { GateError, UsageError } from '../src/app/errors';
import { EXIT, type ExitCode } from '../src/cli/exit';
import type { Io } from '../src/cli/io';
import { textTable } from '../src/cli/table';
import { counted, someOf } from '../src/counted';
import type { SqlValue } from '../src/domain';
import { groupBy } from '../src/group-by';
import { each } from '../src/limiter';
import { SqlEngineError, type SqlEngine } from '../src/domain/ports';
import { VERDICTS, type BenchmarkItem, type Verdict } from '../src/questions';
import { visibleLine } from '../src/clip';
import { openEngines } from '../src/workers/engines';
import { BENCHMARKS } from './boards';
import type { Benchmark, BoardScore, OpenBenchmark, ScoreOptions, Submitted } from './benchmark';

const WAIT_MS = 20_000;

export interface PredictionFlags {
  readonly benchmark: string;
  readonly predictions: string;
  readonly data: string;
  readonly split?: string;
  readonly seed: number;
  readonly db?: readonly string[];
  readonly concurrency: number;
  readonly timeout: number;
  readonly maxRows: number;
  readonly timings?: number;
}

export async function runScore(flags: PredictionFlags & { readonly json?: boolean }, io: Io): Promise<ExitCode> {
  if (flags.timings === 1)
    throw new UsageError(
      '--timings 1: R-VES keeps times near their mean, and by its rule a time alone is not: give 2 or more',
    );
  const opened = await openPredictions(flags, io);
  const inWords = [...opened.predictions].flatMap(([id, { kind }]) => (kind === 'words' ? [id] : []));
  if (inWords.length > 0)
    throw new UsageError(
      `${flags.predictions}: answered in words alone: ${someOf(inWords)}; ask gate-bench judge, or give the SQL`,
    );
  const report = await withScores(opened, flags, io, {
    run: ({ scores }) => Promise.resolve(reportOf(opened, scores)),
  });
  io.out(flags.json ? `${JSON.stringify(report, null, 2)}\n` : told(report, io));
  return (report.verdicts.infrastructure ?? 0) === 0 ? EXIT.ok : EXIT.failed;
}

export interface OpenPredictions {
  readonly benchmark: Benchmark;
  readonly split: string;
  readonly board: OpenBenchmark;
  readonly predictions: ReadonlyMap<string, Submitted>;
}

export async function openPredictions(flags: PredictionFlags, io: Io): Promise<OpenPredictions> {
  const benchmark = await benchmarkOf(flags.benchmark);
  const { split = benchmark.splits[0] ?? '', seed } = flags;
  const board = await benchmark.open(resolve(io.cwd, flags.data), { split, seed });
  for (const remark of board.remarks ?? []) io.err(`note: ${remark}\n`);
  const path = resolve(io.cwd, flags.predictions);
  const predictions = await benchmark.format.read(path, board.items);
  return { benchmark, split, board, predictions };
}

export async function benchmarkOf(name: string): Promise<Benchmark> {
  const benchmark = await BENCHMARKS[name]?.();
  if (benchmark === undefined)
    throw new UsageError(`no benchmark ${name}; known: ${Object.keys(BENCHMARKS).join(', ')}`);
  return benchmark;
}

export interface Scored {
  readonly scores: ReadonlyMap<string, BoardScore>;
  /** The database of a question; one that cannot be opened fails when it is asked. */
  readonly engineOf: (item: BenchmarkItem) => SqlEngine;
}

/** Scores all predictions, and gives them to `run` while their databases are open. `asksAlso`: what `run` asks a database of. */
export async function withScores<T>(
  { board, predictions }: OpenPredictions,
  flags: PredictionFlags,
  io: Io,
  { run, asksAlso = () => false }: { run: (scored: Scored) => Promise<T>; asksAlso?: (item: BenchmarkItem) => boolean },
): Promise<T> {
  const { items } = board;
  const config = loadConfig(io);
  const predictionOf = ({ id }: BenchmarkItem): Submitted => predictions.get(id) ?? { kind: 'none' };
  const isAsked = (item: BenchmarkItem): boolean => predictionOf(item).kind === 'sql' || asksAlso(item);
  // BIRD runs the place of an abstention too. A database in the folder costs nothing to name.
  const asking = items.filter(
    (item) => board.database(item) !== null || (isAsked(item) && board.isUnrun?.(item) !== true),
  );
  const specs = databaseSpecs(board, items, flags.db ?? []);
  const databases = questionDatabases(config, specs, { selected: asking, others: items }, io.cwd);
  const engines = openEngines(config, databases.all);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const { signal } = stop;
    const opened = new Map<string, SqlEngine>();
    // One that is missing is told before any question is scored.
    const waiting = { timeoutMs: WAIT_MS, maxRows: 1, signal, tag: 'gate score' };
    const used = [...new Set(asking.map((item) => databases.of(item).name))];
    await each(
      used,
      async (name) => {
        const { engine } = await engines.engine(name);
        await engine.run(['SELECT 1'], waiting);
        opened.set(name, engine);
      },
      flags.concurrency,
    );
    const engineOf = (item: BenchmarkItem): SqlEngine => opened.get(databases.find(item)?.name ?? '') ?? missing(item);
    const { maxRows, timings } = flags;
    const options = { timeoutMs: Math.round(flags.timeout * 1000), maxRows, timings, signal };
    const scores = new Map<string, BoardScore>();
    // Questions of one database after the other, so that few are open at the same time.
    const inTurn = [...groupBy(items, ({ database }) => database).values()].flat();
    await each(
      inTurn,
      async (item) => {
        const own = { ...options, tag: `gate score ${item.id}` };
        scores.set(item.id, await officialScore(board, item, predictionOf(item), engineOf(item), own));
      },
      flags.concurrency,
    );
    stopListening();
    const ordered = new Map(items.flatMap(({ id }) => [[id, scores.get(id)]] as [string, BoardScore][]));
    return await run({ scores: ordered, engineOf });
  } catch (error) {
    throw stop.signal.aborted ? new GateError('stopped: nothing was scored', 'cancelled') : error;
  } finally {
    stopListening();
    await engines.close();
  }
}

/** No official rule reads an answer in words. */
function officialScore(
  board: OpenBenchmark,
  { id }: BenchmarkItem,
  submitted: Submitted,
  engine: SqlEngine,
  options: ScoreOptions,
): Promise<BoardScore> {
  if (submitted.kind !== 'words') return board.score(id, submitted, engine, options);
  return Promise.resolve({ verdict: 'undecided', points: {}, reason: 'answered in words: the judge alone decides' });
}

/** Databases of the folder, unless the command line names another one. */
export function databaseSpecs(
  board: OpenBenchmark,
  items: readonly BenchmarkItem[],
  given: readonly string[],
): readonly string[] {
  if (given.some((spec) => spec.includes('{database}'))) return given;
  const found = items.flatMap((item) => {
    const path = board.database(item);
    if (path === null || given.some((spec) => item.database === null || spec.startsWith(`${item.database}=`)))
      return [];
    return [item.database === null ? path : `${item.database}=${path}`];
  });
  return [...new Set([...given, ...found])];
}

/** Rows may be compared with gold rows alone, so this says that there is no database only where one is asked. */
function missing({ database, engine }: BenchmarkItem): SqlEngine {
  const name = database ?? 'NAME';
  const fail = (): Promise<never> =>
    Promise.reject(new SqlEngineError('not-configured', `no database for ${name}: add --db '${name}=…'`));
  return { dialect: engine ?? 'sqlite', run: fail, digest: fail, describe: fail, close: () => Promise.resolve() };
}

/** Its JSON schema is `docs/schemas/score.schema.json`. */
export const ScoreReport = z.object({
  schemaVersion: z.literal(1),
  benchmark: z.string(),
  source: z.string().describe('whose rules these are'),
  split: z.string(),
  questions: z.number().int(),
  metrics: z
    .record(z.string(), z.number().nullable())
    .describe('as the benchmark names and scales them; null: nothing to take it of'),
  verdicts: z.partialRecord(z.enum(VERDICTS), z.number().int()).describe('how many questions have each'),
  scores: z.array(
    z.object({
      id: z.string(),
      verdict: z.enum(VERDICTS),
      points: z
        .record(z.string(), z.number())
        .describe('what the question adds to the metrics; empty: it was not judged'),
      reason: z.string(),
    }),
  ),
});
export type ScoreReport = Readonly<z.infer<typeof ScoreReport>>;

function reportOf(
  { benchmark: { name, source }, split, board }: OpenPredictions,
  scores: ReadonlyMap<string, BoardScore>,
): ScoreReport {
  const all = [...scores].map(([id, { points, ...score }]) => ({ id, ...score, points: { ...points } }));
  const counts = VERDICTS.map((verdict) => [verdict, all.filter((one) => one.verdict === verdict).length] as const);
  return {
    schemaVersion: 1,
    benchmark: name,
    source,
    split,
    questions: all.length,
    metrics: { ...board.metrics(scores) },
    verdicts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    scores: all,
  };
}

const NOT_JUDGED: readonly Verdict[] = ['cancelled', 'infrastructure', 'gold-failed', 'undecided', 'no-gold'];

function told(report: ScoreReport, io: Io): string {
  const { benchmark, source, split, questions, metrics, verdicts, scores } = report;
  const table = (head: string, values: readonly (readonly SqlValue[])[]): string =>
    textTable([head, ''], values, { width: io.columns });
  const figures = Object.entries(metrics).map(([name, value]) => [name, value === null ? '-' : value.toFixed(2)]);
  const apart = NOT_JUDGED.flatMap((verdict) => {
    const [first, ...others] = scores.filter((score) => score.verdict === verdict);
    if (first === undefined) return [];
    const ids = someOf([first, ...others].map(({ id }) => id));
    return [visibleLine(`${counted(1 + others.length, 'question')} left out as ${verdict} (${ids}): ${first.reason}`)];
  });
  return [
    `${benchmark}, ${split}: ${counted(questions, 'question')}, by the rules of ${source}\n`,
    table('figure', figures),
    `\n${table('verdict', Object.entries(verdicts))}`,
    ...(apart.length === 0 ? [] : ['', ...apart]),
    '',
  ].join('\n');
}
