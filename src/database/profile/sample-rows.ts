/** Rows as they stand: all of a tiny table, else three spread over the rows that were read. */
import type { ColumnOptions } from './describe-column';
import type { Profiled } from './joins';
import { pieceOf, type ProfilePiece } from './piece';
import { shown } from './words';

/** So few rows are shown whole, if they are short. */
const TINY_ROWS = 15;
const TINY_CHARS = 900;
const ROW_CHARS = 400;

export function isTiny({ rows }: Profiled): boolean {
  if (!rows.whole || rows.read === 0 || rows.read > TINY_ROWS) return false;
  return allRows({ rows }).join('\n').length < TINY_CHARS;
}

function allRows({ rows }: Pick<Profiled, 'rows'>): string[] {
  return Array.from({ length: rows.read }, (_, at) => rowText({ rows }, at));
}

export function rowPieces(profiled: Profiled, { values }: ColumnOptions): ProfilePiece[] {
  const { read } = profiled.rows;
  if (!values || read === 0) return [];
  if (isTiny(profiled)) return [pieceOf(null, 'smallTable', allRows(profiled).join('\n'))];
  return [
    pieceOf(null, 'firstRow', rowText(profiled, 0)),
    pieceOf(null, 'secondRow', rowText(profiled, Math.floor(read / 2))),
    pieceOf(null, 'thirdRow', rowText(profiled, read - 1)),
  ];
}

function rowText({ rows }: Pick<Profiled, 'rows'>, at: number): string {
  const text = rows.columns.map(({ values }) => shown(values[at] ?? null, 24)).join(' | ');
  return text.length > ROW_CHARS ? `${text.slice(0, ROW_CHARS - 1)}…` : text;
}
