/**
 * Points and figures of boards that judge as this project does: a right answer, a right abstention, or none of them.
 * EX counts an abstention both ways: as right where the question is unanswerable (`exAll`), or not at all (`exAnswerable`).
 */
import type { BoardScore, Metrics, Prediction } from '../benchmark';
import type { Gold } from '../../src/questions/question-file';
import type { Verdict } from '../../src/questions/score';
import { POINTS, summarise } from '../../src/questions/score';

export function boardScore(verdict: Verdict, reason: string): BoardScore {
  const reliability = POINTS[verdict];
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

/** In per cent, of what was judged. */
export function reliabilityMetrics(scores: ReadonlyMap<string, BoardScore>): Metrics {
  const { accuracy, accuracyAnswerable, reliability } = summarise([...scores.values()].map(({ verdict }) => verdict));
  const percent = (share: number | null): number | null => (share === null ? null : 100 * share);
  return {
    exAll: percent(accuracy),
    exAnswerable: percent(accuracyAnswerable),
    ...(reliability ?? { rs0: null, rs5: null, rs10: null, rsN: null }),
  };
}
