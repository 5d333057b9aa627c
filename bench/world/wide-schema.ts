/** A generated schema of 1,000 tables with 10 columns each: keys between them, comments where the engine has them, rows. */
import type { Dialect } from '../../src/domain';

export const TABLES = 1_000;
export const COLUMNS_PER_TABLE = 10;
const ROWS = 20;

const AREAS = ['claim', 'policy', 'region', 'adjuster', 'vendor', 'invoice', 'shipment', 'patient', 'asset', 'payroll'];
const PARTS = [
  'settlement',
  'ledger',
  'audit',
  'status',
  'contact',
  'schedule',
  'reading',
  'budget',
  'transfer',
  'grade',
];
const MEASURES = ['amount', 'delay', 'score', 'rate', 'weight', 'count'];

/** The first tables of an area stand alone; the others refer to the one a hundred before them. */
export function wideTableName(index: number): string {
  const area = AREAS[index % AREAS.length] ?? '';
  const part = PARTS[Math.floor(index / AREAS.length) % PARTS.length] ?? '';
  return `${area}_${part}_${Math.floor(index / (AREAS.length * PARTS.length))}`;
}

export function tableStatements(dialect: Exclude<Dialect, 'snowflake'>): string[] {
  return Array.from({ length: TABLES }, (_, index) => {
    const name = wideTableName(index);
    const parent = index >= 100 ? wideTableName(index - 100) : null;
    const measures = MEASURES.map((measure) => `${measure}_${index % 7} numeric`);
    const create = `CREATE TABLE ${name} (id integer PRIMARY KEY, parent_id integer${parent === null ? '' : ` REFERENCES ${parent}(id)`}, state text NOT NULL, noted_on text, ${measures.join(', ')})`;
    const values = Array.from({ length: ROWS }, (__, row) => {
      const state = ['open', 'closed', 'held'][row % 3] ?? '';
      return `(${row}, ${row}, '${state}', '2024-0${(row % 9) + 1}-11', ${MEASURES.map((___, at) => row * at).join(', ')})`;
    });
    const fill = `INSERT INTO ${name} VALUES ${values.join(', ')}`;
    if (dialect === 'sqlite') return [create, fill];
    const comments = [
      `COMMENT ON TABLE ${name} IS 'One row per ${name.replaceAll('_', ' ')}, kept for seven years'`,
      `COMMENT ON COLUMN ${name}.state IS 'open, closed or held since the last review'`,
    ];
    return [create, fill, ...comments];
  }).flat();
}
