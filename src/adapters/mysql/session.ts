/**
 * A connection whose transactions are READ ONLY snapshots that always end by ROLLBACK, and the statements in them.
 *
 * 1. The session itself is READ ONLY, so that what would end the transaction (DDL commits it) is refused too, and so is what
 *    would run after it.
 * 2. Each statement is prepared before it is executed, which takes one statement only. What returns no columns (SET, INTO
 *    OUTFILE, KILL, FLUSH, calls, DDL) is never executed, whatever the text says.
 * 3. `sql_mode` is what the reader of statements and the dialect expect: "…" are names, a backslash is a character, a division
 *    has ten more digits than its operands, times are UTC.
 * 4. A statement that is given up, or whose rows are enough, is killed on the server by a second connection.
 */
import type { Socket } from 'node:net';
import type { Connection, QueryError, TypeCastField } from 'mysql2';
import type { SqlValue } from '../../domain';
import { type Asked, type Outcome, type Session } from '../kit/engine';
import { digestSql } from '../kit/digest';
import { CappedRows } from '../kit/value-text';
import { answered, connect, socketOf, type Address } from './address';
import { toEngineError, toOutcome } from './errors';
import { columnKind, DIGEST, isOpaque, rowConverter, type Field } from './values';

export type Rows = readonly (readonly SqlValue[])[];

const MODE =
  'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_UNSIGNED_SUBTRACTION';
/**
 * A server may have other values of its own for each of these. Seconds, characters, digits, rows. MariaDB would end a recursion
 * after 1,000 rounds and say nothing; the time limit ends one. It joins columns without an index by a loop over both tables,
 * unless it may hash them.
 */
const settingsOf = (isMariaDb: boolean): string =>
  `SET NAMES utf8mb4, SESSION sql_mode = '${MODE}', time_zone = '+00:00', autocommit = 1, lock_wait_timeout = 5,
    innodb_lock_wait_timeout = 5, group_concat_max_len = 16777216, div_precision_increment = 10, sql_select_limit = 18446744073709551615,
    ${isMariaDb ? 'max_recursive_iterations = 4294967295, join_cache_level = 8' : 'cte_max_recursion_depth = 4294967295'}`;
const READ_ONLY = 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY';
/** After its time limit a statement is killed, if the server's own limit did not end it. */
const KILL_AFTER_MS = 500;
const NOTHING_RETURNED: Outcome = {
  kind: 'refused',
  message: 'this statement returns no rows: write one SELECT that only reads',
};

/** 256 MB. */
const SMALL_BYTES = 268_435_456;
const SIZE_KEPT_MS = 3_600_000;
const SIZE = 'SELECT COALESCE(SUM(data_length), 0) FROM information_schema.tables WHERE table_schema = DATABASE()';

/** What all sessions of a server need to know, asked by the first of them. */
export interface Server {
  /** As the server says it: `8.4.3`, `10.11.6-MariaDB-…`. */
  version?: string;
  /** Whether all that the database stores is read within a moment. */
  size?: { readonly isSmall: boolean; readonly at: number };
}

/** Of the session's own statements. Rejects with the driver's error. */
export async function query(connection: Connection, sql: string): Promise<Rows> {
  const [rows] = await connection.promise().query(sql);
  return rows as unknown as Rows;
}

export class MysqlSession implements Session {
  #isUp = true;
  #runs = false;
  /** Ends the wait for what runs. */
  #fail: (error: Error) => void = () => undefined;
  /** What the server has of `limit`. */
  #limits = '';
  /** User locks outlive a transaction. */
  #mayHoldLocks = false;
  /** What was sent to end a statement, until it was heard of. */
  #killing: Promise<unknown> | null = null;

