/**
 * A SQLite file as a `SqlEngine` (design §6, §7). Queries run in child processes (`child.ts`), at most `poolSize` at once.
 *
 * 1. All statements of a run see one read transaction of one child.
 * 2. A statement that times out costs its child, so the whole run starts again on a fresh one: a second timeout of the
 *    same statement is its result, and the other results still share a snapshot.
 * 3. The file is checked before it is opened, so that a wrong path gives one clear message.
 */
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DatabaseDescription, SqlResult } from '../../domain';
import { SqlEngineError, type SqlEngine, type SqlOptions, type SqlSnapshot } from '../../ports/sql-engine';
import { createSlots } from '../slots';
import { startSqliteClient, type RequestEnd, type SqliteClient } from './client';
import { describeSqlite } from './describe';
import type { ChildReply, ChildRequest } from './protocol';
import { revisionOfSqlite } from './revision';

export interface SqliteEngineSettings {
  readonly path: string;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

const OPEN_TIMEOUT_MS = 15_000;
const DESCRIBE_TIMEOUT_MS = 30_000;
/** A result larger than this is cut like one with too many rows. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

export function createSqliteEngine({ path: givenPath, poolSize = 2 }: SqliteEngineSettings): SqlEngine {
  const path = resolve(givenPath);
  const idle: SqliteClient[] = [];
  const all = new Set<SqliteClient>();
  const slots = createSlots(poolSize);

  async function acquire(signal: AbortSignal): Promise<SqliteClient> {
    await slots.take(signal);
    try {
      signal.throwIfAborted();
      for (let client = idle.pop(); client !== undefined; client = idle.pop()) if (!client.dead) return client;
      await checkFile(givenPath, path);
      const client = startSqliteClient();
      all.add(client);
      orThrow(await client.request({ kind: 'open', path }, { timeoutMs: OPEN_TIMEOUT_MS, signal }), givenPath);
      return client;
    } catch (error) {
      release(null);
      throw error;
    }
  }

  function release(client: SqliteClient | null): void {
    for (const other of all) if (other.dead) all.delete(other);
    if (client !== null && !client.dead) idle.push(client);
    slots.give();
  }

  async function onClient<T>(signal: AbortSignal, use: (ask: Ask, client: SqliteClient) => Promise<T>): Promise<T> {
    const client = await acquire(signal);
    try {
      return await use((request, timeoutMs) => client.request(request, { timeoutMs, signal }), client);
    } catch (error) {
      client.kill();
      throw error;
    } finally {
      release(client);
    }
  }

  /** Runs `use` in one read transaction. The child may end meanwhile. */
  async function inSnapshot<T>(signal: AbortSignal, use: (ask: Ask) => Promise<T>): Promise<T> {
    return onClient(signal, async (ask, client) => {
      orThrow(await ask({ kind: 'begin' }, OPEN_TIMEOUT_MS), givenPath);
      const value = await use(ask);
      if (!client.dead) orThrow(await ask({ kind: 'rollback' }, OPEN_TIMEOUT_MS), givenPath);
      return value;
    });
  }

  /** Sends the requests in one snapshot. Starts again whenever one cost the child, until each has a result (rule 2). */
  async function complete(
    asked: readonly StatementRequest[],
    { timeoutMs, signal }: SqlOptions,
  ): Promise<{ takenAt: string; ends: TimedEnd[] }> {
    const requests = [...asked];
    const lost = new Map<number, RequestEnd[]>();
    /** `whole`: the first request also begins the snapshot and the last one ends it, without further messages. */
    const askAll = async (ask: Ask, whole: boolean): Promise<TimedEnd[] | null> => {
      const ends: TimedEnd[] = [];
      for (const [index, request] of requests.entries()) {
        const before = lost.get(index) ?? [];
        const last = before.at(-1);
        if (last !== undefined && before.length >= 2) {
          ends.push({ end: last, elapsedMs: timeoutMs });
          continue;
        }
        const started = performance.now();
        const end = await ask(
          { ...request, begins: whole && index === 0, ends: whole && index === requests.length - 1 },
          timeoutMs,
        );
        if (end.kind === 'timeout' || end.kind === 'crashed') {
          lost.set(index, [...before, end]);
          if (end.kind === 'crashed') requests[index] = { ...request, asBytes: true };
          return null;
        }
        if (end.kind === 'error' && end.outside === true) orThrow(end, givenPath);
        ends.push({ end, elapsedMs: round(performance.now() - started) });
      }
      return ends;
    };
    for (;;) {
      const takenAt = new Date().toISOString();
      // After a loss the snapshot begins in a message of its own, so that it takes nothing from a statement's time limit.
      const ends = await (lost.size === 0
        ? onClient(signal, (ask) => askAll(ask, true))
        : inSnapshot(signal, (ask) => askAll(ask, false)));
      if (ends !== null) return { takenAt, ends };
    }
  }

  function revision(signal: AbortSignal): Promise<string> {
    return inSnapshot(signal, async () => {
      await checkFile(givenPath, path);
      return revisionOfSqlite(path);
    });
  }

