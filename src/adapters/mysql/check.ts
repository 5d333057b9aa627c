/**
 * Proves by trying that a session cannot write: the same session as for statements of a search, with writes that no parser
 * reads before the server. Then it tells the rights that the login has besides reading, each with the statement that removes it.
 */
import { attempted, latencyOf, type DatabaseCheck, type WriteAttempt } from '../kit/database-check';
import { identifier, type Outcome } from '../kit/engine';
import { readAddress } from './address';
import { toEngineError } from './errors';
import { writingRights } from './grants';
import { MysqlSession } from './session';

const TIMEOUT_MS = 10_000;

export async function checkMysql(url: string): Promise<DatabaseCheck> {
  const address = readAddress(url);
  const startedMs = performance.now();
  try {
    const session = await MysqlSession.open(address);
    try {
      const connectMs = performance.now() - startedMs;
      const latencyMs = await latencyOf(() => session.query('DO 0'));
      const [[user] = []] = await session.query('SELECT CURRENT_USER()');
      const [[, cipher] = []] = await session.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
      await session.begin({ timeoutMs: TIMEOUT_MS });
      const attempts = await attemptWrites(session, address.target.database);
      const version = `${session.isMariaDb ? 'MariaDB' : 'MySQL'} ${session.version}`;
      const rights = await writingRights(address);
      return { version, user: String(user), tls: cipher !== '', connectMs, latencyMs, attempts, rights };
    } finally {
      await session.query('ROLLBACK').finally(() => session.close());
    }
  } catch (error) {
    throw toEngineError(error, address.target);
  }
}

async function attemptWrites(session: MysqlSession, database: string): Promise<WriteAttempt[]> {
  const [[found] = []] = await session.query(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name LIMIT 1",
  );
  const table = found === undefined ? null : `${identifier(database)}.${identifier(String(found))}`;
  const onTable = [
    [`insert into ${table}`, `INSERT INTO ${table} SELECT * FROM ${table} WHERE 1 = 0`],
    [`delete from ${table}`, `DELETE FROM ${table} WHERE 1 = 0`],
    [`empty ${table}`, `TRUNCATE TABLE ${table}`],
  ] as const;
  const statements = [
    ['create a table', 'CREATE TABLE gate_write_attempt (x integer)'],
    ['create a temporary table', 'CREATE TEMPORARY TABLE gate_write_attempt (x integer)'],
    ['write a file', "SELECT 1 INTO OUTFILE 'gate_write_attempt'"],
    ['close the tables of all sessions', 'FLUSH TABLES'],
    ['leave read-only mode', 'SET SESSION TRANSACTION READ WRITE'],
    ...(table === null ? [] : onTable),
  ] as const;
  const attempts: WriteAttempt[] = [];
  for (const [what, sql] of statements) {
    attempts.push(
      await attempted(
        what,
        async () => {
          const options = { timeoutMs: TIMEOUT_MS, maxRows: 1, tag: 'check', signal: AbortSignal.timeout(TIMEOUT_MS) };
          const outcome = await session.execute(sql, options);
          if (outcome.kind !== 'rows') throw new NotDone(outcome);
        },
        (error) => {
          if (!(error instanceof NotDone)) throw error;
          return error.isRefused ? 'refused' : 'failed';
        },
      ),
    );
  }
  return attempts;
}

/** Access denied, or an option of the server, refuses a write as well as the session does. */
const DENIED = ['1044', '1045', '1142', '1143', '1227', '1290', '1370', '3503'];

class NotDone extends Error {
  readonly isRefused: boolean;

  constructor(outcome: Exclude<Outcome, { kind: 'rows' }>) {
    super(outcome.kind === 'timeout' ? 'it took too long' : outcome.message);
    this.isRefused =
      outcome.kind === 'refused' || (outcome.kind === 'sql-error' && DENIED.includes(outcome.code ?? ''));
  }
}
