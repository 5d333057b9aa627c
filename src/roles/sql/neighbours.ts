/** Values of checks that may have been fitted, each moved a little: which of their neighbours the rows fit as well. */
import type { Claim, Dialect, SqlResult } from '../../domain';
import { readCounts } from '../../sql/claims';
import { countingParts } from '../../sql/checks';
import { fittedIn, withLiteral } from '../../sql/fitted';
import { tokensOf } from '../../sql/lexer';
import { bandNumbersIn, isOnlyThreshold, thresholdsIn } from '../../sql/thresholds';
import { readQuery, selectOf, shown } from '../../sql/tree';
import { single, together, type Statements } from '../shared/statements';

export interface Neighbour {
  readonly claim: Claim;
  /** As the check has it. */
  readonly literal: string;
  readonly put: string;
  /** The number is a bound, and may be of something else where it stands otherwise. */
  readonly isBound: boolean;
  /** It stands in the check once. */
  readonly isOnce: boolean;
  /** How many of this value are nearer. */
  readonly rank: number;
}

/** Dates, factors and bounds of the checks, moved: the nearest of each value first. */
export function neighboursOf(claims: readonly Claim[], dialect: Dialect): readonly Neighbour[] {
  const moved = claims.flatMap((claim) =>
    [
      ...fittedIn(claim.check, dialect).map((value) => ({ ...value, isBound: false })),
      ...thresholdsIn(claim.check, dialect).map((value) => ({ ...value, isBound: true })),
    ]
      .filter(({ literal }) => isOwn(literal, claim, dialect))
      .flatMap(({ neighbours, ...value }) => {
        const isOnce = timesIn(claim.check, value.literal, dialect) === 1;
        return neighbours.map((put, rank): Neighbour => ({ claim, ...value, put, isOnce, rank }));
      }),
  );
  return moved.sort((a, b) => a.rank - b.rank);
}

/** Whether the claim itself rests on the value, and not only the count of a rival, or how closely figures agree. */
function isOwn(literal: string, { check }: Claim, dialect: Dialect): boolean {
  if (bandNumbersIn(check, dialect).has(literal)) return false;
  const columns = countingParts(check, dialect).map((part) => selectOf(readQuery(part, dialect))?.columns ?? []);
  const rivals = columns.flatMap((each, at) => (at === 0 ? each.slice(2) : each)).map(({ value }) => shown(value));
  return timesIn(check, literal, dialect) > rivals.reduce((sum, sql) => sum + timesIn(sql, literal, dialect), 0);
}

function timesIn(sql: string, literal: string, dialect: Dialect): number {
  return tokensOf(sql, dialect).filter(({ raw }) => raw === literal).length;
}

/** Which of them count the same. Of a bound only the furthest on each side. */
export function fittingOf(tried: readonly Neighbour[]): Statements<readonly Neighbour[]> {
  const checks = tried.map(({ claim, literal, put }) => single(withLiteral(claim.check, literal, put)));
  const { statements, read } = together(checks);
  return {
    statements,
    read: (results) => {
      const seen = read(results);
      const fitting = tried.filter(({ claim, isOnce }, at) => {
        const others = countedAs(claim, seen[at]);
        return others !== null && !(isOnce && isOfRivals(others, claim));
      });
      return fitting.filter(
        (each) => !each.isBound || !fitting.some((other) => other.rank > each.rank && isSameSide(each, other)),
      );
    },
  };
}

/** What a check counts beside examined and matching; null: these are not those of the claim. */
export function countedAs({ examined, matching }: Claim, result: SqlResult | null = null): readonly number[] | null {
  const counts = readCounts(result ?? undefined, 2);
  if (typeof counts === 'string' || counts[0] !== examined || counts[1] !== matching) return null;
  return counts.slice(2);
}

/** What changes the counts of rivals alone is theirs, such as a bound of a step that only they read. */
function isOfRivals(counts: readonly number[], { rivals }: Claim): boolean {
  return counts.length === rivals.length && counts.some((count, at) => count !== rivals[at]?.matching);
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
