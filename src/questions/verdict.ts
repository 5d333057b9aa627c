/** What the answer to a question was: exactly, and as it counts. */
export const VERDICTS = [
  'correct',
  /** The question is unanswerable, and the search said so. */
  'correct-abstained',
  'wrong',
  /** The question is answerable, but the search gave no answer. */
  'wrong-abstained',
  /** The question is unanswerable, but the search gave an answer. */
  'wrong-answered',
  'cancelled',
  /** The search or the database failed for a reason outside the search. */
  'infrastructure',
  'gold-failed',
  'undecided',
  'no-gold',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export type Outcome = 'right' | 'wrong' | 'declined' | 'failed' | 'not-scored';

export const OUTCOMES: Readonly<Record<Verdict, Outcome>> = {
  correct: 'right',
  'correct-abstained': 'right',
  wrong: 'wrong',
  'wrong-answered': 'wrong',
  'wrong-abstained': 'declined',
  infrastructure: 'failed',
  cancelled: 'not-scored',
  'gold-failed': 'not-scored',
  undecided: 'not-scored',
  'no-gold': 'not-scored',
};

export const POINTS: Readonly<Record<Outcome, number | null>> = {
  right: 1,
  wrong: 0,
  declined: 0,
  failed: null,
  'not-scored': null,
};
