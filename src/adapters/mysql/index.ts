/**
 * A MySQL or MariaDB database as a `SqlEngine`: its sessions (`session.ts`), schema and errors. A login that may do more than
 * read is refused when the database is opened (`grants.ts`).
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, once } from '../kit/engine';
import type { EngineModule, Opening } from '../kit/module';
import { sentOf } from '../kit/statement';
import { readAddress } from './address';
import { checkMysql } from './check';
import { describeMysql, revisionOfMysql } from './describe';
import { toEngineError } from './errors';
import { refuseWriter } from './grants';
import { createMysqlInspector, readStatement } from './inspector';
import { MysqlSession, type Server } from './session';
import { actingViews } from './views';

export { checkMysql, createMysqlInspector };

export const engine: EngineModule = {
  open: ({ address: url, ...options }) => createMysqlEngine({ url, options }),
  searchPath: ({ address }) => [readAddress(address).target.database],
  check: ({ address, schemas }) => checkMysql(address, schemas),
  inspector: createMysqlInspector,
};

export interface MysqlEngineSettings {
  /** `mysql://user:password@host:3306/database?ssl-mode=…` */
  readonly url: string;
  /** `schemas`: other databases to describe besides, as `database.table`. */
  readonly options?: Partial<Pick<Opening, 'poolSize' | 'schemas'>> & {
    /** For tests of what a session alone prevents: a login is taken with all its rights. */
    readonly anyLogin?: boolean;
  };
}

export function createMysqlEngine({ url, options = {} }: MysqlEngineSettings): SqlEngine {
  const { poolSize, schemas = [], anyLogin = false } = options;
  const address = readAddress(url);
  const { target } = address;
  /** Rights are read once: all sessions have the same login. */
  const prove = once(() => (anyLogin ? Promise.resolve() : refuseWriter(address, schemas)));
  const server: Server = {};
  const { reading, ...engine } = createEngine<MysqlSession>({
    dialect: 'mysql',
    poolSize,
    async open(signal) {
      await prove(signal);
      return MysqlSession.open(address, server);
    },
    read: (sql) => sentOf(readStatement(sql)),
    hazards: actingViews,
    toError: (error) => toEngineError(error, target),
  });
  return {
    ...engine,
    describe: reading('describe', (session) => describeMysql(session, target.database, schemas)),
    revision: reading('revision', (session) => revisionOfMysql(session, target.database, schemas)),
  };
}
