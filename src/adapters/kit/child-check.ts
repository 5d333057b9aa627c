/**
 * Proves by trying that a file cannot be written: the process that reads it attempts fixed writes on its own connection,
 * without any parser before it, so that only the engine can refuse them.
 */
import { ChildSession, type ChildEngine } from './child-session';
import { latencyOf, type DatabaseCheck } from './database-check';
import { rightsToFile } from './file-check';

const TIMEOUT_MS = 15_000;

/** `version`: the expression for it in SQL. `refusal`: codes of errors by which a write was refused. */
export async function checkByChild(
  engine: ChildEngine,
  path: string,
  { shown, version, refusal }: { readonly shown: string; readonly version: string; readonly refusal: RegExp },
): Promise<DatabaseCheck> {
  const session = new ChildSession(engine, () => Promise.resolve(path), shown);
  try {
    const startedMs = performance.now();
    await session.begin();
    const connectMs = performance.now() - startedMs;
    const asked = { maxRows: 1, timeoutMs: TIMEOUT_MS, tag: 'check', signal: AbortSignal.timeout(TIMEOUT_MS * 2) };
    const read = await session.execute(`SELECT ${version}`, asked);
    const latencyMs = await latencyOf(() => session.execute('SELECT 1', asked));
    const attempted = await session.ask({ kind: 'attempt-writes' }, TIMEOUT_MS);
    if (read.kind !== 'rows' || attempted === 'timeout' || attempted.kind !== 'attempts')
      throw new Error(`the ${engine.name} process for ${shown} did not answer`);
    return {
      version: `${engine.name} ${String(read.rows[0]?.[0])}`,
      user: null,
      tls: null,
      connectMs,
      latencyMs,
      attempts: attempted.attempts.map(({ what, code, message }) => ({
        what,
        outcome: code === null ? 'went-through' : refusal.test(code) ? 'refused' : 'failed',
        message,
      })),
      rights: await rightsToFile(path),
    };
  } finally {
    session.cut();
  }
}
