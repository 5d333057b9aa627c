/**
 * What counts over the same rows prove (rule S1 for claims): how many of the examined rows match a reading, and when a
 * rival reading has lost against it. Shares are compared by multiplying, so that 19 of 20 and 95 of 100 are the same share.
 */
import { counted } from '../counted';

/** Rows that match a reading, of the rows examined: whole numbers, matching ≤ examined. */
export interface Agreement {
  readonly matching: number;
  readonly examined: number;
}

/** Fewer rows than this decide nothing: three of three may be chance. */
export const FLOOR = 5;

/** Proofs over fewer rows than this count, and are said to be over few rows wherever they are shown again. */
export const FEW_ROWS = 20;

/** From this share on, and below all, a reading holds with exceptions: they are counted and shown, and it is not proved. */
export const NEARLY = 0.95;

/** How many points (hundredths) lower a rival's share must be where the winner has exceptions itself. */
export const POINTS_APART = 2;

export type Standing = 'all' | 'with-exceptions' | 'fails' | 'too-few';

export function standingOf({ matching, examined }: Agreement): Standing {
  if (examined < FLOOR) return 'too-few';
  if (matching === examined) return 'all';
  return matching / examined >= NEARLY ? 'with-exceptions' : 'fails';
}

/** What has to be said of a reading beside its counts; null where they say it all. */
export function standingNote(agreement: Agreement): string | null {
  const exceptions = agreement.examined - agreement.matching;
  switch (standingOf(agreement)) {
    case 'with-exceptions':
      return `it holds with ${counted(exceptions, 'exception')}`;
    case 'too-few':
      return `fewer than ${FLOOR} rows decide nothing`;
    case 'all':
    case 'fails':
      return null;
  }
}

/**
 * Whether the rival's counts refute it beside the winner's: strictly fewer matches and a strictly smaller share where all
 * rows match the winner, a share lower by two points where it has exceptions. Nothing loses to a reading that does not hold.
 */
export function loses(rival: Agreement, winner: Agreement): boolean {
  if (rival.examined === 0) return false;
  const [lower, higher] = [rival.matching * winner.examined, winner.matching * rival.examined];
  switch (standingOf(winner)) {
    case 'all':
      return rival.matching < winner.matching && lower < higher;
    case 'with-exceptions':
      return 100 * (higher - lower) >= POINTS_APART * rival.examined * winner.examined;
    case 'fails':
    case 'too-few':
      return false;
  }
}

/** Whether a smaller share matches than before. */
export function fellFrom(before: Agreement, now: Agreement): boolean {
  return now.matching * before.examined < before.matching * now.examined;
}
