import type { HypothesisOutcome, PredicateOutcome } from '../../../src/domain';
import { leftStanding } from '../../../src/sql/agreement';

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
    [
      'exceptions and what is near them',
      [outcome('h1', [], 118), outcome('h2', [], 117), outcome('h3', [], 60)],
      ['h1', 'h2'],
    ],
    ['all, where none holds', [outcome('h1', [], 80), outcome('h2', [], 10)], ['h1', 'h2']],
    [
      'what loses only to a reading that is FALSE itself',
      [outcome('h1', ['false'], 120), outcome('h2', [], 60)],
      ['h2'],
    ],
    ['none, where all are FALSE', [outcome('h1', ['false']), outcome('h2', ['false'])], []],
  ])('%s', (_, outcomes, left) => {
    expect(leftStanding(outcomes)).toEqual(left);
  });
});
