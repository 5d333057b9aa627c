import fc from '../../helpers/property';
import type { SearchState, Trajectory } from '../../../src/domain';
import { applyMemory, dependentsOf, withdraw, withdrawRefuted } from '../../../src/search/memory';
import { candidateBodies } from '../../../src/search/candidate';
import { runSearch } from '../../../src/search/search';
import { initialState } from '../../../src/search/run';
import { rootTrajectory } from '../../../src/search/remember';
import {
  candidateView,
  trajectoryOf,
  FakeSteps,
  judged,
  operator,
  planned,
  planOf,
  testHooks,
  testSettings,
  updateFor,
} from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';

const plan = planOf('p1', [
  operator('op_a', { bodyId: 'a', updateId: 'u1' }),
  operator('op_b', { bodyId: 'b', updateId: 'u2', inputs: ['op_a'] }),
  operator('op_c', { bodyId: 'c', risk: 0.6, immaterial: ['a', 'b'] }),
]);
const other = planOf('p2', [operator('op_z', { bodyId: 'z' })]);
const trajectory = (id: string, more: Partial<Trajectory>) => trajectoryOf(id, { status: 'complete', ...more });
const candidate = (id: string, of: typeof plan) => candidateView(id, { bodies: candidateBodies(of) });
const state: SearchState = {
  ...initialState('s', 0),
  trajectories: [rootTrajectory(), trajectory('t1', { plan }), trajectory('t2', { plan: other })],
  updates: [
    updateFor('u1', plan, 'op_a', 'a'),
    updateFor('u2', plan, 'op_b', 'b', { dependsOn: ['u1', 'f1'] }),
    updateFor('u3', other, 'op_z', 'q', { dependsOn: ['c'] }),
  ],
  facts: [
    { id: 'f1', status: 'active', dependsOn: [] },
    { id: 'f2', status: 'active', dependsOn: ['u2'] },
  ],
  candidates: [candidate('c1', plan), candidate('c2', other)],
};
const statuses = (of: SearchState) => [...of.updates, ...of.facts].map(({ id, status }) => `${id} ${status}`);

describe('rule S10: dependence', () => {
  test('withdrawing an update withdraws what rests on it, to the end of the chain', () => {
    expect([...dependentsOf(state, 'u1')]).toEqual(['u1', 'u2', 'f2']);
    const after = withdraw(state, 'u1', 'vetoed');
    expect(statuses(after)).toEqual(['u1 withdrawn', 'u2 withdrawn', 'u3 active', 'f1 active', 'f2 withdrawn']);
    expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn', 'active']);
  });

  test('every withdrawal is an appended event with its reason; nothing is deleted', () => {
    const after = withdraw(state, 'u1', 'vetoed');
    expect(after.events.map(({ kind, subject, detail }) => [kind, subject, detail])).toEqual([
      ['update-withdrawn', 'u1', 'vetoed'],
      ['update-withdrawn', 'u2', 'rested on u1'],
      ['update-withdrawn', 'f2', 'rested on u1'],
    ]);
    expect(after.updates).toHaveLength(state.updates.length);
    expect(after.candidates).toHaveLength(state.candidates.length);
  });

  test('a plan loses the bodies, is open again, and what was immaterial beside them is rechecked', () => {
    const [, affected, untouched] = withdraw(state, 'u1', 'vetoed').trajectories;
    expect(affected?.status).toBe('open');
    expect(affected?.plan?.operators.map((o) => [o.state, o.bodyId, o.updateId, o.immaterial])).toEqual([
      ['unresolved', null, null, null],
      ['unresolved', null, null, null],
      ['assumed', 'c', null, null],
    ]);
    expect(untouched).toEqual(state.trajectories[2]);
  });

  test('a fact takes with it what was proved by it', () => {
    expect([...dependentsOf(state, 'f1')]).toEqual(['f1', 'u2', 'f2']);
  });

  test('a refuted assumption takes its candidates and the updates that were proved over it', () => {
    const after = withdraw(state, 'c', 'refuted by u9');
    expect(statuses(after)).toContain('u3 withdrawn');
    expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn', 'active']);
    expect(after.trajectories[1]?.plan?.operators.map((o) => o.state)).toEqual(['grounded', 'grounded', 'unresolved']);
  });

  test('withdrawing twice changes nothing more', () => {
    const once = withdraw(state, 'u1', 'vetoed');
    expect(withdraw(once, 'u1', 'vetoed').updates).toEqual(once.updates);
    expect(withdraw(once, 'u1', 'vetoed').trajectories).toEqual(once.trajectories);
  });

  test('a candidate on a reading that a proof has refuted is withdrawn, and only that one', () => {
    const assumed = planOf('p3', [operator('op_z', { bodyId: 'z', risk: 0.4 })]);
    const before: SearchState = {
      ...state,
      trajectories: [rootTrajectory(), trajectory('t1', { plan: assumed }), trajectory('t2', { plan: other })],
      updates: [updateFor('u9', assumed, 'op_z', 'proved')],
      candidates: [candidate('c1', assumed)],
    };
    const after = withdrawRefuted(before);
    expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
    expect(after.events.at(-1)).toMatchObject({ subject: 'c1', detail: 'another reading of op_z was proved' });
    const confirmed = withdrawRefuted({ ...before, updates: [updateFor('u9', assumed, 'op_z', 'z')] });
    expect(confirmed.candidates.map(({ status }) => status)).toEqual(['active']);
  });
});

