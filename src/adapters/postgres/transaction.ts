/**
 * One transaction, READ ONLY and REPEATABLE READ, that always ends by ROLLBACK (design §7), with all its settings: limits,
 * role, application name, and how values print.
 *
 * 1. A superuser gives up its rights for the transaction by the role `pg_read_all_data`, which reads every table and may
 *    do nothing else. So files, programs, large objects and other sessions are out of reach. Row-level security is then
 *    an error instead of a silent filter. Before PostgreSQL 14 this role does not exist: the transaction of a superuser
 *    does not begin there, unless the configuration names a role, or `none`, which keeps all rights.
 * 2. Every transaction makes all settings, because a pooler (PgBouncer and the like) may give each another session. Whatever
 *    a statement sets ends with its transaction.
 * 3. BEGIN is sent together with the first statement, and outside of a transaction no cursor can be declared. The end is not
 *    awaited, because the server handles it before whatever is sent next.
 */
import { identifier, literal } from '../results';
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

/** Also releases what outlives a transaction: advisory locks and prepared statements. */
const END = 'ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all(); DEALLOCATE ALL';

export class Transaction {
  #begun: Promise<unknown> | null = null;

  constructor(
    readonly client: GateClient,
    private readonly settings: SessionSettings,
  ) {}

  /** Sends BEGIN, if that has not been sent yet. Rejects with the server's error. */
  begin(): Promise<unknown> {
    return (this.#begun ??= this.client.query(beginning(this.settings)));
  }

  /** Rolls back to before the last statement, cursor included. Not awaited: later queries are queued after it. */
  undo(): void {
    // It fails only after a lost connection, which was reported already.
    this.client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }

  /** A connection on which this fails is not used again. */
  end(): void {
    if (this.#begun !== null) this.client.query(END).catch(() => this.client.disconnect());
  }
}

function beginning({ timeoutMs, tag, role, schemas }: SessionSettings): string {
  const milliseconds = Math.max(1, Math.ceil(timeoutMs));
  const ofSuperuser = (value: string, name: string): string =>
    `CASE WHEN current_setting('is_superuser') = 'on' THEN '${value}' ELSE current_setting('${name}') END`;
  const settings: [name: string, value: string][] = [
    ['statement_timeout', literal(`${milliseconds}`)],
    ['lock_timeout', literal(`${Math.min(LOCK_TIMEOUT_MS, milliseconds)}`)],
    ['idle_in_transaction_session_timeout', literal(`${Math.max(IDLE_IN_TRANSACTION_MS, milliseconds * 2)}`)],
    // How dates print. The order in which they are read (month or day first) is not changed.
    ['datestyle', `'ISO'`],
    ['intervalstyle', `'postgres'`],
    ['bytea_output', `'hex'`],
    ['extra_float_digits', `'1'`],
    // The parser that checks statements reads strings in this way.
    ['standard_conforming_strings', `'on'`],
    ['client_min_messages', `'error'`],
    // The whole result is read, so plan for that and not for a fast first row.
    ['cursor_tuple_fraction', `'1'`],
    // Ends a statement soon after its client was killed or gave it up, even if it has sent no row yet.
    ['client_connection_check_interval', `'2000'`],
    ['application_name', literal(applicationName(tag))],
  ];
  if (schemas.length > 0) settings.push(['search_path', literal(schemas.map(identifier).join(', '))]);
  // The role is last, because it may not be allowed to set the others.
  if (role === null)
    settings.push(
      ['row_security', ofSuperuser('off', 'row_security')],
      ['role', ofSuperuser('pg_read_all_data', 'role')],
    );
  else if (role !== 'none') settings.push(['role', literal(role)]);
  const rows = settings.map(([name, value]) => `('${name}', ${value})`).join(', ');
  // A setting that this version does not know is left out.
  return `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SELECT pg_catalog.set_config(name, value, true) FROM (VALUES ${rows}) AS settings(name, value)
    WHERE pg_catalog.current_setting(name, true) IS NOT NULL;
    SAVEPOINT gate`;
}

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]|\\/g, '?').slice(0, 63);
}

/**
 * Bytes that are not UTF-8 arrive as U+FFFD, until the end of the transaction, from a database without an encoding. So the
 * catalogues are read: else one such byte in a comment or a function would make the whole database unreadable. In the result
 * of a statement such a byte is an error.
 */
export const TAKE_ANY_BYTES =
  "SELECT set_config('client_encoding', 'SQL_ASCII', true) WHERE current_setting('server_encoding') = 'SQL_ASCII'; SAVEPOINT gate";
