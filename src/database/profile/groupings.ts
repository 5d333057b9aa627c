/** How the rows of a large table are grouped so that each row of a small one can be the total of a group: by keys and periods. */
import { perObject } from '../../per-object';
import { remembered } from '../relevance';
import { type ColumnFacts, isUnique } from './column-facts';
import { valueSet } from './joins';
import type { Profiled } from './row-doubts';
import { keyOf, timeOf } from './table-rows';

/** Fewer groups than this show nothing. */
export const LEAST_TOTALS = 3;
/** A longer table is no table of totals. */
export const MOST_TOTALS = 5_000;

export interface Grouping {
  /** `a_no and month of dt`. */
  readonly name: string;
  /** The columns of the large table that group it. */
  readonly columns: readonly string[];
  /** The group of each row of the small table, and of the large one; null: none. */
  readonly totals: readonly (string | null)[];
  readonly rows: readonly (string | null)[];
}

/**
 * Ways to group the large table so that each row of the small one stands for at most one group: by one or two columns, by
 * three where fewer leave rows of the same group.
 */
export function groupings(small: Grouped, large: Grouped): Grouping[] {
  const parts = small.facts.map((total) => [...keyParts(total, large), ...periodParts(total, large)]);
  const pairs = parts.flatMap((ones, at) => combined([ones, parts.slice(at + 1).flat()]));
  const found = [...parts.flat().map((part) => [part]), ...pairs].filter(isOneToOne);
  if (found.length > 0) return found.map(joined);
  const triples = parts.flatMap((ones, at) =>
    parts.slice(at + 1).flatMap((others, next) => combined([ones, others, parts.slice(at + next + 2).flat()])),
  );
  return triples.filter(isOneToOne).map(joined);
}

const combined = ([first = [], ...rest]: readonly (readonly Grouping[])[]): Grouping[][] =>
  rest.length === 0
    ? first.map((part) => [part])
    : first.flatMap((part) => combined(rest).map((others) => [part, ...others]));

/** Columns of a table, or of the rows that it leads to. */
export type Grouped = Pick<Profiled, 'rows' | 'facts'>;

/** Groupings with days that begin at another hour than midnight, and months that begin on another day than the first. */
export function shiftedGroupings(small: Grouped, large: Grouped): Grouping[] {
  const keys = small.facts.flatMap((total) => keyParts(total, large));
  return small.facts.flatMap((total) =>
    // Periods without a shift are compared already, and tell what a shift would be joined with.
    periodParts(total, large).flatMap((plain) => {
      const wanted = [[], ...keys.map((key) => [key])].filter((key) => isOneToOne([...key, plain]));
      if (wanted.length === 0 || !meets(plain)) return [];
      return shiftedParts(total, large, plain).flatMap((part) => wanted.map((key) => joined([...key, part])));
    }),
  );
}

/** Whether the rows fall into the periods at all. */
function meets({ totals, rows }: Grouping): boolean {
  const periods = new Set(rows);
  return totals.filter((label) => label !== null && periods.has(label)).length >= totals.length * 0.7;
}

function isOneToOne(parts: readonly Grouping[]): boolean {
  const named = labelsOf(parts.map(({ totals }) => totals)).filter((each) => each !== null);
  return named.length >= LEAST_TOTALS && new Set(named).size === named.length;
}

type Labels = readonly (string | null)[];

function joined(parts: readonly Grouping[]): Grouping {
  return {
    name: parts.map(({ name }) => name).join(' and '),
    columns: parts.flatMap(({ columns }) => columns),
    totals: labelsOf(parts.map(({ totals }) => totals)),
    rows: labelsOf(parts.map(({ rows }) => rows)),
  };
}

function labelsOf([first = [], ...rest]: readonly Labels[]): Labels {
  if (rest.length === 0) return first;
  const others = labelsOf(rest);
  return first.map((label, at) => {
    const other = others[at] ?? null;
    return label === null || other === null ? null : `${label}\n${other}`;
  });
}

