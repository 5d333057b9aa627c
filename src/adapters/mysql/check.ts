/**
 * Proves by trying that a session cannot write: the same session as for statements of a search, with writes that no parser
 * reads before the server. Then it tells the rights that the login has besides reading, each with the statement that removes it.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { attempted, latencyOf, type DatabaseCheck, type WriteAttempt } from '../kit/database-check';
import { identifier, type Outcome } from '../kit/engine';
import { readAddress } from './address';
import { toEngineError } from './errors';
import { writingRights } from './grants';
import { MysqlSession } from './session';

const TIMEOUT_MS = 10_000;

export async function checkMysql(url: string, schemas: readonly string[] = []): Promise<DatabaseCheck> {
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
      const rights = await writingRights(address, schemas);
      const version = session.serverName;
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
  const statements: [what: string, sql: string][] = [
    ['create a table', 'CREATE TABLE gate_write_attempt (x integer)'],
    ['create a temporary table', 'CREATE TEMPORARY TABLE gate_write_attempt (x integer)'],
    ['write a file', "SELECT 1 INTO OUTFILE 'gate_write_attempt'"],
    ['close the tables of all sessions', 'FLUSH TABLES'],
    ['leave read-only mode', 'SET SESSION TRANSACTION READ WRITE'],
  ];
  if (table !== null)
    statements.push(
      [`insert into ${table}`, `INSERT INTO ${table} SELECT * FROM ${table} WHERE 1 = 0`],
      [`delete from ${table}`, `DELETE FROM ${table} WHERE 1 = 0`],
      [`empty ${table}`, `TRUNCATE TABLE ${table}`],
    );
  const limits = { timeoutMs: TIMEOUT_MS, maxRows: 1, tag: 'check', signal: AbortSignal.timeout(TIMEOUT_MS) };
  const write = async (sql: string): Promise<void> => {
    const result = await session.execute(sql, limits);
    if (result.kind === 'timeout') throw new Error('it took too long');
    if (result.kind !== 'rows') throw Object.assign(new Error(result.message), result);
  };
  return attempted(statements, write, verdict);
}

/** Access denied, or an option of the server, refuses a write as well as the session does. */
const DENIED = ['1044', '1045', '1142', '1143', '1227', '1290', '1370', '3503'];

function verdict(error: unknown): 'refused' | 'failed' {
  if (error instanceof SqlEngineError) throw error;
  const { kind, code } = error as { readonly kind?: Outcome['kind']; readonly code?: string };
  return kind === 'refused' || DENIED.includes(code ?? '') ? 'refused' : 'failed';
}
