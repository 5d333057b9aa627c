/** What the import of files tells: kept beside the `.duckdb` that it made, and shown to who asks how a file was read. */
import { z } from 'zod';
import { cut } from '../../../clip';
import { counted } from '../../../counted';

export const ImportedTable = z.object({
  name: z.string(),
  /** Relative to the source. */
  files: z.array(z.string()),
  rows: z.number(),
  /** Lines that are in no row. */
  rejected: z.number(),
  /** The first of them. `line`: from 1; null where it is not known. `text`: its beginning. */
  rejects: z.array(z.object({ file: z.string(), line: z.number().nullable(), reason: z.string(), text: z.string() })),
  /** How CSV files of the table were read, a text each way. */
  readings: z.array(z.string()),
  /** `type`: of DuckDB. `format`: how its values are written in the file, where that is not how DuckDB writes them. */
  columns: z.array(z.object({ name: z.string(), type: z.string(), format: z.string().nullable() })),
  /** Whatever a reader would not expect, a sentence each. */
  notes: z.array(z.string()),
});
export type ImportedTable = z.infer<typeof ImportedTable>;
export type Reject = ImportedTable['rejects'][number];

const Imported = z.object({
  /** The `.duckdb`, to be opened read-only. */
  path: z.string(),
  /** Real path of the file or folder: the identity of this database. */
  source: z.string(),
  /** The newest time at which a file was changed, ISO. */
  asOf: z.string(),
  importedAt: z.string(),
  tables: z.array(ImportedTable),
  ignored: z.array(z.object({ file: z.string(), reason: z.string() })),
});
export type Imported = z.infer<typeof Imported>;

/** `hash`: SHA-256 of the content, in hexadecimal. */
const Stamp = z.object({ name: z.string(), bytes: z.number(), modifiedMs: z.number(), hash: z.string() });
export type Stamp = z.infer<typeof Stamp>;

export const Kept = z.object({ stamps: z.array(Stamp), imported: Imported });
export type Kept = z.infer<typeof Kept>;

export const MAX_REJECTS = 5;

export const some = (files: readonly string[]): string =>
  files.length > 3 ? `${files.slice(0, 2).join(', ')} and ${counted(files.length - 2, 'more file')}` : files.join(', ');

/** One line for people. */
export function howRead({ files, rows, rejected, rejects, readings, columns, notes }: ImportedTable): string {
  const [first] = rejects;
  const where = first === undefined ? '' : `${first.file}${first.line === null ? '' : ` line ${first.line}`}`;
  const lost =
    first === undefined ? [] : [`${counted(rejected, 'line')} rejected, the first: ${where} (${first.reason})`];
  const formats = columns.flatMap(({ name, format }) => (format === null ? [] : [`${name} as ${format}`]));
  return [`${some(files)}: ${counted(rows, 'row')}`, ...readings.slice(0, 3), ...formats, ...lost, ...notes].join('; ');
}

/** The comment of the table, which a model reads. */
export function commentOf({ files, rejected, notes }: ImportedTable): string {
  const lost = rejected > 0 ? [`${counted(rejected, 'line')} rejected`] : [];
  return cut([`from ${some(files)}`, ...lost, ...notes].join('; '), 1000);
}
