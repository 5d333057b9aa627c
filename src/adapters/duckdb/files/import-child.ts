/**
 * The process that reads files into a new `.duckdb`. No SQL of a model comes here: each statement is made of names and paths
 * that are quoted.
 *
 * 1. It reaches the listed files and its own folder, no network, and loads no extension.
 * 2. Memory, threads and disk are limited, and the process ends with its parent.
 */
import { join } from 'node:path';
import { counted } from '../../../counted';
import { cut, oneLine } from '../../../clip';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { identifier, literal, optionalPackage } from '../../kit/engine';
import { typeColumns, type Query, type TypedColumn } from './column-types';
import { MAX_REJECTS, pathLiteral, stageCsv, type Staged } from './csv';
import { jsonTexts, stageJson } from './json';
import type { Ignored, ImportedTable } from './report';
import type { SourceFile, Sources, SourceTable } from './sources';

export interface ImportRequest {
  readonly sources: Sources;
  /** An empty folder of this process alone: gets `data.duckdb`. */
  readonly folder: string;
}

export type ImportReply =
  | { readonly kind: 'done'; readonly tables: readonly ImportedTable[]; readonly ignored: readonly Ignored[] }
  | { readonly kind: 'error'; readonly code: SqlEngineError['code']; readonly message: string };

const MEMORY = '500MB';
let stages = 0;
/** What is staged on disk takes more than the files, above all where they are compressed. */
const SCRATCH_BYTES = 8 * 1024 * 1024 * 1024;

async function imported({ sources, folder }: ImportRequest): Promise<ImportReply> {
  process.umask(0o077);
  const files = sources.tables.flatMap((table) => table.files);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const query = await opened(folder, files, SCRATCH_BYTES + 4 * bytes);
  const tables: ImportedTable[] = [];
  const ignored: Ignored[] = [];
  for (const table of sources.tables) {
    try {
      tables.push(await importTable(query, table, sources.isFolder, join(folder, 'scratch'), ignored));
    } catch (error) {
      const { message } = error as Error;
      // One file that cannot be read takes nothing from those beside it.
      if (!sources.isFolder || /^(Out of Memory|IO) Error/.test(message)) throw error;
      ignored.push(...table.files.map(({ name }) => ({ file: name, reason: oneLine(message, 200) })));
    }
  }
  if (tables.length === 0)
    throw new SqlEngineError(
      'not-found',
      `no file can be read: ${ignored.map(({ file, reason }) => `${file}: ${reason}`).join('; ')}`,
    );
  await query('DETACH data');
  return { kind: 'done', tables, ignored };
}

async function opened(folder: string, files: readonly SourceFile[], scratchBytes: number): Promise<Query> {
  const { DuckDBInstance } = await optionalPackage('@duckdb/node-api', () => import('@duckdb/node-api'));
  const instance = await DuckDBInstance.create(':memory:', {
    ...{
      threads: '2',
      memory_limit: MEMORY,
      temp_directory: join(folder, 'tmp'),
      max_temp_directory_size: `${Math.ceil(scratchBytes / 1e6)}MB`,
    },
    ...{ autoinstall_known_extensions: 'false', autoload_known_extensions: 'false', allow_persistent_secrets: 'false' },
  });
  const connection = await instance.connect();
  const query: Query = async (sql) => {
    const rows = (await connection.runAndReadAll(sql)).getRowsJson();
    return rows.map((row) =>
      row.map((value) => (value === null ? null : typeof value === 'string' ? value : JSON.stringify(value))),
    );
  };
  await query(`ATTACH ${literal(join(folder, 'data.duckdb'))} AS data`);
  await query(`SET allowed_paths = [${files.flatMap(({ path }) => [literal(path), pathLiteral(path)]).join(', ')}]`);
  await query(`SET allowed_directories = [${literal(folder)}]`);
  await query('SET enable_external_access = false');
  await query(`SET TimeZone = 'UTC'`);
  return query;
}

