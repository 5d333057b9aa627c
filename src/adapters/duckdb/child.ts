/**
 * What the process does that reads a DuckDB file (`kit/child.ts`). It is read-only by construction:
 *
 * 1. the file is opened as READ_ONLY, without other files, extensions, spilling to disk or settings of a user, with limited
 *    memory and threads; then the configuration is locked;
 * 2. one statement of the kind SELECT, read by DuckDB's own parser before it is bound (`tree.ts`), in a read-only transaction;
 * 3. what it reads is the same to the reader of tokens in front (`inspector.ts`), which the access lists go by.
 *
 * DuckDB locks the file for as long as it is open, so it is closed soon after its last use.
 */
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBPreparedStatement,
  DuckDBResult,
  DuckDBValue,
  StatementType,
} from '@duckdb/node-api';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { SqlValue } from '../../domain';
import { statementIn, tokensOf } from '../../sql/lexer';
import { handled } from '../kit/child-answer';
import type { ChildReply, ChildRequest } from '../kit/child-session';
import { inspectingOnce, Refusal, SyntaxProblem } from '../kit/inspection';
import { digestSql } from '../kit/digest';
import { CappedRows } from '../kit/value-text';
import { createDuckdbInspector } from './inspector';
import { relationsOf } from './tree';
import { columnKind, converterFor, DIGEST } from './values';

// The driver prints times in the zone of the process.
process.env['TZ'] = 'UTC';

const MEMORY_MB = 1024;
const NO_MEMORY = `the statement needs more than ${MEMORY_MB} MB of memory: filter or aggregate earlier, or select fewer columns`;

/** In this order: with `enable_external_access` off, `temp_directory` can no longer be set. */
const CONFIG: Readonly<Record<string, string>> = {
  temp_directory: '',
  max_temp_directory_size: '0KB',
  home_directory: '/nonexistent',
  extension_directory: '/nonexistent',
  allow_persistent_secrets: 'false',
  access_mode: 'READ_ONLY',
  autoload_known_extensions: 'false',
  autoinstall_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
  memory_limit: `${MEMORY_MB}MiB`,
  threads: String(Math.min(4, availableParallelism())),
  enable_external_access: 'false',
};
const LOCK = ["SET TimeZone = 'UTC'", 'SET lock_configuration = true'];

const IDLE_MS = 1_000;

interface Open {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  /** Another connection, on which the statement is parsed. */
  readonly reading: DuckDBConnection;
  readonly serialize: DuckDBPreparedStatement;
  /** Of the file, in lower case. */
  readonly macros: ReadonlySet<string>;
  /** The kind of a statement that is one. */
  readonly select: StatementType;
  /** Changes when another file takes the place of this one. */
  readonly file: string;
}

let open: Open | null = null;
let idle: NodeJS.Timeout | undefined;
const inspector = inspectingOnce(createDuckdbInspector());

function connection(): DuckDBConnection {
  if (open === null) throw new Error('no database is open');
  return open.connection;
}

async function begin(path: string): Promise<ChildReply> {
  clearTimeout(idle);
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  const file = [path, ino, size, mtimeNs].join(' ');
  if (open !== null && open.file !== file) close();
  if (open === null) {
    process.title = `gate: reads ${path}`;
    const { DuckDBInstance: Instance, StatementType: types } = await import('@duckdb/node-api');
    const instance = await Instance.create(path, CONFIG);
    const connected = await instance.connect();
    for (const sql of LOCK) await connected.run(sql);
    const reading = await instance.connect();
    const serialize = await reading.prepare('SELECT json_serialize_sql($1::VARCHAR)');
    const own = await reading.runAndReadAll('SELECT lower(function_name) FROM duckdb_functions() WHERE NOT internal');
    const macros = new Set(own.getRows().map(([name]) => String(name)));
    open = { instance, connection: connected, reading, serialize, macros, select: types.SELECT, file };
  }
  await connection().run('BEGIN TRANSACTION READ ONLY');
  return DONE;
}

function close(): void {
  open?.connection.closeSync();
  open?.reading.closeSync();
  open?.instance.closeSync();
  open = null;
}

async function end(): Promise<ChildReply> {
  await connection().run('ROLLBACK');
  idle = setTimeout(close, IDLE_MS).unref();
  return DONE;
}

const DONE = { kind: 'done' } as const;

/** An error ends the transaction. The next one sees the same rows, because nobody else can write the file meanwhile. */
async function query(request: Extract<ChildRequest, { kind: 'query' }>): Promise<ChildReply> {
  try {
    const { text, prepared } = await prepare(request.sql);
    return request.digest ? await digest(text, prepared) : await read(prepared, request.maxRows);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message };
    await connection().run('ROLLBACK');
    await connection().run('BEGIN TRANSACTION READ ONLY');
    throw error;
  }
}

