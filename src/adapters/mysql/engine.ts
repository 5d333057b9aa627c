/**
 * A MySQL or MariaDB database as a `SqlEngine`: its sessions (`session.ts`), schema and errors. A login that may do more than
 * read is refused when the database is opened (`grants.ts`).
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine } from '../kit/engine';
import { readAddress } from './address';
import { describeMysql, revisionOfMysql } from './describe';
import { toEngineError } from './errors';
import { refuseWriter } from './grants';
import { readStatement } from './inspector';
import { MysqlSession } from './session';

export interface MysqlEngineSettings {
  /** `mysql://user:password@host:3306/database?ssl-mode=…` */
  readonly url: string;
  readonly options?: {
    /** Connections at most; default 4. */
    readonly poolSize?: number;
    /** Other databases to describe besides, as `database.table`. */
    readonly schemas?: readonly string[];
    /** For tests of what a session alone prevents: a login is taken with all its rights. */
    readonly anyLogin?: boolean;
  };
}

const DESCRIBE_TIMEOUT_MS = 20_000;

export function createMysqlEngine({ url, options = {} }: MysqlEngineSettings): SqlEngine {
  const { poolSize = 4, schemas = [], anyLogin = false } = options;
  const address = readAddress(url);
  const { target } = address;
  /** Rights are read once: all sessions have the same login. */
  let proven: Promise<void> | null = anyLogin ? Promise.resolve() : null;
  const { inSession, ...engine } = createEngine<MysqlSession>({
    dialect: 'mysql',
    poolSize,
    async open() {
      proven ??= refuseWriter(address).catch((error: unknown) => {
        proven = null;
        throw error;
      });
      await proven;
      return MysqlSession.open(address);
    },
    refuse(sql) {
      const statement = readStatement(sql);
      return Promise.resolve(statement.kind === 'select' ? null : { kind: 'refused', message: statement.message });
    },
    toError: (error) => toEngineError(error, target),
    digestSql: (session, sql, asked) => session.digestSql(sql, asked),
  });
  const read = <T>(tag: string, signal: AbortSignal, use: (session: MysqlSession) => Promise<T>): Promise<T> =>
    inSession({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag }, use);
  return {
    ...engine,
    describe: ({ signal }) => read('describe', signal, (session) => describeMysql(session, target.database, schemas)),
    revision: ({ signal }) => read('revision', signal, (session) => revisionOfMysql(session, target.database, schemas)),
  };
}
