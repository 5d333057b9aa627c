/**
 * Further databases that a question is scored on, such as those of a test suite: thousands may be opened one after the other,
 * so those that were not used for longest are closed again.
 */
import type { Config } from '../config';
import { resolveDatabase } from '../config/databases';
import type { SqlEngine } from '../ports';
import { openEngines, type Engines } from '../workers/engines';

const KEPT = 16;

interface Opened {
  readonly name: string;
  readonly engines: Engines;
  users: number;
}

export function furtherEngines(
  config: Config,
  cwd: string,
): { readonly open: (address: string) => SqlEngine; readonly close: () => Promise<void> } {
  // The least recently used one is the first.
  const opened = new Map<string, Opened>();
  const use = async <T>(address: string, work: (engine: SqlEngine) => Promise<T>): Promise<T> => {
    const one = opened.get(address) ?? openOne(config, address, cwd);
    opened.delete(address);
    opened.set(address, one);
    one.users += 1;
    try {
      return await work((await one.engines.engine(one.name)).engine);
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
    open: (address) => ({
      dialect: resolveDatabase(config, address, cwd).dialect,
      run: (statements, options) => use(address, (engine) => engine.run(statements, options)),
      digest: (sql, options) => use(address, (engine) => engine.digest(sql, options)),
      describe: (options) => use(address, (engine) => engine.describe(options)),
      close: () => Promise.resolve(),
    }),
    close: async () => {
      for (const { engines } of opened.values()) await engines.close();
    },
  };
}

function openOne(config: Config, address: string, cwd: string): Opened {
  const database = resolveDatabase(config, address, cwd);
  return { name: database.name, engines: openEngines(config, [database]), users: 0 };
}
