/**
 * A PostgreSQL database as a `SqlEngine` (design §6, §7): a small pool, one READ ONLY REPEATABLE READ transaction per run
 * (`session.ts`). A run in which a statement timed out is repeated once as a whole on a fresh connection, so that all its
 * results share one snapshot. An abort cancels the statement on the server and drops the connection.
 */
import { Client, Pool, type ClientConfig, type PoolClient } from 'pg';
import type { DatabaseDescription, SqlResult } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions, type SqlSnapshot } from '../../ports/sql-engine';
import { describePostgres } from './describe';
import { digestSql } from './digest';
import { toEngineError, toResult, type Target } from './errors';
import { begin, columnTypes, end, execute } from './session';

export interface PostgresEngineSettings {
  readonly url: string;
  readonly options?: {
    /** Connections kept at most; default 4. */
    readonly poolSize?: number;
    readonly connectTimeoutMs?: number;
    /** A role with SELECT only, taken on for every transaction. */
    readonly role?: string;
  };
}

const DESCRIBE_TIMEOUT_MS = 20_000;
/** The server's statement_timeout comes first; this is for a server that does not keep it. */
const CANCEL_AFTER_MS = 1_000;
const DROP_AFTER_MS = 3_000;

export function createPostgresEngine({
  url,
  options: { poolSize = 4, connectTimeoutMs = 10_000, role } = {},
}: PostgresEngineSettings): SqlEngine {
  const target = readTarget(url);
  const config: ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'gate',
    keepAlive: true,
  };
  const pool = new Pool({ ...config, max: poolSize, idleTimeoutMillis: 30_000, allowExitOnIdle: true });
  // An idle connection that the server closed leaves the pool by itself; without a listener it would end the process.
  pool.on('error', () => undefined);

  /** One read-only transaction; the connection is dropped after an error, an abort, or when `use` asks for it. */
  async function inTransaction<T>(
    { timeoutMs, signal, tag }: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (client: PoolClient, watch: Watch, drop: () => void) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const client = await pool.connect().catch((error: unknown) => {
      throw toEngineError(error, target);
    });
    const onError = (): void => undefined; // a lost connection also fails the query that waits for it
    client.on('error', onError);
    const stop = (): void => cancel(config, client);
    let drop = false;
    signal.addEventListener('abort', stop, { once: true });
    const watch: Watch = async (run) => {
      const timer = setTimeout(stop, timeoutMs + CANCEL_AFTER_MS);
      return run().finally(() => clearTimeout(timer));
    };
    try {
      await begin(client, { timeoutMs, tag, role: role ?? null });
      const value = await use(client, watch, () => (drop = true));
      signal.throwIfAborted();
      await end(client);
      return value;
    } catch (error) {
      drop = true;
      signal.throwIfAborted();
      throw toEngineError(error, target);
    } finally {
      signal.removeEventListener('abort', stop);
      client.off('error', onError);
      if (drop) client.on('error', onError);
      client.release(drop);
    }
  }

  async function attempt(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot> {
    return inTransaction(options, async (client, watch, drop) => {
      const takenAt = new Date().toISOString();
      const results: SqlResult[] = [];
      for (const sql of statements) {
        options.signal.throwIfAborted();
        const result = await watch(() => execute(client, sql, options, target));
        if (result.kind === 'timeout') drop();
        results.push(result);
      }
      return { takenAt, results };
    });
  }

  async function run(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot> {
    const first = await attempt(statements, options);
    return first.results.some(({ kind }) => kind === 'timeout') ? attempt(statements, options) : first;
  }

  return {
    dialect: 'postgresql',
    run,
    async digest(sql, options) {
      const types = await inTransaction(options, (client, watch) =>
        watch(() => columnTypes(client, sql)).catch((error: unknown) =>
          toResult(error, target, { timeoutMs: options.timeoutMs, elapsedMs: 0 }, 0),
        ),
      );
      if (!Array.isArray(types)) return types;
      const { results } = await run([digestSql(sql, types)], options);
      const [result] = results;
      if (result === undefined) throw new SqlEngineError('connection', 'the digest gave no result');
      if (result.kind !== 'rows') return result;
      const [count, high, low] = result.rows[0] ?? [];
      return { count: Number(count), hash: `${String(high)}.${String(low)}` };
    },
    describe({ signal }): Promise<DatabaseDescription> {
      return inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag: 'describe' }, (client) =>
        describePostgres(client),
      );
    },
    close: () => pool.end(),
  };
}

type Watch = <T>(run: () => Promise<T>) => Promise<T>;

/** Cancels over a second connection; if that does not end the statement soon, the connection is cut. */
function cancel(config: ClientConfig, client: PoolClient): void {
  const { processID, connection } = client as unknown as {
    processID: number | null;
    connection: { stream: { destroy(): void } };
  };
  const cut = setTimeout(() => connection.stream.destroy(), DROP_AFTER_MS);
  cut.unref();
  client.once('end', () => clearTimeout(cut));
  const canceller = new Client(config);
  canceller.on('error', () => undefined);
  canceller
    .connect()
    .then(() => canceller.query('SELECT pg_cancel_backend($1)', [processID]))
    // Not reachable any more, or not allowed: then the cut above ends the wait.
    .catch(() => undefined)
    .finally(() => void canceller.end().catch(() => undefined));
}

function readTarget(url: string): Target {
  try {
    const { protocol, hostname, port, pathname, username } = new URL(url);
    if (!/^postgres(ql)?:$/.test(protocol)) throw new Error('not a PostgreSQL URL');
    const database = decodeURIComponent(pathname.slice(1));
    return {
      host: `${hostname || 'localhost'}:${port || '5432'}`,
      database,
      user: decodeURIComponent(username) || 'the current user',
    };
  } catch (error) {
    throw new SqlEngineError(
      'not-configured',
      'the database URL is not valid: write postgres://user:password@host:port/database',
      { cause: error },
    );
  }
}
