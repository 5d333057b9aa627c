/** What a database says: result values and schema descriptions, JSON-safe. */
import * as z from 'zod';
import { Dialect } from './question';

/** Numbers that a double cannot hold exactly, dates, binary and composite values arrive as text. */
export const SqlValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type SqlValue = z.infer<typeof SqlValue>;

/** `kind` groups the engine's types: how values compare (rule S5) and print. */
export const ResultColumn = z.object({
  name: z.string(),
  kind: z.enum(['number', 'text', 'boolean', 'time', 'json', 'other']),
});
export type ResultColumn = z.infer<typeof ResultColumn>;

export const SqlResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('rows'),
    columns: z.array(ResultColumn),
    rows: z.array(z.array(SqlValue)),
    /** More rows existed than the cap let through. */
    truncated: z.boolean(),
    elapsedMs: z.number(),
  }),
  z.object({ kind: z.literal('sql-error'), message: z.string(), code: z.string().nullable(), elapsedMs: z.number() }),
  /** `dearest`: the step of its plan that costs most, in words. */
  z.object({ kind: z.literal('timeout'), afterMs: z.number(), dearest: z.string().optional() }),
  /** The read-only fence, the access list or the parser said no; nothing was executed. */
  z.object({ kind: z.literal('refused'), message: z.string() }),
]);
export type SqlResult = z.infer<typeof SqlResult>;

export const ColumnDescription = z.object({
  name: z.string(),
  type: z.string(),
  nullable: z.boolean(),
  comment: z.string().nullable(),
  /** A few distinct values as text. */
  samples: z.array(z.string()),
});
export type ColumnDescription = z.infer<typeof ColumnDescription>;

export const TableDescription = z.object({
  /** As SQL writes it without quotes: `schema.table` outside the search path, else `table`. */
  name: z.string(),
  kind: z.enum(['table', 'view']),
  comment: z.string().nullable(),
  rowEstimate: z.number().nullable(),
  columns: z.array(ColumnDescription),
  primaryKey: z.array(z.string()),
  uniqueKeys: z.array(z.array(z.string())),
  foreignKeys: z.array(z.object({ columns: z.array(z.string()), table: z.string(), references: z.array(z.string()) })),
});
export type TableDescription = z.infer<typeof TableDescription>;

/** Data files as tables. */
export const DataFiles = z.object({
  /** When the newest of them was written. */
  asOf: z.string(),
  /** What of the files became the table, and what did not. */
  tables: z.array(z.object({ name: z.string(), text: z.string() })),
});
export type DataFiles = z.infer<typeof DataFiles>;

export const DatabaseDescription = z.object({
  dialect: Dialect,
  /** For example `PostgreSQL 15.18`. */
  version: z.string(),
  tables: z.array(TableDescription),
  /** Hash over tables, columns, types and keys; not over data. */
  fingerprint: z.string(),
  /** Left out: a database. */
  files: DataFiles.optional(),
});
export type DatabaseDescription = z.infer<typeof DatabaseDescription>;