async function importTable(
  query: Query,
  table: SourceTable,
  isFolder: boolean,
  scratch: string,
  ignored: Ignored[],
): Promise<ImportedTable> {
  const target = `data.${identifier(table.name)}`;
  const made =
    table.format === 'parquet'
      ? await fromParquet(query, table, target)
      : await fromText(query, table, target, isFolder, scratch, ignored);
  const [[rows] = []] = await query(`SELECT count(*) FROM ${target}`);
  const types = await query(
    `SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'data' AND table_name = ${literal(table.name)} ORDER BY column_index`,
  );
  const formats = new Map(made.columns.map(({ name, format }) => [name, format]));
  const columns = types.map(([name, type]) => ({
    name: name ?? '',
    type: type ?? '',
    format: formats.get(name ?? '') ?? null,
  }));
  const { rejected, rejects, readings, notes, files } = made;
  const report = {
    name: table.name,
    format: table.format,
    files,
    rows: Number(rows),
    rejected,
    rejects,
    readings,
    columns,
    notes,
  };
  await query(`COMMENT ON TABLE ${target} IS ${literal(comment(report))}`);
  for (const { name, format } of columns)
    if (format !== null)
      await query(`COMMENT ON COLUMN ${target}.${identifier(name)} IS ${literal(`written in the file as ${format}`)}`);
  return report;
}

type Made = Pick<ImportedTable, 'files' | 'rejected' | 'rejects' | 'readings' | 'notes'> & {
  readonly columns: readonly TypedColumn[];
};

function comment({ files, rejected, notes }: ImportedTable): string {
  const from =
    files.length > 3
      ? `${files.slice(0, 2).join(', ')} and ${counted(files.length - 2, 'more file')}`
      : files.join(', ');
  return cut(
    [`from ${from}`, ...(rejected > 0 ? [`${counted(rejected, 'line')} rejected`] : []), ...notes].join('; '),
    1000,
  );
}

async function fromParquet(query: Query, { files }: SourceTable, target: string): Promise<Made> {
  const parts: Pick<Part, 'file' | 'columns'>[] = [];
  const isHive = files.some(({ partition }) => Object.keys(partition).length > 0);
  const read = `union_by_name = true, hive_partitioning = ${isHive}`;
  try {
    for (const file of files) {
      const columns = await query(`DESCRIBE FROM read_parquet(${pathLiteral(file.path)})`);
      parts.push({ file, columns: columns.map(([name]) => name ?? '') });
    }
    const paths = files.map(({ path }) => pathLiteral(path)).join(', ');
    // In their order, ten million rows would take more time and memory than there is.
    await query('SET preserve_insertion_order = false');
    await query(`CREATE TABLE ${target} AS FROM read_parquet([${paths}], ${read})`);
  } catch (error) {
    throw new SqlEngineError('not-found', `${named(files)}: ${oneLine((error as Error).message, 200)}`, {
      cause: error,
    });
  } finally {
    await query('SET preserve_insertion_order = true');
  }
  const names = files.map(({ name }) => name);
  return { files: names, columns: [], rejected: 0, rejects: [], readings: [], notes: differing(parts) };
}

async function fromText(
  query: Query,
  { files, format }: SourceTable,
  target: string,
  isFolder: boolean,
  scratch: string,
  ignored: Ignored[],
): Promise<Made> {
  const staged: Part[] = [];
  const left: Ignored[] = [];
  const names: string[] = [];
  await query('DROP TABLE IF EXISTS staged');
  for (const file of files) {
    const stage = `stage_${(stages += 1)}`;
    const part = await (format === 'csv' ? stageCsv : stageJson)(query, file, stage, scratch);
    const reason = whyLeft(part);
    if (part === null || reason !== null) left.push({ file: file.name, reason: reason ?? '' });
    else {
      staged.push({ file, ...part });
      await append(query, file, stage, part.columns, names, format === 'json' ? 'JSON' : 'VARCHAR');
    }
    await query(`DROP TABLE IF EXISTS ${stage}`);
  }
  const [first] = left;
  if (staged.length === 0 && first !== undefined)
    throw new SqlEngineError('not-found', `${first.file}: ${first.reason}`);
  ignored.push(...left);
  const kinds = format === 'json' ? await jsonTexts(query, 'staged', names, 'texts') : undefined;
  const source = format === 'json' ? 'texts' : 'staged';
  const columns = await typeColumns(query, source, names, kinds);
  const cells = columns.map(({ sql, name }) => `${sql} AS ${identifier(name)}`);
  await query(`CREATE TABLE ${target} AS SELECT ${cells.join(', ')} FROM ${source}`);
  await query(`DROP TABLE ${source}`);
  return {
    files: staged.map(({ file }) => file.name),
    columns,
    rejected: staged.reduce((sum, { rejected }) => sum + rejected, 0),
    rejects: staged.flatMap(({ rejects }) => rejects).slice(0, MAX_REJECTS),
    readings: readingsOf(staged.flatMap(({ reading }) => reading ?? [])),
    notes: [
      ...staged.flatMap(({ notes = [] }) => notes),
      ...differing(staged),
      ...columns.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    ],
  };
}

