/**
 * Turns the scores of many questions into the figures that benchmarks publish. Only judged questions count; the others are
 * reported separately, so that an outage does not lower a score and is still visible.
 */
import { VERDICTS, type Verdict } from './score';

/** Of the reliability score; null: not judged. */
export const POINTS: Readonly<Record<Verdict, number | null>> = {
  correct: 1,
  'correct-abstained': 1,
  'wrong-abstained': 0,
  wrong: -1,
  'wrong-answered': -1,
  cancelled: null,
  infrastructure: null,
  'gold-failed': null,
  undecided: null,
  'no-gold': null,
};

export function summarise(verdicts: readonly Verdict[]) {
  const counts = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, verdicts.filter((one) => one === verdict).length]),
  ) as Record<Verdict, number>;
  const points = verdicts.map((verdict) => POINTS[verdict]).filter((point) => point !== null);
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
    // The same for answerable questions only.
    accuracyAnswerable: answerable === 0 ? null : counts.correct / answerable,
    // EHRSQL's scores, times 100: +1 if right, 0 if abstained on an answerable question, else minus the penalty.
    reliability:
      judged === 0
        ? null
        : { rs0: reliability(0), rs5: reliability(5), rs10: reliability(10), rsN: reliability(judged) },
  };
}
