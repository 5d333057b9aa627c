/**
 * A PostgreSQL database as a `SqlEngine` (design §6, §7): a small pool, one READ ONLY REPEATABLE READ transaction per run
 * (`transaction.ts`, `session.ts`).
 *
 * 1. A run in which a statement timed out is repeated once as a whole on a fresh connection, so that all its results share
 *    one snapshot. A run in which a statement cost the connection (a row too large to hold, a computation that the server
 *    does not stop) is repeated too; that statement keeps its result and is not run again.
 * 2. An abort cancels the statement on the server and drops the connection.
 * 3. There are never more than `poolSize` connections. Callers wait for one until their signal ends the wait.
 */
import { Pool, type PoolClient } from 'pg';
import type { DatabaseDescription, SqlResult } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions, type SqlSnapshot } from '../../ports/sql-engine';
import { createSlots } from '../slots';
import { cancelStatement, GateClient, hearOut, readAddress, type Cancelling } from './connection';
import { describePostgres } from './describe';
import { digestSql } from './digest';
import { toConnectError, toEngineError } from './errors';
import { loadHazards, type Hazards } from './hazards';
import { dataRevisionOfPostgres, revisionOfPostgres } from './revision';
import { columnTypes, execute, Lost } from './session';
import { settle } from './settings';
import { Transaction } from './transaction';

export interface PostgresEngineSettings {
  readonly url: string;
  readonly options?: {
    /** Connections at most; default 4. */
    readonly poolSize?: number;
    readonly connectTimeoutMs?: number;
    /** A role with SELECT only, set for every transaction; `none`: keep the login's own rights. */
    readonly role?: string;
    /** Search path, and the schemas to describe; default: the login's search path, all schemas. */
    readonly schemas?: readonly string[];
    /** Statements that the planner expects to cost more are refused; default: none are. */
    readonly maxPlanCost?: number;
  };
}

const DEFAULT_POOL_SIZE = 4;
const DESCRIBE_TIMEOUT_MS = 20_000;
/** How long after the time limit a statement is cancelled from here, if the server's own statement_timeout fails. */
const CANCEL_AFTER_MS = 1_000;
/** How long the list of dangerous functions is kept before it is read again. */
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
  async function hazardsOf(transaction: Transaction, timeoutMs: number): Promise<Hazards> {
    if (known !== null && Date.now() - known.at <= HAZARDS_KEPT_MS) return known.hazards;
    await transaction.open();
    const { client } = transaction;
    // The engine's own query on the catalogues is not bound by the statement's time limit.
    await client.query(`SET LOCAL statement_timeout = ${DESCRIBE_TIMEOUT_MS}`);
    await client.takeAnyBytes();
    const hazards = await loadHazards(client);
    await client.takeAnyBytes(false);
    await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(timeoutMs))}`);
    known = { hazards, at: Date.now() };
    return hazards;
  }
  async function refuse(transaction: Transaction, sql: string, timeoutMs: number): Promise<SqlResult | null> {
    if (sql.includes('\0')) return NUL;
    const message = (await hazardsOf(transaction, timeoutMs)).refuse(sql);
    return message === null ? null : { kind: 'refused', message };
  }

  /** One read-only transaction; the connection is dropped after an error, an abort, or when `use` asks for it. */
  async function inTransaction<T>(
    options: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (transaction: Transaction, watch: Watch, drop: () => void) => Promise<T>,
    lone = false,
  ): Promise<T> {
    await slots.take(options.signal);
    try {
      const pooled = await connect().catch((error: unknown) => {
        throw toConnectError(error, target);
      });
      return await onClient(pooled, options, use, lone);
    } finally {
      slots.give();
    }
  }

  async function onClient<T>(
    pooled: PoolClient,
    { timeoutMs, signal, tag }: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (transaction: Transaction, watch: Watch, drop: () => void) => Promise<T>,
    lone: boolean,
  ): Promise<T> {
    const client = pooled as unknown as GateClient;
    const onError = (): void => undefined; // the waiting query reports a lost connection
    client.on('error', onError);
    let drop = false;
    const stop = (): Cancelling => {
      drop = true; // a late cancel request would stop another caller's statement
      return cancelStatement(config, client);
    };
    signal.addEventListener('abort', stop, { once: true });
    const watch: Watch = async (run) => {
      const told: Cancelling[] = [];
      const timer = setTimeout(() => told.push(stop()), timeoutMs + CANCEL_AFTER_MS);
      return run().finally(async () => {
        clearTimeout(timer);
        for (const { spare, taken } of told) {
          spare(); // keep the connection for the later statements of the run
          await taken;
          if (!lone) await hearOut(client);
        }
      });
    };
    try {
      signal.throwIfAborted();
      const settings = { timeoutMs, tag, role, schemas };
      if (client.settled === null) await settle(client, settings);
      const transaction = new Transaction(client, settings, lone);
      const value = await use(transaction, watch, () => (drop = true));
      signal.throwIfAborted();
      transaction.end();
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

  /** `settled`: results of statements that cost their connection. Returns null when another statement did. */
  async function attempt(
    statements: readonly string[],
    settled: Map<number, SqlResult>,
    options: SqlOptions,
  ): Promise<SqlSnapshot | null> {
    let current = 0;
    try {
      return await inTransaction(
        options,
        async (transaction, watch, drop) => {
          const takenAt = new Date().toISOString();
          const results: SqlResult[] = [];
          for (const [index, sql] of statements.entries()) {
            current = index;
            options.signal.throwIfAborted();
            const last = index === statements.length - 1;
            const foregone = settled.get(index) ?? (await refuse(transaction, sql, options.timeoutMs));
            const result =
              foregone ?? (await watch(() => execute(transaction, sql, options, { target, maxPlanCost }, last)));
            if (result.kind === 'timeout') drop();
            results.push(result);
          }
          return { takenAt, results };
        },
        statements.length === 1,
      );
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
      const types = await inTransaction(
        options,
        async (transaction, watch) =>
          (await refuse(transaction, sql, options.timeoutMs)) ??
          watch(() => columnTypes(transaction, sql, options, target)),
        true,
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
      return inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag: 'describe' }, async (transaction) => {
        await transaction.open();
        await transaction.client.takeAnyBytes();
        return describePostgres(transaction.client, schemas);
      });
    },
    revision({ signal }): Promise<string> {
      return inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag: 'revision' }, async (transaction) => {
        await transaction.open();
        return revisionOfPostgres(transaction.client, schemas);
      });
    },
    dataRevision({ signal }): Promise<string | null> {
      return inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag: 'revision' }, async (transaction) => {
        await transaction.open();
        return dataRevisionOfPostgres(transaction.client);
      });
    },
    close: () => pool.end(),
  };
}

type Watch = <T>(run: () => Promise<T>) => Promise<T>;

/** Refused here, because the protocol ends a text at its first NUL. */
const NUL: SqlResult = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
  elapsedMs: 0,
};
