/** How the rows of a large table are grouped so that each row of a small one can be the total of a group: by keys and periods. */
import { remembered } from '../relevance';
import { type ColumnFacts, isUnique } from './column-facts';
import type { Profiled } from './row-doubts';
import { keyOf } from './table-rows';

/** Fewer groups than this show nothing. */
export const LEAST_TOTALS = 3;

export interface Grouping {
  /** `a_no and month of dt`. */
  readonly name: string;
  /** The columns of the large table that group it. */
  readonly columns: readonly string[];
  /** The group of each row of the small table, and of the large one; null: none. */
  readonly totals: readonly (string | null)[];
  readonly rows: readonly (string | null)[];
}

/** Ways to group the large table so that each row of the small one stands for at most one group. */
export function groupings(small: Profiled, large: Profiled): Grouping[] {
  const parts = small.facts.flatMap((total) => [...keyParts(total, large), ...periodParts(total, large)]);
  const pairs = parts.flatMap((one, at) => parts.slice(at + 1).map((other) => joined(one, other)));
  return [...parts, ...pairs].filter(isOneToOne);
}

/** Groupings with days that begin at another hour than midnight, and months that begin on another day than the first. */
export function shiftedGroupings(small: Profiled, large: Profiled): Grouping[] {
  const keys = small.facts.flatMap((total) => keyParts(total, large));
  return small.facts.flatMap((total) =>
    // Periods without a shift are compared already, and tell what a shift would be joined with.
    periodParts(total, large).flatMap((plain) => {
      const wanted = [null, ...keys].filter((key) => isOneToOne(key === null ? plain : joined(key, plain)));
      if (wanted.length === 0 || !meets(plain)) return [];
      return shiftedParts(total, large, plain).flatMap((part) =>
        wanted.map((key) => (key === null ? part : joined(key, part))),
      );
    }),
  );
}

/** Whether the rows fall into the periods at all. */
function meets({ totals, rows }: Grouping): boolean {
  const periods = new Set(rows);
  return totals.filter((label) => label !== null && periods.has(label)).length >= totals.length * 0.7;
}

function isOneToOne({ totals }: Grouping): boolean {
  const named = totals.filter((each) => each !== null);
  return named.length >= LEAST_TOTALS && new Set(named).size === named.length;
}

type Labels = readonly (string | null)[];

function joined(one: Grouping, other: Grouping): Grouping {
  const both = (a: Labels, b: Labels): (string | null)[] =>
    a.map((label, at) => {
      const second = b[at] ?? null;
      return label === null || second === null ? null : `${label}\n${second}`;
    });
  return {
    name: `${one.name} and ${other.name}`,
    columns: [...one.columns, ...other.columns],
    totals: both(one.totals, other.totals),
    rows: both(one.rows, other.rows),
  };
}

function keyParts(total: ColumnFacts, large: Profiled): Grouping[] {
  const { kind } = total.column;
  if (kind === 'json' || kind === 'time' || total.distinct < 2) return [];
  if (kind === 'number' && total.values.some(({ value }) => value.includes('.'))) return [];
  const wanted = new Set(total.values.map(({ value }) => value));
  return large.facts.flatMap(({ column, values, ...key }): Grouping[] => {
    if (column.kind !== kind || isUnique({ column, values, ...key })) return [];
    const met = values.filter(({ value }) => wanted.has(value)).length;
    const likely =
      column.name === total.column.name ||
      (kind === 'text' && total.distinct >= LEAST_TOTALS) ||
      declared(total, large, column.name);
    if (!likely || met < Math.max(2, wanted.size * 0.7)) return [];
    return [
      {
        name: column.name,
        columns: [column.name],
        totals: total.column.values.map(keyOf),
        rows: column.values.map(keyOf),
      },
    ];
  });
}

const declared = (total: ColumnFacts, { rows }: Profiled, column: string): boolean =>
  rows.table.foreignKeys.some(
    ({ columns, references }) => columns[0] === column && references[0] === total.column.name,
  );