  return {
    dialect: 'sqlite',
    async run(statements, options): Promise<SqlSnapshot> {
      const requests = statements.map(
        (sql) =>
          ({ kind: 'query', sql, maxRows: options.maxRows, maxBytes: MAX_RESULT_BYTES, asBytes: false }) as const,
      );
      const { takenAt, ends } = await complete(requests, options);
      return { takenAt, results: ends.map((end) => toResult(end, options, givenPath)) };
    },
    async digest(sql, options) {
      const { ends } = await complete([{ kind: 'digest', sql, asBytes: false }], options);
      const [first] = ends;
      if (first?.end.kind === 'digest') return { count: first.end.count, hash: first.end.hash };
      return toResult(first ?? { end: { kind: 'timeout' }, elapsedMs: 0 }, options, givenPath);
    },
    async describe({ signal }): Promise<DatabaseDescription> {
      return inSnapshot(signal, async (ask) => {
        await checkFile(givenPath, path); // an open file outlives its name: check that it still exists
        const { size } = await stat(path);
        return describeSqlite(async (sql) => {
          const end = await ask(
            { kind: 'query', sql, maxRows: 100_000, maxBytes: MAX_RESULT_BYTES, asBytes: true },
            DESCRIBE_TIMEOUT_MS,
          );
          if (end.kind === 'timeout')
            throw new SqlEngineError(
              'connection',
              `reading the schema of ${givenPath} took more than ${DESCRIBE_TIMEOUT_MS / 1000} s`,
            );
          if (end.kind === 'error') throwIfBroken(end, givenPath);
          return end.kind === 'rows' ? end.rows : null;
        }, size);
      });
    },
    revision: ({ signal }) => revision(signal),
    /** Any write changes the file. */
    dataRevision: ({ signal }) => revision(signal),
    close() {
      for (const client of all) client.kill();
      all.clear();
      idle.length = 0;
      return Promise.resolve();
    },
  };
}

type Ask = (request: ChildRequest, timeoutMs: number) => Promise<RequestEnd>;
type StatementRequest = Extract<ChildRequest, { kind: 'query' | 'digest' }>;

interface TimedEnd {
  readonly end: RequestEnd;
  readonly elapsedMs: number;
}

function toResult({ end, elapsedMs }: TimedEnd, { timeoutMs }: SqlOptions, path: string): SqlResult {
  switch (end.kind) {
    case 'rows':
      return {
        kind: 'rows',
        columns: end.columns,
        rows: end.rows,
        truncated: end.truncated,
        elapsedMs,
      };
    case 'refused':
      return { kind: 'refused', message: end.message };
    case 'timeout':
      return { kind: 'timeout', afterMs: timeoutMs };
    case 'crashed':
      return { kind: 'sql-error', message: `SQLite cannot return this result: ${end.message}`, code: null, elapsedMs };
    case 'error':
      throwIfBroken(end, path);
      return { kind: 'sql-error', message: explain(end), code: end.code, elapsedMs };
    case 'done':
    case 'attempts':
    case 'digest':
      throw new SqlEngineError('connection', 'the SQLite process answered out of order');
    default:
      return end satisfies never;
  }
}

function explain({ code, message }: Extract<ChildReply, { kind: 'error' }>): string {
  if (code !== 'SQLITE_NOMEM') return message;
  return 'the statement needs more memory than it may take (1 GB): filter or aggregate earlier, select parts of large values';
}

/** Throws if the file is locked or damaged: the statement did not cause that. */
function throwIfBroken({ code, message }: Extract<ChildReply, { kind: 'error' }>, path: string): void {
  if (/^SQLITE_(BUSY|LOCKED|IOERR)/.test(code))
    throw new SqlEngineError('connection', `cannot read ${path} just now: ${message}`);
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) throw notADatabase(path);
  if (code === 'SQLITE_READONLY_ROLLBACK')
    throw new SqlEngineError(
      'not-found',
      `a program was stopped in the middle of writing ${path}, and a reader may not repair the file: open it once with one that may write (sqlite3 FILE .tables)`,
    );
  // SQLITE_READONLY_DIRECTORY, for which the driver has no name.
  if (code === 'UNKNOWN_SQLITE_ERROR_1544')
    throw new SqlEngineError(
      'not-found',
      `cannot open ${path}: in WAL mode each reader needs files beside it; let this user write into its folder, or end that mode (PRAGMA journal_mode = DELETE)`,
    );
  if (/^SQLITE_(CANTOPEN|PERM|READONLY_(RECOVERY|CANTINIT|CANTLOCK))/.test(code)) {
    throw new SqlEngineError(
      'not-found',
      `cannot open ${path}: ${message}; check that this user may read it and its folder`,
    );
  }
}

export function orThrow(end: RequestEnd, path: string): void {
  if (end.kind === 'error') {
    throwIfBroken(end, path);
    throw new SqlEngineError('connection', `cannot open ${path}: ${end.message}`);
  }
  if (end.kind === 'crashed')
    throw new SqlEngineError('connection', `the SQLite process for ${path} ended unexpectedly: ${end.message}`);
  if (end.kind === 'timeout') throw new SqlEngineError('connection', `opening ${path} took too long`);
}

export async function checkFile(given: string, path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new SqlEngineError('not-found', `${given} is a directory: name the SQLite file in it`);
    // Opening a pipe would wait for a writer and block this process, even its exit.
    if (!found.isFile()) throw new SqlEngineError('not-found', `${given} is no ordinary file: name a SQLite 3 file`);
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(16), 0, 16, 0);
      if (bytesRead > 0 && buffer.toString('latin1') !== 'SQLite format 3\0') throw notADatabase(given);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SqlEngineError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new SqlEngineError('not-found', `there is no file ${given}: check the path of the database`);
    if (code === 'EACCES' || code === 'EPERM')
      throw new SqlEngineError('not-found', `this user may not read ${given}: change its permissions`);
    throw new SqlEngineError('connection', `cannot read ${given}: ${message}`, { cause: error });
  }
}

function notADatabase(path: string): SqlEngineError {
  return new SqlEngineError(
    'not-found',
    `${path} is not a SQLite database (or it is damaged or encrypted): name a SQLite 3 file`,
  );
}

const round = (ms: number): number => Math.round(ms * 10) / 10;
