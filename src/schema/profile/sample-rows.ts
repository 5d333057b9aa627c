/** Rows as they stand: all of a tiny table, else three spread over the rows that were read. */
import type { ColumnOptions } from './describe-column';
import type { Profiled } from './joins';
import { WEIGHT, type ProfilePiece } from './piece';
import { shown } from './words';

/** So few rows are shown whole, if they are short. */
const TINY_ROWS = 15;
const TINY_CHARS = 900;
const ROW_CHARS = 400;

export function isTiny({ rows }: Profiled): boolean {
  if (!rows.whole || rows.read === 0 || rows.read > TINY_ROWS) return false;
  return (
    Array.from({ length: rows.read }, (_, at) => rowText({ rows }, at).length + 1).reduce((a, b) => a + b, 0) <=
    TINY_CHARS
  );
}

export function rowPieces(profiled: Profiled, { values }: ColumnOptions): ProfilePiece[] {
  const { read } = profiled.rows;
  if (!values || read === 0) return [];
  const row = (weight: number, at: number): ProfilePiece => ({ column: null, weight, text: rowText(profiled, at) });
  if (isTiny(profiled)) {
    const rows = Array.from({ length: read }, (_, at) => rowText(profiled, at));
    return [{ column: null, weight: WEIGHT.smallTable, text: rows.join('\n') }];
  }
  const [first, second, third] = [0, Math.floor(read / 2), read - 1];
  return [row(WEIGHT.firstRow, first), row(WEIGHT.secondRow, second), row(WEIGHT.thirdRow, third)];
}

function rowText({ rows }: Pick<Profiled, 'rows'>, at: number): string {
  const text = rows.columns.map(({ values }) => shown(values[at] ?? null, 24)).join(' | ');
  return text.length > ROW_CHARS ? `${text.slice(0, ROW_CHARS - 1)}…` : text;
}
