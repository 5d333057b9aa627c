import type { EngineModule } from '../kit/module';
import { checkPostgres } from './check';
import { createPostgresEngine } from './engine';
import { createPostgresInspector } from './inspector';

export { checkPostgres, createPostgresEngine, createPostgresInspector };
export type { PostgresEngineSettings } from './engine';

export const engine: EngineModule = {
  open: ({ address: url, role, schemas, poolSize, maxPlanCost }) =>
    createPostgresEngine({ url, options: { role: role ?? undefined, poolSize, maxPlanCost, schemas } }),
  searchPath: ({ schemas }) => schemas,
  check: ({ address: url, role, schemas }) => checkPostgres({ url, role, schemas }),
  inspector: createPostgresInspector,
};
