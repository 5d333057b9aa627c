/**
 * Columns that tell the rows of a table apart: a mark that is set for few of them, a state, a kind with few values. SQL that
 * reads the table without a look at them may count rows that do not count. Told by the rows; no name makes a column one.
 */
import { z } from 'zod';
import { counted } from '../../counted';
import { keyColumns } from '../table-text';
import { isCategory, isKeyName, isUnique, type ColumnFacts } from './counted';
import type { TableRows } from './table-rows';

export const Flag = z.object({
  column: z.string(),
  /** `set in 120 of 2,000 rows`, `3 values`. */
  holds: z.string(),
});
export type Flag = Readonly<z.infer<typeof Flag>>;

/** Numbers of more values are amounts rather than codes. */
const MOST_NUMBERS = 5;
/** A time that is set for at most this share of the rows is a mark: of what was deleted, ended or refunded. */
const MINORITY = 0.5;
/** Such names are told first. */
const MARK =
  /(^|_)(is|has|del|deleted|removed|void|cancel\w*|test|active|inactive|valid|invalid|archived?|hidden|status|state|flag)(_|$)/i;

/** Likeliest first: what is called a mark, then by how few values it has. */
export function flagsOf({ table }: TableRows, facts: readonly ColumnFacts[]): Flag[] {
  const keys = keyColumns(table);
  return facts
    .filter((each) => !keys.has(each.column.name) && !isKeyName(each.column.name) && !isUnique(each))
    .flatMap((each) => {
      const { column, rows, distinct, real } = each;
      const filled = real.filter(Boolean).length;
      const isSet = filled > 0 && filled <= rows * MINORITY;
      const isFew =
        column.kind === 'time' || column.kind === 'json' || column.kind === 'binary'
          ? column.kind === 'time'
          : distinct <= (column.kind === 'number' ? MOST_NUMBERS : 9);
      if (!isFew || !(isSet || (column.kind !== 'time' && isCategory(each)))) return [];
      const holds = isSet ? `set in ${filled} of ${counted(rows, 'row')}` : counted(distinct, 'value');
      return [{ column: column.name, holds, rank: (MARK.test(column.name) ? 0 : 100) + (isSet ? 1 : distinct) }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ column, holds }) => ({ column, holds }));
}
