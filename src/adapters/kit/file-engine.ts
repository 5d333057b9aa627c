/**
 * A database that is a file, as a `SqlEngine`: queries run in child processes (`child-session.ts`), so that one can be ended by
 * killing it. What each engine has of its own is in its `ChildEngine`.
 */
import { anySignal } from '../../any-signal';
import type { DatabaseDescription } from '../../domain';
import { SqlEngineError, type SqlEngine } from '../../domain/ports/sql-engine';
import { ChildSession, toChildError, type ChildEngine } from './child-session';
import { latencyOf, type DatabaseCheck } from './database-check';
import { createEngine, READING_TIMEOUT_MS } from './engine';
import { revisionOfFile, rightsToFile } from './file-check';
import type { Read } from './file-schema';

/** The file to open, which may have to be made first. Both throw `SqlEngineError`. */
export interface FileSource {
  /** Where it has not been looked at before. */
  path(signal: AbortSignal): Promise<string>;
  /** Where it has: that it is still there is seen when it is opened. */
  pathAgain(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface FileEngineSettings {
  /** The file as it was given, for messages. */
  readonly shown: string;
  readonly source: FileSource;
  /** Child processes kept at most; default 2. */
  readonly poolSize?: number;
}

/** For a file that has to be made first. */
const MAKE_TIMEOUT_MS = 600_000;
const CHECK_TIMEOUT_MS = 15_000;

export function createFileEngine(
  kind: ChildEngine,
  { shown, source, poolSize = 2 }: FileEngineSettings,
  describe: (read: Read, path: string, signal: AbortSignal) => Promise<DatabaseDescription>,
): SqlEngine {
  const engine = createEngine<ChildSession>({
    dialect: kind.program,
    poolSize,
    async open(signal) {
      await source.path(signal);
      return new ChildSession(kind, (gone) => source.pathAgain(gone), shown);
    },
    toError: (error) => toChildError(kind, error, shown),
  });
  return {
    ...engine,
    async describe({ signal: given }) {
      // An open file outlives its name, so it is looked for.
      const path = await made(source, given);
      const signal = given.aborted ? AbortSignal.timeout(MAKE_TIMEOUT_MS) : given;
      const asked = { signal, tag: 'describe', timeoutMs: READING_TIMEOUT_MS, maxRows: 100_000, again: true };
      const read: Read = async (texts) => {
        const { results } = await engine.run(texts, asked);
        return results.map((result) => {
          if (result.kind === 'rows') return result.rows;
          if (result.kind !== 'timeout') return null;
          const line = `reading the schema of ${shown} took more than ${READING_TIMEOUT_MS / 1000} s`;
          throw new SqlEngineError('connection', line);
        });
      };
      return describe(read, path, signal);
    },
    revision: async ({ signal }) => revisionOfFile(await made(source, signal), kind.log),
    async close() {
      await engine.close();
      await source.close();
    },
  };
}

/**
 * How long a caller waits is meant for a database: a file that has to be made first takes its own time, and is kept. It is given
 * up with a caller who gives up for another reason.
 */
async function made(source: FileSource, caller: AbortSignal): Promise<string> {
  const left = new AbortController();
  const leave = (): void => {
    if ((caller.reason as Error).name !== 'TimeoutError') left.abort(caller.reason);
  };
  if (caller.aborted) leave();
  caller.addEventListener('abort', leave);
  try {
    const path = await source.path(anySignal([left.signal, AbortSignal.timeout(MAKE_TIMEOUT_MS)]));
    left.signal.throwIfAborted();
    return path;
  } finally {
    caller.removeEventListener('abort', leave);
  }
}

/**
 * Proves by trying that a file cannot be written: the process that reads it attempts fixed writes on its own connection,
 * without any parser before it, so that only the engine can refuse them.
 */
export async function checkFileEngine(
  kind: ChildEngine,
  { shown, source }: FileEngineSettings,
): Promise<DatabaseCheck> {
  let session: ChildSession | null = null;
  try {
    const path = await source.path(AbortSignal.timeout(MAKE_TIMEOUT_MS));
    session = new ChildSession(kind, () => Promise.resolve(path), shown);
    return await checked(kind, session, path);
  } catch (error) {
    throw toChildError(kind, error, shown);
  } finally {
    session?.cut();
    await source.close();
  }
}

async function checked(kind: ChildEngine, session: ChildSession, path: string): Promise<DatabaseCheck> {
  const startedMs = performance.now();
  await session.prepare();
  const connectMs = performance.now() - startedMs;
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS * 2);
  const asked = { maxRows: 1, timeoutMs: CHECK_TIMEOUT_MS, tag: 'check', signal };
  const read = await session.execute(`SELECT ${kind.version}`, asked);
  const latencyMs = await latencyOf(() => session.execute('SELECT 1', asked));
  const attempted = await session.ask({ kind: 'attempt-writes' }, CHECK_TIMEOUT_MS);
  if (read.kind !== 'rows' || attempted === 'timeout' || attempted.kind !== 'attempts')
    throw new Error(`the ${kind.name} process for ${session.shown} did not answer`);
  const version = `${kind.name} ${String(read.rows[0]?.[0])}`;
  const rights = await rightsToFile(path);
  return { version, user: null, tls: null, connectMs, latencyMs, attempts: attempted.attempts, rights };
}