type Part = Pick<Staged, 'columns' | 'rejected' | 'rejects'> & Partial<Staged> & { readonly file: SourceFile };

function whyLeft(part: Omit<Part, 'file'> | null): string | null {
  if (part === null || part.columns.length === 0)
    return part === null || part.rejected === 0
      ? 'it is empty: name a file with a header or rows'
      : 'it has no JSON object';
  return null;
}

/** Adds a file to the table `staged` by the names of columns, of which `names` keeps all. */
async function append(
  query: Query,
  { partition }: SourceFile,
  stage: string,
  columns: readonly string[],
  names: string[],
  type: string,
): Promise<void> {
  const folders = Object.entries(partition).filter(([key]) => !columns.includes(key));
  const cells = folders.map(([key, value]) => `, ${literal(value)} AS ${identifier(key)}`).join('');
  const added = [...columns, ...folders.map(([key]) => key)].filter(
    (name) => !names.some((each) => each.toLowerCase() === name.toLowerCase()),
  );
  const isFirst = names.length === 0;
  names.push(...added);
  if (isFirst && cells === '') await query(`ALTER TABLE ${stage} RENAME TO staged`);
  else if (isFirst) await query(`CREATE TABLE staged AS SELECT *${cells} FROM ${stage}`);
  else {
    for (const name of added) await query(`ALTER TABLE staged ADD COLUMN ${identifier(name)} ${type}`);
    await query(`INSERT INTO staged BY NAME SELECT *${cells} FROM ${stage}`);
  }
}

function named(files: readonly SourceFile[]): string {
  return files.length > 1 ? `${files[0]?.name} and ${files.length - 1} more` : (files[0]?.name ?? '');
}

/** Files that were read in the same way are told once. */
function readingsOf(readings: ImportedTable['readings']): ImportedTable['readings'] {
  const ways = new Map<string, ImportedTable['readings'][number]>();
  for (const { files, ...way } of readings) {
    const key = JSON.stringify(way);
    ways.set(key, { ...way, files: [...(ways.get(key)?.files ?? []), ...files] });
  }
  return [...ways.values()];
}

function differing(files: readonly Pick<Part, 'file' | 'columns'>[]): string[] {
  const all = [...new Set(files.flatMap(({ columns }) => columns))];
  const lacking = files.flatMap(({ file, columns }) => {
    const missing = all.filter((name) => !columns.includes(name));
    return missing.length === 0 ? [] : [`${file.name} has no ${cut(missing.join(', '), 100)}`];
  });
  if (lacking.length === 0) return [];
  return [`the files have other columns, and what one lacks is NULL: ${cut(lacking.join('; '), 300)}`];
}

export async function answer(request: ImportRequest): Promise<ImportReply> {
  try {
    return await imported(request);
  } catch (error) {
    if (error instanceof SqlEngineError) return { kind: 'error', code: error.code, message: error.message };
    return {
      kind: 'error',
      code: 'connection',
      message: `the files cannot be imported: ${oneLine((error as Error).message, 300)}`,
    };
  }
}
