/** How the rows of a large table are grouped so that each row of a small one can be the total of a group: by keys and periods. */
import { isUnique, type ColumnFacts } from './counted';
import type { Profiled } from './joins';
import { keyOf } from './table-rows';

/** Fewer groups than this show nothing. */
export const LEAST_TOTALS = 3;

export interface Grouping {
  /** `a_no and month of dt`. */
  readonly name: string;
  /** Of the large table. */
  readonly columns: readonly string[];
  /** The group of each row of the small table, and of the large one; null: none. */
  readonly totals: readonly (string | null)[];
  readonly rows: readonly (string | null)[];
}

/** Ways to group the large table so that each row of the small one stands for at most one group. */
export function groupings(small: Profiled, large: Profiled): Grouping[] {
  const parts = small.facts.flatMap((total) => [...keyParts(total, large), ...periodParts(total, large)]);
  const pairs = parts.flatMap((one, at) => parts.slice(at + 1).map((other) => joined(one, other)));
  return [...parts, ...pairs].filter(({ totals }) => {
    const named = totals.filter((each) => each !== null);
    return named.length >= LEAST_TOTALS && new Set(named).size === named.length;
  });
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

function periodParts(total: ColumnFacts, large: Profiled): Grouping[] {
  const period = PERIODS.find(({ is }) => total.distinct >= 2 && total.values.every(({ value }) => is.test(value)));
  if (period === undefined) return [];
  return large.facts
    .filter(({ column }) => column.kind === 'time')
    .map(({ column, real }) => ({
      name: `${period.name} of ${column.name}`,
      columns: [column.name],
      totals: total.column.values.map((value) => keyOf(value)?.replace(/[T ]00:00(:00)?$/, '') ?? null),
      rows: column.values.map((value, at) => (real[at] === true ? period.read(String(value)) : null)),
    }));
}
