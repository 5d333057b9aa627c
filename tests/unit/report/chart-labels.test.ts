import fc from 'fast-check';
import { placeLabels, type LabelledPoint } from '../../../src/report/chart/labels';
import { room } from '../../../src/report/chart/marks';

const WITHIN = { left: 48, right: 340, top: 0, bottom: 236 };
const boxes = (labels: readonly LabelledPoint[]) =>
  labels.map(({ x, y, text }) => ({ left: x, right: x + room(text), top: y - 9, bottom: y + 3 }));
const isMet = (a: ReturnType<typeof boxes>[number], b: ReturnType<typeof boxes>[number]): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

test('points at one place share a label, in their order', () => {
  const points = [
    { text: 'A', x: 100, y: 100 },
    { text: 'B', x: 200, y: 60 },
    { text: 'C', x: 103, y: 98 },
  ];
  expect(placeLabels(points, WITHIN).map(({ text }) => text)).toEqual(['A, C', 'B']);
});

test('a label at the right edge stands left of its point, and one over the top under it', () => {
  const [edge, top] = placeLabels(
    [
      { text: 'A', x: 335, y: 100 },
      { text: 'B', x: 100, y: 4 },
    ],
    WITHIN,
  );
  expect(edge?.x).toBeLessThan(330);
  expect(top?.y).toBeGreaterThan(9);
});

test('labels of points that are near each other cover neither each other nor another point', () => {
  const offsets = fc.integer({ min: -24, max: 24 });
  const near = fc.array(fc.record({ dx: offsets, dy: offsets }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(near, (places) => {
      const points = places.map(({ dx, dy }, at) => ({ text: 'ABCD'[at] ?? '', x: 150 + dx, y: 120 + dy }));
      const labels = placeLabels(points, WITHIN);
      const all = boxes(labels);
      for (const [at, box] of all.entries()) {
        expect(all.slice(at + 1).some((other) => isMet(box, other))).toBe(false);
        const own = labels[at]?.text.split(', ') ?? [];
        const others = points.filter(({ text }) => !own.includes(text));
        expect(others.some(({ x, y }) => isMet(box, { left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }))).toBe(
          false,
        );
      }
    }),
  );
});
