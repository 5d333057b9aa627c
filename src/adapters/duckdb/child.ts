/**
 * What the process does that reads a DuckDB file (`kit/child.ts`). It is read-only by construction:
 *
 * 1. the file is opened as READ_ONLY, without other files, extensions, spilling to disk or settings of a user, with limited
 *    memory and threads; then the configuration is locked;
 * 2. one statement of the kind SELECT, read by DuckDB's own parser before it is bound (`tree.ts`);
 * 3. what it reads is the same to the reader of tokens in front (`inspector.ts`), which the access lists go by.
 *
 * DuckDB locks the file for as long as it is open: nobody writes it during a run, which needs no transaction to see one state of
 * it. So it is closed soon after its last use.
 */
import {
  DuckDBInstance,
  StatementType,
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBResult,
} from '@duckdb/node-api';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { BoundedMap } from '../../bounded-map';
import { statementIn, tokensOf } from '../../sql/lexer';
import { answering } from '../kit/child-answer';
import type { ChildReply, ChildRequest, Failure } from '../kit/child-session';
import { attempted, type WriteAttempt } from '../kit/database-check';
import { digestSql } from '../kit/digest';
import { Refusal } from '../kit/inspection';
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
  readonly serialize: DuckDBPreparedStatement;
  /** Of the file, in lower case. */
  readonly macros: ReadonlySet<string>;
  /** Changes when another file takes the place of this one. */
  readonly file: string;
  /** Statements that may run. The same one is often asked again: its rows are hashed, a profile is taken in every search. */
  readonly passed: BoundedMap<true>;
}

const PASSED_CHARS = 1024 * 1024;
let open: Open | null = null;
let idle: NodeJS.Timeout | undefined;
const inspector = createDuckdbInspector();

function opened(): Open {
  if (open === null) throw new Error('no database is open');
  return open;
}

async function begin(path: string): Promise<void> {
  clearTimeout(idle);
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  const file = [path, ino, size, mtimeNs].join(' ');
  if (open?.file === file) return;
  close();
  process.title = `gate: reads ${path}`;
  const instance = await DuckDBInstance.create(path, CONFIG);
  const connection = await instance.connect();
  for (const sql of LOCK) await connection.run(sql);
  const serialize = await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)');
  const own = await connection.runAndReadAll('SELECT lower(function_name) FROM duckdb_functions() WHERE NOT internal');
  const macros = new Set(own.getRows().map(([name]) => String(name)));
  const passed = new BoundedMap<true>(PASSED_CHARS);
  open = { instance, connection, serialize, macros, file, passed };
}

function close(): void {
  open?.connection.closeSync();
  open?.instance.closeSync();
  open = null;
}

function end(): void {
  idle = setTimeout(close, IDLE_MS).unref();
}

async function query({ sql, digest, maxRows }: Extract<ChildRequest, { kind: 'query' }>): Promise<ChildReply> {
  const { connection, passed } = opened();
  if (passed.get(sql) === undefined) {
    await readAgain(sql);
    passed.set(sql, true, sql.length);
  }
  // Several at once cannot be prepared.
  const prepared = await connection.prepare(sql);
  try {
    if (prepared.statementType !== StatementType.SELECT)
      throw new Refusal('the statement is not a SELECT: write one SELECT that only reads');
    return await (digest ? hashed(sql, prepared) : read(prepared, maxRows));
  } finally {
    // The memory of its plan is not seen by the garbage collector, which would leave it.
    prepared.destroySync();
  }
}

/** Throws where DuckDB's parser reads what may not run, or another thing than the reader in front. */
async function readAgain(sql: string): Promise<void> {
  const { serialize, macros } = opened();
  serialize.bindVarchar(1, sql);
  const serialized = (await serialize.run()).getChunk(0).getColumnValues(0)[0];
  const relations = relationsOf(String(serialized), macros);
  const inspection = inspector.inspect(sql);
  // What the reader in front refuses or cannot read, it has refused there.
  if (inspection.kind !== 'select') return;
  const names = new Set(inspection.relations.map((name) => name.toLowerCase()));
  const other = [...relations, ...names].find((name) => !relations.has(name) || !names.has(name));
  if (other !== undefined)
    throw new Refusal(`whether the statement reads ${other} is not clear: write each table as FROM name AS alias`);
}

async function read(prepared: DuckDBPreparedStatement, maxRows: number): Promise<ChildReply> {
  const result = await prepared.stream();
  const types = result.columnTypes();
  const converters = types.map(converterFor);
  const capped = new CappedRows(maxRows);
  let isRead = false;
  try {
    for (;;) {
      const chunk = await result.fetchChunk();
      isRead = chunk === null || chunk.rowCount === 0;
      if (chunk === null || isRead) break;
      const columns = converters.map((convert, index) =>
        chunk.getColumnValues(index).map((value) => (value === null ? null : convert(value))),
      );
      for (let at = 0; at < chunk.rowCount && !capped.truncated; at += 1)
        capped.add(columns.map((column) => column[at] ?? null));
      if (capped.truncated) break;
    }
  } finally {
    if (!isRead) await finish(result);
  }
  const names = result.columnNames();
  const columns = types.map((type, index) => ({ name: names[index] ?? '', kind: columnKind(type) }));
  return { kind: 'rows', columns, rows: capped.rows, truncated: capped.truncated };
}

/** A result that is not read to its end keeps the file open, and so locked, after the connection is closed. */
async function finish(result: DuckDBResult): Promise<void> {
  opened().connection.interrupt();
  try {
    for (let rows = 1; rows > 0;) rows = (await result.fetchChunk())?.rowCount ?? 0;
  } catch {
    // It has ended by being interrupted.
  }
}

/** The statement has been read and prepared. */
async function hashed(sql: string, prepared: DuckDBPreparedStatement): Promise<ChildReply> {
  const { text } = statementIn(sql, tokensOf(sql, 'duckdb'));
  const types = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnType(index));
  const counting = await opened().connection.runAndReadAll(digestSql(text, types, DIGEST));
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

const attemptWrites = (): Promise<WriteAttempt[]> => attempted(ATTEMPTS, attempt, refusedBy);

async function attempt(sql: string): Promise<void> {
  const { connection } = opened();
  await connection.run('BEGIN TRANSACTION');
  try {
    await connection.run(sql);
  } finally {
    await connection.run('ROLLBACK');
  }
}

const refusedBy = (error: unknown): 'refused' | 'failed' =>
  /^(Permission|Invalid Input|Catalog|IO)$/.test(failureOf(error).code) ? 'refused' : 'failed';

/** `Binder Error: …` */
function failureOf(error: unknown): Failure {
  const { message, code } = error as NodeJS.ErrnoException;
  const kind = /^([A-Za-z ]+) Error:/.exec(message)?.[1] ?? 'ERROR';
  return { message: kind === 'Out of Memory' ? NO_MEMORY : message, code: code ?? kind };
}

export const answer = answering({ begin, query, end, attemptWrites, failureOf });
