/**
 * The chart of a result as SVG in the page, drawn when the report is written: it needs no script, follows the page's colours,
 * and says in words what it shows. Scales and ticks come from d3-scale, which needs no DOM. Whole charting libraries are 20 to
 * 60 MB, and write styles into their drawings that the page's policy refuses.
 */
import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import type { AnswerRecord } from '../domain';
import { clip } from '../clip';
import { chooseChart, type Bar, type Chart, type Line } from './choose-chart';
import { markup, type Html } from './html';
import { counted, cut, visible } from './printable';

/** The width of a drawing. On a narrow screen it is scrolled: text that is scaled down cannot be read. */
export const WIDTH = 760;

export function chartOf(record: Pick<AnswerRecord, 'columns' | 'rows' | 'truncated'>): Html | null {
  const chart = chooseChart(record);
  return chart === null ? null : markup`${chart.kind === 'bars' ? comparison(chart) : series(chart)}`;
}

function comparison({ along, panels }: Extract<Chart, { kind: 'bars' }>): Html[] {
  return panels.map(({ measure, bars }) => {
    const words = `Bar chart of ${measure} by ${along}: ${counted(bars.length, 'value')}, ${extremes(bars)}`;
    return markup`<figure class="chart">
      <figcaption><b>${measure}</b> by ${along}</figcaption>
      ${drawBars(bars, words)}
    </figure>`;
  });
}

function series({ along, scale, by, panels, leftOut }: Extract<Chart, { kind: 'series' }>): Html[] {
  return panels.map(({ measure, lines }) => {
    const words = `Line chart of ${measure} along ${along}: ${lines.map(course).join('; ')}`;
    const notes = [
      ...(startsAtZero(lines) ? [] : ['The axis does not start at zero.']),
      ...(leftOut > 0 ? [`${counted(leftOut, 'row')} without ${along} not drawn.`] : []),
    ];
    return markup`<figure class="chart">
      <figcaption><b>${measure}</b> along ${along}${by !== null && markup`, one line per ${by}`}. ${notes.join(' ')}</figcaption>
      ${
        by !== null &&
        markup`<ul class="legend">
          ${lines.map(
            ({ name }, at) =>
              markup`<li><svg viewBox="0 0 24 14" aria-hidden="true"><path class="line s${at + 1}" d="M0,7H24" /></svg>${name}</li>`,
          )}
        </ul>`
      }
      ${drawLines(scale, lines, words)}
    </figure>`;
  });
}

function course({ name, points }: Line): string {
  const from = `from ${points[0]?.label ?? ''} to ${points.at(-1)?.label ?? ''}`;
  const known = points.map(({ label, y }) => ({ label, value: y }));
  return `${name === null ? '' : `${cut(name, 40)}, `}${counted(points.length, 'value')} ${from}, ${extremes(known)}`;
}

function extremes(bars: readonly Bar[]): string {
  const sorted = bars.flatMap(({ label, value }) => (value === null ? [] : [{ label, value }]));
  sorted.sort((a, b) => a.value - b.value);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) return 'all NULL';
  return `lowest ${figure(low.value)} (${cut(low.label, 40)}), highest ${figure(high.value)} (${cut(high.label, 40)})`;
}

/** Bars begin at zero and stand in the order of the rows, each with its figure. */
export function drawBars(bars: readonly Bar[], label: string): Html {
  const height = bars.length * 27 + 4;
  // Short labels may be all wide letters.
  const left = Math.min(Math.max(...bars.map((bar) => room(bar.label))), WIDTH * 0.36) + 18;
  const textOf = ({ value }: Bar): string => (value === null ? 'NULL' : figure(value));
  const right = Math.max(...bars.map((bar) => room(textOf(bar)))) + 8;
  const values = bars.map(({ value }) => value ?? 0);
  const x = scaleLinear([Math.min(0, ...values), Math.max(0, ...values)], [left, WIDTH - right]);
  const y = scaleBand([...bars.keys()], [0, height]).padding(0.28);
  const zero = x(0);
  const rows = bars.map((bar, at) => {
    const [end, top] = [x(bar.value ?? 0), y(at) ?? 0];
    const middle = round(top + y.bandwidth() / 2 + 4);
    return markup`<g>
      <title>${bar.label}: ${textOf(bar)}</title>
      <text class="label" x="${round(left - 8)}" y="${middle}" text-anchor="end">${fitting(bar.label, left - 18)}</text>
      <rect class="f1" x="${round(Math.min(zero, end))}" y="${round(top)}" width="${round(Math.abs(end - zero))}" height="${round(y.bandwidth())}" />
      <text class="value" x="${round(Math.max(zero, end) + 6)}" y="${middle}">${textOf(bar)}</text>
    </g>`;
  });
  return drawing(height, label, [...rows, line('axis', [zero, 0], [zero, height])]);
}

