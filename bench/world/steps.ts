/** The real steps over a real store, database and HTTP endpoint, as one process of a bench composes them. */
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { createLocalStore } from '../../src/adapters/local/store';
import { createOpenAiModel } from '../../src/adapters/openai';
import { createPostgresEngine, createPostgresInspector } from '../../src/adapters/postgres';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import type { SearchInput } from '../../src/domain';
import type { ObjectStore } from '../../src/domain/ports';
import { createSteps } from '../../src/methods/steps';
import { storeInput } from '../../src/record/run-store';
import type { WorkerSteps } from '../../src/workers/run-worker';

export interface StepsOptions {
  readonly modelUrl: string;
  readonly storeFolder: string;
  /** A PostgreSQL URL, or the path of an SQLite file. */
  readonly database: string;
  /** Without them no write says that a model call begins: only GATE promises what they are for. */
  readonly intents?: boolean;
}

export interface BenchSteps {
  readonly steps: WorkerSteps;
  readonly store: ObjectStore;
  /** Stores what the search starts from. */
  begin(input: SearchInput): Promise<void>;
  close(): Promise<void>;
}

export async function benchSteps(options: StepsOptions): Promise<BenchSteps> {
  const { modelUrl, storeFolder, database, intents = true } = options;
  const local = createLocalStore(storeFolder);
  const store = intents ? local : withoutIntents(local);
  const model = createOpenAiModel({ apiKey: 'bench', baseUrl: modelUrl, timeoutMs: 60_000 });
  const postgres = database.startsWith('postgres');
  const inspector = postgres ? await createPostgresInspector() : createSqliteInspector();
  const opened = postgres ? createPostgresEngine({ url: database }) : createSqliteEngine({ path: database });
  const engine = createGuardedEngine(opened, inspector);
  const deps = {
    ...{ store, clock: { now: () => Date.now() } },
    models: () => model,
    engine: () => Promise.resolve({ engine, inspector }),
  };
  return {
    steps: createSteps(deps),
    store,
    begin: (input) => storeInput(deps.store, input),
    close: () => engine.close(),
  };
}

/** They stay in this process. */
function withoutIntents(store: ObjectStore): ObjectStore {
  const own = new Map<string, string>();
  const isIntent = (key: string): boolean => key.includes('/intent/');
  return {
    ...store,
    get: (key) => (isIntent(key) ? Promise.resolve(own.get(key) ?? null) : store.get(key)),
    put: async (key, text, options) => {
      if (isIntent(key)) own.set(key, text);
      else await store.put(key, text, options);
    },
  };
}
