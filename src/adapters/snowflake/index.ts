import type { EngineModule } from '../kit/module';
import { createSnowflakeEngine } from './engine';
import { createSnowflakeInspector } from './inspector';
import { readTarget } from './target';

export { createSnowflakeEngine, createSnowflakeInspector };
export type { SnowflakeEngineSettings } from './engine';
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
