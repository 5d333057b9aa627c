/**
 * A Snowflake database as a `SqlEngine` (design §6, §7): a few sessions, statements one by one.
 *
 * 1. Snowflake has no read-only transaction and no snapshot over several statements. The role is what prevents writes: its
 *    grants are read once, and a role that can do more than read is refused (`role.ts`).
 * 2. If the configuration allows a privileged role, the server first compiles each statement as a subquery
 *    (`SELECT 1 FROM (…)`) without executing it. Only a query compiles both there and alone.
 * 3. Every statement sees what was committed before it began. The statements of a run do not share a snapshot.
 * 4. A run in which a statement timed out is repeated once on a fresh session; an abort cancels the statement.
 * 5. With a ceiling on scanned bytes, the plan is checked first, within the statement's time limit (`scan.ts`).
 */
import type { DatabaseDescription, SqlResult } from '../../domain';
import type { SqlEngine, SqlOptions, SqlSnapshot } from '../../domain/ports/sql-engine';
import { Pool } from '../pool';
import { digestOf, hasTimedOut, stopwatch } from '../results';
import { describeSnowflake } from './describe';
import { toEngineError, toResult } from './errors';
import { refuseWriter } from './role';
import { refuseScan } from './scan';
import { loadSdk, type LoadSdk, openSession, Unanswered, type Request, type Session, columnKind } from './session';
import { connectionOptions, readTarget, type SnowflakeLoginSettings, type Target } from './target';
import { readStatement } from './inspector';

export interface SnowflakeEngineSettings {
  /** `snowflake://user@account/database/schema?warehouse=…&role=…` */
  readonly url: string;
  readonly options?: {
    /** Default: the password in the URL. */
    readonly login?: SnowflakeLoginSettings | null;
    readonly role?: string | null;
    /** Schemas to describe; default: the schema in the URL, else all schemas. */
    readonly schemas?: readonly string[];
    readonly accessUrl?: string | null;
    readonly allowPrivilegedRole?: boolean;
    /** Sessions kept at most; default 4. */
    readonly poolSize?: number;
    /** Statements whose plan scans more bytes are refused; default: no limit. */
    readonly maxScanBytes?: number;
    readonly connectTimeoutMs?: number;
    /** Where the driver comes from; default: the package snowflake-sdk. */
    readonly load?: LoadSdk;
  };
}

const DESCRIBE_TIMEOUT_MS = 30_000;

export function createSnowflakeEngine(settings: SnowflakeEngineSettings): SqlEngine {
  const account = new Account(settings);
  return {
    dialect: 'snowflake',
    run: (statements, request) => account.run(statements, request),
    async digest(sql, request) {
      const statement = readStatement(sql);
      if (statement.kind !== 'select') return { kind: 'refused', message: statement.message };
      const types = await account.typesOf(statement.text, request);
      if (!Array.isArray(types)) return types;
      return digestOf(await account.run([digestSql(statement.text, types)], request));
    },
    describe: ({ signal }) => account.describe(signal),
    close: () => account.close(),
  };
}

class Account {
  readonly #target: Target;
  readonly #options: NonNullable<SnowflakeEngineSettings['options']>;
  readonly #connectTimeoutMs: number;
  readonly #pool: Pool<Session>;
  #proven: Promise<void> | null = null;

  constructor({ url, options = {} }: SnowflakeEngineSettings) {
    this.#target = readTarget({ url, ...options });
    this.#options = options;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 30_000;
    this.#pool = new Pool(options.poolSize ?? 4, (signal) => this.#open(signal));
  }

  async run(statements: readonly string[], request: SqlOptions): Promise<SqlSnapshot> {
    const first = await this.#attempt(statements, request);
    return first.results.some(hasTimedOut) ? this.#attempt(statements, request) : first;
  }

  /** The server's names of the types of a statement's columns, without reading a row; or the error. */
  async typesOf(sql: string, request: SqlOptions): Promise<string[] | SqlResult> {
    return this.#withSession(request.signal, (session) =>
      session.execute(sql, { ...request, describeOnly: true }).then(
        ({ types }) => types,
        (error: unknown) => toResult(error, this.#target, { timeoutMs: request.timeoutMs, elapsedMs: 0 }),
      ),
    );
  }

