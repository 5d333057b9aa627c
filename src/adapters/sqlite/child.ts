/**
 * What the process does that reads a SQLite file (`kit/child.ts`). It is read-only by construction:
 *
 * 1. the file is opened as `mode=ro` (`readonly: true` of libsql is ignored), with `query_only` and `trusted_schema=off`;
 * 2. one statement that starts with SELECT, WITH, VALUES or a bracket, compiled and checked before it runs (program.ts);
 * 3. memory is bounded: SQLite's own by `hard_heap_limit` (which nothing can raise again), a value by `MAX_CELL_BYTES`, the
 *    process (libsql hands rows over by the hundred) by its watchdog.
 */
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { SqlValue } from '../../domain';
import { answering } from '../kit/child-answer';
import type { ChildReply, ChildRequest, Failure } from '../kit/child-session';
import { attempted, type WriteAttempt } from '../kit/database-check';
import { Refusal } from '../kit/inspection';
import { CappedRows } from '../kit/value-text';
import { Compiler } from './program';
import { statementIn, tokensOf } from '../../sql/lexer';
import { columnKind, decoded, digestText, readTextAsBytes, toSqlValue, type RawValue, type Seen } from './values';

const HEAP_BYTES = 1024 * 1024 * 1024;
/** A binary value takes twice as many characters, in hexadecimal. */
const MAX_CELL_BYTES = 32 * 1024 * 1024;

const PRAGMAS = [
  `hard_heap_limit = ${HEAP_BYTES}`,
  'query_only = 1',
  'trusted_schema = 0',
  'busy_timeout = 5000',
  'cell_size_check = 1',
];

let database: Database.Database | null = null;
/** Asked at the beginning of each run. */
let schemaVersion: Database.Statement | null = null;
let path = '';
/** Version of the schema that the connection has read: that of the current snapshot. */
let knownVersion = '';
const compiler = new Compiler(() => connect(path));

function connection(): Database.Database {
  if (database === null) throw new Error('no database is open');
  return database;
}

function connect(file: string): Database.Database {
  const opened = new Database(`${pathToFileURL(file).href}?mode=ro`);
  for (const pragma of PRAGMAS) opened.exec(`PRAGMA ${pragma}`);
  readSchema(opened);
  return opened;
}

/** SQLite compiles against the schema that it has cached and notices a new one only when it reads. */
function readSchema(opened: Database.Database): void {
  opened.prepare('SELECT count(*) FROM sqlite_master').all();
}

/** SQLite takes the snapshot at the first read, so this reads at once. */
function begin(given: string): void {
  if (database === null) {
    path = given;
    process.title = `gate: reads ${path}`;
    database = connect(path);
  }
  schemaVersion ??= database.prepare('PRAGMA schema_version').raw(true);
  database.exec('BEGIN');
  const version = String(schemaVersion.all()[0]);
  if (version !== knownVersion) readSchema(database);
  knownVersion = version;
}

function end(): void {
  if (connection().inTransaction) connection().exec('ROLLBACK');
}

interface Prepared {
  readonly columns: readonly { name: string; type: string | null }[];
  readonly rows: () => Iterable<RawValue[]>;
}

function prepareReadOnly(sql: string, asBytes: boolean): Prepared {
  // `prepare` compiles the first statement only and drops the rest; a PRAGMA takes effect while it is compiled.
  const { first, isSeveral, text } = statementIn(sql, tokensOf(sql, 'sqlite'));
  if (first === null) throw new Refusal('the statement is empty: write one SELECT');
  if (isSeveral) throw new Refusal('only one statement is allowed: remove what follows the first semicolon');
  const keyword = first.raw.toUpperCase();
  if (!['SELECT', 'WITH', 'VALUES'].includes(keyword))
    throw new Refusal(`${keyword} is not allowed here: write one SELECT that only reads`);
  const database = connection();
  const statement = database.prepare(text).safeIntegers(true).raw(true);
  const { refused, columns } = compiler.compile(text, statement, knownVersion);
  if (refused !== null) throw new Refusal(refused);
  if (!asBytes) return { columns, rows: () => statement.iterate() as Iterable<RawValue[]> };
  const bytes = database.prepare(readTextAsBytes(text, columns.length)).safeIntegers(true).raw(true);
  return { columns, rows: () => decoded(bytes.iterate() as Iterable<RawValue[]>) };
}