/** More points than this are a line without dots. */
const MOST_DOTS = 120;
/** Values that differ by less than this part of their size cannot be told apart on an axis from zero. */
const FLAT = 0.2;
const HEIGHT = 280;

function startsAtZero(lines: readonly Line[]): boolean {
  const values = lines.flatMap(({ points }) => points.flatMap(({ y }) => (y === null ? [] : [y])));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high || low <= 0 === high >= 0 || high - low >= FLAT * Math.max(Math.abs(low), Math.abs(high));
}

/** Lines over a true scale of time or numbers: NULL leaves a gap, and every value is a dot while there is room. */
function drawLines(scale: 'time' | 'number', lines: readonly Line[], label: string): Html {
  const points = lines.flatMap((each) => each.points);
  const values = points.flatMap(({ y }) => (y === null ? [] : [y]));
  const ends = startsAtZero(lines) ? [0, ...values] : values;
  const y = scaleLinear([Math.min(...ends), Math.max(...ends)], [HEIGHT - 28, 10]).nice(5);
  const left = Math.max(...y.ticks(5).map((tick) => room(figure(tick)))) + 10;
  const places = points.map((point) => point.x);
  const domain = [Math.min(...places), Math.max(...places)];
  const range = [left + 4, WIDTH - 14];
  const x = scale === 'time' ? scaleUtc(domain, range) : scaleLinear(domain, range);
  const ticks = x.ticks(8).filter((tick) => tick instanceof Date || Number.isInteger(tick));
  const hasDots = lines.every((each) => each.points.length <= MOST_DOTS);
  return drawing(HEIGHT, label, [
    ...y.ticks(5).map((tick) => heightTick(tick === 0, y(tick), left, figure(tick), WIDTH)),
    ...ticks.map((tick) => placeTick(x(tick), HEIGHT - 28, tick instanceof Date ? timeText(tick) : String(tick))),
    ...lines.map(({ points: all }, at) => {
      const path = all.map((point, index) => {
        if (point.y === null) return '';
        const isNew = (all[index - 1]?.y ?? null) === null;
        return `${isNew ? 'M' : 'L'}${round(x(point.x))},${round(y(point.y))}`;
      });
      const dots = all.map(
        ({ x: place, y: value, label: of }) =>
          value !== null &&
          markup`<circle class="f${at + 1}" cx="${round(x(place))}" cy="${round(y(value))}" r="3.5"><title>${of}: ${figure(value)}</title></circle>`,
      );
      return markup`<path class="line s${at + 1}" d="${path.join('')}" />${hasDots && dots}`;
    }),
  ]);
}

/** The part that changes from tick to tick: the year at its beginning, else the month, the day or the time. */
function timeText(tick: Date): string {
  const [date = '', time = ''] = tick.toISOString().slice(0, 19).split('T');
  if (time !== '00:00:00') return time.endsWith(':00') ? time.slice(0, 5) : time;
  if (date.endsWith('-01-01')) return date.slice(0, 4);
  const month = tick.toLocaleDateString('en-US', { month: 'short', timeZone: 'UTC' });
  return date.endsWith('-01') ? month : `${month} ${tick.getUTCDate()}`;
}

export function drawing(height: number, label: string, parts: readonly Html[]): Html {
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${parts}</svg>`;
}

type Place = readonly [x: number, y: number];

export function line(style: string, [x1, y1]: Place, [x2, y2]: Place): Html {
  return markup`<line class="${style}" x1="${round(x1)}" x2="${round(x2)}" y1="${round(y1)}" y2="${round(y2)}" />`;
}

/** A line across at the height of a tick, with its figure to the left. */
export function heightTick(isZero: boolean, y: number, left: number, text: string, right: number): Html {
  return markup`${line(isZero ? 'axis' : 'grid', [left, y], [right, y])}<text x="${left - 8}" y="${round(y + 4)}" text-anchor="end">${text}</text>`;
}

/** A short line under the drawing at the place of a tick, with its text below. */
export function placeTick(x: number, bottom: number, text: string): Html {
  return markup`${line('axis', [x, bottom], [x, bottom + 4])}<text x="${round(x)}" y="${bottom + 19}" text-anchor="middle">${text}</text>`;
}

export function figure(value: number): string {
  if (value !== 0 && (Math.abs(value) < 0.01 || Math.abs(value) >= 1e15)) return String(Number(value.toPrecision(3)));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 10 ? 3 : 2 });
}

/** The width of 12-pixel sans-serif text, on the safe side. */
export function room(text: string): number {
  return text.length * 7;
}

export function fitting(text: string, pixels: number): string {
  const shown = visible(text).replace(/\s+/g, ' ');
  const most = Math.max(3, Math.floor(pixels / 7));
  return shown.length <= most ? shown : `${clip(shown, most - 1)}…`;
}

/** A coordinate: tenths of a pixel are enough. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
