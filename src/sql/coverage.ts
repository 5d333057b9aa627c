/**
 * Coverage: how many things a question asks about, and how many of them the final SQL could use. A figure over the part that
 * happens to be recorded must not pass for one over the whole (design §3). Pure: one SELECT counts both, the database runs it.
 */
import type { Coverage, SqlResult } from '../domain';
import { counted, grouped } from '../counted';
import { countOf } from './agreement';

type Counts = Pick<Coverage, 'asked' | 'used'>;

/** Below this share the answer says how much of what was asked it could use. */
export const COVERED = 0.95;

/** The two counts, in this order: asked about, used. A text says why the result is not that: it is meant for the model. */
export function readCoverage(result: SqlResult): Counts | string {
  if (result.kind === 'timeout') return `it took longer than ${result.afterMs} ms`;
  return result.kind === 'rows' ? countsOf(result) : result.message;
}

/** The warning, for example `Only 312 of the 1,000 asked about could be used (31 %).`; null where enough of them could. */
export function coverageText({ asked, used }: Counts): string | null {
  if (asked === 0 || used / asked >= COVERED) return null;
  return `Only ${grouped(used)} of the ${grouped(asked)} asked about could be used (${percent(used / asked)}).`;
}

function countsOf({ rows, columns, truncated }: Extract<SqlResult, { kind: 'rows' }>): Counts | string {
  const [row] = rows;
  if (row === undefined || rows.length > 1 || truncated || columns.length !== 2)
    return `it must give one row of two counts, but gave ${row === undefined ? 'no row' : shapeText(rows.length, columns.length, truncated)}`;
  const [asked = null, used = null] = row.map(countOf);
  if (asked === null || used === null)
    return `both numbers must be counts, but they are ${row.map((value) => (value === null ? 'NULL' : String(value))).join(' and ')}`;
  if (used > asked)
    return `how many are asked about comes first, then how many of them are used, but ${used} is more than ${asked}`;
  return { asked, used };
}

function shapeText(rows: number, columns: number, truncated: boolean): string {
  return `${truncated ? 'more than ' : ''}${counted(rows, 'row')} of ${counted(columns, 'column')}`;
}

/** Rounded down, so that 94.9 % does not read as the 95 % that would be enough. */
function percent(share: number): string {
  const whole = Math.floor(share * 100);
  return share > 0 && whole === 0 ? 'under 1 %' : `${whole} %`;
}
