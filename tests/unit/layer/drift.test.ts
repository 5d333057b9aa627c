/** What a run of the checks changed, and how it is told. */
import type { LayerEvent } from '../../../src/domain';
import { driftAt, driftReport } from '../../../src/layer/drift';
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
  expect(driftAt(EVENTS, day(2))).toMatchObject({ broke: [{ entryId, heldUntil: day(1) }], heldAgain: [] });
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
  const { text } = JSON.parse(
    driftReport(driftAt(events, day(2)), { database: 'shop', at: day(2), checked: 1, broken: 0 }),
  ) as { text: string };
  expect(text).toContain('holds for fewer rows: orders.total is in cents. (39 of 40, kept as 40 of 40)');
});

test('what somebody else wrote at another time is no drift of this run', () => {
  expect(driftAt(EVENTS, day(1))).toEqual(NOTHING);
});

test('a report is one line of bounded size, and says how many it leaves out', () => {
  const entries = Array.from({ length: 500 }, (_, at) =>
    entryOf({ check: `SELECT ${at}`, statement: `a\n\u001b[31m${'é"'.repeat(2000)}` }),
  );
  const events = entries.flatMap((entry): LayerEvent[] => [
    { kind: 'proved', at: AT, entry },
    { kind: 'broken', entryId: entry.entryId, at: day(2), why: 'x'.repeat(5000), counts },
  ]);
  const text = driftReport(driftAt(events, day(2)), { database: 'shop', at: day(2), checked: 500, broken: 500 });
  expect(text).not.toMatch(/[\n\u001b]/);
  expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
  const report = JSON.parse(text) as { broke: object[]; left: number; text: string };
  expect(report.broke.length).toBeGreaterThan(5);
  expect(report.broke.length + report.left).toBe(500);
  expect(report.text).toContain(`and ${report.left} more`);
});
