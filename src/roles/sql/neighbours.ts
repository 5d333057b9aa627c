/** Values of checks that may have been fitted, each moved a little: which of their neighbours the rows fit as well. */
import type { Claim, Dialect } from '../../domain';
import { readCounts } from '../../sql/claims';
import { fittedIn, withLiteral } from '../../sql/fitted';
import { isOnlyThreshold, thresholdsIn } from '../../sql/thresholds';
import { single, together, type Statements } from '../shared/statements';

export interface Neighbour {
  readonly claim: Claim;
  /** As the check has it. */
  readonly literal: string;
  readonly put: string;
  /** The number is a bound, and may be of something else where it stands otherwise. */
  readonly isBound: boolean;
  /** How many of this value are nearer. */
  readonly rank: number;
}

/** Dates, factors and bounds of the checks, moved: the nearest of each value first. */
export function neighboursOf(claims: readonly Claim[], dialect: Dialect): readonly Neighbour[] {
  const moved = claims.flatMap((claim) =>
    [
      ...fittedIn(claim.check, dialect).map((value) => ({ ...value, isBound: false })),
      ...thresholdsIn(claim.check, dialect).map((value) => ({ ...value, isBound: true })),
    ].flatMap(({ literal, neighbours, isBound }) =>
      neighbours.map((put, rank): Neighbour => ({ claim, literal, put, isBound, rank })),
    ),
  );
  return moved.sort((a, b) => a.rank - b.rank);
}

/** Which of them count the same. Of a bound only the furthest on each side. */
export function fittingOf(tried: readonly Neighbour[]): Statements<readonly Neighbour[]> {
  const checks = tried.map(({ claim, literal, put }) => single(withLiteral(claim.check, literal, put)));
  const { statements, read } = together(checks);
  return {
    statements,
    read: (results) => {
      const seen = read(results);
      const fitting = tried.filter(({ claim }, at) => {
        const counts = readCounts(seen[at], 2);
        return typeof counts !== 'string' && counts[0] === claim.examined && counts[1] === claim.matching;
      });
      return fitting.filter(
        (each) => !each.isBound || !fitting.some((other) => other.rank > each.rank && isSameSide(each, other)),
      );
    },
  };
}

function isSameSide(one: Neighbour, other: Neighbour): boolean {
  const side = ({ literal, put }: Neighbour): number => Math.sign(Number(put) - Number(literal));
  return one.claim === other.claim && one.literal === other.literal && side(one) === side(other);
}

/** The SQL of an answer with the neighbour in place; null where the value does not stand there, or for something else, too. */
export function movedIn(sql: string, { literal, put, isBound }: Neighbour, dialect: Dialect): string | null {
  if (isBound && !isOnlyThreshold(sql, literal, dialect)) return null;
  const moved = withLiteral(sql, literal, put);
  return moved === sql ? null : moved;
}
