import fc from '../../helpers/property';
import type { CandidateView } from '../../../src/domain';
import {
  agrees,
  areIndependent,
  candidateBodies,
  derivations,
  independentSupport,
  resultClasses,
} from '../../../src/search/candidate';
import { candidateView, operator, planOf } from '../../helpers/fake-steps';

/** `a` unproved, `a!` proved, `a+` arithmetic. */
function candidate(id: string, bodies: string, more: Partial<CandidateView> = {}): CandidateView {
  return candidateView(id, {
    trajectory: `t-${id}`,
    resultClass: 'c1',
    bodies: bodies.split(' ').map((text) => ({
      operator: `op_${text[0] ?? ''}`,
      bodyId: text.replace(/[!+]/, ''),
      updateId: text.endsWith('!') ? `u-${text}` : null,
      counts: !/[!+]$/.test(text),
    })),
    ...more,
  });
}
const unanswerable = (id: string, trajectory: string) =>
  candidate(id, 'x', { kind: 'unanswerable', bodies: [], trajectory, resultClass: 'unanswerable' });

describe('rule S4: independent derivations', () => {
  test('share no unproved body', () => {
    expect(areIndependent(candidate('c1', 'a b'), candidate('c2', 'c d'))).toBe(true);
    expect(areIndependent(candidate('c1', 'a b'), candidate('c2', 'a d'))).toBe(false);
  });

  test('are counted at once where each shares a body with the next, also in a class of very many', () => {
    const chain = (length: number) =>
      Array.from({ length }, (_, at) =>
        candidate(`c${at}`, `${String.fromCharCode(200 + at)} ${String.fromCharCode(201 + at)}`),
      );
    expect(independentSupport(chain(15))).toBe(8);
    // Trying every set would not end within the time of a test.
    expect(independentSupport(chain(200))).toBe(100);
    expect(agrees(chain(200))).toBe(true);
  });

  test('are not two by what their operators are called', () => {
    expect(areIndependent(candidate('c1', 'a! b.1'), candidate('c2', 'a! b.2'))).toBe(false);
    expect(areIndependent(candidate('c1', 'a! s.1+'), candidate('c2', 'a! s.2+'))).toBe(false);
    expect(areIndependent(candidate('c1', 'a! b s.1+'), candidate('c2', 'a! c s.2+'))).toBe(true);
  });

  test('may share proved bodies and mere arithmetic', () => {
    expect(areIndependent(candidate('c1', 'a! b s+'), candidate('c2', 'a! c s+'))).toBe(true);
  });

  test('are not two when their bodies are the same, even if all are proved', () => {
    expect(areIndependent(candidate('c1', 'a! b!'), candidate('c2', 'b! a!'))).toBe(false);
    expect(derivations([candidate('c1', 'a b'), candidate('c2', 'b a'), candidate('c3', 'a c')])).toHaveLength(2);
  });

  test('count what a plan wrote: proved bodies and sums over operators without assumption do not', () => {
    const plan = planOf('p', [
      operator('op_a', { bodyId: 'a', updateId: 'u' }),
      operator('op_b', { bodyId: 'b' }),
      operator('op_c', { bodyId: 'c', inputs: ['op_b'], readsBase: false }),
      operator('op_d', { bodyId: 'd', inputs: ['op_c'], readsBase: false, assumptions: 1 }),
    ]);
    expect(candidateBodies(plan).map(({ bodyId, counts }) => [bodyId, counts])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
      ['d', true],
    ]);
  });

  test('of "unanswerable" are separate replies about the question, not two about one plan', () => {
    expect(areIndependent(unanswerable('c1', 't0'), unanswerable('c2', 't0'))).toBe(true);
    expect(areIndependent(unanswerable('c1', 't3'), unanswerable('c2', 't3'))).toBe(false);
    expect(areIndependent(unanswerable('c1', 't0'), unanswerable('c2', 't3'))).toBe(true);
  });

  test('support is the largest independent set, whatever the order of its members', () => {
    // The first shares a body with each of the two others, which are independent of each other.
    const members = [candidate('c1', 'a b'), candidate('c2', 'a c'), candidate('c3', 'b d')];
    expect(independentSupport(members)).toBe(2);
    const body = fc.constantFrom('a', 'b', 'c', 'd', 'a!', 'b!', 's+');
    const list = fc.array(fc.uniqueArray(body, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(list, (lists) => {
        const all = lists.map((bodies, index) => candidate(`c${index}`, bodies.join(' ')));
        expect(independentSupport([...all].reverse())).toBe(independentSupport(all));
        const pair = all.some((one) => all.some((other) => one !== other && areIndependent(one, other)));
        expect(independentSupport(all) >= 2).toBe(pair);
      }),
    );
  });
});

describe('rule S5, on the control side', () => {
  test('agreement on a trivial result needs a count of rows examined', () => {
    const trivial = { trivial: true };
    expect(agrees([candidate('c1', 'a'), candidate('c2', 'b')])).toBe(true);
    expect(agrees([candidate('c1', 'a', trivial), candidate('c2', 'b', trivial)])).toBe(false);
    expect(agrees([candidate('c1', 'a', { ...trivial, control: 0 }), candidate('c2', 'b', trivial)])).toBe(false);
    expect(agrees([candidate('c1', 'a', { ...trivial, control: 9 }), candidate('c2', 'b', trivial)])).toBe(true);
  });

  test('a trivial result over no rows at all supports no other, whatever the other counted', () => {
    const trivial = { trivial: true };
    const counted = candidate('c1', 'a', { ...trivial, control: 9 });
    const vacuous = candidate('c2', 'b', { ...trivial, control: 0 });
    expect(agrees([counted, vacuous])).toBe(false);
    expect(agrees([vacuous, counted])).toBe(false);
    expect(agrees([counted, vacuous, candidate('c3', 'c', trivial)])).toBe(true);
    expect(agrees([candidate('c1', 'a', { control: 0 }), candidate('c2', 'b', { control: 0 })])).toBe(true);
  });

  test('only candidates that ran and stand form classes', () => {
    const all = [
      candidate('c1', 'a'),
      candidate('c2', 'b', { outcome: 'sql-error' }),
      candidate('c3', 'c', { status: 'withdrawn' }),
      candidate('c4', 'd', { resultClass: 'c4' }),
    ];
    expect(resultClasses(all).map((members) => members.map(({ id }) => id))).toEqual([['c1'], ['c4']]);
  });
});
