/**
 * A Snowflake database as a `SqlEngine`: a few sessions (`session.ts`), statements one by one.
 *
 * Snowflake has no read-only transaction and no snapshot over several statements. The role is what prevents writes: its grants
 * are read once, and a role that can do more than read is refused (`role.ts`), unless the configuration allows it.
 */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import { createEngine, once } from '../kit/engine';
import type { EngineModule, Opening } from '../kit/module';
import { sentOf } from '../kit/statement';
import { describeSnowflake } from './describe';
import { toEngineError } from './errors';
import { createSnowflakeInspector, readStatement } from './inspector';
import { refuseWriter } from './role';
import { loadSdk, SnowflakeSession, type LoadSdk } from './session';
import { connectionOptions, readTarget } from './target';

export { createSnowflakeInspector };

export type { SnowflakeLoginSettings } from './target';

export const engine: EngineModule = {
  open: ({ address: url, snowflake, ...options }) =>
    createSnowflakeEngine({ url, options: { ...options, ...snowflake } }),
  searchPath: ({ address: url, snowflake: { login } }) => [readTarget({ url, login }).schema ?? []].flat(),
  // It has no read-only transaction: the grants of the role are read when it is opened.
  check: null,
  inspector: createSnowflakeInspector,
};

export interface SnowflakeEngineSettings {
  /** `snowflake://user@account/database/schema?warehouse=…&role=…` */
  readonly url: string;
  /** `schemas`: what is described; default: the schema in the URL, else all schemas. `login`: default: the password in the URL. */
  readonly options?: Partial<Pick<Opening, 'poolSize' | 'role' | 'schemas' | 'maxScanBytes'> & Opening['snowflake']> & {
    /** Where the driver comes from; default: the package snowflake-sdk. */
    readonly load?: LoadSdk;
  };
}

const CONNECT_TIMEOUT_MS = 30_000;

export function createSnowflakeEngine({ url, options = {} }: SnowflakeEngineSettings): SqlEngine {
  const { allowPrivilegedRole = false, schemas = [], poolSize, maxScanBytes } = options;
  const target = readTarget({ url, ...options });
  /** The role is checked once: all sessions have the same one. */
  const prove = allowPrivilegedRole
    ? null
    : once((_, ...asked: Parameters<typeof refuseWriter>) => refuseWriter(...asked));
  const { reading, ...engine } = createEngine<SnowflakeSession>({
    dialect: 'snowflake',
    poolSize,
    async open(signal) {
      const sdk = await loadSdk(options.load);
      const request = { tag: 'check', timeoutMs: CONNECT_TIMEOUT_MS, maxRows: 10, signal };
      return SnowflakeSession.open(sdk, connectionOptions(target), { target, prove, maxScanBytes }, request);
    },
    read: (sql) => sentOf(readStatement(sql)),
    toError: (error) => toEngineError(error, target),
  });
  return {
    ...engine,
    describe: reading('describe', (session, asked) => {
      const request = { ...asked, maxRows: 200_000 };
      return describeSnowflake((sql, more) => session.query(sql, { ...request, ...more }), { ...target, schemas });
    }),
  };
}
