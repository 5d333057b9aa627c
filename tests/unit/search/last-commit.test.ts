/** A search that took over from a conversation and is ended before it found anything (D6). */
import type { SearchState } from '../../../src/domain';
import { candidateBodies, withLastCommit } from '../../../src/search/candidate';
import { initialState } from '../../../src/search/run';
import { rootTrajectory } from '../../../src/search/remember';
import { candidateView, operator, planOf } from '../../helpers/fake-steps';

const plan = planOf('i2.look.commit0', [operator('op_gap', { bodyId: 'a', risk: 0.6, assumptions: 1 })]);
const committed = (id: string, bodyId: string) =>
  candidateView(id, {
    ...{ openRisk: 0.6, status: 'withdrawn' },
    bodies: candidateBodies(planOf('', [operator('op_gap', { bodyId, assumptions: 1 })])),
  });
const handedOver: SearchState = {
  ...initialState('s', 0),
  trajectories: [
    { ...rootTrajectory(), status: 'exhausted' },
    { ...rootTrajectory(), id: 't1', parent: 't0', depth: 1, plan },
  ],
  candidates: [committed('c1', 'given up'), committed('c2', 'a')],
  looking: { phase: 'search', turns: ['i1.look', 'i2.look'], returned: 3 },
};
const active = ({ candidates }: SearchState) => candidates.filter((c) => c.status === 'active').map(({ id }) => id);

test.each(['cancel', 'stop', 'budget:llmCalls'] as const)('ended by %s it answers with the last commit', (endedBy) => {
  expect(active(withLastCommit(handedOver, endedBy))).toEqual(['c2']);
});

test.each<[string, SearchState, Parameters<typeof withLastCommit>[1]]>([
  ['it ended by itself', handedOver, 'exhausted'],
  ['the conversation goes on', { ...handedOver, looking: { ...handedOver.looking!, phase: 'look' } }, 'stop'],
  ['no conversation went before', { ...handedOver, looking: undefined }, 'stop'],
  [
    'something was found since',
    { ...handedOver, candidates: [...handedOver.candidates, { ...committed('c3', 'b'), status: 'active' }] },
    'stop',
  ],
  [
    'a person took its SQL out of the plan',
    {
      ...handedOver,
      trajectories: [rootTrajectory(), { ...rootTrajectory(), id: 't1', plan: planOf('p', [operator('op_gap')]) }],
    },
    'stop',
  ],
  [
    'another reading was proved',
    {
      ...handedOver,
      updates: [
        {
          ...{ id: 'u', shape: 'shape of op_gap', intent: 'intent of op_gap', inputs: [], bodyId: 'b' },
          ...{ status: 'active', dependsOn: [], reuses: 0 },
        },
      ],
    },
    'stop',
  ],
])('not where %s', (_when, state, endedBy) => {
  expect(active(withLastCommit(state, endedBy)).filter((id) => id !== 'c3')).toEqual([]);
});
