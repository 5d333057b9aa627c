/**
 * Tables of figures by period and code: their rows are told apart by a period (a month, a day, a year, or a year and its
 * months) and codes, nearly every code has figures for nearly every period, and all else are numbers. They hold what other
 * tables add up to, so that conventions can be counted against them.
 */
import { keyColumns } from '../table-text';
import { isKeyName, isUnique, type ColumnFacts } from './column-facts';
import { LEAST_TOTALS, MOST_TOTALS, periodOf } from './groupings';
import { pieceOf, type ProfilePiece } from './pieces';
import type { Profiled } from './row-doubts';
import { keyOf } from './table-rows';

const BY = 'figures by ';

/** Whether a piece of a profile says so. */
export const isFigures = ({ column, text }: ProfilePiece): boolean => column === null && text.startsWith(BY);

export function figuresPieces(table: Profiled): ProfilePiece[] {
  const key = figuresKey(table);
  return key === null ? [] : [pieceOf(null, 'control', `${BY}${key.map(({ column }) => column.name).join(', ')}`)];
}

const MOST_CODES = 4;
/** A column beside key and figures, such as the day of the last change. */
const MOST_OTHERS = 1;
/** Of all pairs of a period and a code. */
const LEAST_PAIRS = 0.25;
/** Of all periods between the first and the last. */
const LEAST_PERIODS = 0.7;

function figuresKey({ rows, facts }: Profiled): readonly ColumnFacts[] | null {
  if (!rows.whole || rows.read < LEAST_TOTALS || rows.read > MOST_TOTALS) return null;
  const varied = facts.filter(({ distinct }) => distinct > 1);
  const period = periodColumns(facts);
  const ids = keyColumns(rows.table);
  const isId = (each: ColumnFacts): boolean =>
    isUnique(each) && (each.column.kind !== 'number' || ids.has(each.column.name) || isKeyName(each.column.name));
  if (period === null || varied.some((each) => !period.includes(each) && isId(each))) return null;
  const rest = varied.filter((each) => !period.includes(each));
  const isNumber = ({ column, distinct }: ColumnFacts): boolean =>
    column.kind === 'number' && distinct >= LEAST_TOTALS && !ids.has(column.name) && !isKeyName(column.name);
  const texts = rest.filter((each) => !isNumber(each));
  // A code may be a number, too.
  const numbers = rest.filter((each) => isNumber(each) && each.distinct <= each.rows / 2);
  const [codes = null] = [[], ...numbers.map((each) => [each])].flatMap((code) => {
    const found = shortest(
      period,
      rest.filter((each) => texts.includes(each) || code.includes(each)),
    );
    return found === null ? [] : [found];
  });
  if (codes === null || codes.length > MOST_CODES) return null;
  const others = rest.filter((each) => !codes.includes(each));
  const figures = others.filter(isNumber);
  if (figures.length === 0 || others.length - figures.length > MOST_OTHERS) return null;
  const pairs = distinctOf(period) * (codes.length === 0 ? 1 : distinctOf(codes));
  const isDense = codes.length > 0 ? rows.read >= pairs * LEAST_PAIRS : followOneAnother(period);
  return isDense ? [...codes, ...period] : null;
}

/** The fewest of the codes that tell rows of one period apart; those in front are kept. */
function shortest(period: readonly ColumnFacts[], codes: readonly ColumnFacts[]): readonly ColumnFacts[] | null {
  const isKey = (some: readonly ColumnFacts[]): boolean => distinctOf([...period, ...some]) === period[0]?.rows;
  if (!isKey(codes)) return null;
  return codes.reduceRight((kept, each) => {
    const fewer = kept.filter((other) => other !== each);
    return isKey(fewer) ? fewer : kept;
  }, codes);
}

/** The column of the periods, or those of the year, which may be one, and of the months in it. */
function periodColumns(facts: readonly ColumnFacts[]): readonly ColumnFacts[] | null {
  const dated = facts.filter((each) => each.filled === each.rows && periodOf(each) !== undefined);
  const finer = dated.find((each) => periodOf(each)?.name !== 'year');
  if (finer !== undefined) return [finer];
  const year = facts.find(({ values }) => values.length > 0 && values.every(({ value }) => YEAR.test(value)));
  const month = facts.find(
    ({ column, distinct, values }) =>
      column.kind === 'number' && distinct >= 6 && values.every(({ value }) => MONTH.test(value)),
  );
  if (year !== undefined && month !== undefined) return [year, month];
  return year !== undefined && dated.includes(year) ? [year] : null;
}

const YEAR = /^(19|20)\d\d$/;
/** Companies close the books in up to sixteen periods a year. */
const MONTH = /^([0-9]|1[0-6])$/;

function distinctOf(facts: readonly ColumnFacts[]): number {
  const [first] = facts;
  if (first === undefined) return 0;
  return new Set(
    first.column.values.map((_, row) => facts.map(({ column }) => keyOf(column.values[row] ?? null) ?? '').join('\n')),
  ).size;
}

/** Periods without codes come one after the other, nearly without a gap. */
function followOneAnother(period: readonly ColumnFacts[]): boolean {
  const [first] = period;
  const name = first === undefined ? undefined : periodOf(first)?.name;
  if (first === undefined || name === undefined) return false;
  const places = first.values.map(({ value }) => {
    const digits = value.slice(0, 10).replaceAll('-', '').padEnd(8, '01');
    const [year, month] = [Number(digits.slice(0, 4)), Number(digits.slice(4, 6))];
    if (name === 'day') return Date.UTC(year, month - 1, Number(digits.slice(6))) / 86_400_000;
    return name === 'month' ? year * 12 + month : year;
  });
  const span = Math.max(...places) - Math.min(...places) + 1;
  return places.length >= span * LEAST_PERIODS;
}
