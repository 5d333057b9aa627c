/**
 * The process that reads files into a new `.duckdb`. No SQL of a model comes here: each statement is made of names and paths
 * that are quoted.
 *
 * 1. It reaches the listed files and its own folder, no network, and loads no extension.
 * 2. Memory, threads and disk are limited, and the process ends with its parent.
 */
import { join } from 'node:path';
import { cut, oneLine } from '../../../clip';
import { groupBy } from '../../../group-by';
import { SqlEngineError } from '../../../domain/ports/sql-engine';
import { identifier, literal, optionalPackage } from '../../kit/engine';
import type { DataFormat } from '../../../data-file';
import { typeColumns, type Query, type TypedColumn } from './column-types';
import { pathLiteral, stageCsv, type Staged } from './csv';
import { readText } from './encoding';
import { jsonTexts, stageJson } from './json';
import { commentOf, MAX_REJECTS, some, type Imported, type ImportedTable } from './report';
import { unreadable, type SourceFile, type Sources, type SourceTable } from './sources';

export interface ImportRequest {
  readonly sources: Sources;
  /** An empty folder of this process alone: gets `data.duckdb`. */
  readonly folder: string;
  /** Of what one file unzips to. */
  readonly maxBytes: number;
}

export type Made = Pick<Imported, 'tables' | 'ignored'>;

const MEMORY = '500MB';
/** What is staged on disk takes more than the files, above all where they are compressed. */
const SCRATCH_BYTES = 8 * 1024 * 1024 * 1024;

/** @throws SqlEngineError with one line that says what is wrong with the files. */
export async function answer(request: ImportRequest): Promise<Made> {
  process.umask(0o077);
  const { sources } = request;
  const query = await opened(request);
  const tables: ImportedTable[] = [];
  const ignored: Imported['ignored'] = [];
  for (const table of sources.tables) {
    try {
      tables.push(await importTable(query, table, request));
    } catch (error) {
      const { message } = error as Error;
      // One file that cannot be read takes nothing from those beside it.
      if (!sources.isFolder || /^(Out of Memory|IO) Error/.test(message)) throw error;
      ignored.push(
        ...table.files.map(({ name }) => ({ file: name, reason: oneLine(message.replace(`${name}: `, ''), 200) })),
      );
    }
  }
  if (tables.length === 0)
    throw unreadable(`no file can be read: ${ignored.map(({ file, reason }) => `${file}: ${reason}`).join('; ')}`);
  await query('DETACH data');
  return { tables, ignored };
}

