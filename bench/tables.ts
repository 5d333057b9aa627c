/** Figures as text: one table of figures against their targets, one of contestants side by side. */
import { isMet, type Figure } from './figure';

export function figureTable(figures: readonly Figure[]): string {
  const alone = figures.filter(({ contestant }) => contestant === undefined);
  if (alone.length === 0) return '';
  return aligned([['figure', 'measured', 'target', '', 'how'], ...alone.map(cells)]);
}

/** Of a figure that just came. */
export function figureLine(figure: Figure): string {
  const [name, measured = '', target, met] = cells(figure);
  const whose = figure.contestant === undefined ? name : `${name}, ${figure.contestant}`;
  return `${whose}: ${figure.failed ?? measured}${target === '' ? '' : ` (${target}, ${met})`}`;
}

function cells(figure: Figure): readonly string[] {
  const { name, value, unit, failed, how } = figure;
  if (failed !== undefined) return [name, 'FAILED', '', '', failed];
  const target = targetOf(figure);
  return [name, `${format(value)} ${unit}`, target, target === '' ? '' : isMet(figure) ? 'met' : 'MISSED', how];
}

function targetOf({ atMost, atLeast, unit }: Figure): string {
  const [most, least] = [[atMost, '≤'] as const, [atLeast, '≥'] as const].map(([limit, sign]) =>
    limit === undefined ? '' : `${sign} ${format(limit)} ${unit}`,
  );
  return [least, most].filter((text) => text !== '').join(', ');
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
  const how = names.map((name) => {
    const row = compared.filter((figure) => figure.name === name);
    const failed = row.flatMap(({ contestant, failed: why }) => (why === undefined ? [] : [`${contestant}: ${why}`]));
    return [`${name}: ${row[0]?.how ?? ''}`, ...failed].join('; ');
  });
  return `${aligned([['×: times GATE', ...contestants, 'ahead of GATE'], ...rows])}\n\n${how.join('\n')}`;
}

function cell(figure: Figure | undefined): string {
  if (figure === undefined) return '';
  if (figure.failed !== undefined) return 'FAILED';
  const ratio = figure.ratio ?? null;
  return `${format(figure.value)}${ratio === null || figure.contestant === 'gate' ? '' : ` (×${format(ratio)})`}`;
}

/** Peers that beat GATE by more than a twentieth; in-process is no peer, it gives durability up. */
function ahead(row: readonly Figure[]): string {
  const own = row.find(({ contestant }) => contestant === 'gate');
  if (own === undefined) return '';
  const better = row.filter(({ contestant, value, better }) => {
    if (contestant === 'gate' || contestant === 'in-process' || Number.isNaN(value)) return false;
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
