/**
 * What holds in every transaction: limits, whose rights it has, who is said to ask, and how values print.
 *
 * 1. A superuser's session lays its rights down for the transaction (`pg_read_all_data`, which reads every table and may
 *    do nothing else), so that files, programs, large objects and other sessions are out of reach. Row-level security
 *    then is an error instead of a silent filter.
 * 2. What most transactions have is set once for the session, where the connection has one of its own: a pooler between
 *    (PgBouncer and its like) gives every transaction another session, and then all is set for each transaction. Every
 *    transaction checks that it is where it should be. What a statement sets ends with its transaction either way.
 */
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
/** Predefined since 14: reads all tables, is allowed nothing else. */
const READER = 'pg_read_all_data';

function laysDownRights(client: GateClient, role: string | null): boolean {
  return role === null && client.isSuperuser && client.serverVersion >= 14;
}

/** The functions of the database that this session may call have the rights of a superuser. */
export function keepsSuperuserRights(client: GateClient, role: string | null): boolean {
  return client.isSuperuser && (role === null || role === 'none') && !laysDownRights(client, role);
}

type Settings = Readonly<Record<string, string>>;

/** What they are for most transactions; the others have them otherwise. */
function usual(client: GateClient, role: string | null): Settings {
  return {
    lock_timeout: String(LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
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
    ...(laysDownRights(client, role) ? { row_security: 'off' } : {}),
  };
}

/** Once for a new connection; a transaction does without as well. */
export async function settle(client: GateClient, role: string | null): Promise<void> {
  client.settled = {};
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid()::text AS pid');
  if (!client.isBackend(rows[0]?.pid)) return;
  const settings = usual(client, role);
  const texts = Object.entries(settings).map(([name, value]) => `SET SESSION ${name} TO ${literal(value)}`);
  await client.query(texts.join('; '));
  client.settled = settings;
}

/** One statement in place of a dozen. It prints the process that serves the session first. */
export function settingsOf(client: GateClient, { timeoutMs, tag, role, schemas }: SessionSettings): string {
  const taken = laysDownRights(client, role) ? READER : role === 'none' ? null : role;
  const milliseconds = Math.max(1, Math.ceil(timeoutMs));
  const wanted: Settings = {
    ...usual(client, role),
    statement_timeout: String(milliseconds),
    lock_timeout: String(Math.min(LOCK_TIMEOUT_MS, milliseconds)),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_IN_TRANSACTION_MS, milliseconds * 2)),
    application_name: applicationName(tag),
    ...(schemas.length > 0 ? { search_path: schemas.map(identifier).join(', ') } : {}),
    // Last, since it may not be allowed to set the others.
    ...(taken === null ? {} : { role: taken }),
  };
  const calls = Object.entries(wanted)
    .filter(([name, value]) => client.settled?.[name] !== value)
    .map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`);
  return `SELECT pg_backend_pid()::text, ${calls.join(', ')}`;
}

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 63);
}

export const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
