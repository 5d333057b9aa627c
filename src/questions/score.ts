/**
 * The verdict on one question. If the publisher gives an answer, its rule decides; else execution match with any gold query.
 * An unanswerable question is right if the search says so. Failures around the search (a failed run, a gold query that
 * fails, a result too large to compare) have verdicts of their own and are never `wrong`. A search that failed because no
 * reply of its model could be used is one that answered wrongly.
 */
import type { AnswerStatus, EndedBy, SqlResult } from '../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../domain/ports';
import { normaliseSql } from '../sql/body';
import type { Digest } from '../sql/equal';
import { runAsWritten } from './double-quoted';
import { executionMatch, type Match, type MatchOptions } from './execution-match';
import { officialAnswerMatch } from './official-answer';
import type { BenchmarkItem, Gold } from './question-file';
import { rowOrder } from './row-order';
import { OUTCOMES, POINTS, VERDICTS, type Verdict } from './verdict';

export interface Score {
  readonly verdict: Verdict;
  readonly reason: string;
  /** The result of execution match, if both sides could be compared; reported beside the official rule. */
  readonly execution: boolean | null;
  readonly official: boolean | null;
}

/** The verdict of a scorer on one answer. */
export interface BoardScore {
  readonly verdict: Verdict;
  /** Points that the question adds to the benchmark's metrics. */
  readonly points: Readonly<Record<string, number>>;
  readonly reason: string;
}

/** The fields of an `AnswerRecord` that are scored. */
export interface Answered {
  readonly status: AnswerStatus;
  /** Left out: not by what the model replied. */
  readonly endedBy?: EndedBy;
  readonly sql: string | null;
  readonly reason: string | null;
}

/** Runs the predicted and the gold queries in one snapshot and judges. Only the caller's abort is thrown. */
export async function scoreAnswer(
  item: BenchmarkItem,
  answered: Answered,
  engine: SqlEngine,
  options: SqlOptions,
): Promise<Score> {
  const settled = withoutQueries(item.gold, answered);
  if (settled !== null) return settled;
  const asked = [answered.sql ?? '', ...(item.gold?.sql ?? [])];
  try {
    const { statements, results } = await runAsWritten(asked, engine, options);
    const [predicted, ...golds] = results;
    if (predicted === undefined) throw new SqlEngineError('connection', 'the database gave no result');
    return judge(item, predicted, golds, await digestsOf(statements, results, engine, options));
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return score('infrastructure', error.message);
  }
}

