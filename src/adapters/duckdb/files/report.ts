/** What the import of files tells: kept beside the `.duckdb` that it made, and shown to who asks how a file was read. */
import { z } from 'zod';

const Reject = z.object({
  file: z.string(),
  /** From 1; null where it is not known. */
  line: z.number().nullable(),
  reason: z.string(),
  /** The beginning of the line. */
  text: z.string(),
});

/** How CSV files of one table were read. */
const Reading = z.object({
  files: z.array(z.string()),
  encoding: z.string(),
  /** Null: the lines are one column. */
  delimiter: z.string().nullable(),
  quote: z.string(),
  /** From 1; null: the file has none. */
  headerLine: z.number().nullable(),
  /** Before the header, or before the first row. */
  skippedLines: z.number(),
});

const Column = z.object({
  name: z.string(),
  /** Of DuckDB. */
  type: z.string(),
  /** How its values are written in the file, where that is not how DuckDB writes them. */
  format: z.string().nullable(),
});

export const ImportedTable = z.object({
  name: z.string(),
  format: z.enum(['csv', 'json', 'parquet']),
  /** Relative to the source. */
  files: z.array(z.string()),
  rows: z.number(),
  /** Lines that are in no row. */
  rejected: z.number(),
  /** The first of them. */
  rejects: z.array(Reject),
  readings: z.array(Reading),
  columns: z.array(Column),
  /** Whatever a reader would not expect, a sentence each. */
  notes: z.array(z.string()),
});
export type ImportedTable = z.infer<typeof ImportedTable>;

const Ignored = z.object({ file: z.string(), reason: z.string() });
export type Ignored = z.infer<typeof Ignored>;

export const Imported = z.object({
  /** The `.duckdb`, to be opened read-only. */
  path: z.string(),
  /** Real path of the file or folder: the identity of this database. */
  source: z.string(),
  /** The newest time at which a file was changed, ISO. */
  asOf: z.string(),
  importedAt: z.string(),
  tables: z.array(ImportedTable),
  ignored: z.array(Ignored),
});
export type Imported = z.infer<typeof Imported>;

/** `hash`: SHA-256 of the content, in hexadecimal. */
const Stamp = z.object({ name: z.string(), bytes: z.number(), modifiedMs: z.number(), hash: z.string() });
export type Stamp = z.infer<typeof Stamp>;

/** `version` is that of the import: what an older one made is made again. */
export const Kept = z.object({ version: z.number(), stamps: z.array(Stamp), imported: Imported });
export type Kept = z.infer<typeof Kept>;
