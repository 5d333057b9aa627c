/** Figures as text: one table of figures against their targets, one of contestants side by side. */
import { isMet, type Figure } from './figure';

export function figureTable(figures: readonly Figure[]): string {
  const alone = figures.filter(({ contestant }) => contestant === undefined);
  if (alone.length === 0) return '';
  const rows = alone.map((figure) => {
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

/** A column per contestant, each with its ratio to GATE, and who is ahead of GATE in the row. */
export function comparisonTable(figures: readonly Figure[]): string {
  const compared = figures.filter(({ contestant }) => contestant !== undefined);
  if (compared.length === 0) return '';
  const names = [...new Set(compared.map(({ name }) => name))];
  // Not every row has everybody: in the order of the fullest one.
  const contestants = names
    .map((name) => compared.filter((figure) => figure.name === name).map(({ contestant }) => contestant ?? ''))
    .reduce((fullest, row) => (row.length > fullest.length ? row : fullest));
  const rows = names.map((name) => {
    const row = compared.filter((figure) => figure.name === name);
    const cells = contestants.map((contestant) => cell(row.find((figure) => figure.contestant === contestant)));
    return [`${name}, ${row[0]?.unit ?? ''}`, ...cells, ahead(row)];
  });
  const how = names.map((name) => `${name}: ${compared.find((figure) => figure.name === name)?.how ?? ''}`);
  return `${aligned([['×: times GATE', ...contestants, 'ahead of GATE'], ...rows])}\n\n${how.join('\n')}`;
}

function cell(figure: Figure | undefined): string {
  if (figure === undefined) return '';
  const ratio = figure.ratio ?? null;
  return `${format(figure.value)}${ratio === null || figure.contestant === 'gate' ? '' : ` (×${format(ratio)})`}`;
}

/** Peers that beat GATE by more than a twentieth; in-process is no peer, it gives durability up. */
function ahead(row: readonly Figure[]): string {
  const own = row.find(({ contestant }) => contestant === 'gate');
  if (own === undefined) return '';
  const better = row.filter(({ contestant, value, better }) => {
    if (contestant === 'gate' || contestant === 'in-process') return false;
    return better === 'higher' ? value > own.value * 1.05 : value < own.value * 0.95;
  });
  return better.map(({ contestant }) => contestant).join(', ');
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
