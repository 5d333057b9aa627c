/**
 * One transaction, READ ONLY and REPEATABLE READ, that always ends by ROLLBACK (design §7).
 *
 * 1. BEGIN and the settings are sent together with the first steps (`batch.ts`).
 * 2. The end is not awaited, because the server handles it before whatever is sent next; or it is sent together with the
 *    last step. A connection on which it fails is not used again.
 */
import { sendBatch, StepFailed, type Answer, type Step } from './batch';
import type { GateClient, Settings, Settled } from './connection';
import { SqlEngineError } from '../../ports/sql-engine';
import { identifier, literal } from '../results';

/** A page of rows larger than this closes the connection. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;

const BEGIN = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** Also releases what outlives a transaction: advisory locks and prepared statements. */
const END = ['ROLLBACK', 'SELECT pg_catalog.pg_advisory_unlock_all()', 'DEALLOCATE ALL'];

const statement = (text: string): Step => ({ kind: 'statement', text });

export class Transaction {
  /** The steps that begin it; empty once they are sent. */
  #beginning: readonly Step[];
  #ended = false;

  constructor(
    readonly client: GateClient,
    settings: SessionSettings,
    /** The transaction has one statement only, so it needs no savepoint. */
    readonly lone = false,
  ) {
    const texts = [BEGIN, settingsOf(client, settings), ...(lone ? [] : ['SAVEPOINT gate'])];
    this.#beginning = texts.map(statement);
  }

  /** Sends BEGIN, if that has not been sent yet. */
  async open(): Promise<void> {
    if (this.#beginning.length > 0) await this.send([]);
    this.client.allowBytes(Number.POSITIVE_INFINITY); // the engine's own queries have no limit
  }

  /**
   * `last`: the transaction ends after these steps, if they succeed. Throws the server's error if BEGIN or the settings
   * fail, `StepFailed` if a step does.
   */
  async send(steps: readonly Step[], last = false): Promise<Answer> {
    const first = this.#beginning;
    this.#beginning = [];
    this.client.allowBytes(MAX_PAGE_BYTES);
    try {
      const answer = await sendBatch(this.client, [...first, ...steps, ...(last ? END.map(statement) : [])]);
      this.#ended = last;
      return first.length === 0 ? answer : { ...answer, printed: answer.printed.slice(first.length) };
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      if (error.step < first.length) throw beginningFailed(error.reason);
      const step = error.step - first.length;
      if (step < steps.length) throw new StepFailed(step, error.reason, error.answer);
      this.#ended = true;
      this.client.disconnect();
      return error.answer;
    }
  }

  /** Rolls back to before the last statement, cursor included. Not awaited: later queries are queued after it. */
  undo(): void {
    // It fails only after a lost connection, which was reported already.
    if (!this.lone) this.client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
  }

  end(): void {
    if (this.#ended || this.#beginning.length > 0) return;
    this.client.query(END.join('; ')).catch(() => this.client.disconnect());
  }
}

function beginningFailed(reason: unknown): unknown {
  if ((reason as { code?: string }).code !== OTHER_SESSION) return reason;
  return new Error('the connection was given another session: run it again', { cause: reason });
}

/**
 * The settings of every transaction: limits, role, application name, and how values print.
 *
 * 1. A superuser gives up its rights for the transaction by the role `pg_read_all_data`, which reads every table and may
 *    do nothing else. So files, programs, large objects and other sessions are out of reach. Row-level security is then
 *    an error instead of a silent filter. Before PostgreSQL 14 this role does not exist: a superuser is refused there,
 *    unless the configuration names a role, or `none`, which keeps all rights.
 * 2. On a direct connection the settings are made once for the session, and a transaction sets only what differs. A pooler
 *    (PgBouncer and the like) may give every transaction another session; then each transaction makes all settings. Every
 *    transaction checks which server process it is in before it executes anything. Whatever a statement sets ends with
 *    its transaction.
 */

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
/** The least time limit for beginning and ending a transaction. Shorter limits are set for its statements only. */
const SESSION_MS = 5_000;
/** Predefined since PostgreSQL 14: may read all tables and nothing else. */
const READER = 'pg_read_all_data';

function laysDownRights(client: GateClient, role: string | null): boolean {
  return role === null && client.isSuperuser && client.serverVersion >= 14;
}

/** Throws for a superuser who cannot give up its rights and is not configured to keep them. */
function refuseSuperuser({ isSuperuser, serverVersion, user }: GateClient, role: string | null): void {
  if (role !== null || !isSuperuser || serverVersion >= 14) return;
  throw new SqlEngineError(
    'not-read-only',
    `PostgreSQL ${serverVersion} cannot restrict the superuser (${user ?? 'the login'}) to reading, as 14 and later can: log in as a role that may only read (gate db check NAME prints its statements), or name one with "role"; "role": "none" keeps the superuser's rights, and then only the parser prevents writes`,
  );
}

/** All settings but the application name. */
function settingsFor(client: GateClient, { timeoutMs, role, schemas }: SessionSettings): Settings {
  const lowered = laysDownRights(client, role);
  const taken = lowered ? READER : role === 'none' ? null : role;
  const milliseconds = Math.max(1, Math.ceil(timeoutMs));
  return {
    statement_timeout: String(milliseconds),
    lock_timeout: String(Math.min(LOCK_TIMEOUT_MS, milliseconds)),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_IN_TRANSACTION_MS, milliseconds * 2)),
    // How dates print. The order in which they are read (month or day first) is not changed.
    datestyle: 'ISO',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: '1',
    // The parser that checks statements reads strings in this way.
    standard_conforming_strings: 'on',
    client_min_messages: 'error',
    // The whole result is read, so plan for that and not for a fast first row.
    cursor_tuple_fraction: '1',
    // Ends a statement soon after its client was killed, even if it has sent no row yet.
    ...(client.serverVersion >= 14 ? { client_connection_check_interval: '2000' } : {}),
    ...(lowered ? { row_security: 'off' } : {}),
    ...(schemas.length > 0 ? { search_path: schemas.map(identifier).join(', ') } : {}),
    // Last, because this role may not be allowed to set the others.
    ...(taken === null ? {} : { role: taken }),
  };
}

