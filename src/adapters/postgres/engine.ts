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
import { describePostgres, dataRevisionOfPostgres, revisionOfPostgres } from './describe';
import { loadHazards, type Hazards } from './hazards';
import { columnTypes, execute, Lost, type Limits } from './session';
import type { Transaction } from './transaction';
import { columnKind } from './batch';

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

const OID = { bool: 16, int8: 20, int2: 21, int4: 23, oid: 26, float4: 700, float8: 701, bpchar: 1042, timestamp: 1114, timestamptz: 1184, timetz: 1266 } as const; // prettier-ignore
const WITH_ZEROS = new Set<number>([OID.timestamp, OID.timestamptz, OID.timetz]);

/**
 * Count and order-independent hash of a whole result, computed by the server (rule S5): each row's text is hashed and the
 * halves of the hashes are summed. Columns are taken by position, so two may have the same name. Equal hashes must mean
 * equal results, so the hashed text holds all that rule S5 compares: whole numbers exactly, others with 7 significant
 * digits, blanks at the end of a `char(n)`. Differences that the rule ignores are removed where that is cheap: a time of
 * midnight, the zone UTC, `true` against 1.
 */
export function digestSql(sql: string, types: readonly number[]): string {
  const names = types.map((_, index) => `c${index}`);
  const parts = types.map((oid, index) => part(`c${index}`, oid));
  const row = parts.length === 0 ? "''" : parts.join(" || '|' || ");
  const half = (start: number): string =>
    `coalesce(sum(('x' || substr(hash, ${start}, 16))::bit(64)::bigint::numeric), 0)::text`;
  return `SELECT count(*), ${half(1)}, ${half(17)} FROM (
    SELECT md5(${row}) AS hash FROM (\n${sql.replace(/[;\s]+$/, '')}\n) AS gate_rows${names.length === 0 ? '' : `(${names.join(', ')})`}
  ) AS hashes`;
}

function part(name: string, oid: number): string {
  switch (oid) {
    case OID.bool:
      return integer(`${name}::int`);
    case OID.oid:
      return integer(`${name}::bigint`);
    case OID.int2:
    case OID.int4:
    case OID.int8:
      return integer(name);
    default:
      return columnKind(oid) === 'number' ? number(name, oid === OID.float4 || oid === OID.float8) : text(name, oid);
  }
}

function text(name: string, oid: number): string {
  // A cast would remove the blanks.
  const printed = oid === OID.bpchar ? `concat(${name})` : `${name}::text`;
  const value = WITH_ZEROS.has(oid)
    ? `regexp_replace(regexp_replace(${printed}, '[+]00( BC)?$', '\\1'), ' 00:00:00( BC)?$', '\\1')`
    : printed;
  return `CASE WHEN ${name}::text IS NULL THEN 'n' ELSE 't' || length(${value}) || ':' || ${value} END`;
}

const rounded = (double: string): string => `'d' || to_char(${double}, '9.999999EEEE')`;

function integer(value: string): string {
  return `CASE WHEN ${value} IS NULL THEN 'n' WHEN ${value} BETWEEN -9999999 AND 9999999 THEN ${rounded(`${value}::float8`)} ELSE 'd' || ${value} END`;
}

/** A double has 15 reliable digits. `to_char` fails on NaN and Infinity. */
function number(name: string, isFloat: boolean): string {
  const value = isFloat ? `${name}::float8` : name;
  const whole = isFloat
    ? `abs(${value}) BETWEEN 1e7 AND 1e15 AND ${value} = trunc(${value})`
    : `abs(${value}) >= 1e7 AND (${value} = trunc(${value}) OR abs(${value}) > 1e300)`;
  const double = isFloat ? `${value} + 0` : `(CASE WHEN abs(${value}) < 1e-300 THEN 0 ELSE ${value} END)::float8`;
  return `CASE WHEN ${name} IS NULL THEN 'n' WHEN ${name}::text IN ('NaN', 'Infinity', '-Infinity') THEN ${name}::text
      WHEN ${whole} THEN 'd' || trunc(${value})::numeric ELSE ${rounded(double)} END`;
}
