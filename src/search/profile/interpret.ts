/** Turns the results of `profileQueries` into column profiles. If a statement failed, only its part is missing. */
import type { ColumnProfile, SqlResult, SqlValue } from '../../domain';
import { formatsOf } from './formats';
import { jsonRemarks } from './json-shape';
import type { ProfileQueries } from './queries';
import { remarksOf, type ColumnFacts } from './remarks';
import { WIDE_FIELDS } from './sql';

const SHOWN = 8;

export function interpretProfile(queries: ProfileQueries, results: readonly SqlResult[]): ColumnProfile[] {
  const rowsOf = (purpose: ProfileQueries['purposes'][number]): readonly (readonly SqlValue[])[] => {
    const index = queries.purposes.indexOf(purpose);
    const result = index < 0 ? undefined : results[index];
    return result?.kind === 'rows' ? result.rows : [];
  };
  const [wide] = rowsOf('wide');
  if (wide === undefined) return [];
  const examined = number(wide[0]);
  if (examined === 0) return [];
  const copies = queries.copies.map(([one, other], index) => ({
    one,
    other,
    equal: number(wide[1 + queries.columns.length * WIDE_FIELDS.length + index]),
  }));
  const values = rowsOf('values');
  const json = rowsOf('json');

  const facts = queries.columns.map((column, index): ColumnFacts => {
    const field = (name: (typeof WIDE_FIELDS)[number]): SqlValue =>
      wide[1 + index * WIDE_FIELDS.length + WIDE_FIELDS.indexOf(name)] ?? null;
    const list = (kind: string) =>
      values
        .filter(([c, k]) => number(c) === index && k === kind)
        .map(([, , value, count]) => ({ value: text(value) ?? '', count: number(count) }));
    // In free text almost every value has its own format: a list that covers few values would mislead.
    const masks = list('m');
    const covered = masks.reduce((sum, { count }) => sum + count, 0);
    const formats = covered >= number(field('filled')) * 0.8 ? formatsOf(masks) : [];
    return {
      column,
      examined,
      filled: number(field('filled')),
      distinct: number(field('distinct')),
      min: text(field('min')),
      max: text(field('max')),
      shortest: optional(field('shortest')),
      longest: optional(field('longest')),
      padded: number(field('padded')),
      folded: optional(field('folded')),
      negative: number(field('negative')),
      types: (text(field('types')) ?? '')
        .split(',')
        .filter((type) => type !== '' && type !== 'null')
        .sort(),
      top: list('t'),
      formats,
      placeholders: list('s'),
      highest: list('h'),
      lowest: list('l'),
      sameAs: copies.flatMap(({ one, other, equal }) => {
        const partner = one === index ? other : other === index ? one : null;
        return partner !== null && equal === examined ? [queries.columns[partner]?.name ?? ''] : [];
      }),
      json: jsonRemarks(json.filter(([c]) => number(c) === index).map(([, value]) => text(value) ?? '')),
      magnitudes: magnitudesOf(queries, rowsOf('magnitudes'), index),
      joins: joinsOf(queries, rowsOf('joins'), column.name),
    };
  });
  return facts.map((fact) => ({
    table: queries.table,
    column: fact.column.name,
    examined,
    nulls: examined - fact.filled,
    distinct: fact.distinct,
    min: fact.min,
    max: fact.max,
    top: fact.top.slice(0, SHOWN),
    patterns: fact.formats.slice(0, SHOWN),
    remarks: remarksOf(fact),
  }));
}

function magnitudesOf(
  queries: ProfileQueries,
  rows: readonly (readonly SqlValue[])[],
  index: number,
): ColumnFacts['magnitudes'] {
  return queries.magnitudes.flatMap(([label, value], position) => {
    if (value !== index) return [];
    const groups = rows
      .filter(([p]) => number(p) === position)
      .map(([, group, count, low, mean, high]) => ({
        group: text(group) ?? 'NULL',
        count: number(count),
        low: number(low),
        mean: number(mean),
        high: number(high),
      }));
    return [{ label: queries.columns[label]?.name ?? '', groups }];
  });
}

function joinsOf(
  queries: ProfileQueries,
  rows: readonly (readonly SqlValue[])[],
  column: string,
): ColumnFacts['joins'] {
  return queries.joins.flatMap((join, position) => {
    const row = rows.find(([j]) => number(j) === position);
    if (join.column !== column || row === undefined) return [];
    return [
      {
        target: `${join.table}.${join.references}`,
        distinct: number(row[1]),
        exact: number(row[2]),
        loose: number(row[3]),
      },
    ];
  });
}

/** Counts and sums may arrive as text (PostgreSQL's numeric) or NULL (a sum over nothing). */
const number = (value: SqlValue | undefined): number => Number(value ?? 0);
const optional = (value: SqlValue): number | null => (value === null ? null : Number(value));
const text = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