async function opened({ sources, folder }: ImportRequest): Promise<Query> {
  const files = sources.tables.flatMap((table) => table.files);
  const { DuckDBInstance } = await optionalPackage('@duckdb/node-api', () => import('@duckdb/node-api'));
  const scratchBytes = SCRATCH_BYTES + 4 * files.reduce((sum, { bytes }) => sum + bytes, 0);
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: MEMORY,
    temp_directory: join(folder, 'tmp'),
    max_temp_directory_size: `${Math.ceil(scratchBytes / 1e6)}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_persistent_secrets: 'false',
  });
  const connection = await instance.connect();
  const query: Query = async (sql) => {
    const rows = (await connection.runAndReadAll(sql)).getRowsJson();
    return rows.map((row) =>
      row.map((value) => (value === null || typeof value === 'string' ? value : JSON.stringify(value))),
    );
  };
  await query(`ATTACH ${literal(join(folder, 'data.duckdb'))} AS data`);
  await query(`SET allowed_paths = [${files.flatMap(({ path }) => [literal(path), pathLiteral(path)]).join(', ')}]`);
  await query(`SET allowed_directories = [${literal(folder)}]`);
  await query('SET enable_external_access = false');
  await query(`SET TimeZone = 'UTC'`);
  return query;
}

async function importTable(query: Query, table: SourceTable, request: ImportRequest): Promise<ImportedTable> {
  const target = `data.${identifier(table.name)}`;
  const { columns: read, ...made } = await (table.format === 'parquet'
    ? fromParquet(query, table, target)
    : fromText(query, table, target, request));
  const [[rows] = []] = await query(`SELECT count(*) FROM ${target}`);
  const types = await query(`SELECT column_name, column_type FROM (DESCRIBE ${target})`);
  const columns = types.map(([name, type], n) => ({
    name: name ?? '',
    type: type ?? '',
    format: read[n]?.format ?? null,
  }));
  const report = { name: table.name, ...made, rows: Number(rows), columns };
  await query(`COMMENT ON TABLE ${target} IS ${literal(commentOf(report))}`);
  for (const { name, format } of columns)
    if (format !== null)
      await query(`COMMENT ON COLUMN ${target}.${identifier(name)} IS ${literal(`written in the file as ${format}`)}`);
  return report;
}

type Read = Omit<ImportedTable, 'name' | 'rows' | 'columns'> & { readonly columns: readonly TypedColumn[] };

async function fromParquet(query: Query, { files }: SourceTable, target: string): Promise<Read> {
  const columns: FileColumn[] = [];
  const names = files.map(({ name }) => name);
  const isHive = files.some(({ partition }) => Object.keys(partition).length > 0);
  const read = `union_by_name = true, hive_partitioning = ${isHive}`;
  try {
    for (const { name, path } of files) {
      const own = await query(`DESCRIBE FROM read_parquet(${pathLiteral(path)})`);
      columns.push(...own.map(([column, type]) => ({ file: name, name: column ?? '', type: type ?? '' })));
    }
    const paths = files.map(({ path }) => pathLiteral(path)).join(', ');
    // In their order, ten million rows would take more time and memory than there is.
    await query('SET preserve_insertion_order = false');
    await query(`CREATE TABLE ${target} AS FROM read_parquet([${paths}], ${read})`);
  } catch (error) {
    const [message = ''] = (error as Error).message.split(/\n+LINE \d/);
    throw unreadable(`${some(names)}: it cannot be read as Parquet (${oneLine(message, 200)}): write it anew`, error);
  } finally {
    await query('SET preserve_insertion_order = true');
  }
  return { files: names, columns: [], rejected: 0, rejects: [], readings: [], notes: differing(columns) };
}

async function fromText(query: Query, table: SourceTable, target: string, request: ImportRequest): Promise<Read> {
  const { files, format } = table;
  const scratch = join(request.folder, 'scratch');
  const staged: (Staged & { readonly file: string })[] = [];
  const left: string[] = [];
  const names: string[] = [];
  await query('DROP TABLE IF EXISTS staged');
  for (const file of files) {
    try {
      await query('DROP TABLE IF EXISTS stage');
      const text = await readText(file.path, request.maxBytes);
      if (text === null) throw unreadable('it is empty: name a file with a header or rows');
      const lists = new Set(staged.flatMap(({ list }) => list ?? []));
      const part = await (format === 'csv'
        ? stageCsv(query, file.name, text, scratch)
        : stageJson(query, file.name, text, scratch, lists));
      staged.push({ file: file.name, ...part });
      await append(query, file, part.columns, names, format);
    } catch (error) {
      if (!(error instanceof SqlEngineError)) throw error;
      left.push(`${file.name}: ${error.message}`);
    }
  }
  if (staged.length === 0) throw unreadable(left[0] ?? 'there is no file');
  const kinds = format === 'json' ? await jsonTexts(query, 'staged', names) : undefined;
  const areCommasBetween = staged.every(({ delimiter }) => delimiter === ',');
  const columns = await typeColumns(query, 'staged', names, areCommasBetween, kinds);
  const cells = columns.map(({ sql, name }) => `${sql} AS ${identifier(name)}`);
  await query(`CREATE TABLE ${target} AS SELECT ${cells.join(', ')} FROM staged`);
  await query('DROP TABLE staged');
  return {
    files: staged.map(({ file }) => file),
    columns,
    rejected: staged.reduce((sum, { rejected }) => sum + rejected, 0),
    rejects: staged.flatMap(({ rejects }) => rejects).slice(0, MAX_REJECTS),
    readings: [...new Set(staged.flatMap(({ reading }) => reading ?? []))],
    notes: [
      ...told('left out', left),
      ...staged.flatMap(({ file, notes }) => notes.map((note) => (files.length > 1 ? `${file}: ${note}` : note))),
      ...differing(staged.flatMap(({ file, columns: own }) => own.map((name) => ({ file, name, type: '' })))),
      ...columns.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    ],
  };
}

/** Adds the table `stage` of a file to the table `staged` by the names of columns, of which `names` keeps all. */
async function append(
  query: Query,
  { partition }: SourceFile,
  columns: readonly string[],
  names: string[],
  format: DataFormat,
): Promise<void> {
  const type = format === 'json' ? 'JSON' : 'VARCHAR';
  const asCell = (value: string): string =>
    format === 'csv' || /^(0|[1-9][0-9]*)$/.test(value) ? value : JSON.stringify(value);
  const isIn = (list: readonly string[], name: string): boolean =>
    list.some((each) => each.toLowerCase() === name.toLowerCase());
  const folders = Object.entries(partition).filter(([key]) => !isIn(columns, key));
  const cells = folders.map(
    ([key, value]) => `, CAST(${value === null ? 'NULL' : literal(asCell(value))} AS ${type}) AS ${identifier(key)}`,
  );
  const added = [...columns, ...folders.map(([key]) => key)].filter((name) => !isIn(names, name));
  const isFirst = names.length === 0;
  names.push(...added);
  if (isFirst && folders.length === 0) await query('ALTER TABLE stage RENAME TO staged');
  else if (isFirst) await query(`CREATE TABLE staged AS SELECT *${cells.join('')} FROM stage`);
  else {
    for (const name of added) await query(`ALTER TABLE staged ADD COLUMN ${identifier(name)} ${type}`);
    await query(`INSERT INTO staged BY NAME SELECT *${cells.join('')} FROM stage`);
  }
}

/** `type`: '' where the file tells none. */
type FileColumn = { readonly file: string; readonly name: string; readonly type: string };

function differing(columns: readonly FileColumn[]): string[] {
  const all = [...groupBy(columns, ({ name }) => name.toLowerCase())];
  const lacking = [...groupBy(columns, ({ file }) => file)].flatMap(([file, own]) => {
    const names = new Set(own.map(({ name }) => name.toLowerCase()));
    const missing = all.flatMap(([key, [first]]) => (names.has(key) ? [] : (first?.name ?? [])));
    return missing.length === 0 ? [] : [`${file} has no ${cut(missing.join(', '), 100)}`];
  });
  const types = all.flatMap(([, of]) => {
    const ways = [...groupBy(of, ({ type }) => type).values()].flatMap(([first]) => first ?? []);
    const shown = ways.map(({ type, file }) => `${type} in ${file}`).join(', ');
    return ways.length < 2 ? [] : [`${ways[0]?.name} is ${shown}`];
  });
  return [
    ...told('the files have other columns, and what one lacks is NULL', lacking),
    ...told('the files have other types, and one that holds all may round', types),
  ];
}

const told = (what: string, list: readonly string[]): string[] =>
  list.length === 0 ? [] : [`${what}: ${cut(list.join('; '), 300)}`];
