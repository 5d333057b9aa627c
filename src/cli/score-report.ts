/** What `gate score` tells: figures, verdicts and the score of each question, as JSON and as tables. */
import { z } from 'zod';
import { Agreement, VERDICTS, type Verdict } from '../benchmarks';
import type { Benchmark, BoardScore, OpenBenchmark } from '../benchmarks/benchmark';
import { someOf } from '../benchmarks/boards/files';
import { Usage, type SqlValue } from '../domain';
import { JUDGE_MODES } from '../domain/judge-modes';
import { counted } from '../report/printable';
import { visibleLine } from '../text/visible';
import type { Io } from './io';
import type { JudgedScores } from './score-judge';
import { textTable } from './table';

const JudgedScore = z.object({
  verdict: z.enum(VERDICTS).nullable().describe('null: not judged, for the reason beside it'),
  extracted: z.string().nullable().describe('the final answer as the judge read it'),
  reason: z.string(),
});

const JudgedFigures = z.object({
  judge: z.object({ mode: z.enum(JUDGE_MODES), model: z.string(), version: z.number().int() }),
  verdicts: z.record(z.enum(VERDICTS), z.number().int()),
  judged: z.number().int(),
  accuracy: z.number().nullable().describe('share of right ones among the judged; right abstentions count'),
  accuracyAnswerable: z.number().nullable().describe('the same for questions that can be answered'),
  agreement: Agreement.extend({ differ: z.array(z.string()).describe('ids of the questions') }).describe(
    'with the verdicts of the benchmark, where both decided',
  ),
  notJudged: z.record(z.string(), z.number().int()).describe('reasons, with how many'),
  paid: Usage.describe('by this command; what was judged before costs nothing'),
  unpricedModels: z.array(z.string()).describe('their cost counts as 0'),
});

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
  judged: JudgedFigures.optional().describe('the same by the judge; left out: none was asked for, or it failed'),
  judgeFailed: z.string().optional().describe('why nothing is judged; left out: the judge did not fail'),
  scores: z.array(
    z.object({
      id: z.string(),
      verdict: z.enum(VERDICTS),
      points: z
        .record(z.string(), z.number())
        .describe('what the question adds to the metrics; empty: it was not judged'),
      reason: z.string(),
      judged: JudgedScore.optional().describe('what the judge says of it; left out: none was asked for'),
    }),
  ),
});
export type ScoreReport = Readonly<z.infer<typeof ScoreReport>>;

export interface Scores {
  readonly scores: ReadonlyMap<string, BoardScore>;
  /** null: no judge is asked for, or it failed. */
  readonly judged: JudgedScores | null;
  /** null: it did not fail. */
  readonly judgeFailure: Error | null;
}

export function reportOf(
  { name, source }: Benchmark,
  split: string,
  board: OpenBenchmark,
  { scores, judged, judgeFailure, problems }: Scores & { readonly problems: readonly string[] },
): ScoreReport {
  const all = [...scores].map(([id, { points, ...score }]) => {
    const said = judged?.byId.get(id);
    return { id, ...score, points: { ...points }, ...(said && { judged: said }) };
  });
  const counts = VERDICTS.map((verdict) => [verdict, all.filter((one) => one.verdict === verdict).length] as const);
  return {
    ...{ schemaVersion: 1, benchmark: name, source, split, questions: all.length },
    metrics: { ...board.metrics(scores) },
    verdicts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    problems: [...problems],
    ...(judged && { judged: JudgedFigures.parse(judged.summary) }),
    ...(judgeFailure && { judgeFailed: judgeFailure.message }),
    scores: all,
  };
}

const NOT_JUDGED: readonly Verdict[] = ['cancelled', 'infrastructure', 'gold-failed', 'undecided', 'no-gold'];

export function told(report: ScoreReport, io: Io): string {
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
