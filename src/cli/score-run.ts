/**
 * What `gate score` does: read questions and predictions, name every database, score, sum up. All that is wrong with the
 * folder, the file or the databases is said before the first query. What could not be judged is counted apart, and said.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { VERDICTS, type BenchmarkItem, type Verdict } from '../benchmarks';
import type { Benchmark, BoardScore, OpenBenchmark, Prediction } from '../benchmarks/benchmark';
import { BENCHMARKS } from '../benchmarks/boards';
import { someOf } from '../benchmarks/boards/files';
import { loadConfig } from '../config';
import { resolveDatabase } from '../config/databases';
import type { SqlValue } from '../domain';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { SqlEngineError, type SqlEngine } from '../ports';
import { counted } from '../report/printable';
import { visibleLine } from '../text/visible';
import { batchDatabases } from './batch-databases';
import { CommandFailed, EXIT, UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { scoringEngines } from './score-engines';
import { textTable } from './table';

const WAIT_MS = 20_000;

export interface ScoreFlags {
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
  readonly json?: boolean;
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
  problems: z.array(z.string()).describe('what the official checker would refuse in the file'),
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

export async function runScore(flags: ScoreFlags, io: Io): Promise<ExitCode> {
  const benchmark = await BENCHMARKS[flags.benchmark]?.();
  if (benchmark === undefined) throw new UsageError(`no benchmark ${flags.benchmark}`);
  const { split = benchmark.splits[0] ?? '', seed } = flags;
  if (flags.timings === 1)
    throw new UsageError(
      '--timings 1: R-VES keeps times near their mean, and by its rule a time alone is not: give 2 or more',
    );
  const board = await benchmark.open(resolve(io.cwd, flags.data), { split, seed });
  for (const remark of board.remarks ?? []) io.err(`note: ${remark}\n`);
  const path = resolve(io.cwd, flags.predictions);
  const predictions = await benchmark.format.read(path, board.items);
  const problems = await benchmark.format.check(path, board.items);
  const scores = await scored({ board, predictions, flags, io });
  const report = reportOf(benchmark, split, board, scores, problems);
  io.out(flags.json ? `${JSON.stringify(report, null, 2)}\n` : told(report, io));
  for (const problem of problems) io.err(`note: ${visibleLine(problem)}\n`);
  return (report.verdicts.infrastructure ?? 0) === 0 ? EXIT.ok : EXIT.failed;
}

interface Scoring {
  readonly board: OpenBenchmark;
  readonly predictions: ReadonlyMap<string, Prediction>;
  readonly flags: ScoreFlags;
  readonly io: Io;
}

async function scored({ board, predictions, flags, io }: Scoring): Promise<Map<string, BoardScore>> {
  const config = loadConfig(io);
  const { items } = board;
  const predictionOf = ({ id }: BenchmarkItem): Prediction => predictions.get(id) ?? { kind: 'none' };
  // BIRD runs the place of an abstention too. A database in the folder costs nothing to name.
  const asking = items.filter(
    (item) => board.database(item) !== null || (predictionOf(item).kind === 'sql' && board.isUnrun?.(item) !== true),
  );
  const databases = batchDatabases(
    config,
    specsOf(board, items, flags.db ?? []),
    { selected: asking, others: items },
    io.cwd,
  );
  const engines = scoringEngines(config);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const { signal } = stop;
    const used = new Map(asking.map((item) => [databases.of(item).name, databases.of(item)]));
    // One that is missing is told before any question is scored.
    const waiting = { timeoutMs: WAIT_MS, maxRows: 1, signal, tag: 'gate score' };
    await each([...used.values()], (database) => engines.of(database).run(['SELECT 1'], waiting), flags.concurrency);
    const engineOf = (item: BenchmarkItem): SqlEngine => {
      const database = databases.find(item);
      return database === null ? missing(item) : engines.of(database);
    };
    const options = {
      ...{ timeoutMs: Math.round(flags.timeout * 1000), maxRows: flags.maxRows, signal },
      open: (address: string) => engines.of(resolveDatabase(config, address, io.cwd)),
      ...(flags.timings === undefined ? {} : { timings: flags.timings }),
    };
    const scores = new Map<string, BoardScore>();
    // Questions of one database after the other, so that few are open at the same time.
    const inTurn = [...groupBy(items, ({ database }) => database).values()].flat();
    await each(
      inTurn,
      async (item) => {
        const tag = `gate score ${item.id}`;
        scores.set(item.id, await board.score(item.id, predictionOf(item), engineOf(item), { ...options, tag }));
      },
      flags.concurrency,
    );
    return new Map(items.flatMap(({ id }) => [[id, scores.get(id)]] as [string, BoardScore][]));
  } catch (error) {
    throw stop.signal.aborted ? new CommandFailed('stopped: nothing was scored', EXIT.cancelled) : error;
  } finally {
    stopListening();
    await engines.close();
  }
}

/** Of the folder, unless the command line names another one. */
export function specsOf(
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

function reportOf(
  { name, source }: Benchmark,
  split: string,
  board: OpenBenchmark,
  scores: ReadonlyMap<string, BoardScore>,
  problems: readonly string[],
): ScoreReport {
  const all = [...scores].map(([id, { points, ...score }]) => ({ id, ...score, points: { ...points } }));
  const counts = VERDICTS.map((verdict) => [verdict, all.filter((one) => one.verdict === verdict).length] as const);
  return {
    ...{ schemaVersion: 1, benchmark: name, source, split, questions: all.length },
    metrics: { ...board.metrics(scores) },
    verdicts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    problems: [...problems],
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
