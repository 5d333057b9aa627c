/** Where the labels of points stand: beside their point, clear of other points and labels. Points at one place share a label. */
import { room } from './marks';

export interface LabelledPoint {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Nearer than this, circles (of radius 5) cover each other. */
const SAME = 6;
/** With a gap. */
const RADIUS = 7;
/** Of 12-pixel text, over and under its baseline. */
const [ASCENT, DESCENT] = [9, 3];

/** The left end of each label's baseline; `within`: where labels may stand. */
export function placeLabels(points: readonly LabelledPoint[], within: Box): LabelledPoint[] {
  const groups = grouped(points);
  const taken: Box[] = [];
  return groups.map((group) => {
    const text = group.map((point) => point.text).join(', ');
    const others = points.filter((point) => !group.includes(point)).map(circle);
    const places = around(group, room(text)).map(({ x, y }) => ({
      label: { x, y, text },
      box: { left: x, right: x + room(text), top: y - ASCENT, bottom: y + DESCENT },
    }));
    const troubles = ({ box }: (typeof places)[number]): number =>
      [...others, ...taken].filter((other) => isMet(box, other)).length + (isInside(box, within) ? 0 : 1);
    const best = places.reduce((found, place) => (troubles(place) < troubles(found) ? place : found));
    taken.push(best.box);
    return best.label;
  });
}

function grouped(points: readonly LabelledPoint[]): LabelledPoint[][] {
  const groups: [LabelledPoint, ...LabelledPoint[]][] = [];
  for (const point of points) {
    const near = groups.find(([first]) => Math.hypot(first.x - point.x, first.y - point.y) <= SAME);
    if (near === undefined) groups.push([point]);
    else near.push(point);
  }
  return groups;
}

/** From the usual place on, near ones first. */
function around(group: readonly LabelledPoint[], width: number): { readonly x: number; readonly y: number }[] {
  const [xs, ys] = [group.map(({ x }) => x), group.map(({ y }) => y)];
  const [right, left] = [Math.max(...xs) + 8, Math.min(...xs) - 8 - width];
  const [over, under] = [Math.min(...ys) - 7, Math.max(...ys) + 16];
  return [0, 14, 28].flatMap((further) => [
    { x: right, y: over - further },
    { x: left, y: over - further },
    { x: right, y: under + further },
    { x: left, y: under + further },
  ]);
}

const circle = ({ x, y }: LabelledPoint): Box => ({
  ...{ left: x - RADIUS, right: x + RADIUS, top: y - RADIUS, bottom: y + RADIUS },
});

const isMet = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const isInside = (box: Box, within: Box): boolean =>
  box.left >= within.left && box.right <= within.right && box.top >= within.top && box.bottom <= within.bottom;
