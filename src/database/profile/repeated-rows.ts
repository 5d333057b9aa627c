/**
 * Rows that stand twice: equal in all columns but the keys and those of few values (the file or run of an import), with
 * enough columns that differ from row to row for it to be no chance.
 */
import { isCategory, isUnique, type ColumnFacts } from './counted';
import type { ColumnOptions } from './describe-column';
import { pieceOf, type ProfilePiece } from './piece';
import { keyOf, type TableRows } from './table-rows';

const LEAST_COLUMNS = 3;
const LEAST_SHARE = 0.002;
/** Values of which a remark says that all their rows are repeats. */
const MOST_WHOLE = 4;

export interface Repeated {
  /** Row by row: an earlier one is the same. */
  readonly repeats: readonly boolean[];
  readonly count: number;
  /** Columns in which they are the same, and which make them so. */
  readonly equal: readonly string[];
  /** Columns in which they differ. */
  readonly but: readonly string[];
  /** Of those columns, values whose rows are all repeats: `fil a_1` for a file that was read twice. */
  readonly whole: readonly string[];
}

const known = new WeakMap<TableRows, { readonly found: Repeated | null }>();

export function repeatedRows(rows: TableRows, facts: readonly ColumnFacts[]): Repeated | null {
  const kept = known.get(rows);
  if (kept !== undefined) return kept.found;
  const found = find(rows, facts);
  known.set(rows, { found });
  return found;
}

function find({ table, read }: TableRows, facts: readonly ColumnFacts[]): Repeated | null {
  const isLeftOut = (each: ColumnFacts): boolean =>
    isUnique(each) || table.primaryKey.includes(each.column.name) || isCategory(each, 40);
  const compared = facts.filter((each) => !isLeftOut(each) && each.distinct > 1);
  // Rows of few values meet by chance.
  const telling = compared.filter(({ distinct }) => distinct >= read * 0.3);
  if (compared.length < LEAST_COLUMNS || telling.length < 2 || read < 20) return null;
  const firstOf = new Map<string, number>();
  const repeats: boolean[] = [];
  const differing = new Set<ColumnFacts>();
  const rest = facts.filter((each) => !compared.includes(each));
  for (let row = 0; row < read; row++) {
    const key = compared.map(({ column }) => keyOf(column.values[row] ?? null) ?? '').join('\u0001');
    const first = firstOf.get(key);
    repeats.push(first !== undefined);
    if (first === undefined) firstOf.set(key, row);
    else for (const each of rest) if (each.column.values[first] !== each.column.values[row]) differing.add(each);
  }
  const count = repeats.filter(Boolean).length;
  if (count < Math.max(3, read * LEAST_SHARE) || count > read * 0.6) return null;
  const but = rest.filter((each) => differing.has(each));
  return {
    ...{ repeats, count },
    equal: compared.map(({ column }) => column.name),
    but: but.map(({ column }) => column.name),
    whole: but.filter((each) => isCategory(each, 40)).flatMap((each) => wholeValues(each, repeats)),
  };
}

function wholeValues({ column, values }: ColumnFacts, repeats: readonly boolean[]): string[] {
  const kept = new Set(column.values.filter((_, row) => repeats[row] !== true).map((value) => keyOf(value)));
  return values.filter(({ value }) => !kept.has(value)).map(({ value, count }) => `${column.name} ${value} (${count})`);
}

export function repeatedPieces(
  rows: TableRows,
  facts: readonly ColumnFacts[],
  { values }: ColumnOptions,
): ProfilePiece[] {
  const found = repeatedRows(rows, facts);
  if (found === null) return [];
  const but = found.but.length === 0 ? '' : ` in all columns but ${found.but.join(', ')}`;
  const shown = found.whole.slice(0, MOST_WHOLE).join(', ');
  const more = found.whole.length > MOST_WHOLE ? ', …' : '';
  const whole = shown === '' || !values ? '' : `; only repeats: ${shown}${more}`;
  return [pieceOf(null, 'repeated', `! ${found.count} rows repeat an earlier one${but}${whole}`)];
}
