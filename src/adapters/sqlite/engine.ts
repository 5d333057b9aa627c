/**
 * A SQLite file as a `SqlEngine` (design §6, §7). Queries run in child processes (`child.ts`), at most `poolSize` at once.
 *
 * 1. All statements of a run see one read transaction of one child.
 * 2. A statement that times out costs its child, so the whole run starts again on a fresh one: a second timeout of the
 *    same statement is its result, and the other results still share a snapshot.
 * 3. The file is checked before it is opened, so that a wrong path gives one clear message.
 */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DatabaseDescription } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions } from '../../ports/sql-engine';
import { Pool } from '../pool';
import { MAX_RESULT_BYTES, stopwatch } from '../results';
import { SqliteClient, type RequestEnd, type ChildRequest } from './client';
import { describeSqlite, revisionOfSqlite } from './describe';
import { checkFile, orThrow, throwIfBroken, toResult, type TimedEnd } from './errors';

export interface SqliteEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

const OPEN_TIMEOUT_MS = 15_000;
const DESCRIBE_TIMEOUT_MS = 30_000;

export function createSqliteEngine({ path, poolSize = 2 }: SqliteEngineSettings): SqlEngine {
  const file = new SqliteFile(path, poolSize);
  const revision = ({ signal }: Cancellable): Promise<string> => file.revision(signal);
  return {
    dialect: 'sqlite',
    async run(statements, { timeoutMs, maxRows, signal }) {
      const limits = { maxRows, maxBytes: MAX_RESULT_BYTES, asBytes: false };
      const requests = statements.map((sql) => ({ kind: 'query', sql, ...limits }) as const);
      const { takenAt, ends } = await file.ask(requests, { timeoutMs, signal });
      return { takenAt, results: ends.map((end) => toResult(end, timeoutMs, path)) };
    },
    async digest(sql, { timeoutMs, signal }) {
      const { ends } = await file.ask([{ kind: 'digest', sql, asBytes: false }], { timeoutMs, signal });
      const [first] = ends;
      if (first?.end.kind === 'digest') return { count: first.end.count, hash: first.end.hash };
      return toResult(first ?? { end: { kind: 'timeout' }, elapsedMs: 0 }, timeoutMs, path);
    },
    describe: ({ signal }) => file.describe(signal),
    revision,
    /** Any write changes the file. */
    dataRevision: revision,
    close: () => file.close(),
  };
}

interface Cancellable {
  readonly signal: AbortSignal;
}
type Limits = Pick<SqlOptions, 'timeoutMs' | 'signal'>;
type Ask = (request: ChildRequest, timeoutMs: number) => Promise<RequestEnd>;
type StatementRequest = Extract<ChildRequest, { kind: 'query' | 'digest' }>;

class SqliteFile {
  readonly #path: string;
  readonly #pool: Pool<SqliteClient>;

  constructor(
    /** As it was given, for messages. */
    readonly shown: string,
    poolSize: number,
  ) {
    this.#path = resolve(shown);
    this.#pool = new Pool(poolSize, (signal) => this.#open(signal));
  }

  /** Sends the requests in one snapshot. Starts again whenever one cost the child, until each has a result (rule 2). */
  async ask(
    requests: readonly StatementRequest[],
    { timeoutMs, signal }: Limits,
  ): Promise<{ readonly takenAt: string; readonly ends: readonly TimedEnd[] }> {
    const run = new Run(requests, timeoutMs, this.shown);
    for (;;) {
      const takenAt = new Date().toISOString();
      // After a loss the snapshot begins in a message of its own, so that it takes nothing from a statement's time limit.
      const ends = await (run.isFirst
        ? this.#onClient(signal, (ask) => run.attempt(ask, true))
        : this.#inSnapshot(signal, (ask) => run.attempt(ask, false)));
      if (ends !== null) return { takenAt, ends };
    }
  }

  describe(signal: AbortSignal): Promise<DatabaseDescription> {
    return this.#inSnapshot(signal, async (ask) => {
      await checkFile(this.shown, this.#path); // an open file outlives its name: check that it still exists
      const { size } = await stat(this.#path);
      const limits = { maxRows: 100_000, maxBytes: MAX_RESULT_BYTES, asBytes: true };
      return describeSqlite(async (sql) => {
        const end = await ask({ kind: 'query', sql, ...limits }, DESCRIBE_TIMEOUT_MS);
        if (end.kind === 'timeout')
          throw new SqlEngineError(
            'connection',
            `reading the schema of ${this.shown} took more than ${DESCRIBE_TIMEOUT_MS / 1000} s`,
          );
        if (end.kind === 'error') throwIfBroken(end, this.shown);
        return end.kind === 'rows' ? end.rows : null;
      }, size);
    });
  }

  revision(signal: AbortSignal): Promise<string> {
    return this.#inSnapshot(signal, async () => {
      await checkFile(this.shown, this.#path);
      return revisionOfSqlite(this.#path);
    });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #open(signal: AbortSignal): Promise<SqliteClient> {
    await checkFile(this.shown, this.#path);
    const client = new SqliteClient();
    try {
      orThrow(
        await client.request({ kind: 'open', path: this.#path }, { timeoutMs: OPEN_TIMEOUT_MS, signal }),
        this.shown,
      );
      return client;
    } catch (error) {
      client.kill();
      throw error;
    }
  }

  #onClient<T>(signal: AbortSignal, use: (ask: Ask, client: SqliteClient) => Promise<T>): Promise<T> {
    return this.#pool.use(signal, (client) =>
      use((request, timeoutMs) => client.request(request, { timeoutMs, signal }), client),
    );
  }

  /** Runs `use` in one read transaction. The child may end meanwhile. */
  #inSnapshot<T>(signal: AbortSignal, use: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#onClient(signal, async (ask, client) => {
      orThrow(await ask({ kind: 'begin' }, OPEN_TIMEOUT_MS), this.shown);
      const value = await use(ask);
      if (client.isUp()) orThrow(await ask({ kind: 'rollback' }, OPEN_TIMEOUT_MS), this.shown);
      return value;
    });
  }
}

/** The statements of a run, and which of them cost a child. */
class Run {
  readonly #requests: StatementRequest[];
  readonly #lost = new Map<number, RequestEnd[]>();

  constructor(
    requests: readonly StatementRequest[],
    private readonly timeoutMs: number,
    private readonly path: string,
  ) {
    this.#requests = [...requests];
  }

  get isFirst(): boolean {
    return this.#lost.size === 0;
  }

  /**
   * null: a statement cost its child. `whole`: the first request also begins the snapshot and the last one ends it, without
   * further messages.
   */
  async attempt(ask: Ask, whole: boolean): Promise<TimedEnd[] | null> {
    const ends: TimedEnd[] = [];
    for (const [index, request] of this.#requests.entries()) {
      const lost = this.#lost.get(index) ?? [];
      const last = lost.at(-1);
      if (last !== undefined && lost.length >= 2) {
        ends.push({ end: last, elapsedMs: this.timeoutMs });
        continue;
      }
      const elapsed = stopwatch();
      const edges = { begins: whole && index === 0, ends: whole && index === this.#requests.length - 1 };
      const end = await ask({ ...request, ...edges }, this.timeoutMs);
      if (end.kind === 'timeout' || end.kind === 'crashed') {
        this.#lost.set(index, [...lost, end]);
        if (end.kind === 'crashed') this.#requests[index] = { ...request, asBytes: true };
        return null;
      }
      if (end.kind === 'error' && end.outside === true) orThrow(end, this.path);
      ends.push({ end, elapsedMs: elapsed() });
    }
    return ends;
  }
}
