/** What a run of the checks changed. */
import type { LayerEvent } from '../../../src/domain';
import { driftAt } from '../../../src/layer/drift';
import { layerOf } from '../../../src/layer/state';
import { AT, entryOf } from '../../helpers/kept-layer';

const CENTS = entryOf({});
const { entryId } = CENTS;
const day = (n: number): string => `2026-02-0${n}T00:00:00.000Z`;
const counts = { matching: 1, examined: 40, rivals: [] };
const proved: LayerEvent = { kind: 'proved', at: AT, entry: CENTS };
const broken = (n: number, why = 'it fails'): LayerEvent => ({ kind: 'broken', entryId, at: day(n), why, counts });
const NOTHING = { broke: [], fell: [], heldAgain: [] };
const EVENTS: readonly LayerEvent[] = [
  proved,
  { kind: 'verified', at: day(1), checked: [entryId] },
  broken(2),
  broken(3, 'it fails for more'),
  { kind: 'counted', entryId, at: day(4), counts },
];

test('an entry broke once, held until the last check before, and is broken since then', () => {
  expect(driftAt(EVENTS, day(2))).toMatchObject({ broke: [{ entryId }], heldAgain: [] });
  expect(driftAt(EVENTS, day(3))).toEqual(NOTHING);
  expect(driftAt(EVENTS, day(4))).toMatchObject({
    broke: [],
    heldAgain: [{ entryId, brokenSince: day(2), why: null }],
  });
});

test('an entry that fails in another way is broken since it failed first', () => {
  expect(layerOf(EVENTS, day(3)).entries[0]).toMatchObject({
    status: 'broken',
    since: day(2),
    why: 'it fails for more',
  });
});

test('a fall is told once for each smaller share, with the figures that are kept', () => {
  const counted = (n: number, matching: number, examined = 40): LayerEvent => ({
    ...{ kind: 'counted', entryId, at: day(n), counts: { matching, examined, rivals: [] } },
  });
  const events = [proved, counted(2, 39), counted(3, 78, 80), counted(4, 38), counted(5, 40)];
  expect(driftAt(events, day(2)).fell).toMatchObject([
    { entryId, counts: { matching: 39 }, kept: { matching: 40, examined: 40 } },
  ]);
  expect(driftAt(events, day(3))).toEqual(NOTHING);
  expect(driftAt(events, day(4)).fell).toHaveLength(1);
  expect(driftAt(events, day(5))).toEqual(NOTHING);
});

test('what somebody else wrote at another time is no drift of this run', () => {
  expect(driftAt(EVENTS, day(1))).toEqual(NOTHING);
});