async function prepare(sql: string): Promise<{ readonly text: string; readonly prepared: DuckDBPreparedStatement }> {
  if (open === null) throw new Error('no database is open');
  open.serialize.bindVarchar(1, sql);
  const serialized = await (await open.serialize.run()).fetchChunk();
  const relations = relationsOf(String(serialized?.getColumnValues(0)[0]), open.macros);
  const inspection = inspector.inspect(sql);
  // What the reader in front refuses or cannot read, it has refused there.
  if (inspection.kind === 'select') {
    const names = new Set(inspection.relations.map((name) => name.toLowerCase()));
    const other = [...relations, ...names].find((name) => !relations.has(name) || !names.has(name));
    if (other !== undefined)
      throw new Refusal(`whether the statement reads ${other} is not clear: write each table as FROM name AS alias`);
  }
  const { text } = statementIn(sql, tokensOf(sql, 'duckdb'));
  // Several at once cannot be prepared.
  const prepared = await open.connection.prepare(sql);
  if (prepared.statementType !== open.select)
    throw new Refusal('the statement is not a SELECT: write one SELECT that only reads');
  return { text, prepared };
}

async function read(prepared: DuckDBPreparedStatement, maxRows: number): Promise<ChildReply> {
  const result = await prepared.stream();
  const types = result.columnTypes();
  const converters = types.map(converterFor);
  const capped = new CappedRows(maxRows);
  for await (const chunk of chunksOf(result)) {
    const columns = converters.map((convert, index) => converted(chunk.getColumnValues(index), convert));
    for (let at = 0; at < chunk.rowCount && !capped.truncated; at += 1)
      capped.add(columns.map((column) => column[at] ?? null));
    if (capped.truncated) break;
  }
  const names = result.columnNames();
  const columns = types.map((type, index) => ({ name: names[index] ?? '', kind: columnKind(type) }));
  return { kind: 'rows', columns, rows: capped.rows, truncated: capped.truncated };
}

async function* chunksOf(result: DuckDBResult): AsyncIterable<DuckDBDataChunk> {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk;
  }
}

const converted = (values: readonly DuckDBValue[], convert: ReturnType<typeof converterFor>): SqlValue[] =>
  values.map((value) => (value === null ? null : convert(value)));

/** The statement has been read and prepared. */
async function digest(text: string, prepared: DuckDBPreparedStatement): Promise<ChildReply> {
  const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index));
  const counting = await connection().runAndReadAll(digestSql(text, types, DIGEST));
  const [[count, high, low] = []] = counting.getRows();
  return { kind: 'rows', columns: [], rows: [[Number(count), String(high), String(low)]], truncated: false };
}

/** Writes with unlikely names, on the very connection that statements get, without any parser before it. */
const ATTEMPTS = [
  ['create a table', 'CREATE TABLE gate_write_attempt (x INTEGER)'],
  ['create a view', 'CREATE VIEW gate_write_attempt AS SELECT 1'],
  ['create a schema', 'CREATE SCHEMA gate_write_attempt'],
  ['write a file', "COPY (SELECT 1) TO 'gate_write_attempt.csv'"],
  ['read a file', "SELECT * FROM read_text('/etc/hostname')"],
  ['attach another database', "ATTACH 'gate_write_attempt.duckdb' AS gate_write_attempt"],
  ['install an extension', 'INSTALL httpfs'],
  ['load an extension', 'LOAD httpfs'],
  ['change a setting', 'SET enable_external_access = true'],
  ['unlock the configuration', 'SET lock_configuration = false'],
] as const;

async function attemptWrites(): Promise<ChildReply> {
  const attempts = [];
  for (const [what, sql] of ATTEMPTS) attempts.push({ what, ...(await attempt(sql)) });
  return { kind: 'attempts', attempts };
}

async function attempt(sql: string): Promise<{ readonly code: string | null; readonly message: string }> {
  try {
    await connection().run(sql);
    return { code: null, message: 'it was executed, and rolled back' };
  } catch (error) {
    const { message } = error as Error;
    return { code: codeOf(message), message };
  } finally {
    await connection().run('ROLLBACK');
    await connection().run('BEGIN TRANSACTION READ ONLY');
  }
}

/** `Binder Error: …` */
const codeOf = (message: string): string => /^([A-Za-z ]+) Error:/.exec(message)?.[1] ?? 'ERROR';

export async function answer(request: ChildRequest): Promise<ChildReply> {
  try {
    return await handled(request, { begin, query, end, attemptWrites });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const kind = error instanceof SyntaxProblem ? 'Parser' : codeOf(message);
    return { kind: 'error', message: kind === 'Out of Memory' ? NO_MEMORY : message, code: code ?? kind };
  }
}
