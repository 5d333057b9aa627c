/**
 * A Snowflake database as a `SqlEngine`: a few sessions (`session.ts`), statements one by one.
 *
 * Snowflake has no read-only transaction and no snapshot over several statements. The role is what prevents writes: its grants
 * are read once, and a role that can do more than read is refused (`role.ts`), unless the configuration allows it.
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, once } from '../kit/engine';
import { sentOf } from '../kit/statement';
import { describeSnowflake } from './describe';
import { toEngineError } from './errors';
import { createSnowflakeInspector, readStatement } from './inspector';
import { refuseWriter } from './role';
import { loadSdk, SnowflakeSession, type LoadSdk } from './session';
import { connectionOptions, readTarget, type SnowflakeLoginSettings } from './target';
import type { EngineModule } from '../kit/module';

export { createSnowflakeInspector };

export type { SnowflakeLoginSettings } from './target';

export const engine: EngineModule = {
  open({ address: url, role, schemas, poolSize, maxScanBytes, snowflake }) {
    const { login, accessUrl, allowPrivilegedRole } = snowflake;
    const options = { login, role, schemas, accessUrl, allowPrivilegedRole, poolSize, maxScanBytes };
    return createSnowflakeEngine({ url, options });
  },
  searchPath: ({ address: url, snowflake: { login } }) => [readTarget({ url, login }).schema ?? []].flat(),
  // It has no read-only transaction: the grants of the role are read when it is opened.
  check: null,
  inspector: (functions) => createSnowflakeInspector({ functions }),
};

export interface SnowflakeEngineSettings {
  /** `snowflake://user@account/database/schema?warehouse=…&role=…` */
  readonly url: string;
  readonly options?: {
    /** Default: the password in the URL. */
    readonly login?: SnowflakeLoginSettings | null;
    readonly role?: string | null;
    /** Schemas to describe; default: the schema in the URL, else all schemas. */
    readonly schemas?: readonly string[];
    readonly accessUrl?: string | null;
    readonly allowPrivilegedRole?: boolean;
    /** Sessions kept at most; default 4. */
    readonly poolSize?: number;
    /** Statements whose plan scans more bytes are refused; default: no limit. */
    readonly maxScanBytes?: number;
    /** Where the driver comes from; default: the package snowflake-sdk. */
    readonly load?: LoadSdk;
  };
}

const CONNECT_TIMEOUT_MS = 30_000;
const DESCRIBE_TIMEOUT_MS = 30_000;

export function createSnowflakeEngine({ url, options = {} }: SnowflakeEngineSettings): SqlEngine {
  const { allowPrivilegedRole = false, schemas = [], poolSize = 4, maxScanBytes } = options;
  const target = readTarget({ url, ...options });
  /** The role is checked once: all sessions have the same one. */
  const prove = once(refuseWriter);
  const { inSession, ...engine } = createEngine<SnowflakeSession>({
    dialect: 'snowflake',
    poolSize,
    async open(signal) {
      const sdk = await loadSdk(options.load);
      const request = { tag: 'check', timeoutMs: CONNECT_TIMEOUT_MS, maxRows: 10, signal };
      const checks = { target, asSubquery: allowPrivilegedRole, maxScanBytes };
      const session = await SnowflakeSession.open(sdk, connectionOptions(target), checks, request);
      if (allowPrivilegedRole) return session;
      return prove(session, request).then(
        () => session,
        async (error: unknown) => {
          await session.close();
          throw error;
        },
      );
    },
    read: (sql) => Promise.resolve(sentOf(readStatement(sql))),
    toError: (error) => toEngineError(error, target),
    digestSql: (session, sql, request) => session.digestSql(sql, request),
  });
  return {
    ...engine,
    describe({ signal }) {
      const request = { tag: 'describe', timeoutMs: DESCRIBE_TIMEOUT_MS, maxRows: 200_000, signal };
      return inSession(request, (session) =>
        describeSnowflake((sql, more) => session.query(sql, { ...request, ...more }), { ...target, schemas }),
      );
    },
  };
}
