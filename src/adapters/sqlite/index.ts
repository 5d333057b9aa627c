import type { EngineModule } from '../kit/module';
import { checkSqlite } from './check';
import { createSqliteEngine } from './engine';
import { createSqliteInspector } from './inspector';

export { checkSqlite, createSqliteEngine, createSqliteInspector };
export type { SqliteEngineSettings } from './engine';

export const engine: EngineModule = {
  open: ({ address: path, poolSize }) => createSqliteEngine({ path, poolSize }),
  check: ({ address }) => checkSqlite(address),
  inspector: createSqliteInspector,
};
