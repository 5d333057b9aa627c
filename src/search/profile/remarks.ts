/** Remarks on a column that could break a plan's assumptions, as plain statements. */
import { isCodeFormat, isNumberFormat, type Format } from './formats';
import type { ProfiledColumn } from './queries';

interface Counted {
  readonly value: string;
  readonly count: number;
}

export interface ColumnFacts {
  readonly column: ProfiledColumn;
  readonly examined: number;
  readonly filled: number;
  readonly distinct: number;
  readonly min: string | null;
  readonly max: string | null;
  readonly shortest: number | null;
  readonly longest: number | null;
  readonly padded: number;
  /** Distinct values after trimming and case folding. */
  readonly folded: number | null;
  readonly negative: number;
  /** SQLite: storage types of the values. */
  readonly types: readonly string[];
  readonly top: readonly Counted[];
  readonly formats: readonly Format[];
  readonly placeholders: readonly Counted[];
  /** The two highest and the two lowest values, the most extreme first. */
  readonly highest: readonly Counted[];
  readonly lowest: readonly Counted[];
  readonly sameAs: readonly string[];
  readonly json: readonly string[];
  readonly magnitudes: readonly {
    readonly label: string;
    readonly groups: readonly {
      readonly group: string;
      readonly count: number;
      readonly low: number;
      readonly mean: number;
      readonly high: number;
    }[];
  }[];
  readonly joins: readonly {
    readonly target: string;
    readonly distinct: number;
    readonly exact: number;
    readonly loose: number;
  }[];
}

/** If means per label differ by this factor, the numbers hardly have one unit. */
const MAGNITUDE_RATIO = 8;
const OUTLIER_RATIO = 20;

export function remarksOf(facts: ColumnFacts): string[] {
  if (facts.filled === 0) return [`always NULL in ${facts.examined} rows`];
  return [constant, copies, placeholders, extremes, spelling, keys, storage, formats, magnitudes, joins]
    .flatMap((rule) => rule(facts))
    .concat(facts.json);
}

function constant({ distinct, top, filled, examined, column }: ColumnFacts): string[] {
  if (distinct !== 1 || examined < 2 || column.class === 'json') return [];
  return [`constant: ${show(top[0]?.value ?? '')} in all ${filled === examined ? examined : `${filled} filled`} rows`];
}

function copies({ sameAs, distinct, examined }: ColumnFacts): string[] {
  return distinct > 1 && sameAs.length > 0 ? [`same as ${sameAs.join(', ')} in all ${examined} rows`] : [];
}

function placeholders({ placeholders, column, distinct }: ColumnFacts): string[] {
  if (distinct < 2) return [];
  const list = placeholders.map(({ value, count }) => `${show(value)} (${count})`);
  if (list.length === 0) return [];
  const what = column.class === 'time' ? 'placeholder dates?' : 'placeholders for no value?';
  return [`${what} ${list.join(', ')}`];
}

/** -1 below otherwise non-negative numbers, 999 far above the rest, many zeros. */
function extremes({ column, highest, lowest, negative, top, filled, distinct }: ColumnFacts): string[] {
  if (column.class !== 'number' || distinct < 3) return [];
  const remarks: string[] = [];
  const [low, nextLow] = lowest;
  if (low !== undefined && nextLow !== undefined && Number(low.value) < 0 && Number(nextLow.value) >= 0) {
    remarks.push(`${low.value} in ${low.count} rows is the only negative value: a placeholder?`);
  } else if (negative > 0 && !column.key) {
    remarks.push(`negative in ${negative} of ${filled} rows`);
  }
  const [high, nextHigh] = highest;
  if (high !== undefined && nextHigh !== undefined && Number(nextHigh.value) > 0 && !column.key) {
    const ratio = Number(high.value) / Number(nextHigh.value);
    const nines = /^9{2,}(\.[09]*)?$/.test(high.value);
    if (ratio > (nines ? 2 : OUTLIER_RATIO)) {
      remarks.push(
        `${high.value} in ${high.count} rows lies far above the next value ${nextHigh.value}${nines ? ': a placeholder?' : ''}`,
      );
    }
  }
  const zero = top.find(({ value }) => Number(value) === 0);
  if (zero !== undefined && zero.count >= filled * 0.05 && !column.key && distinct > 5)
    remarks.push(`0 in ${zero.count} of ${filled} rows: a true zero or no value?`);
  return remarks;
}

function spelling({ padded, folded, distinct }: ColumnFacts): string[] {
  return [
    ...(padded > 0 ? [`${padded} values have leading or trailing spaces`] : []),
    ...(folded !== null && folded < distinct
      ? [`${distinct} distinct spellings are ${folded} without case and outer spaces`]
      : []),
  ];
}

function keys({ column, distinct, filled, joins }: ColumnFacts): string[] {
  const repeats = column.key && distinct > 1 && distinct < filled && filled / distinct < 1.5 && joins.length === 0;
  return repeats ? [`named like a key but repeats: ${distinct} distinct in ${filled} rows`] : [];
}

function storage({ types, column }: ColumnFacts): string[] {
  const several = types.length > 1 && types.some((type) => type === 'text' || type === 'blob');
  return several && column.class !== 'binary' ? [`mixes stored types: ${types.join(', ')}`] : [];
}

function formats({ column, formats, filled, distinct }: ColumnFacts): string[] {
  if (column.class !== 'text' || formats.length === 0) return [];
  const covered = formats.reduce((sum, { count }) => sum + count, 0);
  const numeric = formats.filter(({ pattern }) => isNumberFormat(pattern)).reduce((sum, { count }) => sum + count, 0);
  if (numeric === filled && distinct > 1) return ['numbers stored as text'];
  const remarks =
    numeric > 0 && numeric >= filled * 0.5 ? [`numbers stored as text in ${numeric} of ${filled} rows`] : [];
  const codes = formats.filter(({ pattern }) => isCodeFormat(pattern)).slice(0, 6);
  const inCodes = codes.reduce((sum, { count }) => sum + count, 0);
  const families = new Set(codes.map(({ pattern }) => pattern.replace(/9+\+?/g, '9')));
  if (families.size > 1 && inCodes >= covered * 0.8) {
    remarks.push(`several formats: ${codes.map(({ pattern, count }) => `${pattern} (${count})`).join(', ')}`);
  }
  return remarks;
}

function magnitudes({ magnitudes }: ColumnFacts): string[] {
  return magnitudes.flatMap(({ label, groups }) => {
    const means = groups.filter(({ count, mean }) => count > 0 && mean !== 0).map(({ mean }) => Math.abs(mean));
    if (means.length < 2 || Math.max(...means) < MAGNITUDE_RATIO * Math.min(...means)) return [];
    const list = groups
      .slice(0, 5)
      .map(
        ({ group, count, low, mean, high }) =>
          `${show(group)} mean ${short(mean)}, ${short(low)} to ${short(high)} (${count})`,
      );
    return [`magnitude depends on ${label}: ${list.join('; ')}`];
  });
}

function joins({ joins }: ColumnFacts): string[] {
  return joins.flatMap(({ target, distinct, exact, loose }) => {
    if (distinct === 0) return [];
    if (exact === 0 && loose === 0) return [`no value is found in ${target}`];
    const better = loose > exact ? `; ${loose} after trimming, case and leading zeros` : '';
    return [
      `${exact === distinct && better === '' ? 'all' : `${exact} of`} ${distinct} distinct values are in ${target}${better}`,
    ];
  });
}

const show = (value: string): string => `'${value.length > 40 ? `${value.slice(0, 39)}…` : value}'`;
const short = (value: number): string => String(Number(value.toPrecision(4)));
