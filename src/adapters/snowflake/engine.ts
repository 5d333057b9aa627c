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
import { SqlEngineError, type SqlEngine, type SqlOptions, type SqlSnapshot } from '../../ports/sql-engine';
import { describeSnowflake } from './describe';
import { digestSql } from './digest';
import { toEngineError, toResult } from './errors';
import { createPool } from './pool';
import { refuseWriter } from './role';
import { refuseScan } from './scan';
import { loadSdk, type LoadSdk } from './sdk';
import { openSession, Unanswered, type Request, type Session } from './session';
import { connectionOptions, readTarget, type SnowflakeLoginSettings } from './target';
import { refuseText, withoutEnd } from '../../sql/guard/snowflake-tokens';

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

export function createSnowflakeEngine({ url, options = {} }: SnowflakeEngineSettings): SqlEngine {
  const { poolSize = 4, connectTimeoutMs = 30_000, allowPrivilegedRole = false, schemas = [], maxScanBytes } = options;
  const target = readTarget({ url, ...options });
  let proven: Promise<void> | null = null;

  const pool = createPool(poolSize, async (signal) => {
    const sdk = await loadSdk(options.load);
    try {
      const session = await openSession(sdk, connectionOptions(target), { connectTimeoutMs, signal });
      await prove(session, signal).catch(async (error: unknown) => {
        await session.close();
        throw error;
      });
      return session;
    } catch (error) {
      signal.throwIfAborted();
      throw toEngineError(error, target);
    }
  });

  /** Checks the role once per engine: all its sessions have the same role. */
  function prove(session: Session, signal: AbortSignal): Promise<void> {
    if (allowPrivilegedRole) return Promise.resolve();
    proven ??= refuseWriter(session, { tag: 'check', timeoutMs: connectTimeoutMs, maxRows: 10, signal }).catch(
      (error: unknown) => {
        proven = null;
        throw error;
      },
    );
    return proven;
  }

  async function withSession<T>(
    signal: AbortSignal,
    use: (session: Session, drop: () => void) => Promise<T>,
  ): Promise<T> {
    const session = await pool.acquire(signal);
    let drop = false;
    try {
      return await use(session, () => (drop = true));
    } catch (error) {
      drop = true;
      signal.throwIfAborted();
      throw toEngineError(error, target);
    } finally {
      pool.release(session, drop);
    }
  }

  async function one(session: Session, sql: string, request: Request): Promise<SqlResult> {
    const started = performance.now();
    const elapsed = (): number => Math.round((performance.now() - started) * 10) / 10;
    const refusal = refuseText(sql);
    if (refusal !== null) return { kind: 'refused', message: refusal };
    const text = withoutEnd(sql);
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
      return toResult(error, target, { timeoutMs: request.timeoutMs, elapsedMs: elapsed() });
    }
  }

  async function attempt(statements: readonly string[], request: SqlOptions): Promise<SqlSnapshot> {
    const takenAt = new Date().toISOString();
    const results: SqlResult[] = [];
    let left = [...statements];
    // A session is dropped after a timeout; the remaining statements continue in a new one.
    while (left.length > 0) {
      left = await withSession(request.signal, async (session, drop) => {
        for (const [index, sql] of left.entries()) {
          const result = await one(session, sql, request);
          results.push(result);
          if (result.kind !== 'timeout') continue;
          drop();
          return left.slice(index + 1);
        }
        return [];
      });
    }
    return { takenAt, results };
  }

  async function run(statements: readonly string[], request: SqlOptions): Promise<SqlSnapshot> {
    const first = await attempt(statements, request);
    return first.results.some(({ kind }) => kind === 'timeout') ? attempt(statements, request) : first;
  }

  return {
    dialect: 'snowflake',
    run,
    async digest(sql, request) {
      const refusal = refuseText(sql);
      if (refusal !== null) return { kind: 'refused', message: refusal };
      const text = withoutEnd(sql);
      const types = await withSession(request.signal, (session) =>
        session.execute(text, { ...request, describeOnly: true }).then(
          (described) => described.types,
          (error: unknown) => toResult(error, target, { timeoutMs: request.timeoutMs, elapsedMs: 0 }),
        ),
      );
      if (!Array.isArray(types)) return types;
      const [result] = (await run([digestSql(text, types)], request)).results;
      if (result === undefined) throw new SqlEngineError('connection', 'the digest gave no result');
      if (result.kind !== 'rows') return result;
      const [count, high, low] = result.rows[0] ?? [];
      return { count: Number(count), hash: `${String(high)}.${String(low)}` };
    },
    describe({ signal }): Promise<DatabaseDescription> {
      const request = { tag: 'describe', timeoutMs: DESCRIBE_TIMEOUT_MS, maxRows: 200_000, signal };
      return withSession(signal, (session) =>
        describeSnowflake((sql, more) => session.execute(sql, { ...request, ...more }), { ...target, schemas }),
      );
    },
    close: () => pool.close(),
  };
}
