/** Real steps on the sprint example with the simulated model: for runs in a process and for a worker that is killed. */
import { createLocalStore } from '../../src/adapters/local/store';
import { createOpenAiModel } from '../../src/adapters/openai';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { StepDeps } from '../../src/roles/shared/context';

export interface World {
  readonly store: string;
  readonly sqlite: string;
  readonly baseUrl: string;
}

export function depsOf({ store, sqlite, baseUrl }: World): StepDeps {
  const model = createOpenAiModel({ apiKey: 'test', baseUrl, timeoutMs: 30_000 });
  const database = { engine: createSqliteEngine({ path: sqlite }), inspector: createSqliteInspector() };
  return {
    store: createLocalStore(store),
    models: () => model,
    engine: () => Promise.resolve(database),
    clock: { now: () => Date.now() },
  };
}
