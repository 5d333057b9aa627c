/**
 * A MySQL or MariaDB database as a `SqlEngine`: its sessions (`session.ts`), schema and errors. A login that may do more than
 * read is refused when the database is opened (`grants.ts`).
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, keptFor, once } from '../kit/engine';
import { sentOf } from '../kit/statement';
import { readAddress } from './address';
import { describeMysql, revisionOfMysql } from './describe';
import { toEngineError } from './errors';
import { refuseWriter } from './grants';
import { createMysqlInspector, readStatement } from './inspector';
import { MysqlSession, type Server } from './session';
import { actingViews } from './views';
import type { EngineModule } from '../kit/module';
import { checkMysql } from './check';

export { checkMysql, createMysqlInspector };

export const engine: EngineModule = {
  open: ({ address: url, schemas, poolSize }) => createMysqlEngine({ url, options: { poolSize, schemas } }),
  searchPath: ({ address }) => [readAddress(address).target.database],
  check: ({ address, schemas }) => checkMysql(address, schemas),
  inspector: createMysqlInspector,
};

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
/** How long the list of views that may act is kept before it is read again. */
const VIEWS_KEPT_MS = 60_000;

export function createMysqlEngine({ url, options = {} }: MysqlEngineSettings): SqlEngine {
  const { poolSize = 4, schemas = [], anyLogin = false } = options;
  const address = readAddress(url);
  const { target } = address;
  /** Rights are read once: all sessions have the same login. */
  const prove = once(() => (anyLogin ? Promise.resolve() : refuseWriter(address, schemas)));
  const server: Server = {};
  const acting = keptFor(VIEWS_KEPT_MS, (signal) => read('check', signal, actingViews));
  const { inSession, ...engine } = createEngine<MysqlSession>({
    dialect: 'mysql',
    poolSize,
    async open() {
      await prove();
      return MysqlSession.open(address, server);
    },
    async read(sql, signal) {
      const statement = readStatement(sql);
      if (statement.kind !== 'select') return sentOf(statement);
      const views = await acting(signal);
      const [message] = statement.tokens.flatMap(({ text }) => views.get(text.toLowerCase()) ?? []);
      return message === undefined ? statement.text : { kind: 'refused', message };
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
