/**
 * One read-only transaction and the statements in it (design §7).
 *
 * 1. Every statement is the query of a server-side cursor: `DECLARE … CURSOR FOR` takes one SELECT or VALUES and nothing
 *    else (no COPY, no COMMIT, no SET, no data-modifying WITH), whatever the text says, and the rows come in pages.
 * 2. It goes through the extended protocol, where the server refuses a second statement.
 * 3. A savepoint before each statement keeps a failure from the later ones; the transaction always ends by ROLLBACK.
 * 4. A superuser's session lays its rights down for the transaction (`pg_read_all_data`, which reads every table and may
 *    do nothing else), so that files, programs, large objects and other sessions are out of reach. Row-level security
 *    then is an error instead of a silent filter.
 */
import type { QueryArrayResult } from 'pg';
import type { SqlResult, SqlValue } from '../../domain';
import type { SqlOptions } from '../../ports/sql-engine';
import type { GateClient, Target } from './connection';
import { refusePlan } from './cost';
import { toResult } from './errors';
import { columnKind, converterFor } from './values';

/** Put before the caller's text: positions in the server's messages count it. */
export const DECLARE = 'DECLARE gate_cursor NO SCROLL CURSOR FOR ';
const EXPLAIN = 'EXPLAIN (FORMAT JSON) ';
/** Small, because nothing is known about the width of its rows; the next pages are sized by what came. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 10_000;
/** A result larger than this is cut like one with too many rows. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
/** A page larger than this costs its connection, whatever it is made of. */
const MAX_PAGE_BYTES = 128 * 1024 * 1024;
const IDLE_IN_TRANSACTION_MS = 60_000;
const LOCK_TIMEOUT_MS = 5_000;
/** Predefined since 14: reads all tables, is allowed nothing else. */
const READER = 'pg_read_all_data';

/** Values are converted as the driver reads them from the line. */
const asValues = { getTypeParser: (oid: number) => converterFor(oid) };

export interface SessionSettings {
  readonly timeoutMs: number;
  readonly tag: string;
  /** null: the login's own rights, unless it is a superuser; `none`: the login's own rights in any case. */
  readonly role: string | null;
  /** The search path; empty: the login's own. */
  readonly schemas: readonly string[];
}

export interface Limits {
  readonly target: Target;
  /** Highest cost that the planner may expect of a statement; null: any. */
  readonly maxPlanCost: number | null;
}

export async function begin(client: GateClient, settings: SessionSettings): Promise<void> {
  client.allowBytes(Number.POSITIVE_INFINITY);
  await client.query(beginning(client, settings));
}

function laysDownRights(client: GateClient, role: string | null): boolean {
  return role === null && client.isSuperuser && client.serverVersion >= 14;
}

/** The functions of the database that this session may call have the rights of a superuser. */
export function keepsSuperuserRights(client: GateClient, role: string | null): boolean {
  return client.isSuperuser && (role === null || role === 'none') && !laysDownRights(client, role);
}