const NOTHING: Settled = { process: null, settings: {}, timeoutMs: null };

/** Makes the settings for the session of a new connection. Without them, each transaction makes its own. */
export async function settle(client: GateClient, wanted: SessionSettings): Promise<void> {
  client.settled = NOTHING;
  const { rows } = await client.query<{ process: string; superuser: boolean }>(
    "SELECT pg_catalog.pg_backend_pid()::text AS process, pg_catalog.current_setting('is_superuser') = 'on' AS superuser",
  );
  const process = Number(rows[0]?.process);
  client.isSuperuser ||= rows[0]?.superuser === true; // a pooler may not have reported it
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

/** All settings in one statement. It divides by zero, which stops the batch, if another server process serves the session. */
function settingsOf(client: GateClient, wanted: SessionSettings): string {
  const { process, settings, timeoutMs } = client.settled ?? NOTHING;
  let calls = `set_config('application_name', ${literal(applicationName(wanted.tag))}, true)`;
  if (process !== null) calls = `1 / (pg_catalog.pg_backend_pid() = ${process})::integer, ${calls}`;
  if (wanted.timeoutMs === timeoutMs) return `SELECT ${calls}`;
  for (const [name, value] of Object.entries(settingsFor(client, wanted)))
    if (settings[name] !== value) calls += `, set_config('${name}', ${literal(value)}, true)`;
  return `SELECT ${calls}`;
}

/** SQLSTATE of that division by zero. */
const OTHER_SESSION = '22012';

/** PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks. */
function applicationName(tag: string): string {
  return `gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 63);
}
