/**
 * One read-only transaction and the statements in it (design §7).
 *
 * 1. Every statement is the query of a server-side cursor: `DECLARE … CURSOR FOR` takes one SELECT or VALUES and nothing
 *    else (no COPY, no COMMIT, no SET, no data-modifying WITH), whatever the text says, and the rows come in pages.
 * 2. It goes through the extended protocol, where the server refuses a second statement.
 * 3. A savepoint before each statement keeps a failure from the later ones; the transaction always ends by ROLLBACK.
 */
import type { PoolClient, QueryArrayResult } from 'pg';
import type { SqlResult, SqlValue } from '../../domain';
import type { SqlOptions } from '../../ports/sql-engine';
import { toResult, type Target } from './errors';
import { columnKind, converterFor } from './values';

const DECLARE = 'DECLARE gate_cursor NO SCROLL CURSOR FOR ';
const FIRST_PAGE = 1000;
const NEXT_PAGE = 5000;
/** A result larger than this is cut like one with too many rows. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const IDLE_IN_TRANSACTION_MS = 60_000;
const LOCK_TIMEOUT_MS = 5_000;

/** Every value as the text that the server sent. */
const asText = { getTypeParser: () => (value: string | Buffer) => value };

export interface SessionSettings {
  readonly timeoutMs: number;
  readonly tag: string;
  readonly role: string | null;
}

export async function begin(client: PoolClient, { timeoutMs, tag, role }: SessionSettings): Promise<void> {
  const local: Record<string, string> = {
    statement_timeout: String(Math.max(1, Math.ceil(timeoutMs))),
    lock_timeout: String(Math.min(LOCK_TIMEOUT_MS, Math.max(1, Math.ceil(timeoutMs)))),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_IN_TRANSACTION_MS, Math.ceil(timeoutMs * 2))),
    application_name: applicationName(tag),
    datestyle: 'ISO, YMD',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    // The whole result is read, so plan for that and not for a fast first row.
    cursor_tuple_fraction: '1',
  };
  await client.query(
    [
      'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
      ...Object.entries(local).map(([name, value]) => `SET LOCAL ${name} = ${literal(value)}`),
      ...(role === null ? [] : [`SET LOCAL ROLE ${identifier(role)}`]),
      'SELECT 1', // takes the snapshot
      'SAVEPOINT gate',
    ].join('; '),
  );
}

/** Also gives back what a session keeps beyond its transaction. */
export async function end(client: PoolClient): Promise<void> {
  await client.query('ROLLBACK; SELECT pg_advisory_unlock_all()');
}

export async function execute(
  client: PoolClient,
  sql: string,
  options: SqlOptions,
  target: Target,
): Promise<SqlResult> {
  const started = performance.now();
  const elapsed = (): number => Math.round((performance.now() - started) * 10) / 10;
  const result = await guarded(client, async () => {
    await client.query({ text: `${DECLARE}${sql}`, queryMode: 'extended' } as { text: string });
    return fetchAll(client, options.maxRows, () => elapsed() > options.timeoutMs);
  }).catch((error: unknown) =>
    toResult(error, target, { timeoutMs: options.timeoutMs, elapsedMs: elapsed() }, DECLARE.length),
  );
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
export async function columnTypes(client: PoolClient, sql: string): Promise<number[]> {
  return guarded(client, async () => {
    await client.query({ text: `${DECLARE}${sql}`, queryMode: 'extended' } as { text: string });
    const { fields } = await client.query({ text: 'FETCH 0 FROM gate_cursor', rowMode: 'array' });
    return fields.map((field) => field.dataTypeID);
  });
}

/** Leaves the transaction as it was, cursor included, whether `use` succeeds or fails. */
export async function guarded<T>(client: PoolClient, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    // After a lost connection this fails too, and the first error is the one to report.
    await client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }
}

interface Fetched {
  readonly columns: { name: string; kind: ReturnType<typeof columnKind> }[];
  readonly rows: SqlValue[][];
  readonly truncated: boolean;
  readonly late: boolean;
}

async function fetchAll(client: PoolClient, maxRows: number, isLate: () => boolean): Promise<Fetched> {
  const rows: SqlValue[][] = [];
  let columns: Fetched['columns'] = [];
  let bytes = 0;
  for (let size = Math.min(FIRST_PAGE, maxRows + 1); ; size = Math.min(NEXT_PAGE, maxRows + 1 - rows.length)) {
    const page: QueryArrayResult<(string | null)[]> = await client.query({
      text: `FETCH ${size} FROM gate_cursor`,
      rowMode: 'array',
      types: asText,
    });
    columns = page.fields.map(({ name, dataTypeID }) => ({ name, kind: columnKind(dataTypeID) }));
    const converters = page.fields.map(({ dataTypeID }) => converterFor(dataTypeID));
    for (const raw of page.rows) {
      for (const value of raw) bytes += value?.length ?? 0;
      rows.push(converters.map((convert, index) => convert(raw[index] ?? null)));
    }
    const truncated = rows.length > maxRows || (bytes > MAX_RESULT_BYTES && page.rows.length === size);
    if (truncated || page.rows.length < size) return { columns, rows: rows.slice(0, maxRows), truncated, late: false };
    if (isLate()) return { columns, rows: [], truncated: true, late: true };
  }
}

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 63);
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
