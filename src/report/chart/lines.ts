/** A series as lines over a true scale of time or numbers: NULL leaves a gap, and every value is a point while there is room. */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { line, symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolTriangle } from 'd3-shape';
import { markup, type Html } from '../html';
import type { Line, Point } from './choose';
import { figure, room, round, WIDTHS, type Width } from './marks';

const SHAPES = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolCross];
const HEIGHT = { wide: 280, narrow: 230 } as const;
const MOST_POINTS = 120;
/** Below this part of its size, the range of the values cannot be seen on an axis from zero. */
const FLAT = 0.2;

export interface Scales {
  readonly scale: 'time' | 'number';
  readonly lines: readonly Line[];
}

export function startsAtZero(lines: readonly Line[]): boolean {
  const values = lines.flatMap(({ points }) => points.flatMap(({ y }) => (y === null ? [] : [y])));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high || low <= 0 === high >= 0 || high - low >= FLAT * Math.max(Math.abs(low), Math.abs(high));
}

export function drawLines({ scale, lines }: Scales, width: Width, label: string): Html {
  const [total, height] = [WIDTHS[width], HEIGHT[width]];
  const points = lines.flatMap((each) => each.points);
  const values = points.flatMap(({ y }) => (y === null ? [] : [y]));
  const ends = startsAtZero(lines) ? [0, ...values] : values;
  const y = scaleLinear([Math.min(...ends), Math.max(...ends)], [height - 28, 10]).nice(width === 'wide' ? 5 : 4);
  const heights = y.ticks(width === 'wide' ? 5 : 4);
  const left = Math.max(...heights.map((tick) => room(figure(tick)))) + 10;
  const x = horizontal(scale, points, [left + 4, total - 14], width);
  const path = line<Point>((point) => x.at(point.x), (point) => y(point.y ?? 0)).defined((point) => point.y !== null).digits(1); // prettier-ignore
  const most = Math.max(...lines.map((each) => each.points.length));
  return markup`<svg class="${width}" viewBox="0 0 ${total} ${height}" role="img" aria-label="${label}">
    ${heights.map(
      (tick) =>
        markup`<line class="${tick === 0 ? 'axis' : 'grid'}" x1="${left}" x2="${total}" y1="${round(y(tick))}" y2="${round(y(tick))}" /><text x="${left - 8}" y="${round(y(tick) + 4)}" text-anchor="end">${figure(tick)}</text>`,
    )}
    ${x.ticks.map(
      ({ at, text }) =>
        markup`<line class="axis" x1="${round(at)}" x2="${round(at)}" y1="${height - 28}" y2="${height - 24}" /><text x="${round(at)}" y="${height - 9}" text-anchor="middle">${text}</text>`,
    )}
    ${lines.map(
      (each, index) =>
        markup`<path class="line s${index + 1}" d="${path([...each.points]) ?? ''}" />${most <= MOST_POINTS && each.points.map((point) => dot(point, index, x.at(point.x), y(point.y ?? 0)))}`,
    )}
  </svg>`;
}

function dot({ y: value, label }: Point, index: number, x: number, y: number): Html | null {
  if (value === null) return null;
  return markup`<path class="f${index + 1}" d="${shape(index)}" transform="translate(${round(x)} ${round(y)})"><title>${label}: ${figure(value)}</title></path>`;
}

function shape(index: number, size = 34): string {
  return symbol(SHAPES[index] ?? symbolCircle, size).digits(1)() ?? '';
}

/** Lines are told apart by the shape of their points, too. */
export function legend(lines: readonly Line[]): Html {
  return markup`<ul class="legend">
    ${lines.map(
      ({ name }, index) =>
        markup`<li><svg viewBox="-7 -7 14 14" aria-hidden="true"><path class="f${index + 1}" d="${shape(index, 60)}" /></svg>${name}</li>`,
    )}
  </ul>`;
}

interface Horizontal {
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

function horizontal(
  scale: Scales['scale'],
  points: readonly Point[],
  range: [number, number],
  width: Width,
): Horizontal {
  const places = points.map((point) => point.x);
  const domain: [number, number] = [Math.min(...places), Math.max(...places)];
  const wanted = width === 'wide' ? 8 : 4;
  if (scale === 'time') {
    const time = scaleUtc(domain, range);
    return { at: time, ticks: time.ticks(wanted).map((tick) => ({ at: time(tick), text: timeText(tick) })) };
  }
  const linear = scaleLinear(domain, range);
  const whole = linear.ticks(wanted).filter(Number.isInteger);
  return { at: linear, ticks: whole.map((tick) => ({ at: linear(tick), text: String(tick) })) };
}

/** What changes from tick to tick: the year at its beginning, else the month, the day or the time. */
function timeText(tick: Date): string {
  const [time, date] = [tick.toISOString().slice(11, 19), tick.toISOString().slice(0, 10)];
  if (time !== '00:00:00') return time.endsWith(':00') ? time.slice(0, 5) : time;
  if (date.endsWith('-01-01')) return date.slice(0, 4);
  const month = tick.toLocaleDateString('en-US', { month: 'short', timeZone: 'UTC' });
  return date.endsWith('-01') ? month : `${month} ${tick.getUTCDate()}`;
}
