import type { EngineModule } from '../kit/module';
import { checkDuckdb } from './check';
import { createDuckdbEngine } from './engine';
import { createDuckdbInspector } from './inspector';

export { checkDuckdb, createDuckdbEngine, createDuckdbInspector };
export type { DuckdbEngineSettings } from './engine';

export const engine: EngineModule = {
  open: ({ address: path, poolSize, cacheFolder }) => createDuckdbEngine({ path, poolSize, cacheFolder }),
  check: ({ address, cacheFolder }) => checkDuckdb(address, cacheFolder),
  inspector: createDuckdbInspector,
};
