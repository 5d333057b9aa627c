/**
 * A connection in one READ ONLY, REPEATABLE READ transaction that always ends by ROLLBACK, and the statements in it (design §7).
 *
 * 1. A superuser gives up its rights for the transaction by the role `pg_read_all_data`, which reads every table and may
 *    do nothing else. So files, programs, large objects and other sessions are out of reach. Row-level security is then
 *    an error instead of a silent filter. Before PostgreSQL 14 this role does not exist: the transaction of a superuser
 *    does not begin there, unless the configuration names a role, or `none`, which keeps all rights.
 * 2. Every transaction makes all settings, because a pooler (PgBouncer and the like) may give each another session. Whatever
 *    a statement sets ends with its transaction.
 * 3. Every statement is the query of a server-side cursor: `DECLARE … CURSOR FOR` takes one SELECT or VALUES and nothing
 *    else (no COPY, no COMMIT, no SET, no data-modifying WITH), whatever the text says, and the rows come in pages. It goes
 *    through the extended protocol, where the server refuses a second statement.
 * 4. A savepoint before each statement, so that one that fails does not affect the later ones.
 * 5. A small result costs one round trip: BEGIN, the statement and its first page are one packet, with the ROLLBACK of a run
 *    just before. With a ceiling on plan costs there is one more: the plan is checked once the cursor is open, before it reads
 *    a row.
 */
import { Query, type QueryArrayResult, type QueryConfig, type QueryResult } from 'pg';
import type { SqlValue } from '../../domain';
import { identifier, literal, type Asked, type Outcome, type ServerPlace, type Session } from '../kit/engine';
import { digestSql } from '../kit/digest';
import { MAX_RESULT_BYTES } from '../kit/value-text';
import type { GateClient } from './connection';
import { toEngineError, toOutcome } from './errors';
import { dearestStep, refusePlan } from './plan';
import { columnKind, converterFor, DIGEST } from './values';

export interface SessionSettings {
  readonly target: ServerPlace;
  /** null: the login's own rights, unless it is a superuser; `none`: the login's own rights in any case. */
  readonly role: string | null;
  /** The search path; empty: the login's own. */
  readonly schemas: readonly string[];
  /** Statements with a higher planner estimate are refused; null: no limit. */
  readonly maxPlanCost: number | null;
}

type Limits = Pick<Asked, 'timeoutMs' | 'tag' | 'isReading'>;

const IDLE_IN_TRANSACTION_MS = 60_000;
const LOCK_TIMEOUT_MS = 5_000;
const CURSOR = 'gate_cursor';
/** Put before the caller's statement; positions in the server's messages include its length. */
const DECLARE = `DECLARE ${CURSOR} NO SCROLL CURSOR FOR `;
const EXPLAIN = 'EXPLAIN (FORMAT JSON) ';
/** Small, because the width of the rows is not known yet; later pages are sized by the rows received. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 10_000;
/** A page of rows larger than this closes the connection. */
const MAX_PAGE_BYTES = 128 * 1024 * 1024;
/** For a server that no longer answers. */
const CLOSE_WITHIN_MS = 2_000;
/** Also releases what outlives a transaction: advisory locks and prepared statements. */
const END = 'ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all(); DEALLOCATE ALL';
const TOO_LARGE = `the rows of this result are too large (more than ${MAX_PAGE_BYTES / 1024 / 1024} MB at once): select parts of the values, for example left(column, 1000), or their length`;

type Page = QueryArrayResult<SqlValue[]>;

export class PostgresSession implements Session {
  #begun: Promise<unknown> = Promise.resolve();
  #isUp = true;
  /** Whether the database is small, once it was asked. */
  #isSmall: boolean | null = null;

