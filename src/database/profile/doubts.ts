/**
 * What rows make doubtful of any SQL that reads them as they stand: repeated rows that count twice, placeholders that pass
 * for values. The program asks about them wherever they change an answer, whether or not a model thought of them.
 */
import { z } from 'zod';
import type { ColumnFacts } from './counted';
import type { ColumnOptions } from './describe-column';
import { repeatedRows } from './repeated-rows';
import type { TableRows } from './table-rows';

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

/** Without values a placeholder cannot be named. */
export function doubtsOf(rows: TableRows, facts: readonly ColumnFacts[], { values }: ColumnOptions): RowDoubt[] {
  const { name: table } = rows.table;
  const repeated = repeatedRows(rows, facts);
  return [
    ...(repeated === null
      ? []
      : [{ kind: 'repeated' as const, table, columns: [...repeated.equal], rows: repeated.count }]),
    ...(values ? facts : []).flatMap(({ column, placeholders }) =>
      placeholders.map(({ value, count }) => ({
        ...{ kind: 'placeholder' as const, table, column: column.name, rows: count },
        value: column.kind === 'number' && Number.isFinite(Number(value)) ? Number(value) : value,
      })),
    ),
  ];
}
