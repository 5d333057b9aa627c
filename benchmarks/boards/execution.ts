/**
 * What boards share that run a prediction beside gold queries: its result, verdicts that need no comparison, and the points of
 * those that judge as this project does. EX counts an abstention both ways: as right where the question is unanswerable
 * (`exAll`), or not at all (`exAnswerable`).
 */
import type { SqlResult } from '../../src/domain';
import { type SqlEngine, SqlEngineError, type SqlOptions } from '../../src/domain/ports';
import { runAsWritten } from '../../src/questions/double-quoted';
import { describeFailure } from '../../src/questions/execution-match';
import type { Gold } from '../../src/questions/question-file';
import { reliabilityPoints, summarise } from '../../src/questions/score';
import type { Verdict } from '../../src/questions/verdict';
import type { Rows } from '../../src/sql/equal';
import type { BoardScore, Metrics, Prediction } from '../benchmark';

export interface Ran {
  /** Statements as they ran. */
  readonly statements: readonly string[];
  readonly predicted: SqlResult;
  readonly golds: readonly SqlResult[];
}

/** A failure of the database is a verdict, never a wrong answer. */
export async function whileConnected(score: () => Promise<BoardScore>): Promise<BoardScore> {
  try {
    return await score();
  } catch (error) {
    if (!(error instanceof SqlEngineError)) throw error;
    return scored('infrastructure', error.message);
  }
}

/** Both sides run in one snapshot. In SQLite all texts run as the SQLite of Python, which the official scorers use, reads them. */
export async function runBoth(
  predicted: string,
  golds: readonly string[],
  engine: SqlEngine,
  options: SqlOptions,
): Promise<Ran> {
  const { statements, results } = await runAsWritten([predicted, ...golds], engine, options, 0);
  const [first, ...rest] = results;
  if (first === undefined) throw new SqlEngineError('connection', 'the database gave no result');
  return { statements, predicted: first, golds: rest };
}

/** The rows of both sides, which may have been cut, or the verdict where one of them has none. */
export function comparable(predicted: SqlResult, gold: SqlResult | undefined): readonly [Rows, Rows] | BoardScore {
  if (gold?.kind !== 'rows')
    return scored('gold-failed', `the gold query: ${gold === undefined ? 'there is none' : describeFailure(gold)}`);
  return predicted.kind === 'rows' ? [predicted, gold] : wrong(describeFailure(predicted));
}

export function tooLarge(): BoardScore {
  return scored('undecided', 'the result is larger than the row cap');
}

export function wrong(reason: string): BoardScore {
  return scored('wrong', reason, { ex: 0 });
}

/** An abstention, or no prediction at all, where every question has an answer; null: there is something to judge. */
export function unanswered({ kind }: Prediction): BoardScore | null {
  if (kind === 'abstained') return scored('wrong-abstained', 'abstained', { ex: 0 });
  return kind === 'none' ? wrong('there is no prediction for it') : null;
}

export function scored(verdict: Verdict, reason: string, points: BoardScore['points'] = {}): BoardScore {
  return { verdict, points, reason };
}

/** One text for boards that execute SQL: several statements are none, because they run one. */
export function statementOf(statements: readonly string[]): string {
  return statements.join(';\n');
}

/** A prediction that is given as rows, as a result; kinds of values are unknown. */
export function resultOf({ columns, rows }: Extract<Prediction, { readonly kind: 'rows' }>): Rows {
  return {
    kind: 'rows',
    columns: columns.map((name) => ({ name, kind: 'other' as const })),
    rows: rows.map((row) => [...row]),
    truncated: false,
    elapsedMs: 0,
  };
}

/** The mean in per cent of the scores that hold this point; null: none does. */
export function meanOf(scores: readonly BoardScore[], point: string): number | null {
  const values = scores.flatMap(({ points }) => points[point] ?? []);
  return values.length === 0 ? null : (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;
}

export function boardScore(verdict: Verdict, reason: string): BoardScore {
  const reliability = reliabilityPoints(verdict);
  return { verdict, reason, points: reliability === null ? {} : { ex: Number(reliability === 1), reliability } };
}

/** The verdict where there is no answer or no gold, else what `compare` gives. */
export function judged(
  prediction: Prediction,
  gold: Pick<Gold, 'answerable'> | null,
  compare: (prediction: Extract<Prediction, { kind: 'sql' | 'rows' }>) => Promise<BoardScore>,
): BoardScore | Promise<BoardScore> {
  if (gold === null) return boardScore('no-gold', 'there is no gold for this question');
  const { answerable } = gold;
  switch (prediction.kind) {
    case 'abstained':
      return boardScore(answerable ? 'wrong-abstained' : 'correct-abstained', 'abstained');
    case 'none':
      // Leaving an id out must not pay: an abstention has to be said.
      return boardScore(answerable ? 'wrong' : 'wrong-answered', 'there is no prediction for it');
    case 'sql':
    case 'rows':
      return compare(prediction);
  }
}

/** Figures in per cent, of what was judged. */
export function reliabilityMetrics(scores: ReadonlyMap<string, BoardScore>): Metrics {
  const { accuracy, accuracyAnswerable, reliability } = summarise([...scores.values()].map(({ verdict }) => verdict));
  const percent = (share: number | null): number | null => (share === null ? null : 100 * share);
  return {
    exAll: percent(accuracy),
    exAnswerable: percent(accuracyAnswerable),
    ...(reliability ?? { rs0: null, rs5: null, rs10: null, rsN: null }),
  };
}
