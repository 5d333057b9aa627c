/**
 * What `gate score` does: read questions and predictions, name every database, score, sum up. All that is wrong with the
 * folder, the file, the databases or the judge is said before the first query. What could not be judged is counted apart, and
 * said. Where the judge fails, the official figures are told before its failure.
 */
import { resolve } from 'node:path';
import type { BenchmarkItem } from '../benchmarks';
import type { BoardScore, OpenBenchmark, ScoreOptions, Submitted } from '../benchmarks/benchmark';
import { BENCHMARKS } from '../benchmarks/boards';
import { someOf } from '../benchmarks/boards/files';
import { loadConfig, type Config } from '../config';
import { groupBy } from '../group-by';
import { each } from '../limiter';
import { SqlEngineError, type SqlEngine } from '../ports';
import { visibleLine } from '../text/visible';
import { batchDatabases } from './batch-databases';
import { CommandFailed, EXIT, UsageError, type ExitCode } from './errors';
import type { Io } from './io';
import { scoringEngines } from './score-engines';
import type { ScoreJudge, ScoreJudgeFlags } from './score-judge';
import { reportOf, told, type Scores } from './score-report';

const WAIT_MS = 20_000;

export interface ScoreFlags extends ScoreJudgeFlags {
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
  if (flags.judge === undefined) refuseWords(predictions, flags);
  const problems = await benchmark.format.check(path, board.items);
  const config = loadConfig(io);
  const judge = await judgeOf(flags, { config, benchmark: benchmark.name, items: board.items });
  try {
    const found = await scored({ board, predictions, config, judge, flags, io });
    const { judged, judgeFailure } = found;
    const report = reportOf(benchmark, split, board, { ...found, problems });
    io.out(flags.json ? `${JSON.stringify(report, null, 2)}\n` : told(report, io));
    if (judged !== null && !flags.json) io.out(`\n${judged.text}`);
    for (const problem of problems) io.err(`note: ${visibleLine(problem)}\n`);
    if (judgeFailure !== null) throw judgeFailure;
    if (judged?.isInterrupted) return EXIT.cancelled;
    return (report.verdicts.infrastructure ?? 0) === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await judge?.close();
  }
}

async function judgeOf(
  flags: ScoreFlags,
  given: { readonly config: Config; readonly benchmark: string; readonly items: readonly BenchmarkItem[] },
): Promise<ScoreJudge | null> {
  if (flags.judge === undefined) {
    if (flags.judgeModel === undefined) return null;
    throw new UsageError('--judge-model: nothing is judged; add --judge two-pass or --judge single');
  }
  const { openScoreJudge } = await import('./score-judge');
  return openScoreJudge(flags.judge, flags, given);
}

function refuseWords(predictions: ReadonlyMap<string, Submitted>, { predictions: path }: ScoreFlags): void {
  const inWords = [...predictions].flatMap(([id, { kind }]) => (kind === 'words' ? [id] : []));
  if (inWords.length > 0)
    throw new UsageError(`${path}: answered in words alone: ${someOf(inWords)}; add --judge two-pass, or give the SQL`);
}

interface Scoring {
  readonly board: OpenBenchmark;
  readonly predictions: ReadonlyMap<string, Submitted>;
  readonly config: Config;
  readonly judge: ScoreJudge | null;
  readonly flags: ScoreFlags;
  readonly io: Io;
}

async function scored({ board, predictions, config, judge, flags, io }: Scoring): Promise<Scores> {
  const { items } = board;
  const predictionOf = ({ id }: BenchmarkItem): Submitted => predictions.get(id) ?? { kind: 'none' };
  const isAsked = (item: BenchmarkItem): boolean =>
    predictionOf(item).kind === 'sql' || judge?.needsDatabase(item) === true;
  // BIRD runs the place of an abstention too. A database in the folder costs nothing to name.
  const asking = items.filter(
    (item) => board.database(item) !== null || (isAsked(item) && board.isUnrun?.(item) !== true),
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
    const timeoutMs = Math.round(flags.timeout * 1000);
    const options = {
      ...{ timeoutMs, maxRows: flags.maxRows, signal },
      ...(flags.timings === undefined ? {} : { timings: flags.timings }),
    };
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
    const verdictOf = ({ id }: BenchmarkItem) => scores.get(id)?.verdict ?? 'undecided';
    const toJudge = { items: inTurn, submittedOf: predictionOf, engineOf, verdictOf, timeoutMs };
    const official = new Map(items.flatMap(({ id }) => [[id, scores.get(id)]] as [string, BoardScore][]));
    try {
      return { scores: official, judged: judge && (await judge.judged(toJudge, io)), judgeFailure: null };
    } catch (judgeFailure) {
      return { scores: official, judged: null, judgeFailure: judgeFailure as Error };
    }
  } catch (error) {
    throw stop.signal.aborted ? new CommandFailed('stopped: nothing was scored', EXIT.cancelled) : error;
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
