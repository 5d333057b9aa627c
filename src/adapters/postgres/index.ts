/** A PostgreSQL database as a `SqlEngine`: its sessions (`session.ts`), schema, dangerous functions and errors. */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, keptFor, type Outcome } from '../kit/engine';
import { connect, readAddress, type GateClient } from './connection';
import { describePostgres, revisionOfPostgres } from './describe';
import { toEngineError } from './errors';
import { loadHazards } from './hazards';
import { PostgresSession } from './session';
import type { EngineModule } from '../kit/module';
import { checkPostgres } from './check';
import { createPostgresInspector } from './inspector';

export { checkPostgres, createPostgresInspector };

export const engine: EngineModule = {
  open: ({ address: url, role, schemas, poolSize, maxPlanCost }) =>
    createPostgresEngine({ url, options: { role: role ?? undefined, poolSize, maxPlanCost, schemas } }),
  searchPath: ({ schemas }) => schemas,
  check: ({ address: url, role, schemas }) => checkPostgres({ url, role, schemas }),
  inspector: createPostgresInspector,
};

export interface PostgresEngineSettings {
  readonly url: string;
  readonly options?: {
    /** Connections at most; default 4. */
    readonly poolSize?: number;
    /** A role with SELECT only, set for every transaction; `none`: keep the login's own rights. */
    readonly role?: string;
    /** Search path, and the schemas to describe; default: the login's search path, all schemas. */
    readonly schemas?: readonly string[];
    /** Statements that the planner expects to cost more are refused; default: none are. */
    readonly maxPlanCost?: number;
  };
}

const DESCRIBE_TIMEOUT_MS = 20_000;
/** How long the list of dangerous functions is kept before it is read again. */
const HAZARDS_KEPT_MS = 60_000;

/** Refused here, because the protocol ends a text at its first NUL. */
const NUL: Outcome = {
  kind: 'sql-error',
  message: 'the statement holds a NUL character: leave it out',
  code: '22021',
};

export function createPostgresEngine({ url, options = {} }: PostgresEngineSettings): SqlEngine {
  const { poolSize = 4, role = null, schemas = [], maxPlanCost = null } = options;
  const address = readAddress(url);
  const { target } = address;
  const hazards = keptFor(HAZARDS_KEPT_MS, (signal) => read('check', signal, loadHazards));
  const { inSession, ...engine } = createEngine<PostgresSession>({
    dialect: 'postgresql',
    poolSize,
    open: async () => new PostgresSession(await connect(address), { target, role, schemas, maxPlanCost }),
    toError: (error) => toEngineError(error, target),
    digestSql: (session, sql, asked) => session.digestSql(sql, asked),
    async read(sql, signal) {
      if (sql.includes('\0')) return NUL;
      const message = (await hazards(signal)).refuse(sql);
      return message === null ? sql : { kind: 'refused', message };
    },
  });
  const read = <T>(tag: string, signal: AbortSignal, use: (client: GateClient) => Promise<T>): Promise<T> =>
    inSession({ timeoutMs: DESCRIBE_TIMEOUT_MS, signal, tag }, async (session) => use(await session.reading()));
  return {
    ...engine,
    describe: ({ signal }) => read('describe', signal, (client) => describePostgres(client, schemas)),
    revision: ({ signal }) => read('revision', signal, (client) => revisionOfPostgres(client, schemas)),
  };
}