function keyParts(total: ColumnFacts, large: Grouped): Grouping[] {
  const { kind } = total.column;
  if (kind === 'json' || kind === 'time' || total.distinct < 2) return [];
  if (kind === 'number' && total.values.some(({ value }) => value.includes('.'))) return [];
  return large.facts.flatMap((fact): Grouping[] => {
    const { column } = fact;
    if (column.kind !== kind || isUnique(fact)) return [];
    const likely =
      `.${column.name}`.endsWith(`.${total.column.name}`) ||
      (kind === 'text' && (total.distinct >= LEAST_TOTALS || total.distinct === fact.distinct)) ||
      declared(total, large, column.name);
    if (!likely || !mostMeet(total, fact)) return [];
    return [
      {
        name: column.name,
        columns: [column.name],
        totals: keysOf(total),
        rows: keysOf(fact),
      },
    ];
  });
}

/** Whether most values of the one are values of the other. */
function mostMeet({ values }: ColumnFacts, other: ColumnFacts): boolean {
  const known = valueSet(other);
  const most = Math.min(values.length * 0.3, values.length - 2);
  let missed = 0;
  return !values.some(({ value }) => !known.has(value) && (missed += 1) > most);
}

const keysOf = perObject(({ column }: ColumnFacts): Labels => column.values.map(keyOf));

const declared = (total: ColumnFacts, { rows }: Grouped, column: string): boolean =>
  rows.table.foreignKeys.some(
    ({ columns, references }) => columns[0] === column && references[0] === total.column.name,
  );

/** A date that stands as digits in a text, and digits that stand for none. */
const WRITTEN = /^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
const NO_DATE = /^(0+|9+)$/;

/** Row by row the time as ISO writes it; null: none. Empty where the column has no times. */
export const timesOf = perObject(({ column, real, values }: ColumnFacts): Labels => {
  if (column.kind === 'time') return column.values.map((value, at) => (real[at] === true ? String(value) : null));
  const isDated = column.kind === 'text' && values.every(({ value }) => WRITTEN.test(value) || NO_DATE.test(value));
  if (!isDated || values.every(({ value }) => NO_DATE.test(value))) return [];
  return column.values.map((value) => {
    const found = /^(\d{4})(\d\d)(\d\d)$/.exec(String(value));
    return found === null || NO_DATE.test(found[0]) ? null : found.slice(1).join('-');
  });
});

interface Period {
  readonly name: string;
  readonly is: RegExp;
  readonly read: (date: string) => string;
}

const PERIODS = (
  [
    { name: 'month', is: /^(19|20)\d\d(0[1-9]|1[0-2])$/, read: (date) => date.slice(0, 4) + date.slice(5, 7) },
    { name: 'month', is: /^\d{4}-\d\d$/, read: (date) => date.slice(0, 7) },
    { name: 'month', is: /^\d{4}-\d\d-01(?:[T ]00:00(?::00)?)?$/, read: (date) => `${date.slice(0, 7)}-01` },
    { name: 'day', is: WRITTEN, read: (date) => date.slice(0, 10).replaceAll('-', '') },
    { name: 'day', is: /^\d{4}-\d\d-\d\d$/, read: (date) => date.slice(0, 10) },
    { name: 'year', is: /^(19|20)\d\d$/, read: (date) => date.slice(0, 4) },
  ] satisfies readonly Period[]
).map((period) => ({
  ...period,
  rows: perObject((dated: ColumnFacts): Labels =>
    timesOf(dated).map((time) => (time === null ? null : period.read(time))),
  ),
}));

export const periodOf = perObject(({ distinct, values }: ColumnFacts): (typeof PERIODS)[number] | undefined =>
  PERIODS.find(({ is }) => distinct >= 2 && values.every(({ value }) => is.test(value))),
);

const periodLabels = perObject((total: ColumnFacts): Labels =>
  total.column.values.map((value) => keyOf(value)?.replace(/[T ]00:00(:00)?$/, '') ?? null),
);

function periodParts(total: ColumnFacts, large: Grouped): Grouping[] {
  const period = periodOf(total);
  if (period === undefined) return [];
  return large.facts.flatMap((dated) => {
    const times = timesOf(dated);
    const { name } = dated.column;
    const part = { name: `${period.name} of ${name}`, columns: [name], totals: periodLabels(total) };
    return times.length === 0 ? [] : [{ ...part, rows: period.rows(dated) }];
  });
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

function shiftedParts(total: ColumnFacts, large: Grouped, plain: Grouping): Grouping[] {
  const period = periodOf(total);
  const fact = large.facts.find(({ column }) => column.name === plain.columns[0]);
  if (period === undefined || period.name === 'year' || fact === undefined) return [];
  const times = timesOf(fact).map((time) => timeOf(time) ?? NaN);
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