/** Counts and hashes of results beyond the row cap, if both sides have one. */
async function digestsOf(
  statements: readonly string[],
  results: readonly SqlResult[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<MatchOptions['digests']> {
  const isCut = results.map((result) => result.kind === 'rows' && result.truncated);
  if (isCut[0] !== true || !isCut.includes(true, 1)) return undefined;
  const found: (Digest | null)[] = [];
  for (const [index, sql] of statements.entries()) {
    const digest = isCut[index] === true ? await engine.digest(normaliseSql(sql), options) : null;
    found.push(digest === null || 'kind' in digest ? null : digest);
  }
  const [predicted = null, ...golds] = found;
  return { predicted, golds };
}

/** The verdict on a result that ran; `golds` are the results of the gold queries, in their order. */
export function judge(
  item: BenchmarkItem,
  predicted: SqlResult,
  golds: readonly SqlResult[],
  digests?: MatchOptions['digests'],
): Score {
  const { gold } = item;
  if (gold === null) return score('no-gold', 'the file has no gold for this question');
  if (!gold.answerable) {
    return saysAbstain(predicted, gold)
      ? score('correct-abstained', "the publisher's sentence was selected")
      : score('wrong-answered', 'the question cannot be answered from this database');
  }
  const execution =
    golds.length === 0
      ? null
      : executionMatch(predicted, golds, {
          orders: ordersOf(item, gold, golds),
          ...(digests === undefined ? {} : { digests }),
        });
  const official = gold.answer === null ? null : officialAnswerMatch(predicted, gold.answer);
  const deciding = official === null || official.kind === 'undecided' ? (execution ?? official) : official;
  if (deciding === null) return score('no-gold', 'the file has no gold for this question');
  return { ...fromMatch(deciding), execution: truth(execution), official: truth(official) };
}

/** Verdicts that need no query; null when the results have to be compared. */
function withoutQueries(gold: Gold | null, { status, endedBy, sql, reason }: Answered): Score | null {
  switch (status) {
    case 'failed':
      if (endedBy !== 'unusable') return score('infrastructure', reason ?? 'the search failed');
      if (gold === null) return score('no-gold', 'the file has no gold for this question');
      return score(gold.answerable ? 'wrong' : 'wrong-answered', reason ?? 'no usable reply');
    case 'cancelled':
      return score('cancelled', reason ?? 'cancelled');
    case 'unanswerable':
    case 'abstained':
      if (gold === null) return score('no-gold', 'the file has no gold for this question');
      return score(gold.answerable ? 'wrong-abstained' : 'correct-abstained', reason ?? status);
    case 'answered':
      if (gold === null) return score('no-gold', 'the file has no gold for this question');
      if (sql !== null && sql.trim() !== '') return null;
      return score(gold.answerable ? 'wrong' : 'wrong-answered', 'answered without a query');
    default:
      return status satisfies never;
  }
}

function fromMatch(match: Match): Score {
  switch (match.kind) {
    case 'match':
      return score('correct', 'equal results');
    case 'different':
      return score('wrong', match.reason);
    case 'gold-failed':
    case 'undecided':
      return score(match.kind, match.reason);
    default:
      return match satisfies never;
  }
}

function ordersOf(item: BenchmarkItem, gold: Gold, golds: readonly SqlResult[]) {
  return golds.map((result, index) => {
    const columns = result.kind === 'rows' ? result.columns.map((column) => column.name) : [];
    return rowOrder(item.question, gold.sql[index] ?? '', columns);
  });
}

function saysAbstain(predicted: SqlResult, gold: Gold): boolean {
  if (predicted.kind !== 'rows' || predicted.rows.length !== 1 || gold.abstainText === null) return false;
  return predicted.rows[0]?.length === 1 && predicted.rows[0][0] === gold.abstainText;
}

function truth(match: Match | null): boolean | null {
  return match?.kind === 'match' ? true : match?.kind === 'different' ? false : null;
}

function score(verdict: Verdict, reason: string): Score {
  return { verdict, reason, execution: null, official: null };
}

/** Of the reliability score; null: not judged. */
export function reliabilityPoints(verdict: Verdict): number | null {
  const outcome = OUTCOMES[verdict];
  return outcome === 'wrong' ? -1 : POINTS[outcome];
}

/**
 * The figures that benchmarks publish, of the scores of many questions. Only judged questions count; the others are reported
 * separately, so that an outage does not lower a score and is still visible.
 */
export function summarise(verdicts: readonly Verdict[]) {
  const counts = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, verdicts.filter((one) => one === verdict).length]),
  ) as Record<Verdict, number>;
  const points = verdicts.map(reliabilityPoints).filter((point) => point !== null);
  const right = counts.correct + counts['correct-abstained'];
  const answerable = counts.correct + counts.wrong + counts['wrong-abstained'];
  const reliability = (penalty: number): number =>
    (100 * points.reduce((sum, point) => sum + (point < 0 ? -penalty : point), 0)) / points.length;
  const judged = points.length;
  return {
    questions: verdicts.length,
    counts,
    // Questions whose answer was judged.
    judged,
    // Share of right answers among the judged, right abstentions included; null if none was judged.
    accuracy: judged === 0 ? null : right / judged,
    // Share of right answers among answerable questions.
    accuracyAnswerable: answerable === 0 ? null : counts.correct / answerable,
    // EHRSQL's scores, times 100: +1 if right, 0 if abstained on an answerable question, else minus the penalty.
    reliability:
      judged === 0
        ? null
        : { rs0: reliability(0), rs5: reliability(5), rs10: reliability(10), rsN: reliability(judged) },
  };
}

const ABOUT_UNANSWERABLE: readonly Verdict[] = ['correct-abstained', 'wrong-answered'];

/** Reliability scores by name, where unanswerable questions were judged; null: none were. */
export function reliabilityOf(
  lines: readonly { readonly verdict: Verdict }[],
): Readonly<Record<string, number>> | null {
  const { reliability } = summarise(lines.map(({ verdict }) => verdict));
  if (reliability === null || !lines.some(({ verdict }) => ABOUT_UNANSWERABLE.includes(verdict))) return null;
  const { rs0, rs5, rs10, rsN } = reliability;
  return { 'RS(0)': rs0, 'RS(5)': rs5, 'RS(10)': rs10, 'RS(N)': rsN };
}