describe('S10: a reading that a proof has refuted', () => {
  const guesses = planOf('p1', [
    operator('op_a', { bodyId: 'a', risk: 0.6, assumptions: 1 }),
    operator('op_b', { bodyId: 'b', risk: 0.5, assumptions: 1 }),
  ]);

  describe('takes with it what was established over it', () => {
    const chain = planOf('p1', [
      operator('op_a', { bodyId: 'a', risk: 0.6, assumptions: 1 }),
      operator('op_b', { bodyId: 'b', updateId: 'u1', inputs: ['op_a'] }),
      operator('op_c', { bodyId: 'c', updateId: 'u2', inputs: ['op_b'] }),
    ]);
    const before = (more: Partial<SearchState> = {}): SearchState => ({
      ...initialState('s', 0),
      trajectories: [rootTrajectory(), trajectory('t1', { plan: chain })],
      updates: [
        updateFor('u1', chain, 'op_b', 'b', { dependsOn: ['a'] }),
        updateFor('u2', chain, 'op_c', 'c', { dependsOn: ['u1', 'a'] }),
        updateFor('u3', chain, 'op_a', 'a2'),
      ],
      facts: [
        { id: 'f1', status: 'active', dependsOn: ['a'] },
        { id: 'f2', status: 'active', dependsOn: ['u3'] },
      ],
      candidates: [candidate('c1', chain)],
      ...more,
    });

    /** The plan with the proof, which the other one was merged into. */
    const mended = applyMemory(chain, before().updates).plans[0]!;
    const merged = [
      rootTrajectory(),
      trajectory('t1', { plan: chain, status: 'merged', mergedInto: 't2' }),
      trajectory('t2', { plan: mended, status: 'open' }),
    ];

    test('proofs, facts and candidates', () => {
      expect(mended.operators.map((o) => [o.state, o.bodyId])).toEqual([
        ['grounded', 'a2'],
        ['assumed', 'b'],
        ['assumed', 'c'],
      ]);
      const after = withdrawRefuted(before({ trajectories: merged }));
      expect(statuses(after)).toEqual(['u1 withdrawn', 'u2 withdrawn', 'u3 active', 'f1 withdrawn', 'f2 active']);
      expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
      expect(after.trajectories).toEqual(merged);
      expect(after.events.map(({ subject, detail }) => `${subject} ${detail}`)).toEqual([
        'c1 another reading of op_a was proved',
        ...['u1', 'u2', 'f1'].map((id) => expect.stringMatching(`^${id} rested on a,`) as string),
      ]);
      expect(withdrawRefuted(after)).toEqual(after);
    });

    test('once the plan that uses it has taken the proof up', () => {
      const after = withdrawRefuted(before());
      expect([...after.updates, ...after.facts].map(({ status }) => status)).toEqual(Array(5).fill('active'));
      expect(after.candidates.map(({ status }) => status)).toEqual(['withdrawn']);
      expect(after.trajectories).toEqual(before().trajectories);
    });

    test('but not while a plan has the same SQL for a reading that nothing refutes', () => {
      const elsewhere = planOf('p2', [operator('op_a', { bodyId: 'a', intent: 'something else', risk: 0.6 })]);
      // One that is used up may still have the candidate that is chosen.
      const trajectories = [...merged, trajectory('t3', { plan: elsewhere, status: 'exhausted' })];
      const after = withdrawRefuted(before({ trajectories }));
      expect([...after.updates, ...after.facts].map(({ status }) => status)).toEqual(Array(5).fill('active'));
      expect(after.trajectories).toEqual(trajectories);
    });
  });

  test('does not come back as a candidate of the plan that had it', async () => {
    const wins = (name: string) => ({ operator: name, winner: 'h1', bodyId: name, decided: true });
    const steps = new FakeSteps({
      plan: (input) =>
        input.otherPlans.length === 0 && input.revise === null ? planned(guesses) : { invalid: 'no other plan' },
      propose: (input) => ({ proposalId: input.targets.join(), operators: input.targets, done: false }),
      probe: ({ proposalId }) =>
        proposalId.split(',').map((name) => ({ operator: name, outcome: 'rows', immaterial: null })),
      // The first look decides nothing; then op_a is proved to read otherwise, and op_b written anew, short of proof.
      ground: (input) => {
        const looks = input.observations.flatMap((id) => (id.startsWith('i1.') ? [] : [id]));
        if (looks.length === 0) return judged(input, []);
        return judged(input, [wins('op_a'), wins('op_b')]);
      },
      settle: () => [
        {
          ...{ operator: 'op_a', bodyId: 'a2', assumed: false, error: null },
          update: updateFor('u1', guesses, 'op_a', 'a2'),
        },
        { operator: 'op_b', bodyId: 'b2', update: null, assumed: true, error: null },
      ],
    });
    const settings = testSettings('fast', { iterations: 6, attempts: 1, breadth: 2, planCarriesTests: false });
    await runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
    const { candidates } = steps.finished!.state;
    const refuted = candidates.filter(({ bodies }) => bodies.some(({ bodyId }) => bodyId === 'a'));
    expect(refuted.map(({ status }) => status)).toEqual(['withdrawn']);
    expect(candidates.find(({ id }) => id === steps.finished?.chosen)?.bodies).toMatchObject([{ bodyId: 'a2' }, {}]);
  });

  test('stands in no active candidate at any checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (world) => {
        const steps = new FakeSteps(randomWorld(world));
        const settings = testSettings('thorough', { iterations: 6, cMin: 3, cMax: 8 });
        await runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
        for (const at of [...steps.states, steps.finished!.state])
          expect(withdrawRefuted(at).candidates).toEqual(at.candidates);
      }),
      { numRuns: 100 },
    );
  });
});