function beginning(client: GateClient, { timeoutMs, tag, role, schemas }: SessionSettings): string {
  const lowered = laysDownRights(client, role);
  const local: Record<string, string> = {
    statement_timeout: String(Math.max(1, Math.ceil(timeoutMs))),
    lock_timeout: String(Math.min(LOCK_TIMEOUT_MS, Math.max(1, Math.ceil(timeoutMs)))),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_IN_TRANSACTION_MS, Math.ceil(timeoutMs * 2))),
    application_name: applicationName(tag),
    datestyle: 'ISO, YMD',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: '1',
    // The parser in front reads strings as the standard does.
    standard_conforming_strings: 'on',
    client_min_messages: 'error',
    // The whole result is read, so plan for that and not for a fast first row.
    cursor_tuple_fraction: '1',
    // A statement of a process that was killed ends without having to send a row first.
    ...(client.serverVersion >= 14 ? { client_connection_check_interval: '2000' } : {}),
    ...(lowered ? { row_security: 'off' } : {}),
  };
  const taken = lowered ? READER : role === 'none' ? null : role;
  if (schemas.length > 0) local['search_path'] = schemas.map(identifier).join(', ');
  // One statement in place of a dozen; the role comes last, since it may not be allowed to set the others.
  if (taken !== null) local['role'] = taken;
  const settings = Object.entries(local).map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`);
  return [
    'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
    `SELECT ${settings.join(', ')}`,
    'SAVEPOINT gate',
  ].join('; ');
}

/** Also gives back what a session keeps beyond its transaction. */
export async function end(client: GateClient): Promise<void> {
  await client.query('ROLLBACK; SELECT pg_advisory_unlock_all(); DEALLOCATE ALL');
}

/** The statement cost its connection, and this is its result: the others can go on without it. */
export class Lost extends Error {
  constructor(readonly result: SqlResult) {
    super('the statement cost its connection');
  }
}

const OVERRUN: SqlResult = {
  kind: 'sql-error',
  message: `the rows of this result are too large (more than ${MAX_PAGE_BYTES / 1024 / 1024} MB at once): select parts of the values, for example left(column, 1000), or their length`,
  code: '54000',
  elapsedMs: 0,
};

export async function execute(
  client: GateClient,
  sql: string,
  options: SqlOptions,
  { target, maxPlanCost }: Limits,
): Promise<SqlResult> {
  const started = performance.now();
  const elapsed = (): number => Math.round((performance.now() - started) * 10) / 10;
  let offset = DECLARE.length;
  const result = await guarded(client, async () => {
    if (maxPlanCost !== null) {
      offset += EXPLAIN.length;
      const refused = await planned(client, sql, maxPlanCost);
      if (refused !== null) return refused;
      offset -= EXPLAIN.length;
    }
    return fetchAll(client, sql, options.maxRows, () => elapsed() > options.timeoutMs);
  }).catch((error: unknown) => {
    if (client.overran) throw new Lost(OVERRUN);
    if (client.wasCut) throw new Lost({ kind: 'timeout', afterMs: options.timeoutMs });
    return toResult(error, target, { timeoutMs: options.timeoutMs, elapsedMs: elapsed() }, offset);
  });
  if ('kind' in result) return result;
  if (result.late) return { kind: 'timeout', afterMs: options.timeoutMs };
  return {
    kind: 'rows',
    columns: result.columns,
    rows: result.rows,
    truncated: result.truncated,
    elapsedMs: elapsed(),
  };
}

/** The type OIDs of a statement's columns, without reading a row. */
export async function columnTypes(client: GateClient, sql: string): Promise<number[]> {
  return guarded(client, async () => {
    const [{ fields }] = await declareAndFetch(client, sql, 0);
    return fields.map((field) => field.dataTypeID);
  });
}

/** Leaves the transaction as it was, cursor included, whether `use` succeeds or fails. */
export async function guarded<T>(client: GateClient, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    // Not waited for: what follows is sent behind it. After a lost connection it fails, and the first error is the one to report.
    client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }
}

async function planned(client: GateClient, sql: string, ceiling: number): Promise<SqlResult | null> {
  const { rows } = await extended(client, `${EXPLAIN}${DECLARE}${sql}`);
  return refusePlan(String(rows[0]?.[0] ?? '[]'), ceiling);
}

interface Fetched {
  readonly columns: { name: string; kind: ReturnType<typeof columnKind> }[];
  readonly rows: SqlValue[][];
  readonly truncated: boolean;
  readonly late: boolean;
}

type Page = QueryArrayResult<SqlValue[]>;

async function fetchAll(client: GateClient, sql: string, maxRows: number, isLate: () => boolean): Promise<Fetched> {
  const rows: SqlValue[][] = [];
  let bytes = 0;
  let size = Math.min(FIRST_PAGE, maxRows + 1);
  let [page] = await declareAndFetch(client, sql, size);
  const columns = page.fields.map(({ name, dataTypeID }) => ({ name, kind: columnKind(dataTypeID) }));
  for (;;) {
    for (const row of page.rows) rows.push(row);
    bytes += client.receivedBytes;
    const more = page.rows.length === size;
    const truncated = rows.length > maxRows || (bytes > MAX_RESULT_BYTES && more);
    if (truncated || !more) return { columns, rows: rows.slice(0, maxRows), truncated, late: false };
    if (isLate()) return { columns, rows: [], truncated: true, late: true };
    const fitting = Math.ceil(((MAX_RESULT_BYTES - bytes) * rows.length) / Math.max(1, bytes)) + 1;
    size = Math.min(NEXT_PAGE, maxRows + 1 - rows.length, fitting);
    page = await fetchPage(client, size);
  }
}

/** Both are sent at once; when the first fails, so does the second, and the first error is the one to report. */
async function declareAndFetch(client: GateClient, sql: string, size: number): Promise<[Page]> {
  const [declared, page] = await Promise.allSettled([extended(client, `${DECLARE}${sql}`), fetchPage(client, size)]);
  if (declared.status === 'rejected') throw declared.reason;
  if (page.status === 'rejected') throw page.reason;
  return [page.value];
}

async function fetchPage(client: GateClient, size: number): Promise<Page> {
  client.allowBytes(MAX_PAGE_BYTES);
  return client.query({ text: `FETCH ${size} FROM gate_cursor`, rowMode: 'array', types: asValues });
}

async function extended(client: GateClient, text: string): Promise<Page> {
  return client.query({ text, queryMode: 'extended', rowMode: 'array', types: asValues } as {
    text: string;
    rowMode: 'array';
  });
}

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 63);
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
