/**
 * A PostgreSQL database as a `SqlEngine` (design §6, §7): a small pool, one READ ONLY REPEATABLE READ transaction per run
 * (`session.ts`).
 *
 * 1. A run in which a statement timed out is repeated once as a whole on a fresh connection, so that all its results share
 *    one snapshot; so is one that lost its connection to a statement (a row too large to hold, a computation that the
 *    server does not stop), with that statement's result settled.
 * 2. An abort cancels the statement on the server and drops the connection.
 * 3. Callers wait for a connection as long as they like (their signal ends it); there are never more than `poolSize`.
 */
import { Pool, type PoolClient } from 'pg';
import type { DatabaseDescription, SqlResult } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions, type SqlSnapshot } from '../../ports/sql-engine';
import { createSlots } from '../slots';
import { cancelStatement, GateClient, readAddress } from './connection';
import { describePostgres } from './describe';
import { digestSql } from './digest';
import { toEngineError, toResult } from './errors';
import { loadHazards, type Hazards } from './hazards';
import { revisionOfPostgres } from './revision';
import { begin, columnTypes, DECLARE, end, execute, keepsSuperuserRights, Lost } from './session';

export interface PostgresEngineSettings {
  readonly url: string;
  readonly options?: {
    /** Connections at most; default 4. */
    readonly poolSize?: number;
    readonly connectTimeoutMs?: number;
    /** A role with SELECT only, taken on for every transaction; `none`: keep the login's own rights. */
    readonly role?: string;
    /** Search path, and the schemas to describe; default: the login's search path, all schemas. */
    readonly schemas?: readonly string[];
    /** Statements that the planner expects to cost more are refused; default: none are. */
    readonly maxPlanCost?: number;
  };
}

const DEFAULT_POOL_SIZE = 4;
const DESCRIBE_TIMEOUT_MS = 20_000;
/** The server's statement_timeout comes first; this is for a server that does not keep it. */
const CANCEL_AFTER_MS = 1_000;
/** How long it may take until a function made meanwhile is looked at. */
const HAZARDS_KEPT_MS = 60_000;