const PERIODS: readonly { readonly name: string; readonly is: RegExp; readonly read: (date: string) => string }[] = [
  { name: 'month', is: /^\d{6}$/, read: (date) => date.slice(0, 4) + date.slice(5, 7) },
  { name: 'month', is: /^\d{4}-\d\d$/, read: (date) => date.slice(0, 7) },
  { name: 'month', is: /^\d{4}-\d\d-01(?:[T ]00:00(?::00)?)?$/, read: (date) => `${date.slice(0, 7)}-01` },
  { name: 'day', is: /^\d{8}$/, read: (date) => date.slice(0, 10).replaceAll('-', '') },
  { name: 'day', is: /^\d{4}-\d\d-\d\d$/, read: (date) => date.slice(0, 10) },
  { name: 'year', is: /^(19|20)\d\d$/, read: (date) => date.slice(0, 4) },
];

const periodOf = (total: ColumnFacts): (typeof PERIODS)[number] | undefined =>
  PERIODS.find(({ is }) => total.distinct >= 2 && total.values.every(({ value }) => is.test(value)));

const periodLabels = (total: ColumnFacts): (string | null)[] =>
  total.column.values.map((value) => keyOf(value)?.replace(/[T ]00:00(:00)?$/, '') ?? null);

function periodParts(total: ColumnFacts, large: Profiled): Grouping[] {
  const period = periodOf(total);
  if (period === undefined) return [];
  return large.facts
    .filter(({ column }) => column.kind === 'time')
    .map(({ column, real }) => ({
      name: `${period.name} of ${column.name}`,
      columns: [column.name],
      totals: periodLabels(total),
      rows: column.values.map((value, at) => (real[at] === true ? period.read(String(value)) : null)),
    }));
}

const DAY = 86_400;

interface Shift {
  readonly name: string;
  /** The day whose period a time belongs to, in days since 1970. */
  readonly day: (seconds: number, dayOfMonth: (day: number) => number) => number;
}

/** A day that begins at 07:00 has the date on which it begins, or that on which it ends. */
const DAYS: readonly Shift[] = Array.from({ length: 23 }, (_, at) => at + 1).flatMap((hour) => {
  const clock = `${String(hour).padStart(2, '0')}:00`;
  const begun = (seconds: number): number => Math.floor((seconds - hour * 3600) / DAY);
  return [
    { name: `days from ${clock}`, day: begun },
    { name: `days up to ${clock}`, day: (seconds) => begun(seconds) + 1 },
  ];
});

/** Shifted months begin on the 28th at the latest, which every month has. */
const MONTHS: readonly Shift[] = Array.from({ length: 27 }, (_, at) => at + 2).flatMap((first): Shift[] => {
  const moved =
    (early: number, late: (of: number) => number): Shift['day'] =>
    (seconds, dayOfMonth) => {
      const day = Math.floor(seconds / DAY);
      const of = dayOfMonth(day);
      return of < first ? day - early : day + late(of);
    };
  return [
    { name: `months from day ${first}`, day: moved(28, () => 0) },
    { name: `months up to day ${first - 1}`, day: moved(0, (of) => 32 - of) },
  ];
});

function shiftedParts(total: ColumnFacts, large: Profiled, plain: Grouping): Grouping[] {
  const period = periodOf(total);
  const fact = large.facts.find(({ column }) => column.name === plain.columns[0]);
  if (period === undefined || period.name === 'year' || fact === undefined) return [];
  const times = Array.from(fact.scalars ?? []);
  const isDated = times.every((seconds) => Number.isNaN(seconds) || seconds % DAY === 0);
  if (period.name === 'day' && isDated) return [];
  const dateOf = (day: number): Date => new Date(day * DAY * 1000);
  const label = remembered((day: number) => period.read(dateOf(day).toISOString()));
  const dayOfMonth = remembered((day: number) => dateOf(day).getUTCDate());
  return (period.name === 'day' ? DAYS : MONTHS).map(({ name, day }) => ({
    ...plain,
    name: `${plain.name} (${name})`,
    rows: times.map((seconds) => (Number.isNaN(seconds) ? null : label(day(seconds, dayOfMonth)))),
  }));
}
