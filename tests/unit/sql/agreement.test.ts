import fc from '../../helpers/property';
import { FLOOR, loses, NEARLY, standingOf, type Agreement, leftStanding } from '../../../src/sql/agreement';
import type { HypothesisOutcome, PredicateOutcome } from '../../../src/domain';

const of = (matching: number, examined: number): Agreement => ({ matching, examined });
const counts = fc
  .integer({ min: 0, max: 1_000_000 })
  .chain((examined) => fc.integer({ min: 0, max: examined }).map((matching) => of(matching, examined)));

describe('S1, how a reading stands by its counts', () => {
  test.each([
    [0, 0, 'too-few'],
    [FLOOR - 1, FLOOR - 1, 'too-few'],
    [0, FLOOR - 1, 'too-few'],
    [FLOOR, FLOOR, 'all'],
    [FLOOR - 1, FLOOR, 'fails'],
    [0, FLOOR, 'fails'],
    [19, 20, 'with-exceptions'],
    [171, 180, 'with-exceptions'],
    [949, 1000, 'fails'],
    [999_999, 1_000_000, 'with-exceptions'],
    [1_000_000, 1_000_000, 'all'],
  ])('%d of %d: %s', (matching, examined, standing) => {
    expect(standingOf(of(matching, examined))).toBe(standing);
  });

  test('every share of exactly 95 % holds with exceptions, whatever the number of rows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (n) => {
        expect(standingOf(of(19 * n, 20 * n))).toBe('with-exceptions');
        expect(standingOf(of(19 * n - 1, 20 * n))).toBe('fails');
      }),
    );
    expect(NEARLY).toBe(0.95);
  });
});

describe('S1, when a rival loses', () => {
  test.each([
    ['fewer of the same rows', of(68, 120), of(120, 120), true],
    ['one row less', of(119, 120), of(120, 120), true],
    ['as many', of(120, 120), of(120, 120), false],
    ['fewer matches, but all of the rows it examined', of(50, 50), of(120, 120), false],
    ['a smaller share, but more matches', of(150, 200), of(120, 120), false],
    ['as many matches, beside rows that it adds', of(120, 160), of(120, 120), true],
    ['no row examined', of(0, 0), of(120, 120), false],
    ['two points below a winner with exceptions', of(96, 100), of(98, 100), true],
    ['less than two points below a winner with exceptions', of(97, 100), of(98, 100), false],
    ['another number of rows, the same share', of(49, 50), of(98, 100), false],
    ['far below a winner that fails', of(0, 100), of(94, 100), false],
    ['far below a winner of too few rows', of(0, 4), of(4, 4), false],
  ])('%s', (_, rival, winner, lost) => {
    expect(loses(rival, winner)).toBe(lost);
  });

  test('no reading loses against itself, and two never lose against each other', () => {
    fc.assert(
      fc.property(counts, counts, (one, other) => {
        expect(loses(one, one)).toBe(false);
        expect(loses(one, other) && loses(other, one)).toBe(false);
      }),
    );
  });

  test('fewer matches never save a rival', () => {
    fc.assert(
      fc.property(counts, counts, fc.integer({ min: 0, max: 1_000_000 }), (rival, winner, fewer) => {
        const weaker = of(Math.max(0, rival.matching - fewer), rival.examined);
        expect(loses(weaker, winner) || !loses(rival, winner)).toBe(true);
      }),
    );
  });
});

const outcome = (id: string, predicates: PredicateOutcome[], matching: number | null = null): HypothesisOutcome => ({
  id,
  predicates: predicates.map((each) => ({ sql: 'p', outcome: each, note: null })),
  agreement: matching === null ? null : { matching, examined: 120 },
});

describe('S1, what the checks leave standing', () => {
  test.each<[string, HypothesisOutcome[], string[]]>([
    ['all, where nothing was established', [outcome('h1', []), outcome('h2', ['not-established'])], ['h1', 'h2']],
    ['not what is FALSE', [outcome('h1', ['true']), outcome('h2', ['true', 'false'])], ['h1']],
    ['not what fewer rows match than all', [outcome('h1', [], 120), outcome('h2', [], 119)], ['h1']],
    ['what as many match', [outcome('h1', [], 120), outcome('h2', [], 120), outcome('h3', [], 3)], ['h1', 'h2']],
    ['exceptions and what is near them', [outcome('h1', [], 118), outcome('h2', [], 117), outcome('h3', [], 60)], ['h1', 'h2']],
    ['all, where none holds', [outcome('h1', [], 80), outcome('h2', [], 10)], ['h1', 'h2']],
    ['what loses only to a reading that is FALSE itself', [outcome('h1', ['false'], 120), outcome('h2', [], 60)], ['h2']],
    ['none, where all are FALSE', [outcome('h1', ['false']), outcome('h2', ['false'])], []],
  ])('%s', (_, outcomes, left) => {
    expect(leftStanding(outcomes)).toEqual(left);
  }); // prettier-ignore
});
