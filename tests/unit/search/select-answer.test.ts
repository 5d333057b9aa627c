import type { CandidateView, EndedBy, SearchState } from '../../../src/domain';
import { addUnanswerable } from '../../../src/search/candidate';
import { chooseAnswer, rankClasses } from '../../../src/search/select-answer';
import { initialState } from '../../../src/search/run';
import { candidateView } from '../../helpers/fake-steps';

const candidate = (id: string, more: Partial<CandidateView> = {}): CandidateView =>
  candidateView(id, {
    bodies: [{ operator: 'op_a', bodyId: `body of ${id}`, updateId: null, counts: true }],
    ...more,
  });
const at = (...candidates: CandidateView[]): SearchState => ({ ...initialState('s', 0), candidates });
const doubtful = { openRisk: 0.6 };
const ranking = (state: SearchState) => rankClasses(state).map(({ representative }) => representative.id);

describe('selecting the answer', () => {
  test('one distinct sound result needs no judge', () => {
    expect(chooseAnswer(at(candidate('c1')), 'iterations')).toMatchObject({ kind: 'decided', candidate: 'c1' });
  });

  test('one doubtful result goes to the judge, unless independent derivations agree on it', () => {
    expect(chooseAnswer(at(candidate('c1', doubtful)), 'exhausted').kind).toBe('ask');
    const agreed = at(candidate('c1', doubtful), candidate('c2', { ...doubtful, resultClass: 'c1' }));
    expect(chooseAnswer(agreed, 'agreement')).toMatchObject({ kind: 'decided', status: 'answered' });
  });

  test('an empty result that nothing was counted for is not sound', () => {
    expect(chooseAnswer(at(candidate('c1', { trivial: true })), 'exhausted').kind).toBe('ask');
    expect(chooseAnswer(at(candidate('c1', { trivial: true, control: 5 })), 'exhausted').kind).toBe('decided');
  });

  test.each(['cancel', 'budget:costUsd', 'budget:wallMs'] satisfies EndedBy[])(
    'after %s the best is taken without a call',
    (endedBy) => {
      const state = at(candidate('c1', doubtful), candidate('c2'));
      expect(chooseAnswer(state, endedBy)).toMatchObject({ kind: 'decided', candidate: 'c2' });
    },
  );

  test('errors, duplicates and withdrawn candidates drop out; at most ten are shown', () => {
    const many = Array.from({ length: 12 }, (_, index) => candidate(`c${index + 1}`, doubtful));
    const choice = chooseAnswer(
      at(...many, candidate('c13', { resultClass: 'c1' }), candidate('c14', { outcome: 'timeout' })),
      'candidates',
    );
    expect(choice.kind === 'ask' && choice.classes).toHaveLength(10);
    expect(ranking(at(candidate('c1', { status: 'withdrawn' }), candidate('c2')))).toEqual(['c2']);
  });

  test('proved ranks above assumed, then support, then what says something, then low risk', () => {
    const state = at(
      candidate('c1', { openRisk: 0.5 }),
      candidate('c2', { openRisk: 0.2, trivial: true }),
      candidate('c3', { openRisk: 0.6 }),
      candidate('c4', { openRisk: 0.7, resultClass: 'c3' }),
      candidate('c5'),
      candidate('c6', { openRisk: 0.4 }),
    );
    expect(ranking(state)).toEqual(['c5', 'c3', 'c6', 'c1', 'c2']);
  });

  test('a plan whose data-reading bodies are all proved ranks above one that merely lists no assumption', () => {
    const bodies = [{ operator: 'op_a', bodyId: 'b1', updateId: 'u1', counts: false }];
    expect(ranking(at(candidate('c1'), candidate('c2', { bodies, openRisk: 0.1 })))).toEqual(['c2', 'c1']);
  });

  test('one opinion that it cannot be answered ranks below rows that were found and above an empty result', () => {
    const found = addUnanswerable(
      at(candidate('c1', doubtful), candidate('c2', { ...doubtful, trivial: true })),
      't0',
      'no',
    );
    expect(ranking(found)).toEqual(['c1', 'c3', 'c2']);
    expect(chooseAnswer(found, 'budget:costUsd')).toMatchObject({ candidate: 'c1', status: 'answered' });
    expect(chooseAnswer(found, 'exhausted').kind).toBe('ask');
  });

  test('two opinions decide, with the reason of the first', () => {
    const state = addUnanswerable(addUnanswerable(at(), 't0', 'no wages are stored'), 't0', 'nothing on wages');
    expect(chooseAnswer(state, 'agreement')).toEqual({
      kind: 'decided',
      status: 'unanswerable',
      candidate: 'c1',
      reason: 'no wages are stored',
    });
  });

  test('without any candidate it abstains and says how far it came', () => {
    expect(chooseAnswer(at(), 'iterations')).toMatchObject({ status: 'abstained', reason: 'no plan was completed' });
    const failed = at(candidate('c1', { outcome: 'sql-error' }));
    expect(chooseAnswer(failed, 'iterations')).toMatchObject({ reason: 'no candidate query ran to an end (1 failed)' });
    const event = { iteration: 1, kind: 'step-failed' as const, subject: 'i1.t0.plan', detail: 'no usable plan' };
    expect(chooseAnswer({ ...at(), events: [event] }, 'exhausted')).toMatchObject({
      reason: 'no plan was completed; last: no usable plan',
    });
  });
});
