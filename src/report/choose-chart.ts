/**
 * Whether a result can be drawn, and as what: a series (numbers along time, or along a year, month, round, …) or a comparison
 * (numbers of a few named things). When in doubt there is no chart: the table below it says everything.
 *
 * Not drawn: results that were cut, single rows, many columns, numbers that only identify or rank, two values for one place,
 * and a column of numbers in several units.
 */
import type { ResultColumn, SqlValue } from '../domain';
import { cell } from './printable';

export interface Point {
  readonly x: number;
  /** The place on the axis as the database writes it. */
  readonly label: string;
  readonly y: number | null;
}
export interface Line {
  /** Null: the only one. */
  readonly name: string | null;
  readonly points: readonly Point[];
}
export interface Bar {
  readonly label: string;
  readonly value: number | null;
}

/** A chart has one panel per column of numbers, each with its own axis: they need not have the same unit. */
export type Chart =
  | {
      readonly kind: 'series';
      readonly along: string;
      readonly scale: 'time' | 'number';
      readonly by: string | null;
      readonly panels: readonly { readonly measure: string; readonly lines: readonly Line[] }[];
      /** Rows without a place on the axis. */
      readonly leftOut: number;
    }
  | {
      readonly kind: 'bars';
      readonly along: string;
      readonly panels: readonly { readonly measure: string; readonly bars: readonly Bar[] }[];
    };

interface Result {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly truncated: boolean;
}

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
  const of = (role: Role): Column[] => all.filter((column) => column.role === role);
  const [measures, times, ordinals, labels] = [of('measure'), of('time'), of('ordinal'), of('label')];
  if (measures.length === 0 || measures.length > MOST_PANELS || of('unknown').length > 0) return null;
  if (of('unit').some(({ values }) => new Set(values).size > 1)) return null;
  const axes = [...times, ...ordinals];
  if (axes.length > 1) return null;
  const [axis] = axes;
  if (axis === undefined) return bars(labels.length > 0 ? labels : of('id'), measures);
  const line = labels.length > 1 || of('id').length > 0 ? null : series(axis, labels[0] ?? null, measures);
  return line ?? (labels.length === 0 ? bars([axis], measures, 2) : null);
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

function series(axis: Column, by: Column | null, measures: readonly Column[]): Chart | null {
  if (by !== null && measures.length > 1) return null;
  const places = axis.values.map((value) =>
    axis.role === 'time' ? timeOf(value) : value === null ? null : Number(value),
  );
  const known = places.filter((place) => place !== null);
  if (new Set(known).size < 3) return null;
  const names = by === null ? [null] : [...new Set(by.values)];
  if (names.length > MOST_LINES) return null;
  const panels = measures.map(({ name: measure, values }) => ({
    measure,
    lines: names.map((name): Line => {
      const points = places.flatMap((x, at): Point[] =>
        x === null || (by !== null && by.values[at] !== name)
          ? []
          : [{ x, label: cell(axis.values[at] ?? null), y: toNumber(values[at] ?? null) }],
      );
      return { name: by === null ? null : cell(name), points: points.sort((a, b) => a.x - b.x) };
    }),
  }));
  const isFunction = panels[0]?.lines.every(({ points }) => new Set(points.map(({ x }) => x)).size === points.length);
  if (!isFunction) return null;
  const scale = axis.role === 'time' ? 'time' : 'number';
  return {
    kind: 'series',
    along: axis.name,
    scale,
    by: by?.name ?? null,
    panels,
    leftOut: places.length - known.length,
  };
}

function bars(labels: readonly Column[], measures: readonly Column[], atLeast = 2): Chart | null {
  const [first] = labels;
  const count = first?.values.length ?? 0;
  if (first === undefined || labels.length > 2 || count < atLeast || count > MOST_BARS) return null;
  if (measures.length > 1 && count > FEW_BARS) return null;
  const names = first.values.map((_, at) => labels.map(({ values }) => cell(values[at] ?? null)).join(' · '));
  if (new Set(names).size < names.length) return null;
  const panels = measures.map(({ name, values }) => ({
    measure: name,
    bars: names.map((label, at) => ({ label, value: toNumber(values[at] ?? null) })),
  }));
  if (panels.some((panel) => panel.bars.every(({ value }) => value === null || value === 0))) return null;
  return { kind: 'bars', along: labels.map(({ name }) => name).join(' · '), panels };
}

function toNumber(value: SqlValue): number | null {
  return value === null ? null : Number(value);
}
