/**
 * A PostgreSQL database as a `SqlEngine` (design §6, §7): one READ ONLY REPEATABLE READ transaction per run
 * (`transaction.ts`, `session.ts`), on a connection that is lent to one run at a time.
 *
 * 1. There are never more than `poolSize` connections. Callers wait for one until their signal ends the wait.
 * 2. An abort closes the connection, and the server ends the statement. After every error a connection is dropped.
 * 3. A run in which a statement timed out is repeated once as a whole on a fresh connection, so that all its results share
 *    one snapshot. A run in which a statement cost the connection (a row too large to hold, a computation that the server
 *    does not stop) is repeated too; that statement keeps its result and is not run again.
 */
import { Pool, type PoolClient } from 'pg';
import type { SqlResult } from '../../domain';
import { limiter, type Limiter } from '../../limiter';
import type { SqlEngine, SqlOptions, SqlSnapshot } from '../../domain/ports/sql-engine';
import { digestOf, hasTimedOut } from '../results';
import { connected, GateClient, readAddress, type Address } from './connection';
import { describePostgres, revisionOfPostgres } from './describe';
import { toEngineError } from './errors';
import { loadHazards, type Hazards } from './hazards';
import { columnTypes, execute, Lost, type Limits } from './session';
import { TAKE_ANY_BYTES, Transaction, type SessionSettings } from './transaction';
import { digestSql } from './values';

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

const DESCRIBE_TIMEOUT_MS = 20_000;
/** How long the list of dangerous functions is kept before it is read again. */
const HAZARDS_KEPT_MS = 60_000;

export function createPostgresEngine({ url, options = {} }: PostgresEngineSettings): SqlEngine {
  const database = new PostgresDatabase(url, options);
  const { schemas = [] } = options;
  return {
    dialect: 'postgresql',
    run: (statements, asked) => database.run(statements, asked),
    async digest(sql, asked) {
      const types = await database.typesOf(sql, asked);
      return Array.isArray(types) ? digestOf(await database.run([digestSql(sql, types)], asked)) : types;
    },
    describe: ({ signal }) => database.read('describe', signal, (client) => describePostgres(client, schemas)),
    revision: ({ signal }) => database.read('revision', signal, (client) => revisionOfPostgres(client, schemas)),
    close: () => database.close(),
  };
}

class PostgresDatabase {
  readonly #address: Address;
  readonly #pool: Pool;
  readonly #places: Limiter;
  readonly #settings: Pick<SessionSettings, 'role' | 'schemas'>;
  readonly #limits: Limits;
  #known: { readonly hazards: Hazards; readonly at: number } | null = null;

  constructor(url: string, options: NonNullable<PostgresEngineSettings['options']>) {
    const { poolSize = 4, connectTimeoutMs = 10_000, role = null, schemas = [], maxPlanCost = null } = options;
    this.#address = readAddress(url, connectTimeoutMs);
    const { config, target } = this.#address;
    this.#pool = new Pool({
      ...config,
      Client: GateClient,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    // An idle connection that the server closed leaves the pool by itself; without a listener it would end the process.
    this.#pool.on('error', () => undefined);
    this.#places = limiter(poolSize);
    this.#settings = { role, schemas };
    this.#limits = { target, maxPlanCost };
  }

  async run(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot> {
    const settled = new Map<number, SqlResult>();
    for (const [index, sql] of statements.entries()) {
      const refused = await this.#refused(sql, options.signal);
      if (refused !== null) settled.set(index, refused);
    }
    for (let repeated = false; ;) {
      const snapshot = await this.#attempt(statements, settled, options);
      if (snapshot === null) continue;
      const late = snapshot.results.some((result, index) => hasTimedOut(result) && !settled.has(index));
      if (!late || repeated) return snapshot;
      repeated = true;
    }
  }

  /** The type OIDs of a statement's columns, without reading a row; or why there are none. */
  async typesOf(sql: string, options: SqlOptions): Promise<number[] | SqlResult> {
    return (
      (await this.#refused(sql, options.signal)) ??
      this.#inTransaction(options, (transaction) => columnTypes(transaction, sql, options, this.#limits.target))
    );
  }

  /** For the engine's own queries, which have no limit of bytes. */
  read<T>(tag: string, signal: AbortSignal, use: (client: GateClient) => Promise<T>): Promise<T> {
    return this.#inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag }, async (transaction) => {
      const { client } = transaction;
      client.allowBytes(Number.POSITIVE_INFINITY);
      await transaction.begin();
      await client.query(TAKE_ANY_BYTES);
      return use(client);
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  /** `settled`: results that are known. Returns null when another statement cost its connection: its result is known now. */
  async #attempt(
    statements: readonly string[],
    settled: Map<number, SqlResult>,
    options: SqlOptions,
  ): Promise<SqlSnapshot | null> {
    let current = 0;
    try {
      return await this.#inTransaction(options, async (transaction, drop) => {
        const takenAt = new Date().toISOString();
        const results: SqlResult[] = [];
        for (const [index, sql] of statements.entries()) {
          current = index;
          options.signal.throwIfAborted();
          const result = settled.get(index) ?? (await execute(transaction, sql, options, this.#limits));
          if (hasTimedOut(result)) drop();
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

  async #refused(sql: string, signal: AbortSignal): Promise<SqlResult | null> {
    if (sql.includes('\0')) return NUL;
    if (this.#known === null || Date.now() - this.#known.at > HAZARDS_KEPT_MS)
      this.#known = { hazards: await this.read('check', signal, loadHazards), at: Date.now() };
    const message = this.#known.hazards.refuse(sql);
    return message === null ? null : { kind: 'refused', message };
  }

  #inTransaction<T>(
    limits: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (transaction: Transaction, drop: () => void) => Promise<T>,
  ): Promise<T> {
    return this.#places.run(async () => this.#lend(await this.#connect(), limits, use), limits.signal);
  }

  #connect(): Promise<PoolClient> {
    return connected(this.#address, ({ ssl }) => {
      if (ssl === false) this.#pool.options.ssl = false;
      return this.#pool.connect();
    });
  }

  async #lend<T>(
    pooled: PoolClient,
    { timeoutMs, signal, tag }: Pick<SqlOptions, 'timeoutMs' | 'signal' | 'tag'>,
    use: (transaction: Transaction, drop: () => void) => Promise<T>,
  ): Promise<T> {
    const client = pooled as unknown as GateClient;
    let isDropped = false;
    const drop = (): void => void (isDropped = true);
    const stop = (): void => client.cut();
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const transaction = new Transaction(client, { timeoutMs, tag, ...this.#settings });
      const value = await use(transaction, drop);
      signal.throwIfAborted();
      transaction.end();
      return value;
    } catch (error) {
      drop();
      signal.throwIfAborted();
      if (error instanceof Lost) throw error;
      throw toEngineError(error, this.#address.target);
    } finally {
      signal.removeEventListener('abort', stop);
      pooled.release(isDropped);
    }
  }
}

/** Refused here, because the protocol ends a text at its first NUL. */
const NUL: SqlResult = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
  elapsedMs: 0,
};
