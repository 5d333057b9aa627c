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
import { SqlEngineError, type SqlEngine } from '../../domain/ports/sql-engine';
import { Pool } from '../pool';
import { hasCostItsChild, SqliteClient, type Statement, type TimedReply } from './client';
import { describeSqlite, revisionOfSqlite } from './describe';
import { checkFile, orThrow, throwIfBroken, toResult } from './errors';

export interface SqliteEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

const DESCRIBE_TIMEOUT_MS = 30_000;

export function createSqliteEngine({ path, poolSize = 2 }: SqliteEngineSettings): SqlEngine {
  const file = new SqliteFile(path, poolSize);
  return {
    dialect: 'sqlite',
    async run(statements, { timeoutMs, maxRows, signal }) {
      const queries = statements.map((sql) => ({ kind: 'query', sql, maxRows }) as const);
      const { takenAt, replies } = await file.run(queries, timeoutMs, signal);
      return { takenAt, results: replies.map((reply) => toResult(reply, timeoutMs, path)) };
    },
    async digest(sql, { timeoutMs, signal }) {
      const { replies } = await file.run([{ kind: 'digest', sql }], timeoutMs, signal);
      const [reply = { kind: 'timeout', elapsedMs: 0 }] = replies;
      if (reply.kind === 'digest') return { count: reply.count, hash: reply.hash };
      return toResult(reply, timeoutMs, path);
    },
    describe: ({ signal }) => file.describe(signal),
    revision: () => file.revision(),
    close: () => file.close(),
  };
}

class SqliteFile {
  readonly #path: string;
  readonly #pool: Pool<SqliteClient>;

  constructor(
    /** As it was given, for messages. */
    readonly shown: string,
    poolSize: number,
  ) {
    this.#path = resolve(shown);
    this.#pool = new Pool(poolSize, async () => {
      await checkFile(this.shown, this.#path);
      return new SqliteClient();
    });
  }

  /** Runs the statements in one snapshot. Starts again whenever one cost the child, until each has a result (rule 2). */
  async run(
    statements: readonly Statement[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly takenAt: string; readonly replies: readonly TimedReply[] }> {
    const asked = statements.map((statement) => ({ statement, lost: [] as TimedReply[] }));
    for (;;) {
      const takenAt = new Date().toISOString();
      const open = asked.filter(({ lost }) => lost.length < 2);
      const request = { path: this.#path, statements: open.map(({ statement }) => statement) };
      const [begun, ...replies] = await this.#pool.use(signal, (client) => client.run(request, timeoutMs, signal));
      const last = replies.at(-1);
      if (begun !== undefined) orThrow(begun, this.shown);
      if (last?.kind === 'error' && last.outside) orThrow(last, this.shown);
      const costly = open[replies.length - 1];
      if (last === undefined || costly === undefined || !hasCostItsChild(last)) {
        const answers = replies.values();
        return { takenAt, replies: asked.flatMap(({ lost: [, second] }) => second ?? answers.next().value ?? []) };
      }
      costly.lost.push(last);
      if (last.kind === 'crashed') costly.statement = { ...costly.statement, asBytes: true } as Statement;
    }
  }

  async describe(signal: AbortSignal): Promise<DatabaseDescription> {
    await checkFile(this.shown, this.#path); // an open file outlives its name: check that it still exists
    const { size } = await stat(this.#path);
    return describeSqlite(async (texts) => {
      const queries = texts.map((sql) => ({ kind: 'query', sql, maxRows: 100_000, asBytes: true }) as const);
      const { replies } = await this.run(queries, DESCRIBE_TIMEOUT_MS, signal);
      return replies.map((reply) => {
        if (reply.kind === 'timeout')
          throw new SqlEngineError(
            'connection',
            `reading the schema of ${this.shown} took more than ${DESCRIBE_TIMEOUT_MS / 1000} s`,
          );
        if (reply.kind === 'error') throwIfBroken(reply, this.shown);
        return reply.kind === 'rows' ? reply.rows : null;
      });
    }, size);
  }

  async revision(): Promise<string> {
    await checkFile(this.shown, this.#path);
    return revisionOfSqlite(this.#path);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
