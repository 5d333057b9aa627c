/**
 * What holds in every transaction: limits, whose rights it has, who is said to ask, and how values print.
 *
 * 1. A superuser's session lays its rights down for the transaction (`pg_read_all_data`, which reads every table and may
 *    do nothing else), so that files, programs, large objects and other sessions are out of reach. Row-level security
 *    then is an error instead of a silent filter. Before PostgreSQL 14 there is no such role: there a superuser is
 *    refused, unless a role is named, or `none`, which keeps its rights.
 * 2. Where the connection has a session of its own, what its first transaction has is set for the session, and the others
 *    set what differs. A pooler between (PgBouncer and its like) gives every transaction another session, and then all is
 *    set for each transaction. Every transaction makes sure that it is where it should be before anything is executed.
 *    What a statement sets ends with its transaction either way.
 */
import { SqlEngineError } from '../../ports/sql-engine';
import type { GateClient } from './connection';

export interface SessionSettings {
  readonly timeoutMs: number;
  readonly tag: string;
  /** null: the login's own rights, unless it is a superuser; `none`: the login's own rights in any case. */
  readonly role: string | null;
  /** The search path; empty: the login's own. */
  readonly schemas: readonly string[];
}

const IDLE_IN_TRANSACTION_MS = 60_000;
const LOCK_TIMEOUT_MS = 5_000;
/** What begins and ends a transaction has at least this long; a shorter limit is for the statements in it. */
const SESSION_MS = 5_000;
/** Predefined since 14: reads all tables, is allowed nothing else. */
const READER = 'pg_read_all_data';

function laysDownRights(client: GateClient, role: string | null): boolean {
  return role === null && client.isSuperuser && client.serverVersion >= 14;
}

/** Throws for a superuser whose rights cannot be laid down, and who was not told to keep them. */
function refuseSuperuser({ isSuperuser, serverVersion, user }: GateClient, role: string | null): void {
  if (role !== null || !isSuperuser || serverVersion >= 14) return;
  throw new SqlEngineError(
    'not-read-only',
    `PostgreSQL ${serverVersion} has nothing that a superuser (${user ?? 'the login'}) could lay its rights down to, as 14 and later have: log in as a role that may only read (gate db check NAME prints its statements), or name one with "role"; "role": "none" accepts a superuser with only the parser before it`,
  );
}

type Settings = Readonly<Record<string, string>>;

/** All but the name of who asks. */
function settingsFor(client: GateClient, { timeoutMs, role, schemas }: SessionSettings): Settings {
  const lowered = laysDownRights(client, role);
  const taken = lowered ? READER : role === 'none' ? null : role;
  const milliseconds = Math.max(1, Math.ceil(timeoutMs));
  return {
    statement_timeout: String(milliseconds),
    lock_timeout: String(Math.min(LOCK_TIMEOUT_MS, milliseconds)),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_IN_TRANSACTION_MS, milliseconds * 2)),
    // How dates print; how they are read (month or day first) stays the database's own.
    datestyle: 'ISO',
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
    ...(schemas.length > 0 ? { search_path: schemas.map(identifier).join(', ') } : {}),
    // Last, since it may not be allowed to set the others.
    ...(taken === null ? {} : { role: taken }),
  };
}

/** What is set for a whole session. */
export interface Settled {
  /** The process of the server that serves it; null: there may be another one for each transaction, and nothing is set. */
  readonly process: number | null;
  readonly settings: Settings;
  /** What they were set for: an engine's role and schemas stay the same. */
  readonly timeoutMs: number | null;
}

const NOTHING: Settled = { process: null, settings: {}, timeoutMs: null };

/** Once for a new connection; a transaction does without as well. */
export async function settle(client: GateClient, wanted: SessionSettings): Promise<void> {
  client.settled = NOTHING;
  const { rows } = await client.query<{ process: string; superuser: boolean }>(
    "SELECT pg_catalog.pg_backend_pid()::text AS process, pg_catalog.current_setting('is_superuser') = 'on' AS superuser",
  );
  const process = Number(rows[0]?.process);
  client.isSuperuser ||= rows[0]?.superuser === true; // a pooler between may not have said it
  refuseSuperuser(client, wanted.role);
  if (!client.isServedBy(process)) return;
  const timeoutMs = Math.max(SESSION_MS, wanted.timeoutMs);
  const settings = settingsFor(client, { ...wanted, timeoutMs });
  const texts = Object.entries(settings).map(
    ([name, value]) => `SELECT set_config('${name}', ${literal(value)}, false)`,
  );
  await client.query(texts.join('; '));
  client.settled = { process, settings, timeoutMs };
}

/** One statement in place of a dozen. It fails, and what follows is not executed, where another process serves the session. */
export function settingsOf(client: GateClient, wanted: SessionSettings): string {
  const { process, settings, timeoutMs } = client.settled ?? NOTHING;
  let calls = `set_config('application_name', ${literal(applicationName(wanted.tag))}, true)`;
  if (process !== null) calls = `1 / (pg_catalog.pg_backend_pid() = ${process})::integer, ${calls}`;
  if (wanted.timeoutMs === timeoutMs) return `SELECT ${calls}`;
  for (const [name, value] of Object.entries(settingsFor(client, wanted)))
    if (settings[name] !== value) calls += `, set_config('${name}', ${literal(value)}, true)`;
  return `SELECT ${calls}`;
}

/** How the server says that it was another process. */
export const OTHER_SESSION = '22012';

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 63);
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
