/**
 * Proves by trying that a SQLite file cannot be written: the process that reads it attempts fixed writes on its own
 * connection, with `query_only` and without it. Without it, only the read-only opening of the file can refuse them.
 */
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseCheck, WritingRight } from '../kit/database-check';
import { checkFile, toEngineError } from './errors';
import { SqliteSession } from './session';

const TIMEOUT_MS = 15_000;

export async function checkSqlite(path: string): Promise<DatabaseCheck> {
  await checkFile(path, path);
  const session = new SqliteSession(path, path);
  const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
    const started = performance.now();
    return [await work, performance.now() - started];
  };
  try {
    const [, connectMs] = await timed(session.begin());
    const asked = { maxRows: 1, timeoutMs: TIMEOUT_MS, tag: 'check', signal: AbortSignal.timeout(TIMEOUT_MS * 2) };
    const [version, latencyMs] = await timed(session.execute('SELECT sqlite_version()', asked));
    const attempted = await session.ask({ kind: 'attempt-writes' }, TIMEOUT_MS);
    if (version.kind !== 'rows' || attempted === 'timeout' || attempted.kind !== 'attempts')
      throw new Error(`the SQLite process for ${path} did not answer`);
    return {
      version: `SQLite ${String(version.rows[0]?.[0])}`,
      user: null,
      tls: null,
      connectMs,
      latencyMs,
      attempts: attempted.attempts.map(({ what, code, message }) => ({
        what,
        outcome: code === null ? 'went-through' : /^SQLITE_(READONLY|AUTH|CANTOPEN)/.test(code) ? 'refused' : 'failed',
        message,
      })),
      rights: await rightsOf(path),
    };
  } catch (error) {
    throw toEngineError(error, path);
  } finally {
    session.cut();
  }
}

async function rightsOf(path: string): Promise<WritingRight[]> {
  // File modes do not restrict root.
  if (process.getuid?.() === 0) return [];
  const folder = dirname(path);
  const rights = [
    [path, 'this user may write the file', `chmod a-w ${quoted(path)} (unless other programs of this user write it)`],
    [
      folder,
      `this user may replace the file in ${folder}`,
      `keep it in a folder of another user, or chmod a-w ${quoted(folder)}`,
    ],
  ] as const;
  const found: WritingRight[] = [];
  for (const [place, what, fix] of rights)
    await access(place, constants.W_OK).then(
      () => found.push({ what, fix }),
      () => undefined,
    );
  return found;
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