  describe(signal: AbortSignal): Promise<DatabaseDescription> {
    const request = { tag: 'describe', timeoutMs: DESCRIBE_TIMEOUT_MS, maxRows: 200_000, signal };
    const place = { ...this.#target, schemas: this.#options.schemas ?? [] };
    return this.#withSession(signal, (session) =>
      describeSnowflake((sql, more) => session.execute(sql, { ...request, ...more }), place),
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #open(signal: AbortSignal): Promise<Session> {
    const sdk = await loadSdk(this.#options.load);
    const limits = { connectTimeoutMs: this.#connectTimeoutMs, signal };
    return this.#told(signal, async () => {
      const session = await openSession(sdk, connectionOptions(this.#target), limits);
      try {
        if (this.#options.allowPrivilegedRole !== true) await this.#prove(session, signal);
        return session;
      } catch (error) {
        await session.close();
        throw error;
      }
    });
  }

  /** Checks the role once per engine: all its sessions have the same role. */
  #prove(session: Session, signal: AbortSignal): Promise<void> {
    const request = { tag: 'check', timeoutMs: this.#connectTimeoutMs, maxRows: 10, signal };
    this.#proven ??= refuseWriter(session, request).catch((error: unknown) => {
      this.#proven = null;
      throw error;
    });
    return this.#proven;
  }

  #withSession<T>(signal: AbortSignal, use: (session: Session, drop: () => void) => Promise<T>): Promise<T> {
    return this.#pool.use(signal, (session, drop) => this.#told(signal, () => use(session, drop)));
  }

  async #told<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw toEngineError(error, this.#target);
    }
  }

  async #attempt(statements: readonly string[], request: SqlOptions): Promise<SqlSnapshot> {
    const takenAt = new Date().toISOString();
    const results: SqlResult[] = [];
    // A session is dropped after a timeout; the remaining statements continue in a new one.
    while (results.length < statements.length) {
      await this.#withSession(request.signal, async (session, drop) => {
        for (const sql of statements.slice(results.length)) {
          const result = await this.#one(session, sql, request);
          results.push(result);
          if (!hasTimedOut(result)) continue;
          drop();
          return;
        }
      });
    }
    return { takenAt, results };
  }

  async #one(session: Session, sql: string, request: Request): Promise<SqlResult> {
    const elapsed = stopwatch();
    const statement = readStatement(sql);
    if (statement.kind !== 'select') return { kind: 'refused', message: statement.message };
    const { text } = statement;
    const { allowPrivilegedRole = false, maxScanBytes } = this.#options;
    try {
      if (allowPrivilegedRole)
        await session.execute(`SELECT 1 FROM (\n${text}\n) AS gate_check LIMIT 0`, { ...request, describeOnly: true });
      let { timeoutMs } = request;
      if (maxScanBytes !== undefined) {
        const refused = await refuseScan(session, text, request, maxScanBytes);
        if (refused !== null) return refused;
        timeoutMs = Math.max(1, timeoutMs - elapsed());
      }
      const { columns, rows, truncated } = await session.execute(text, { ...request, timeoutMs });
      return { kind: 'rows', columns, rows, truncated, elapsedMs: elapsed() };
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof Unanswered) return { kind: 'timeout', afterMs: request.timeoutMs };
      return toResult(error, this.#target, { timeoutMs: request.timeoutMs, elapsedMs: elapsed() });
    }
  }
}

/** 2^48: a sum over 30 million rows has far fewer than 38 digits, and a sum over a few rows fits a double. */
const MODULUS = 281_474_976_710_656;

/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position; whole numbers enter exactly, others with 7 significant
 * digits, computed by arithmetic, because no number format of Snowflake prints an exponent of fixed width.
 */
export function digestSql(sql: string, types: readonly string[]): string {
  const names = types.map((_, index) => `c${index}`);
  const row = types.map((type, index) => part(`c${index}`, type)).join(` || '|' || `) || `''`;
  return `WITH gate_rows${names.length === 0 ? '' : `(${names.join(', ')})`} AS (\n${sql}\n), gate_hashes AS (
    SELECT MOD(MD5_NUMBER_UPPER64(gate_text), ${MODULUS}) AS high, MOD(MD5_NUMBER_LOWER64(gate_text), ${MODULUS}) AS low FROM (SELECT ${row} AS gate_text FROM gate_rows) AS gate_texts
  ) SELECT COUNT(*), COALESCE(SUM(high), 0), COALESCE(SUM(low), 0) FROM gate_hashes`;
}

function part(name: string, type: string): string {
  if (columnKind(type) !== 'number')
    return `COALESCE('t' || LENGTH(TO_VARCHAR(${name})) || ':' || TO_VARCHAR(${name}), 'n')`;
  const value = `${name}::DOUBLE`;
  const exponent = `FLOOR(LOG(10, ABS(${value})))`;
  const mantissa = `ROUND(${value} / POWER(10, ${exponent}), 6)`;
  // A double has 15 reliable digits.
  const [exact, limit] = type.toLowerCase() === 'fixed' ? [name, ''] : [value, ` AND ABS(${value}) <= 1e15`];
  const whole = `ABS(${exact}) >= 10000000${limit} AND ${exact} = FLOOR(${exact})`;
  return `CASE WHEN ${name} IS NULL THEN 'n' WHEN LOWER(TO_VARCHAR(${value})) IN ('nan', 'inf', '-inf') THEN LOWER(TO_VARCHAR(${value})) WHEN ${value} = 0 THEN 'd0'
      WHEN ${whole} THEN 'd' || TO_VARCHAR(${exact}::NUMBER(38, 0))
      WHEN ABS(${mantissa}) >= 10 THEN 'd' || TO_VARCHAR((${mantissa} / 10)::NUMBER(9, 6)) || 'e' || TO_VARCHAR((${exponent} + 1)::NUMBER(6, 0))
      ELSE 'd' || TO_VARCHAR(${mantissa}::NUMBER(9, 6)) || 'e' || TO_VARCHAR(${exponent}::NUMBER(6, 0)) END`;
}
