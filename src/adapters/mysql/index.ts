import type { EngineModule } from '../kit/module';
import { readAddress } from './address';
import { checkMysql } from './check';
import { createMysqlEngine } from './engine';
import { createMysqlInspector } from './inspector';

export { checkMysql, createMysqlEngine, createMysqlInspector };
export type { MysqlEngineSettings } from './engine';

export const engine: EngineModule = {
  open: ({ address: url, schemas, poolSize }) => createMysqlEngine({ url, options: { poolSize, schemas } }),
  searchPath: ({ address }) => [readAddress(address).target.database],
  check: ({ address }) => checkMysql(address),
  inspector: createMysqlInspector,
};
