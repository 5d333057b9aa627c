/**
 * The chart of a result as SVG in the page, where it can be drawn: lines of numbers along time (or along a year, month, round,
 * …), or bars for a few named things. Drawn when the report is written: it needs no script, follows the page's colours, and
 * says in words what it shows. When in doubt there is no chart: the table below it says everything.
 *
 * Not drawn: results that were cut, single rows, many columns, numbers that only identify or rank, two values for one place,
 * and a column of numbers in several units.
 *
 * Scales and ticks come from d3-scale, which needs no DOM. Whole charting libraries are 20 to 60 MB, and write styles into
 * their drawings that the page's policy refuses.
 */
import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import type { AnswerRecord, ResultColumn, SqlValue } from '../domain';
import { clip } from '../clip';
import { markup, type Html } from './html';
import { cell, counted, cut, visible } from './printable';

/** The width of a drawing. On a narrow screen it is scrolled: text that is scaled down cannot be read. */
export const WIDTH = 760;

interface Bar {
  readonly label: string;
  readonly value: number | null;
}
interface Point extends Bar {
  readonly x: number;
}
interface Line {
  /** Null: the only one. */
  readonly name: string | null;
  readonly points: readonly Point[];
}
interface Panel {
  readonly measure: string;
  readonly lines: readonly Line[];
}

/** A chart has one panel per column of numbers, each with its own axis: they need not have the same unit. */
interface Chart {
  readonly scale: 'bars' | 'time' | 'number';
  readonly along: string;
  readonly by: string | null;
  readonly panels: readonly Panel[];
  /** Rows without a place on the axis. */
  readonly leftOut: number;
}

type Result = Pick<AnswerRecord, 'columns' | 'rows' | 'truncated'>;

const MOST_ROWS = 2_000;
const MOST_COLUMNS = 6;
const MOST_BARS = 30;
const MOST_PANELS = 3;
const MOST_LINES = 5;
/** The most bars where there are several panels. */
const FEW_BARS = 12;

type Role = 'time' | 'ordinal' | 'label' | 'unit' | 'id' | 'measure' | 'ignored' | 'unknown';
interface Column {
  readonly name: string;
  readonly role: Role;
  readonly values: readonly SqlValue[];
}

export function chooseChart({ columns, rows, truncated }: Result): Chart | null {
  if (truncated || rows.length < 2 || rows.length > MOST_ROWS || columns.length > MOST_COLUMNS) return null;
  const all = columns.map((column, at): Column => {
    const values = rows.map((row) => row[at] ?? null);
    return { name: column.name, values, role: roleOf(column, values) };
  });
  const of = (...roles: readonly Role[]): Column[] => all.filter(({ role }) => roles.includes(role));
  const [measures, axes, labels] = [of('measure'), of('time', 'ordinal'), of('label')];
  const [axis, second] = axes;
  if (measures.length === 0 || measures.length > MOST_PANELS || of('unknown').length > 0 || second) return null;
  if (of('unit').some(({ values }) => new Set(values).size > 1)) return null;
  if (axis === undefined) return bars(labels.length > 0 ? labels : of('id'), measures);
  const isSeries = labels.length < 2 && of('id').length === 0;
  return (
    (isSeries ? series(axis, labels[0] ?? null, measures) : null) ??
    (labels.length === 0 ? bars([axis], measures) : null)
  );
}

const ID =
  /(^|_)(id|ids|key|uuid|guid|code|zip|zipcode|postcode|phone|ssn|isbn|ean|sku|number|no|nr|lat|lon|lng|latitude|longitude)$/i;
const CAMEL_ID = /[a-z](Id|ID|Key|Code)$/;
const RANK = /(^|_)(rank|ranking|position|place|row_?number|rn)$/i;
const ORDINAL = /(^|_)(year|yr|decade|quarter|month|week|weekday|dow|day|hour|minute|season|round|lap|stage)$/i;
const UNIT = /(^|_)(unit|units|currency|uom|metric|measure|statistic|kpi|indicator)$/i;

function roleOf({ name, kind }: ResultColumn, values: readonly SqlValue[]): Role {
  const present = values.filter((value) => value !== null);
  if (present.length === 0) return 'ignored';
  if (ID.test(name) || CAMEL_ID.test(name)) return 'id';
  if (RANK.test(name)) return 'ignored';
  if (present.every((value) => timeOf(value) !== null)) return 'time';
  if (kind === 'json' || kind === 'other') return 'unknown';
  if (present.every((value) => numberOf(value, kind) !== null)) {
    const isOrdinal =
      ORDINAL.test(name) && !/per_[a-z]+$/i.test(name) && present.every((value) => Number.isInteger(Number(value)));
    return isOrdinal ? 'ordinal' : 'measure';
  }
  return UNIT.test(name) ? 'unit' : 'label';
}

/** Decimals arrive as text. */
function numberOf(value: SqlValue, kind: ResultColumn['kind']): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || kind !== 'number' || !/^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$/.test(value)) return null;
  return Number.isFinite(Number(value)) ? Number(value) : null;
}

