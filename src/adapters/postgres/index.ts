/** A PostgreSQL database as a `SqlEngine`: its sessions (`session.ts`), schema, dangerous functions and errors. */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, type Outcome } from '../kit/engine';
import { connect, readAddress } from './connection';
import { describePostgres, revisionOfPostgres } from './describe';
import { toEngineError } from './errors';
import { loadHazards } from './hazards';
import { PostgresSession } from './session';
import type { EngineModule, Opening } from '../kit/module';
import { checkPostgres } from './check';
import { createPostgresInspector } from './inspector';

export { checkPostgres, createPostgresInspector };

export const engine: EngineModule = {
  open: ({ address: url, ...options }) => createPostgresEngine({ url, options }),
  searchPath: ({ schemas }) => schemas,
  check: checkPostgres,
  inspector: createPostgresInspector,
};

export interface PostgresEngineSettings {
  readonly url: string;
  /**
   * `role`: one with SELECT only, set for every transaction; `none`: keep the login's own rights. `schemas`: the search path, and
   * what is described; default: the login's search path, all schemas.
   */
  readonly options?: Partial<Pick<Opening, 'poolSize' | 'role' | 'schemas' | 'maxPlanCost'>>;
}

/** Refused here, because the protocol ends a text at its first NUL. */
const NUL: Outcome = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
};

export function createPostgresEngine({ url, options = {} }: PostgresEngineSettings): SqlEngine {
  const { poolSize, role = null, schemas = [], maxPlanCost = null } = options;
  const address = readAddress(url);
  const { target } = address;
  const { reading, ...engine } = createEngine<PostgresSession>({
    dialect: 'postgresql',
    poolSize,
    open: async () => new PostgresSession(await connect(address), { target, role, schemas, maxPlanCost }),
    read: (sql) => (sql.includes('\0') ? NUL : sql),
    hazards: ({ client }) => loadHazards(client),
    toError: (error) => toEngineError(error, target),
  });
  return {
    ...engine,
    describe: reading('describe', ({ client }) => describePostgres(client, schemas)),
    revision: reading('revision', ({ client }) => revisionOfPostgres(client, schemas)),
  };
}