/** A statement that ended a process is read as bytes the next time: libsql aborts on text that is not UTF-8. */
function query({ sql, again, digest, maxRows }: Extract<ChildRequest, { kind: 'query' }>): ChildReply {
  const prepared = prepareReadOnly(sql, again);
  return digest ? hashed(prepared) : read(prepared, maxRows);
}

function read(prepared: Prepared, maxRows: number): ChildReply {
  const capped = new CappedRows(maxRows);
  const seen: Seen[] = prepared.columns.map(() => ({ numbers: 0, texts: 0 }));
  for (const raws of reading(prepared.rows())) {
    if (capped.isFull()) break;
    const row = raws as SqlValue[];
    for (const [index, column] of seen.entries()) {
      const raw = raws[index] ?? null;
      checkSize(raw, index);
      row[index] = toSqlValue(raw);
      if (typeof raw === 'string') column.texts += 1;
      else if (typeof raw === 'number' || typeof raw === 'bigint') column.numbers += 1;
    }
    capped.add(row);
  }
  const columns = prepared.columns.map(({ name, type }, index) => ({ name, kind: columnKind(type, seen[index]) }));
  return { kind: 'rows', columns, rows: capped.rows, truncated: capped.truncated };
}

function checkSize(value: RawValue, index: number): void {
  if ((typeof value !== 'string' && !(value instanceof Uint8Array)) || value.length <= MAX_CELL_BYTES) return;
  const size = Math.round(value.length / 1024 / 1024);
  const message = `a value of ${size} MB in column ${index + 1} is too large to return: select a part of it with substr, or its length`;
  throw Object.assign(new Error(message), { code: 'SQLITE_TOOBIG' });
}

/** Finishes a statement whose rows are not read to the end: unfinished, it would keep its lock and its snapshot. */
function* reading(rows: Iterable<RawValue[]>): Iterable<RawValue[]> {
  const source = rows[Symbol.iterator]();
  let left = false;
  try {
    for (let next = source.next(); next.done !== true; next = source.next()) {
      left = true;
      yield next.value;
      left = false;
    }
  } finally {
    if (left) finish(source);
  }
}

/** Interrupts the statement, because libsql has no reset. */
function finish(rows: Iterator<unknown>): void {
  (connection() as unknown as { interrupt(): void }).interrupt(); // missing in its types
  try {
    while (rows.next().done !== true);
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_INTERRUPT') throw error;
  }
}

const MODULUS = 1n << 64n;

/** Count, and sums of two halves of each row's hash: independent of order, and a repeated row counts. */
function hashed({ rows }: Prepared): ChildReply {
  let count = 0;
  let high = 0n;
  let low = 0n;
  for (const raw of reading(rows())) {
    const hash = createHash('md5').update(raw.map(digestText).join('|')).digest();
    high = (high + hash.readBigUInt64BE(0)) % MODULUS;
    low = (low + hash.readBigUInt64BE(8)) % MODULUS;
    count += 1;
  }
  return { kind: 'rows', columns: [], rows: [[count, high.toString(16), low.toString(16)]], truncated: false };
}

/** Writes to a table with an unlikely name. If one ever succeeds, it is rolled back. */
const ATTEMPTS = [
  ['create a table', 'CREATE TABLE gate_write_attempt (x)'],
  ['create a view', 'CREATE VIEW gate_write_attempt AS SELECT 1'],
  ['change the version in the header', 'PRAGMA user_version = 1'],
] as const;

/** Attempts with `query_only`, then without it: then only the read-only opening of the file can refuse. */
async function attemptWrites(): Promise<WriteAttempt[]> {
  end();
  const attemptAll = (by: string): Promise<WriteAttempt[]> =>
    attempted(
      ATTEMPTS.map(([what, sql]) => [`${what} (${by})`, sql]),
      attempt,
      refusedBy,
    );
  const first = await attemptAll('query_only');
  connection().exec('PRAGMA query_only = 0');
  const second = await attemptAll('the file opened read-only');
  connection().exec('PRAGMA query_only = 1');
  return [...first, ...second];
}

function attempt(sql: string): void {
  connection().exec('BEGIN');
  try {
    connection().exec(sql);
  } finally {
    end();
  }
}

const refusedBy = (error: unknown): 'refused' | 'failed' =>
  /^SQLITE_(READONLY|AUTH|CANTOPEN)/.test(failureOf(error).code) ? 'refused' : 'failed';

function failureOf(error: unknown): Failure {
  const { message, code = 'SQLITE_ERROR' } = error as { message: string; code?: string };
  return { message, code };
}

export const answer = answering({ begin, query, end, attemptWrites, failureOf });