const TIME = /^(\d{4})-(\d\d)(?:-(\d\d)(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?$/;

/** The time of a date, a month or a moment as ISO 8601 and the engines write them; without a zone it is taken as UTC. */
function timeOf(value: SqlValue): number | null {
  if (typeof value !== 'string') return null;
  const quarter = /^(\d{4})-?[ ]?Q([1-4])$/.exec(value);
  if (quarter !== null) return Date.UTC(Number(quarter[1]), (Number(quarter[2]) - 1) * 3, 1);
  if (!TIME.test(value)) return null;
  const iso = value.replace(' ', 'T').replace(/([+-]\d\d)$/, value.includes(':') ? '$1:00' : '$1');
  const ms = Date.parse(iso.includes('T') && !/(Z|[+-]\d\d:?\d\d)$/.test(iso) ? `${iso}Z` : iso);
  return Number.isNaN(ms) ? null : ms;
}

function series(
  { name: along, role, values: at }: Column,
  by: Column | null,
  measures: readonly Column[],
): Chart | null {
  if (by !== null && measures.length > 1) return null;
  const places = at.map((value) => (role === 'time' ? timeOf(value) : numeric(value)));
  const known = places.filter((place) => place !== null);
  const names = by === null ? [null] : [...new Set(by.values)];
  if (new Set(known).size < 3 || names.length > MOST_LINES) return null;
  const panels = measures.map(({ name: measure, values }) => ({
    measure,
    lines: names.map((name): Line => {
      const points = places.flatMap((x, row): Point[] =>
        x === null || (by !== null && by.values[row] !== name)
          ? []
          : [{ x, label: cell(at[row] ?? null), value: numeric(values[row]) }],
      );
      return { name: by === null ? null : cell(name), points: points.sort((a, b) => a.x - b.x) };
    }),
  }));
  const isFunction = panels[0]?.lines.every(({ points }) => new Set(points.map(({ x }) => x)).size === points.length);
  const scale = role === 'time' ? 'time' : 'number';
  return isFunction ? { scale, along, by: by?.name ?? null, panels, leftOut: places.length - known.length } : null;
}

function bars(labels: readonly Column[], measures: readonly Column[]): Chart | null {
  const [first] = labels;
  const most = measures.length > 1 ? FEW_BARS : MOST_BARS;
  if (first === undefined || labels.length > 2 || first.values.length > most) return null;
  const names = first.values.map((_, at) => labels.map(({ values }) => cell(values[at] ?? null)).join(' · '));
  if (new Set(names).size < names.length) return null;
  const panels = measures.map(({ name: measure, values }) => ({
    measure,
    lines: [{ name: null, points: names.map((label, x) => ({ x, label, value: numeric(values[x]) })) }],
  }));
  if (panels.some(({ lines }) => lines[0]?.points.every(({ value }) => !value))) return null;
  return { scale: 'bars', along: labels.map(({ name }) => name).join(' · '), by: null, panels, leftOut: 0 };
}

const numeric = (value: SqlValue | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);

export function chartOf(result: Result): Html | null {
  const chart = chooseChart(result);
  return chart && markup`${chart.panels.map((panel) => drawPanel(chart, panel))}`;
}

function drawPanel({ scale, along, by, leftOut }: Chart, { measure, lines }: Panel): Html {
  const values = lines.map(
    ({ name, points }) => `${name === null ? '' : `${cut(name, 40)}, `}${course(points, scale)}`,
  );
  const isBars = scale === 'bars';
  const words = `${isBars ? 'Bar' : 'Line'} chart of ${measure} ${isBars ? 'by' : 'along'} ${along}: ${values.join('; ')}`;
  return markup`<figure class="chart">
    <figcaption><b>${measure}</b> ${isBars ? 'by' : 'along'} ${along}${by !== null && `, one line per ${by}`}.
      ${!isBars && !startsAtZero(lines) && 'The axis does not start at zero.'}
      ${leftOut > 0 && `${counted(leftOut, 'row')} without ${along} not drawn.`}</figcaption>
    ${
      by !== null &&
      markup`<ul class="legend">
        ${lines.map(
          ({ name }, at) =>
            markup`<li><svg viewBox="0 0 24 14" aria-hidden="true"><path class="line s${at + 1}" d="M0,7H24" /></svg>${name}</li>`,
        )}
      </ul>`
    }
    ${isBars ? drawBars(lines[0]?.points ?? [], words) : drawLines(scale, lines, words)}
  </figure>`;
}

function course(points: readonly Point[], scale: Chart['scale']): string {
  const from = scale === 'bars' ? '' : ` from ${points[0]?.label ?? ''} to ${points.at(-1)?.label ?? ''}`;
  const known = points.filter(({ value }) => value !== null).sort((a, b) => Number(a.value) - Number(b.value));
  const at = (point: Point | undefined): string =>
    point === undefined ? 'none' : `${figure(Number(point.value))} (${cut(point.label, 40)})`;
  return `${counted(points.length, 'value')}${from}, lowest ${at(known[0])}, highest ${at(known.at(-1))}`;
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
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high || low <= 0 === high >= 0 || high - low >= FLAT * Math.max(Math.abs(low), Math.abs(high));
}

/** Lines over a true scale of time or numbers: NULL leaves a gap, and every value is a dot while there is room. */
function drawLines(scale: 'time' | 'number', lines: readonly Line[], label: string): Html {
  const points = lines.flatMap((each) => each.points);
  const values = points.flatMap(({ value }) => value ?? []);
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
        if (point.value === null) return '';
        const isNew = (all[index - 1]?.value ?? null) === null;
        return `${isNew ? 'M' : 'L'}${round(x(point.x))},${round(y(point.value))}`;
      });
      const dots = all.map(
        ({ x: place, value, label: of }) =>
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
