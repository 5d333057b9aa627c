/**
 * What the data said of each reading by the reading's own checks, before anybody judges it (rule S1): a FALSE predicate
 * refutes it, and so does a count that is clearly lower than that of another reading over the same rows.
 */
import type { HypothesisOutcome } from '../domain';
import { loses, standingOf } from './agreement';

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
