/** Text tables and CSV. Cells are made printable: what a database holds cannot move a cursor or hide text. */
import { csvLine } from '../text/csv';
import type { SqlValue } from '../domain';
import { cell, visible } from '../report/printable';

export interface TableOptions {
  /** Total width; wide columns share what is left. */
  readonly width: number;
  readonly indent?: string;
  /** The first columns that are never cut, such as ids to copy. */
  readonly whole?: number;
}

export function textTable(
  head: readonly string[],
  rows: readonly (readonly SqlValue[])[],
  { width, indent = '', whole = 0 }: TableOptions,
): string {
  const lines = [head, ...rows].map((row) => row.map((value) => visible(cell(value)).replace(/\s+/g, ' ')));
  const natural = head.map((_, column) => Math.max(1, ...lines.map((line) => line[column]?.length ?? 0)));
  const widths = shrink(natural, width - indent.length - 2 * (head.length - 1), whole);
  const numeric = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof (row[column] ?? 0) === 'number'),
  );
  const format = (line: readonly string[]): string =>
    (
      indent + line.map((text, column) => fit(text, widths[column] ?? 1, numeric[column] ?? false)).join('  ')
    ).trimEnd();
  const rule = indent + widths.map((columnWidth) => '-'.repeat(columnWidth)).join('  ');
  return [format(lines[0] ?? []), rule, ...lines.slice(1).map(format)].join('\n');
}

export function csv(head: readonly string[], rows: readonly (readonly SqlValue[])[]): string {
  return [head, ...rows].map((row) => `${csvLine(row)}\n`).join('');
}

/** Takes from the widest columns until all fit, and leaves each at least 4. */
function shrink(natural: readonly number[], room: number, whole: number): number[] {
  const widths = natural.map((width) => Math.min(width, 200));
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(0, ...widths.slice(whole));
    if (widest <= 4) break;
    widths[widths.indexOf(widest, whole)] = widest - 1;
    over -= 1;
  }
  return widths;
}

function fit(text: string, width: number, right: boolean): string {
  const short = text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  return right ? short.padStart(width) : short.padEnd(width);
}
