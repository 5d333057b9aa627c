/**
 * A PostgreSQL database as a `SqlEngine` (design §6, §7): one READ ONLY REPEATABLE READ transaction per run
 * (`connections.ts`, `transaction.ts`, `session.ts`).
 *
 * A run in which a statement timed out is repeated once as a whole on a fresh connection, so that all its results share one
 * snapshot. A run in which a statement cost the connection (a row too large to hold, a computation that the server does not
 * stop) is repeated too; that statement keeps its result and is not run again.
 */
import type { SqlResult } from '../../domain';
import type { SqlEngine, SqlOptions, SqlSnapshot } from '../../ports/sql-engine';
import { digestOf, hasTimedOut } from '../results';
import type { GateClient } from './connection';
import { Connections } from './connections';
import { describePostgres } from './describe';
import { digestSql } from './digest';
import { loadHazards, type Hazards } from './hazards';
import { dataRevisionOfPostgres, revisionOfPostgres } from './revision';
import { columnTypes, execute, Lost, type Limits } from './session';
import type { Transaction } from './transaction';

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
    describe: ({ signal }) =>
      database.read('describe', signal, async (client) => {
        await client.takeAnyBytes();
        return describePostgres(client, schemas);
      }),
    revision: ({ signal }) => database.read('revision', signal, (client) => revisionOfPostgres(client, schemas)),
    dataRevision: ({ signal }) => database.read('revision', signal, dataRevisionOfPostgres),
    close: () => database.close(),
  };
}

class PostgresDatabase {
  readonly #connections: Connections;
  readonly #limits: Limits;
  #known: { readonly hazards: Hazards; readonly at: number } | null = null;

  constructor(url: string, options: NonNullable<PostgresEngineSettings['options']>) {
    const { poolSize = 4, connectTimeoutMs = 10_000, role = null, schemas = [], maxPlanCost = null } = options;
    this.#connections = new Connections(url, { role, schemas }, { poolSize, connectTimeoutMs });
    this.#limits = { target: this.#connections.target, maxPlanCost };
  }

  async run(statements: readonly string[], options: SqlOptions): Promise<SqlSnapshot> {
    const settled = new Map<number, SqlResult>();
    for (let repeated = false; ;) {
      const snapshot = await this.#attempt(statements, settled, options);
      if (snapshot === null) continue;
      const late = snapshot.results.some((result, index) => hasTimedOut(result) && !settled.has(index));
      if (!late || repeated) return snapshot;
      repeated = true;
    }
  }

  /** The type OIDs of a statement's columns, without reading a row; or why there are none. */
  typesOf(sql: string, options: SqlOptions): Promise<number[] | SqlResult> {
    return this.#connections.inTransaction(
      options,
      async (transaction, lent) =>
        (await this.#refused(transaction, sql, options.timeoutMs)) ??
        lent.watch(() => columnTypes(transaction, sql, options, this.#limits.target)),
      true,
    );
  }

  /** For the engine's own queries. */
  read<T>(tag: string, signal: AbortSignal, use: (client: GateClient) => Promise<T>): Promise<T> {
    return this.#connections.inTransaction({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag }, async (transaction) => {
      await transaction.open();
      return use(transaction.client);
    });
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** `settled`: results of statements that cost their connection. Returns null when another statement did. */
  async #attempt(
    statements: readonly string[],
    settled: Map<number, SqlResult>,
    options: SqlOptions,
  ): Promise<SqlSnapshot | null> {
    let current = 0;
    try {
      return await this.#connections.inTransaction(
        options,
        async (transaction, lent) => {
          const takenAt = new Date().toISOString();
          const results: SqlResult[] = [];
          for (const [index, sql] of statements.entries()) {
            current = index;
            options.signal.throwIfAborted();
            const last = index === statements.length - 1;
            const result =
              settled.get(index) ??
              (await this.#refused(transaction, sql, options.timeoutMs)) ??
              (await lent.watch(() => execute(transaction, sql, options, this.#limits, last)));
            if (hasTimedOut(result)) lent.drop();
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

  async #refused(transaction: Transaction, sql: string, timeoutMs: number): Promise<SqlResult | null> {
    if (sql.includes('\0')) return NUL;
    const message = (await this.#hazards(transaction, timeoutMs)).refuse(sql);
    return message === null ? null : { kind: 'refused', message };
  }

  async #hazards(transaction: Transaction, timeoutMs: number): Promise<Hazards> {
    if (this.#known !== null && Date.now() - this.#known.at <= HAZARDS_KEPT_MS) return this.#known.hazards;
    await transaction.open();
    const { client } = transaction;
    // The engine's own query on the catalogues is not bound by the statement's time limit.
    await client.query(`SET LOCAL statement_timeout = ${DESCRIBE_TIMEOUT_MS}`);
    await client.takeAnyBytes();
    const hazards = await loadHazards(client);
    await client.takeAnyBytes(false);
    await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(timeoutMs))}`);
    this.#known = { hazards, at: Date.now() };
    return hazards;
  }
}

/** Refused here, because the protocol ends a text at its first NUL. */
const NUL: SqlResult = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
  elapsedMs: 0,
};
