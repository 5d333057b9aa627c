/**
 * Rows that make an answer doubtful: repeated rows, which count twice, and placeholders, which pass for values. Rows repeat
 * an earlier one if they are equal in all columns but the keys and those of few values (the file or run of an import), with
 * enough columns that differ from row to row for it to be no chance.
 */
import * as z from 'zod';
import type { Dialect, TableDescription } from '../../domain';
import { DIALECTS, quotedText, quoteIdentifier } from '../../sql/dialects';
import { type ColumnFacts, isCategory, isUnique } from './column-facts';
import type { ColumnOptions } from './describe-column';
import { pieceOf, type ProfilePiece } from './pieces';
import { keyOf, type TableRows } from './table-rows';

const LEAST_COLUMNS = 3;
const LEAST_SHARE = 0.002;
/** Values of which a remark says that all their rows are repeats. */
const MOST_WHOLE = 4;

export interface Profiled {
  readonly rows: TableRows;
  readonly facts: readonly ColumnFacts[];
  readonly repeated: Repeated | null;
}

export interface Repeated {
  /** Row by row: an earlier one is the same. */
  readonly repeats: readonly boolean[];
  readonly count: number;
  /** Columns in which they are the same, and which make them so. */
  readonly equal: readonly string[];
  /** Columns in which they differ. */
  readonly but: readonly string[];
  /** Values of the differing columns whose rows are all repeats: `fil a_1` for a file that was read twice. */
  readonly whole: readonly string[];
}

export function repeatedRows({ table, read }: TableRows, facts: readonly ColumnFacts[]): Repeated | null {
  const isLeftOut = (each: ColumnFacts): boolean =>
    isUnique(each) || table.primaryKey.includes(each.column.name) || isCategory(each, 40);
  const compared = facts.filter((each) => !isLeftOut(each) && each.distinct > 1);
  // Rows of few values meet by chance.
  const telling = compared.filter(({ distinct }) => distinct >= read * 0.3);
  if (compared.length < LEAST_COLUMNS || telling.length < 2 || read < 20) return null;
  const firstOf = new Map<string, number>();
  const repeats: boolean[] = [];
  const differing = new Set<ColumnFacts>();
  const rest = facts.filter((each) => !compared.includes(each));
  for (let row = 0; row < read; row++) {
    const key = compared.map(({ column }) => keyOf(column.values[row] ?? null) ?? '').join('\u0001');
    const first = firstOf.get(key);
    repeats.push(first !== undefined);
    if (first === undefined) firstOf.set(key, row);
    else for (const each of rest) if (each.column.values[first] !== each.column.values[row]) differing.add(each);
  }
  const count = repeats.filter(Boolean).length;
  if (count < Math.max(3, read * LEAST_SHARE) || count > read * 0.6) return null;
  const but = rest.filter((each) => differing.has(each));
  return {
    repeats,
    count,
    equal: compared.map(({ column }) => column.name),
    but: but.map(({ column }) => column.name),
    whole: but.filter((each) => isCategory(each, 40)).flatMap((each) => wholeValues(each, repeats)),
  };
}

function wholeValues({ column, values }: ColumnFacts, repeats: readonly boolean[]): string[] {
  const kept = new Set(column.values.filter((_, row) => repeats[row] !== true).map((value) => keyOf(value)));
  return values.filter(({ value }) => !kept.has(value)).map(({ value, count }) => `${column.name} ${value} (${count})`);
}

export function repeatedPieces(found: Repeated | null, { values }: ColumnOptions): ProfilePiece[] {
  if (found === null) return [];
  const but = found.but.length === 0 ? '' : ` in all columns but ${found.but.join(', ')}`;
  const shown = found.whole.slice(0, MOST_WHOLE).join(', ');
  const more = found.whole.length > MOST_WHOLE ? ', …' : '';
  const whole = shown === '' || !values ? '' : `; only repeats: ${shown}${more}`;
  return [pieceOf(null, 'repeated', `! ${found.count} rows repeat an earlier one${but}${whole}`)];
}

