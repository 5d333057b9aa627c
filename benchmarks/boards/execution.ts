/** Running a prediction beside the gold queries, for boards that compare results; and the verdicts that need no comparison. */
import type { SqlResult } from '../../src/domain';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../../src/ports';
import type { Rows } from '../../src/sql/equal';
import type { BoardScore, Prediction } from '../benchmark';
import { runAsWritten } from '../../src/questions/double-quoted';
import { describeFailure } from '../../src/questions/execution-match';
import type { Verdict } from '../../src/questions/score';

export interface Ran {
  /** As they ran. */
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

/** In one snapshot. In SQLite all texts run as the SQLite of Python, which the official scorers use, reads them. */
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

/** What boards that execute SQL call a prediction: several statements are none, because they run one. */
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

/** In per cent, of the scores that hold this point; null: none does. */
export function meanOf(scores: readonly BoardScore[], point: string): number | null {
  const values = scores.flatMap(({ points }) => points[point] ?? []);
  return values.length === 0 ? null : (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;
}