  constructor(
    readonly client: GateClient,
    private readonly settings: SessionSettings,
  ) {
    for (const event of ['error', 'end'] as const) client.on(event, () => (this.#isUp = false));
  }

  isUp(): boolean {
    return this.#isUp && !this.client.overran;
  }

  /** Sent together with the first statement, which awaits it: outside of a transaction no cursor can be declared. A reading waits. */
  begin(limits: Limits): Promise<void> {
    this.client.hold(true);
    this.client.gather();
    const begun = this.client.query(beginning(this.settings, limits, this.#isSmall));
    this.#begun = begun;
    begun.then(
      (results) => (this.#isSmall ??= isSmallBy(results)),
      () => undefined,
    );
    return limits.isReading === true ? this.#takeAnyBytes() : Promise.resolve();
  }

  /** Rejects with what kept the transaction from beginning, for which no statement is to blame. */
  begun(): Promise<unknown> {
    return this.#begun.catch((error: unknown) => {
      throw toEngineError(error, this.settings.target);
    });
  }

  execute(sql: string, options: Asked): Promise<Outcome> {
    const { maxRows, timeoutMs } = options;
    const late = Date.now() + timeoutMs;
    const size = Math.min(FIRST_PAGE, maxRows + 1);
    return this.#attempt(sql, options, size, async (first) => {
      const columns = first.fields.map(({ name, dataTypeID }) => ({ name, kind: columnKind(dataTypeID) }));
      const { rows } = first;
      let bytes = this.client.receivedBytes;
      for (let more = rows.length === size; ;) {
        const truncated = rows.length > maxRows || (bytes > MAX_RESULT_BYTES && more);
        if (truncated || !more) return { kind: 'rows', columns, rows: rows.slice(0, maxRows), truncated };
        if (Date.now() > late) return { kind: 'timeout' };
        const fitting = Math.ceil(((MAX_RESULT_BYTES - bytes) * rows.length) / Math.max(1, bytes)) + 1;
        const next = Math.min(NEXT_PAGE, maxRows + 1 - rows.length, fitting);
        const page = await this.#fetch(next);
        for (const row of page.rows) rows.push(row);
        bytes += this.client.receivedBytes;
        more = page.rows.length === next;
      }
    });
  }

  /** The columns' types come with an empty page. */
  digestSql(sql: string, options: Asked): Promise<string | Outcome> {
    return this.#attempt(sql, options, 0, ({ fields }) => {
      const types = fields.map(({ dataTypeID }) => dataTypeID);
      return Promise.resolve(digestSql(sql.replace(/[;\s]+$/, ''), types, DIGEST));
    });
  }

  /** For the engine's own queries, which have no limit of bytes. */
  async #takeAnyBytes(): Promise<void> {
    this.client.allowBytes(Number.POSITIVE_INFINITY);
    await this.begun();
    await this.client.query(TAKE_ANY_BYTES);
  }

  /** Not awaited, because the server handles it before whatever is sent next. */
  end(): Promise<void> {
    this.client.gather();
    this.client.query(END).catch(() => this.cut());
    this.client.hold(false);
    return Promise.resolve();
  }

  cut(): void {
    this.#isUp = false;
    this.client.disconnect();
  }

  /** Held until the server is gone: a process with nothing else to wait for would end in the middle of its own closing. */
  async close(): Promise<void> {
    if (!this.isUp()) {
      this.client.disconnect();
      return;
    }
    this.client.hold(true);
    const late = setTimeout(() => this.client.disconnect(), CLOSE_WITHIN_MS);
    await this.client.end().finally(() => clearTimeout(late));
  }

  /** Sends the statement and its first page at once, unless its plan is to be looked at. */
  async #attempt<T>(
    sql: string,
    { traceparent, again, isLast }: Asked,
    size: number,
    read: (first: Page) => Promise<T | Outcome>,
  ): Promise<T | Outcome> {
    const { client } = this;
    client.gather();
    const ceiling = size === 0 ? null : this.settings.maxPlanCost;
    // The trace is a comment in sqlcommenter's form, for the server's log and its statistics. It is last, so no position moves,
    // and on a line of its own, because the statement may end in a comment.
    const text = `${DECLARE}${sql}${traceparent === undefined ? '' : `\n/*traceparent='${traceparent}'*/`}`;
    const explained = ceiling === null ? null : extended(client, `${EXPLAIN}${text}`);
    // The cursor is opened in the same message as the plan is asked for: until rows are fetched it reads nothing.
    const declared = extended(client, text);
    const first = ceiling === null ? this.#fetch(size) : null;
    for (const sent of [explained, declared, first]) sent?.catch(() => undefined); // awaited below, in their order
    let offset = DECLARE.length + EXPLAIN.length;
    try {
      await this.begun();
      const plan = (await explained)?.rows[0]?.['QUERY PLAN'];
      offset = DECLARE.length;
      await declared;
      const refused = ceiling === null ? null : refusePlan(plan, ceiling);
      return refused ?? (await read(await (first ?? this.#fetch(size))));
    } catch (error) {
      if (client.overran) return { kind: 'sql-error', message: TOO_LARGE, code: '54000' };
      const outcome = toOutcome(error, this.settings.target, offset);
      return outcome.kind === 'timeout' && again === true ? { ...outcome, ...(await this.#dearest(text)) } : outcome;
    } finally {
      // Back to before the statement, cursor included; after the last one all is rolled back. It fails only after a lost
      // connection, which was reported already.
      if (!isLast) client.query('ROLLBACK TO SAVEPOINT gate').catch(() => undefined);
    }
  }

  /** Asked for when a statement was stopped for the second time. */
  async #dearest(text: string): Promise<{ dearest?: string }> {
    try {
      await this.client.query('ROLLBACK TO SAVEPOINT gate');
      const { rows } = await extended(this.client, `${EXPLAIN}${text}`);
      const dearest = dearestStep(rows[0]?.['QUERY PLAN']);
      return dearest === null ? {} : { dearest };
    } catch {
      return {};
    }
  }

  /** The columns of the open cursor and its next rows; 0 asks for the columns only. */
  #fetch(rows: number): Promise<Page> {
    this.client.allowBytes(MAX_PAGE_BYTES);
    return new Promise((resolve, reject) => {
      this.client.query(new PageQuery(rows, (error, page) => (error ? reject(error) : resolve(page))));
    });
  }
}

function extended(client: GateClient, text: string): Promise<QueryResult<Record<string, unknown>>> {
  return client.query({ text, queryMode: 'extended' } as QueryConfig);
}

/** The driver's connection, at the level of protocol messages. */
interface Wire {
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
}

/**
 * A page that is read directly from the cursor's portal (portals and cursors are the same to the server), so that the server
 * shows the statement as what runs, and not a FETCH.
 */
class PageQuery extends Query {
  readonly #rows: number;

  constructor(rows: number, done: (error: Error | null, page: Page) => void) {
    const types = { getTypeParser: converterFor };
    super({ text: '', rowMode: 'array', types } as unknown as QueryConfig, done as never);
    this.#rows = rows;
  }

  override readonly submit = (connection: unknown): null => {
    const wire = connection as Wire;
    wire.describe({ type: 'P', name: CURSOR });
    if (this.#rows > 0) wire.execute({ portal: CURSOR, rows: this.#rows });
    wire.sync();
    return null;
  };

  handlePortalSuspended(): void {
    // More rows are asked for by another page.
  }
}

function beginning(
  { role, schemas, maxPlanCost }: SessionSettings,
  { timeoutMs, tag }: Limits,
  isSmall: boolean | null,
): string {
  const milliseconds = Math.max(1, Math.ceil(timeoutMs));
  const settings = [
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
    // PostgreSQL cuts the name at 63 bytes and prints anything but ASCII as question marks.
    ['application_name', literal(`gate ${tag.replace(/^gate /, '')}`.replace(/[^\x20-\x7e]|\\/g, '?').slice(0, 63))],
  ];
  if (schemas.length > 0) settings.push(['search_path', schemas.map(identifier).join(', ')]);
  // Ends a statement soon after its client was killed or gave it up, even if it has sent no row yet.
  const depending = [setIf(NOTICES_CLIENTS, 'client_connection_check_interval', '2000')];
  const mayLoop = maxPlanCost !== null || isSmall === false;
  if (!mayLoop && isSmall) depending.push(WITHOUT_LOOPS);
  // The role is last, because it may not be allowed to set the others.
  if (role === null)
    depending.push(setIf(IS_SUPERUSER, 'row_security', 'off'), setIf(IS_SUPERUSER, 'role', 'pg_read_all_data'));
  else if (role !== 'none') depending.push(setIf('true', 'role', role));
  // A SELECT takes longer than every SET together. What comes after them has the statement's time limit.
  return `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
    ${mayLoop || isSmall ? '' : `SELECT ${WITHOUT_LOOPS} WHERE ${IS_SMALL};`}
    ${settings.map(([name, value]) => `SET LOCAL ${name} = ${value};`).join(' ')}
    SELECT ${depending.join(', ')};
    SAVEPOINT gate`;
}

const IS_SUPERUSER = "pg_catalog.current_setting('is_superuser')::pg_catalog.bool";

/** From version 14 on. Where the operating system tells the server nothing of its clients (Windows), the setting is an error. */
const NOTICES_CLIENTS = `pg_catalog.current_setting('client_connection_check_interval', true) IS NOT NULL AND (pg_catalog.version() LIKE '%linux%'
      OR pg_catalog.version() LIKE '%darwin%' AND pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 150000)`;

function setIf(condition: string, name: string, value: string): string {
  return `CASE WHEN ${condition} THEN pg_catalog.set_config('${name}', ${literal(value)}, true) END`;
}

/** A setting that this version does not know is left out. */
function setKnown(name: string, value: string): string {
  return setIf(`pg_catalog.current_setting('${name}', true) IS NOT NULL`, name, value);
}

/** 256 MB. */
const SMALL_PAGES = 32_768;
/** Of long rows. */
const ROWS_OF_PAGE = 20;

/**
 * Where all that is stored is read within a moment, a join by hashing is never slow, but a nested loop over more rows than the
 * planner expected (as behind `ltrim(a) = ltrim(b)`) may take minutes. So there are none in such a database; in a larger one,
 * or with foreign tables, they may be worth it. The planner counts those that it cannot avoid as so dear that it would compile
 * the statement first, which takes longer than to run it.
 */
const WITHOUT_LOOPS = `${setKnown('enable_nestloop', 'off')}, ${setKnown('jit', 'off')}`;

/**
 * Asked once per connection, of the catalogues alone: the size of a file would wait for whoever alters the table. What was never
 * analysed has no pages yet, but rows that were counted as they came.
 */
const IS_SMALL = `(SELECT sum(CASE WHEN relpages = 0 THEN coalesce(pg_catalog.pg_stat_get_live_tuples(oid), 0) / ${ROWS_OF_PAGE} ELSE relpages END) <= ${SMALL_PAGES}
      AND NOT bool_or(relkind = 'f') FROM pg_catalog.pg_class)`;

/** The second statement of a beginning sets something only where the database is small. */
function isSmallBy(results: unknown): boolean | null {
  const second = Array.isArray(results)
    ? (results[1] as { command?: string; rowCount?: number } | undefined)
    : undefined;
  return second?.command === 'SELECT' ? (second.rowCount ?? 0) > 0 : null;
}

/**
 * Bytes that are not UTF-8 arrive as U+FFFD, until the end of the transaction, from a database without an encoding. So the
 * catalogues are read: else one such byte in a comment or a function would make the whole database unreadable. In the result
 * of a statement such a byte is an error.
 */
const TAKE_ANY_BYTES =
  "SELECT set_config('client_encoding', 'SQL_ASCII', true) WHERE current_setting('server_encoding') = 'SQL_ASCII'; SAVEPOINT gate";
