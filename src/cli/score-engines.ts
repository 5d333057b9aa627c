/**
 * The databases that predictions are scored on. A benchmark may have hundreds, and a test suite thousands: each is opened when it
 * is asked, and those that were not asked for longest are closed again.
 */
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { SqlEngine } from '../ports';
import { openEngines, type Engines } from '../workers/engines';

const KEPT = 16;

export interface ScoringEngines {
  of(database: ResolvedDatabase): SqlEngine;
  close(): Promise<void>;
}

export function scoringEngines(config: Config): ScoringEngines {
  // The least recently used one is the first.
  const opened = new Map<string, { readonly engines: Engines; users: number }>();
  const use = async <T>(database: ResolvedDatabase, work: (engine: SqlEngine) => Promise<T>): Promise<T> => {
    const { name } = database;
    const one = opened.get(name) ?? { engines: openEngines(config, [database]), users: 0 };
    opened.delete(name);
    opened.set(name, one);
    one.users += 1;
    try {
      return await work((await one.engines.engine(name)).engine);
    } finally {
      one.users -= 1;
      for (const [key, { users, engines }] of opened) {
        if (opened.size <= KEPT) break;
        if (users > 0) continue;
        opened.delete(key);
        await engines.close();
      }
    }
  };
  return {
    of: (database) => ({
      dialect: database.dialect,
      run: (statements, options) => use(database, (engine) => engine.run(statements, options)),
      digest: (sql, options) => use(database, (engine) => engine.digest(sql, options)),
      describe: (options) => use(database, (engine) => engine.describe(options)),
      close: () => Promise.resolve(),
    }),
    close: async () => {
      for (const { engines } of opened.values()) await engines.close();
    },
  };
}
