import fc from '../../helpers/property';
import type { Trajectory } from '../../../src/domain';
import { rootTrajectory } from '../../../src/search/remember';
import { density, freshness, rankTrajectories, score, staleness } from '../../../src/search/select-plan';
import { trajectoryOf } from '../../helpers/fake-steps';

const trajectory = (id: string, more: Partial<Trajectory> = {}) => trajectoryOf(id, { depth: 1, ...more });

describe('rule S6: selection', () => {
  test('density counts selections of a trajectory and its ancestors over its depth', () => {
    const root = { ...rootTrajectory(), selections: 3 };
    const child = trajectory('t1', { selections: 2 });
    const grandchild = trajectory('t2', { parent: 't1', depth: 2, selections: 1 });
    const archive = [root, child, grandchild];
    expect(archive.map((each) => density(each, archive))).toEqual([3, 5, 3]);
  });

  test.each([
    [0, 3],
    [0.75, 2],
    [1.5, 1],
    [1.51, 0],
    [4, 0],
  ])('at density %d freshness is worth %d', (at, worth) => {
    expect(freshness(at)).toBeCloseTo(worth, 10);
  });

  test.each([
    [2.5, 0],
    [2.6, 2.1],
    [4, 3.5],
    [9, 5],
  ])('at density %d a region that came no closer costs %d', (at, cost) => {
    const stuck = trajectory('t1', { distance: 58, distanceAtSelection: 58 });
    expect(staleness(at, stuck)).toBeCloseTo(cost, 10);
    expect(staleness(at, { ...stuck, distance: 57.9 })).toBe(0);
    expect(staleness(at, { ...stuck, distanceAtSelection: null })).toBe(0);
  });

  test('the score is potential - b + p; with exploration by the model it is the potential alone', () => {
    const fresh = trajectory('t1', { potential: 4 });
    const archive = [rootTrajectory(), fresh];
    expect(score(fresh, archive, { exploration: 'code' })).toBe(1);
    expect(score(fresh, archive, { exploration: 'model' })).toBe(4);
    const worn = { ...fresh, selections: 4, distanceAtSelection: 60 };
    expect(score(worn, [rootTrajectory(), worn], { exploration: 'code' })).toBe(4 + 3.5);
  });

  test('ties go by distance, then depth, then id by code units', () => {
    const tied = [
      trajectory('t2', { potential: 2 }),
      trajectory('t10', { potential: 2 }),
      trajectory('t3', { potential: 2, depth: 2 }),
      trajectory('t4', { potential: 2, distance: 59 }),
    ];
    const ranked = rankTrajectories(tied, [rootTrajectory(), ...tied], { exploration: 'code' });
    expect(ranked.map(({ id }) => id)).toEqual(['t4', 't10', 't2', 't3']);
  });

  test('the ranking does not depend on the order in which trajectories are given', () => {
    const any = fc.record({
      potential: fc.integer({ min: 0, max: 3 }),
      selections: fc.integer({ min: 0, max: 4 }),
      distance: fc.integer({ min: 58, max: 60 }),
      depth: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 8 }), fc.nat(), (list, turn) => {
        const all = list.map((more, index) => trajectory(`t${index + 1}`, more));
        const turned = [...all.slice(turn % (all.length + 1)), ...all.slice(0, turn % (all.length + 1))];
        const archive = [rootTrajectory(), ...all];
        expect(rankTrajectories(turned, archive, { exploration: 'code' })).toEqual(
          rankTrajectories(all, archive, { exploration: 'code' }),
        );
      }),
    );
  });
});
