/**
 * Proves by trying that a SQLite file cannot be written: the process that reads it attempts fixed writes on its own
 * connection, with `query_only` and without it. Without it, only the read-only opening of the file can refuse them.
 */
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import type { DatabaseCheck, WritingRight } from '../database-check';
import { SqliteClient } from './client';
import { checkFile, orThrow } from './errors';

const TIMEOUT_MS = 15_000;

export async function checkSqlite(path: string): Promise<DatabaseCheck> {
  await checkFile(path, path);
  const client = new SqliteClient();
  try {
    const statements = [
      { kind: 'query', sql: 'SELECT sqlite_version()', maxRows: 1 },
      { kind: 'attempt-writes' },
    ] as const;
    const replies = await client.run({ path, statements }, TIMEOUT_MS, AbortSignal.timeout(TIMEOUT_MS * 2));
    for (const reply of replies) orThrow(reply, path);
    const [begun, version, attempted] = replies;
    if (begun === undefined || version?.kind !== 'rows' || attempted?.kind !== 'attempts')
      throw new SqlEngineError('connection', 'the SQLite process answered out of order');
    return {
      version: `SQLite ${String(version.rows[0]?.[0])}`,
      user: null,
      tls: null,
      connectMs: begun.elapsedMs,
      latencyMs: version.elapsedMs,
      attempts: attempted.attempts.map(({ what, code, message }) => ({
        what,
        outcome: code === null ? 'went-through' : /^SQLITE_(READONLY|AUTH|CANTOPEN)/.test(code) ? 'refused' : 'failed',
        message,
      })),
      rights: await rightsOf(path),
    };
  } finally {
    client.kill();
  }
}

async function rightsOf(path: string): Promise<WritingRight[]> {
  const mayWrite = async (place: string): Promise<boolean> =>
    access(place, constants.W_OK).then(
      () => true,
      () => false,
    );
  // File modes do not restrict root.
  if (process.getuid?.() === 0) return [];
  const folder = dirname(path);
  return [
    ...((await mayWrite(path))
      ? [
          {
            what: 'this user may write the file',
            fix: `chmod a-w ${quoted(path)} (unless other programs of this user write it)`,
          },
        ]
      : []),
    ...((await mayWrite(folder))
      ? [
          {
            what: `this user may replace the file in ${folder}`,
            fix: `keep it in a folder of another user, or chmod a-w ${quoted(folder)}`,
          },
        ]
      : []),
  ];
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