  private constructor(
    readonly connection: Connection,
    private readonly address: Address,
    private readonly server: Server,
  ) {
    for (const event of ['error', 'end']) connection.on(event, (error?: Error) => this.#lose(error));
  }

  static async open(address: Address, server: Server = {}): Promise<MysqlSession> {
    const connection = await connect(address);
    try {
      const session = new MysqlSession(connection, address, server);
      await answered(connection, session.#set());
      return session;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  async #set(): Promise<void> {
    const { server } = this;
    server.version ??= String((await this.query('SELECT VERSION()'))[0]?.[0]);
    await this.query(settingsOf(this.isMariaDb));
    await this.query(READ_ONLY);
    if (this.isMariaDb && Date.now() - (server.size?.at ?? 0) > SIZE_KEPT_MS) {
      const [[bytes] = []] = await this.query(SIZE);
      server.size = { isSmall: Number(bytes) <= SMALL_BYTES, at: Date.now() };
    }
  }

  /** The driver tells a lost connection to its listeners, and not to the statement that runs. */
  #lose(error = new Error('the connection was closed')): void {
    this.#isUp = false;
    this.#fail(error);
  }

  isUp(): boolean {
    return this.#isUp;
  }

  get version(): string {
    return this.server.version ?? '';
  }

  /** As people call it. */
  get serverName(): string {
    return `${this.isMariaDb ? 'MariaDB' : 'MySQL'} ${this.version}`;
  }

  get isMariaDb(): boolean {
    return /mariadb/i.test(this.version);
  }

  async begin({ timeoutMs }: Pick<Asked, 'timeoutMs'>): Promise<void> {
    this.#socket.ref();
    await this.limit(timeoutMs);
    await this.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  }

  /**
   * The server's own time limit of what follows. MariaDB computes a value of a subquery for each pair of rows, unless the
   * subquery is a table of its own, which costs memory: so only in a small database.
   */
  async limit(timeoutMs: number): Promise<void> {
    const milliseconds = Math.max(1, Math.ceil(timeoutMs));
    const merges = this.server.size?.isSmall === true ? 'off' : 'on';
    const limits = this.isMariaDb
      ? `max_statement_time = ${milliseconds / 1000}, optimizer_switch = 'derived_merge=${merges}'`
      : `max_execution_time = ${milliseconds}`;
    if (this.#limits === limits) return;
    await this.query(`SET SESSION ${limits}`);
    this.#limits = limits;
  }

  execute(sql: string, options: Asked): Promise<Outcome> {
    return this.#attempt(sql, options, (fields, text) => this.#rows(text, fields, options.maxRows));
  }

  /** The columns' types come from preparing the statement. */
  digestSql(sql: string, options: Asked): Promise<string | Outcome> {
    return this.#attempt(sql, options, (fields) => Promise.resolve(digestSql(sql, fields, DIGEST)));
  }

  /** Of the engine's own queries. */
  async query(sql: string): Promise<Rows> {
    return query(this.connection, sql);
  }

  /** Not awaited: the driver sends what comes next after it. */
  end(): Promise<void> {
    query(this.connection, 'ROLLBACK').catch(() => this.cut());
    if (this.#mayHoldLocks) query(this.connection, 'DO RELEASE_ALL_LOCKS()').catch(() => this.cut());
    this.#mayHoldLocks = false;
    this.#socket.unref();
    return Promise.resolve();
  }

  cut(): void {
    if (this.#runs && this.#isUp) void this.#kill('CONNECTION');
    this.#lose();
    this.#socket.destroy();
  }

  async close(): Promise<void> {
    await this.#killing;
    this.#isUp = false;
    this.#socket.destroy();
  }

  async #attempt<T>(
    sql: string,
    { timeoutMs, tag, traceparent }: Asked,
    use: (fields: readonly Field[], text: string) => Promise<T | Outcome>,
  ): Promise<T | Outcome> {
    this.#mayHoldLocks ||= /lock/i.test(sql);
    this.#runs = true;
    const late = setTimeout(() => void this.#kill('QUERY'), timeoutMs + KILL_AFTER_MS);
    // In front, because an error quotes the end of the text; on its line, so that no line number moves.
    const trace = traceparent === undefined ? '' : ` traceparent='${comment(traceparent)}'`;
    const text = `/*gate ${comment(tag.replace(/^gate /, ''))}${trace}*/ ${sql}`;
    const lost = new Promise<never>((_, reject) => (this.#fail = reject));
    const run = async (): Promise<T | Outcome> => {
      const fields = await this.#prepare(text);
      return fields.length === 0 ? NOTHING_RETURNED : use(fields, text);
    };
    try {
      return await Promise.race([lost, run()]);
    } catch (error) {
      return toOutcome(error, this.address.target);
    } finally {
      clearTimeout(late);
      this.#runs = false;
      if (this.#isUp) this.connection.unprepare(text);
      if (this.#isUp && this.#killing !== null) await this.#settle();
    }
  }

  async #prepare(text: string): Promise<readonly Field[]> {
    const prepared: unknown = await this.connection.promise().prepare(text);
    return (prepared as { readonly statement: { readonly columns: Field[] } }).statement.columns;
  }

  /** The driver takes what was prepared by its text. */
  async #rows(text: string, prepared: readonly Field[], maxRows: number): Promise<Outcome> {
    const capped = new CappedRows(maxRows);
    let fields = prepared;
    let convert = rowConverter(fields);
    const run = this.connection.execute({
      sql: text,
      ...(prepared.some(isOpaque) && {
        typeCast: (field: TypeCastField, next: () => unknown) => (isOpaqueName(field.type) ? field.buffer() : next()),
      }),
    });
    run.on('fields', (own) => {
      fields = own as unknown as readonly Field[];
      convert = rowConverter(fields);
    });
    await new Promise<void>((resolve, reject) => {
      run.on('result', (row) => {
        if (capped.truncated || capped.add(convert(row as never))) return;
        void this.#kill('QUERY');
      });
      run.on('error', (error: QueryError) => (capped.truncated && error.errno === 1317 ? resolve() : reject(error)));
      run.on('end', resolve);
    });
    const columns = fields.map((field) => ({ name: field.name, kind: columnKind(field) }));
    return { kind: 'rows', columns, rows: capped.rows, truncated: capped.truncated };
  }

  /** What cannot be killed ends by the server's time limit, or when it notices that nobody reads. */
  async #kill(what: 'QUERY' | 'CONNECTION'): Promise<void> {
    const { threadId } = this.connection;
    const kill = async (): Promise<void> => {
      const second = await connect(this.address);
      await answered(second, query(second, `KILL ${what} ${threadId}`)).finally(() => second.destroy());
    };
    this.#killing = Promise.all([this.#killing, kill().catch(() => undefined)]);
    await this.#killing;
  }

  /** Takes a kill that came too late for its statement, so that no later one gets it. */
  async #settle(): Promise<void> {
    await this.#killing;
    this.#killing = null;
    if (!this.#isUp) return;
    await query(this.connection, 'DO 0').catch((error: unknown) => {
      if ((error as QueryError).errno !== 1317) throw toEngineError(error, this.address.target);
    });
  }

  get #socket(): Socket {
    return socketOf(this.connection);
  }
}

const isOpaqueName = (type: string): boolean => type === 'GEOMETRY' || type === 'VECTOR';

/** Nothing that would end a comment, or make one that is executed. */
const comment = (text: string): string => text.replace(/[^\w .:=-]/g, '_').slice(0, 200);