export function createPostgresEngine({ url, options: given = {} }: PostgresEngineSettings): SqlEngine {
  const {
    poolSize = DEFAULT_POOL_SIZE,
    connectTimeoutMs = 10_000,
    role = null,
    schemas = [],
    maxPlanCost = null,
  } = given;
  const { config, target, plainAllowed } = readAddress(url, connectTimeoutMs);
  const slots = createSlots(poolSize);
  const pool = new Pool({
    ...config,
    Client: GateClient,
    max: poolSize,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // An idle connection that the server closed leaves the pool by itself; without a listener it would end the process.
  pool.on('error', () => undefined);

  async function connect(): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      if (!plainAllowed || !/server does not support SSL/i.test((error as Error).message)) throw error;
      pool.options.ssl = false;
      config.ssl = false;
      return pool.connect();
    }
  }

  let known: { readonly hazards: Hazards; readonly at: number } | null = null;
  async function hazardsOf(client: GateClient): Promise<Hazards> {
    if (known === null || Date.now() - known.at > HAZARDS_KEPT_MS)
      known = { hazards: await loadHazards(client, keepsSuperuserRights(client, role)), at: Date.now() };
    return known.hazards;
  }
  async function refuse(client: GateClient, sql: string): Promise<SqlResult | null> {
    if (sql.includes('\0')) return NUL;
    const message = (await hazardsOf(client)).refuse(sql);
    return message === null ? null : { kind: 'refused', message };
  }

  /** One read-only transaction; the connection is dropped after an error, an abort, or when `use` asks for it. */
  async function inTransaction<T>(
    { timeoutMs, signal, tag }: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (client: GateClient, watch: Watch, drop: () => void) => Promise<T>,
  ): Promise<T> {
    await slots.take(signal);
    try {
      const pooled = await connect().catch((error: unknown) => {
        throw toEngineError(error, target);
      });
      return await onClient(pooled, { timeoutMs, signal, tag }, use);
    } finally {
      slots.give();
    }
  }

  async function onClient<T>(
    pooled: PoolClient,
    { timeoutMs, signal, tag }: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (client: GateClient, watch: Watch, drop: () => void) => Promise<T>,
  ): Promise<T> {
    const client = pooled as unknown as GateClient;
    const onError = (): void => undefined; // a lost connection also fails the query that waits for it
    client.on('error', onError);
    const stop = (): void => cancelStatement(config, client);
    let drop = false;
    signal.addEventListener('abort', stop, { once: true });
    const watch: Watch = async (run) => {
      const timer = setTimeout(stop, timeoutMs + CANCEL_AFTER_MS);
      return run().finally(() => clearTimeout(timer));
    };
    try {
      signal.throwIfAborted();
      const started = begin(client, { timeoutMs, tag, role, schemas });
      const value = await afterStart(started, () => use(client, watch, () => (drop = true)));
      signal.throwIfAborted();
      await end(client);
      return value;
    } catch (error) {
      drop = true;
      signal.throwIfAborted();
      if (error instanceof Lost) throw error;
      throw toEngineError(error, target);
    } finally {
      signal.removeEventListener('abort', stop);
      client.off('error', onError);
      if (drop) client.on('error', onError);
      pooled.release(drop);
    }
  }

  /** `settled`: results of statements that cost their connection; null when one more did. */
  async function attempt(
    statements: readonly string[],
    settled: Map<number, SqlResult>,
    options: SqlOptions,
  ): Promise<SqlSnapshot | null> {
    let current = 0;
    try {
      return await inTransaction(options, async (client, watch, drop) => {
        const takenAt = new Date().toISOString();
        const results: SqlResult[] = [];
        for (const [index, sql] of statements.entries()) {
          current = index;
          options.signal.throwIfAborted();
          const foregone = settled.get(index) ?? (await refuse(client, sql));
          const result = foregone ?? (await watch(() => execute(client, sql, options, { target, maxPlanCost })));
          if (result.kind === 'timeout') drop();
          results.push(result);
        }
        return { takenAt, results };
      });
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      settled.set(current, error.result);
      return null;
    }
  }

  async function run(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot> {
    const settled = new Map<number, SqlResult>();
    for (let repeated = false; ;) {
      const snapshot = await attempt(statements, settled, options);
      if (snapshot === null) continue;
      const late = snapshot.results.some(({ kind }, index) => kind === 'timeout' && !settled.has(index));
      if (!late || repeated) return snapshot;
      repeated = true;
    }
  }

  return {
    dialect: 'postgresql',
    run,
    async digest(sql, options) {
      const types = await inTransaction(options, async (client, watch) => {
        const foregone = await refuse(client, sql);
        if (foregone !== null) return foregone;
        return watch(() => columnTypes(client, sql)).catch((error: unknown) =>
          toResult(error, target, { timeoutMs: options.timeoutMs, elapsedMs: 0 }, DECLARE.length),
        );
      });
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
        describePostgres(client, schemas),
      );
    },
    revision({ signal }): Promise<string> {
      return inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag: 'revision' }, (client) =>
        revisionOfPostgres(client, schemas),
      );
    },
    close: () => pool.end(),
  };
}

type Watch = <T>(run: () => Promise<T>) => Promise<T>;

/** What is sent behind the beginning of the transaction fails with it: then the beginning's error is the one to report. */
async function afterStart<T>(started: Promise<void>, use: () => Promise<T>): Promise<T> {
  const [begun, used] = await Promise.allSettled([started, use()]);
  if (begun.status === 'rejected') throw begun.reason;
  if (used.status === 'rejected') throw used.reason;
  return used.value;
}

/** The protocol ends a text at its first NUL. */
const NUL: SqlResult = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
  elapsedMs: 0,
};
