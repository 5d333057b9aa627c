/** Text tables and CSV. Cells are made printable: what a database holds cannot move a cursor or hide text. */
import type { SqlValue } from '../domain';
import { cell, counted, cut, visible } from '../report/printable';

export interface TableOptions {
  /** Total width; wide columns share what is left. */
  readonly width: number;
  readonly indent?: string;
  /** The first columns whose cells are never cut, such as ids to copy. Their heads may go over several lines. No column folds. */
  readonly whole?: number;
}

/** Between two columns. */
const GAP = 2;
/** In a table that folds, the first columns are not made narrower than this. */
const READABLE = 8;

export function textTable(
  head: readonly string[],
  rows: readonly (readonly SqlValue[])[],
  { width, indent = '', whole = 0 }: TableOptions,
): string {
  const lines = [head, ...rows].map((row) => row.map((value) => visible(cell(value)).replace(/\s+/g, ' ')));
  const [heads = [], ...body] = lines;
  const columns = heads.map((text, column): Column => {
    const natural = Math.max(1, ...lines.map((line) => line[column]?.length ?? 0));
    const inBody = body.map((line) => line[column]?.length ?? 0);
    const word = Math.max(...text.split(' ').map(({ length }) => length));
    return {
      natural,
      least:
        column < whole ? Math.min(Math.max(word, ...inBody), 200) : Math.min(natural, Math.max(4, Math.min(word, 12))),
    };
  });
  const fitting = whole > 0 ? columns.length : columnsThatFit(columns, width - indent.length);
  const widths = shrink(columns.slice(0, fitting), width - indent.length - GAP * (fitting - 1));
  const numeric = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof (row[column] ?? 0) === 'number'),
  );
  const format = (line: readonly string[]): string =>
    (
      indent +
      widths.map((columnWidth, column) => fit(line[column] ?? '', columnWidth, numeric[column] ?? false)).join('  ')
    ).trimEnd();
  const rule = indent + widths.map((columnWidth) => '-'.repeat(columnWidth)).join('  ');
  const wrapped = widths.map((columnWidth, column) => wrap(heads[column] ?? '', columnWidth));
  const height = Math.max(...wrapped.map(({ length }) => length));
  const top = Array.from({ length: height }, (_, line) => format(wrapped.map((words) => words[line] ?? '')));
  const folded = heads.slice(fitting);
  const more = folded.length === 0 ? [] : [foldedText(folded, width - indent.length)];
  return [...top, rule, ...body.map(format), ...more.map((line) => indent + line)].join('\n');
}

/** Names of columns that a table has no room for. */
function foldedText(names: readonly string[], room: number): string {
  return cut(`… and ${counted(names.length, 'more column')}: ${names.join(', ')}`, room);
}

/** All columns where there is room for the least of each; else as many as stay readable. */
function columnsThatFit(columns: readonly Column[], room: number): number {
  const first = (widthOf: (column: Column) => number): number => {
    let taken = -GAP;
    const tooMany = columns.findIndex((column) => (taken += GAP + widthOf(column)) > room);
    return tooMany < 0 ? columns.length : tooMany;
  };
  const all = first(({ least }) => least);
  return all === columns.length
    ? all
    : Math.max(
        1,
        first(({ natural, least }) => Math.max(least, Math.min(natural, READABLE))),
      );
}

/** Of a result that lacks rows: they are cut by their number, or by the size of them all. */
export function cutText(rows: number, maxRows: number): string {
  if (rows >= maxRows) return `cut after ${counted(maxRows, 'row')}; --max-rows raises the limit`;
  return `cut after ${counted(rows, 'row')}: the result is too large; select fewer columns or parts of the values`;
}

interface Column {
  readonly natural: number;
  readonly least: number;
}

/** Takes from the widest columns until all fit, and leaves each its least. */
function shrink(columns: readonly Column[], room: number): number[] {
  const widths = columns.map(({ natural, least }) => Math.max(least, Math.min(natural, 200)));
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const cuttable = widths.map((width, column) => (width > (columns[column]?.least ?? 0) ? width : 0));
    const widest = Math.max(0, ...cuttable);
    if (widest === 0) break;
    widths[cuttable.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return widths;
}

/** A head of several words goes over several lines before it is cut. */
function wrap(head: string, width: number): string[] {
  return head.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    const longer = `${last ?? ''} ${word}`;
    return last === undefined || longer.length > width ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, []);
}

function fit(text: string, width: number, right: boolean): string {
  const short = text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  return right ? short.padStart(width) : short.padEnd(width);
}
