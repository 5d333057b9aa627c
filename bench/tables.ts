/** Figures as a table, each against its target. */
import { isMet, type Figure } from './figure';

export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const target = targetOf(figure);
    return [
      figure.name,
      `${format(figure.value)} ${figure.unit}`,
      target,
      target === '' ? '' : isMet(figure) ? 'met' : 'MISSED',
      figure.how,
    ];
  });
  return aligned([['figure', 'measured', 'target', '', 'how'], ...rows]);
}

function targetOf({ atMost, atLeast, unit }: Figure): string {
  if (atMost !== null) return `≤ ${format(atMost)} ${unit}`;
  return atLeast === undefined ? '' : `≥ ${format(atLeast)} ${unit}`;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]): string => row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

function format(value: number): string {
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