/** A doubt about every SQL that reads the rows as they stand. The program asks wherever it changes an answer. */
export const RowDoubt = z.discriminatedUnion('kind', [
  /** Rows that equal an earlier one in these columns. */
  z.object({ kind: z.literal('repeated'), table: z.string(), columns: z.array(z.string()), rows: z.number() }),
  z.object({
    kind: z.literal('placeholder'),
    table: z.string(),
    column: z.string(),
    value: z.union([z.string(), z.number()]),
    rows: z.number(),
  }),
]);
export type RowDoubt = z.infer<typeof RowDoubt>;

/** Doubts about a table's rows; a placeholder cannot be named where values may not be shown. */
export function doubtsOf({ rows, facts, repeated }: Profiled, { values }: ColumnOptions): RowDoubt[] {
  const { name: table } = rows.table;
  return [
    ...(repeated === null
      ? []
      : [{ kind: 'repeated' as const, table, columns: [...repeated.equal], rows: repeated.count }]),
    ...(values ? facts : []).flatMap(({ column, placeholders }) =>
      placeholders.map(({ value, count }) => ({
        kind: 'placeholder' as const,
        table,
        column: column.name,
        rows: count,
        value: column.kind === 'number' && Number.isFinite(Number(value)) ? Number(value) : value,
      })),
    ),
  ];
}

/**
 * A rival that the program brings itself (S1 for claims): the answer's SQL over a table without its repeated rows, or with a
 * placeholder read as NULL. A CTE takes the table's place, so the text of the answer stays as it is. Where the answer does
 * not change, the SQL has dealt with it or it does not matter. Null where no CTE can take the table's place: a name with a
 * schema, or an engine that reads the CTE itself there.
 */
export function withoutDoubt(
  sql: string,
  doubt: RowDoubt,
  { name, columns }: Pick<TableDescription, 'name' | 'columns'>,
  dialect: Dialect,
): string | null {
  const { hidden } = DIALECTS[dialect];
  if (name.includes('.') || hidden === null) return null;
  const quoted = (identifier: string): string => quoteIdentifier(identifier, dialect);
  const base = hidden(quoted(name));
  const all = columns.map((column) => quoted(column.name));
  return `WITH ${quoted(name)} AS (\n${tableSql()}\n)\nSELECT * FROM (\n${sql}\n) AS gate_answer`;

  function tableSql(): string {
    if (doubt.kind === 'repeated') {
      const equal = doubt.columns.map(quoted).join(', ');
      // Of `= 1` PostgreSQL would expect one row in 200, and join it by a loop.
      return `SELECT ${all.join(', ')} FROM (SELECT *, row_number() OVER (PARTITION BY ${equal}) AS gate_nth FROM ${base}) AS gate_rows WHERE gate_nth < 2`;
    }
    const value = typeof doubt.value === 'number' ? String(doubt.value) : quotedText(doubt.value, dialect);
    const column = quoted(doubt.column);
    const list = all.map((each) => (each === column ? `NULLIF(${column}, ${value}) AS ${column}` : each));
    return `SELECT ${list.join(', ')} FROM ${base}`;
  }
}

/** Rows that differ in a column by whose value the SQL chooses repeat nothing for it: a copy that it leaves out, for instance. */
export function amongFiltered(
  doubt: RowDoubt,
  { columns }: Pick<TableDescription, 'columns'>,
  filtered: readonly string[],
): RowDoubt {
  if (doubt.kind !== 'repeated') return doubt;
  const chosen = columns.map(({ name }) => name).filter((name) => filtered.includes(name.toLowerCase()));
  return { ...doubt, columns: [...new Set([...doubt.columns, ...chosen])] };
}

/** The question to the model where the answer changes. */
export function doubtText(doubt: RowDoubt, gives: string): string {
  return doubt.kind === 'repeated'
    ? `${doubt.rows} rows of ${doubt.table} repeat an earlier one and count here; without the repeats the answer is: ${gives}. Drop them, or claim or assume that each one counts.`
    : `${doubt.rows} rows of ${doubt.table} have ${doubt.column} ${String(doubt.value)}, which counts here as a value; read as NULL the answer is: ${gives}. Leave them out, or claim or assume that it is one.`;
}
