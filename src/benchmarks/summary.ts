/**
 * Scores of many questions as the figures that benchmarks publish. Only judged questions enter a figure; the others are
 * counted beside it, so that an outage can neither lower a score nor hide.
 */
import { VERDICTS, type Verdict } from './score';

export interface Summary {
  readonly questions: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Questions with a verdict on the answer. */
  readonly judged: number;
  /** Share of right ones among the judged, null when there are none. Right abstentions count. */
  readonly accuracy: number | null;
  /** The same over the answerable ones. */
  readonly accuracyAnswerable: number | null;
  /** EHRSQL's reliability scores, times 100: +1 right, 0 abstained on an answerable question, minus the penalty else. */
  readonly reliability: {
    readonly rs0: number;
    readonly rs5: number;
    readonly rs10: number;
    readonly rsN: number;
  } | null;
}

const POINTS: Readonly<Record<Verdict, number | null>> = {
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

export function summarise(verdicts: readonly Verdict[]): Summary {
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
    judged,
    accuracy: judged === 0 ? null : right / judged,
    accuracyAnswerable: answerable === 0 ? null : counts.correct / answerable,
    reliability:
      judged === 0
        ? null
        : { rs0: reliability(0), rs5: reliability(5), rs10: reliability(10), rsN: reliability(judged) },
  };
}
