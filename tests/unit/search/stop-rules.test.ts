import type { CandidateView, SearchState } from '../../../src/domain';
import { initialState } from '../../../src/search/run';
import { rootTrajectory } from '../../../src/search/remember';
import { hasAgreement, stopReason } from '../../../src/search/search';
import { candidateView, testSettings } from '../../helpers/fake-steps';

const settings = testSettings('fast', { cMin: 2, cMax: 4, iterations: 6 });
const candidate = (id: string, body: string, resultClass: string, more: Partial<CandidateView> = {}) =>
  candidateView(id, {
    resultClass,
    bodies: body.split('').map((bodyId) => ({ operator: `op_${bodyId}`, bodyId, updateId: null, counts: true })),
    ...more,
  });
const at = (candidates: CandidateView[], more: Partial<SearchState> = {}): SearchState => ({
  ...initialState('s', 1000),
  candidates,
  ...more,
});

describe('when a search stops', () => {
  test('with nothing found yet it goes on', () => {
    expect(stopReason(at([]), settings, 1000)).toBeNull();
    expect(stopReason(at([candidate('c1', 'a', 'c1')]), settings, 1000)).toBeNull();
  });

  test('from cMin on when independent derivations agree, not before', () => {
    const two = at([candidate('c1', 'a', 'c1'), candidate('c2', 'b', 'c1')]);
    expect(stopReason(two, settings, 1000)).toBe('agreement');
    expect(stopReason(two, { ...settings, cMin: 3 }, 1000)).toBeNull();
  });

  test('two derivations that share an unproved body do not agree', () => {
    expect(stopReason(at([candidate('c1', 'ab', 'c1'), candidate('c2', 'ac', 'c1')]), settings, 1000)).toBeNull();
  });

  test('empty agreement without a control count does not stop; with one it does', () => {
    const empty = { trivial: true };
    const without = [candidate('c1', 'a', 'c1', empty), candidate('c2', 'b', 'c1', empty)];
    expect(stopReason(at(without), settings, 1000)).toBeNull();
    const counted = [candidate('c1', 'a', 'c1', { ...empty, control: 12 }), candidate('c2', 'b', 'c1', empty)];
    expect(stopReason(at(counted), settings, 1000)).toBe('agreement');
  });

  test('the class with the most independent support must be the only one, wherever it stands', () => {
    const [a, b] = [candidate('c1', 'a', 'c1'), candidate('c2', 'b', 'c1')];
    const [c, d, e] = [candidate('c3', 'c', 'c3'), candidate('c4', 'd', 'c3'), candidate('c5', 'e', 'c3')];
    expect(hasAgreement(at([a, b, c, d]).candidates)).toBe(false);
    expect(hasAgreement(at([a, b, c, d, e]).candidates)).toBe(true);
    expect(hasAgreement(at([c, a, d, b, e]).candidates)).toBe(true);
    expect(hasAgreement(at([a, b, c]).candidates)).toBe(true);
  });

  test('at cMax distinct derivations, however many candidates failed', () => {
    const failed = candidate('c9', 'x', 'c9', { outcome: 'sql-error' });
    const three = ['a', 'b', 'c'].map((body, index) => candidate(`c${index}`, body, `c${index}`));
    expect(stopReason(at([...three, failed, candidate('c8', 'a', 'c8')]), settings, 1000)).toBeNull();
    expect(stopReason(at([...three, candidate('c7', 'd', 'c7')]), settings, 1000)).toBe('candidates');
  });

  test('when iterations, a budget or everything to try is used up', () => {
    expect(stopReason(at([], { iteration: 7 }), settings, 1000)).toBe('iterations');
    const budgets = { ...settings.budgets, wallMs: 50 };
    expect(stopReason(at([]), { ...settings, budgets }, 1050)).toBe('budget:wallMs');
    const closed = at([], { trajectories: [{ ...rootTrajectory(), status: 'exhausted' }] });
    expect(stopReason(closed, settings, 1000)).toBe('exhausted');
  });

  describe('with a second derivation only where doubt is left', () => {
    const once = { ...settings, secondDerivation: 'when-doubtful' as const };
    const proved = (id: string, body: string, resultClass: string) => {
      const { bodies, ...rest } = candidate(id, body, resultClass);
      return { ...rest, bodies: bodies.map((each) => ({ ...each, updateId: `u_${each.bodyId}`, counts: false })) };
    };

    test.each([
      ['a proved candidate', [proved('c1', 'a', 'c1')], 'settled'],
      ['one that rests on little risk', [candidate('c1', 'a', 'c1', { openRisk: 0.2 })], 'settled'],
      ['one with an open doubt', [candidate('c1', 'a', 'c1', { openRisk: 0.3 })], null],
      ['an empty result', [candidate('c1', 'a', 'c1', { trivial: true })], null],
      ['an empty result beside rows examined', [candidate('c1', 'a', 'c1', { trivial: true, control: 9 })], 'settled'],
      [
        'counts that show that nothing is stored',
        [candidate('c1', '', 'un', { kind: 'unanswerable', absenceShown: true })],
        'settled',
      ],
      ['a reply that nothing can be answered', [candidate('c1', '', 'un', { kind: 'unanswerable' })], null],
      [
        'a second such reply, which has seen the first',
        [candidate('c1', '', 'un', { kind: 'unanswerable' }), candidate('c2', '', 'un', { kind: 'unanswerable' })],
        'settled',
      ],
      [
        'two such replies beside a result',
        [
          candidate('c1', '', 'un', { kind: 'unanswerable' }),
          candidate('c2', '', 'un', { kind: 'unanswerable' }),
          candidate('c3', 'b', 'c3', { openRisk: 0.6 }),
        ],
        null,
      ],
      ['a query that failed', [candidate('c1', 'a', 'c1', { outcome: 'sql-error' })], null],
      [
        'a proved one beside a doubtful one',
        [candidate('c1', 'b', 'c1', { openRisk: 0.6 }), proved('c2', 'a', 'c2')],
        'settled',
      ],
      [
        'an unproved one beside another result',
        [candidate('c1', 'b', 'c1', { openRisk: 0.6 }), candidate('c2', 'a', 'c2')],
        null,
      ],
      ['two proved ones that differ', [proved('c1', 'a', 'c1'), proved('c2', 'b', 'c2')], null],
    ])('%s', (_, candidates, reason) => {
      expect(stopReason(at(candidates), { ...once, cMin: 3 }, 1000)).toBe(reason);
      expect(stopReason(at(candidates), { ...settings, cMin: 3 }, 1000)).toBeNull();
    });
  });

  test('an answer that was reached is named before the budget that ended with it', () => {
    const budgets = { ...settings.budgets, wallMs: 50 };
    const two = at([candidate('c1', 'a', 'c1'), candidate('c2', 'b', 'c1')]);
    expect(stopReason(two, { ...settings, budgets }, 2000)).toBe('agreement');
  });
});
