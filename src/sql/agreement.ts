/**
 * What counts over the same rows prove (rule S1 for claims): how many of the examined rows match a reading, and when a
 * rival reading has lost against it. Shares are compared by multiplying, so that 19 of 20 and 95 of 100 are the same share.
 */
import { counted } from '../counted';
import type { HypothesisOutcome, SqlValue } from '../domain';

/** Rows that match a reading, of the rows examined: whole numbers, matching ≤ examined. */
export interface Agreement {
  readonly matching: number;
  readonly examined: number;
}

/** A value as a count: a whole number from 0 on, also where it came as text. */
export function countOf(value: SqlValue | undefined): number | null {
  const number = typeof value === 'string' && /^\d+(?:\.0+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** Fewer rows than this decide nothing: three of three may be chance. */
export const FLOOR = 5;

/** Proofs over fewer rows than this count, and are said to be over few rows wherever they are shown again. */
export const FEW_ROWS = 20;

/** The share from which on, and below all, a reading holds with exceptions: they are counted and shown, and it is not proved. */
export const NEARLY = 0.95;

/** How many points (hundredths) lower a rival's share must be where the winner has exceptions itself. */
export const POINTS_APART = 2;

type Standing = 'all' | 'with-exceptions' | 'fails' | 'too-few';

export function standingOf({ matching, examined }: Agreement): Standing {
  if (examined < FLOOR) return 'too-few';
  if (matching === examined) return 'all';
  return matching / examined >= NEARLY ? 'with-exceptions' : 'fails';
}

/** The remark on a reading beside its counts; null where they say it all. */
export function standingNote(agreement: Agreement): string | null {
  const standing = standingOf(agreement);
  if (standing === 'too-few') return `fewer than ${FLOOR} rows decide nothing`;
  const exceptions = counted(agreement.examined - agreement.matching, 'exception');
  return standing === 'with-exceptions' ? `it holds with ${exceptions}` : null;
}

/**
 * Whether the rival's counts refute it beside the winner's: a strictly smaller share and no more matches where all rows match
 * the winner (rows that it adds, and that do not match, speak against it), a share lower by two points where it has exceptions.
 * Nothing loses to a reading that does not hold.
 */
export function loses(rival: Agreement, winner: Agreement): boolean {
  if (rival.examined === 0) return false;
  const [lower, higher] = [rival.matching * winner.examined, winner.matching * rival.examined];
  const standing = standingOf(winner);
  if (standing === 'all') return rival.matching <= winner.matching && lower < higher;
  const isApart = 100 * (higher - lower) >= POINTS_APART * rival.examined * winner.examined;
  return standing === 'with-exceptions' && isApart;
}

/** Whether a smaller share matches than before. */
export function fellFrom(before: Agreement, now: Agreement): boolean {
  return now.matching * before.examined < before.matching * now.examined;
}

/**
 * What the data said of each reading by the reading's own checks, before anybody judges it (rule S1): a FALSE predicate
 * refutes it, and so does a count that is clearly lower than that of another reading over the same rows.
 */

/** Whether a hypothesis is true or false by its own predicates and counts; few rows are enough to speak against a verdict. */
export function standing(outcome: HypothesisOutcome): 'true' | 'false' | 'not-established' {
  if (isFalse(outcome)) return 'false';
  const { agreement, predicates } = outcome;
  if (agreement !== null && agreement.examined > 0 && agreement.matching === agreement.examined) return 'true';
  return predicates.some((predicate) => predicate.outcome === 'true') ? 'true' : 'not-established';
}

function isFalse({ predicates }: HypothesisOutcome): boolean {
  return predicates.some((predicate) => predicate.outcome === 'false');
}

/**
 * Whether the winner's checks establish it: where rows were counted for it, all of them match and there are enough; a
 * predicate that lets some rows pass says less than the count. Without a count, a predicate is TRUE. That nothing is stored
 * needs both: the count, and a predicate as its positive control, without which the count may look in the wrong place.
 */
export function holds(outcome: HypothesisOutcome): boolean {
  const { agreement, predicates, notStored } = outcome;
  const isTrue = predicates.some((predicate) => predicate.outcome === 'true');
  const all = agreement !== null && standingOf(agreement) === 'all';
  if (notStored === true) return all && isTrue;
  return agreement === null ? isTrue : all;
}

/**
 * Whether a rival has lost: one of its own predicates is FALSE, or fewer of the same rows match it than the winner. Where each
 * reading has a run of its own, its SQL may yield other rows: then its share has to be lower too.
 */
export function hasLost(rival: HypothesisOutcome, winner: HypothesisOutcome): boolean {
  if (isFalse(rival)) return true;
  if (rival.agreement === null || winner.agreement === null) return false;
  const comparable =
    rival.agreement.examined === winner.agreement.examined || (rival.run !== undefined && winner.run !== undefined);
  return comparable && loses(rival.agreement, winner.agreement);
}

/** Ids of the readings that neither their own predicates nor the counts of another reading that stands have refuted. */
export function leftStanding(outcomes: readonly HypothesisOutcome[]): readonly string[] {
  const open = outcomes.filter((outcome) => !isFalse(outcome));
  return open.filter((rival) => !open.some((winner) => hasLost(rival, winner))).map(({ id }) => id);
}
