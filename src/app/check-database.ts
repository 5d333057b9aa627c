/** What can be checked of a database before a model call is paid: it answers and has tables. Gives what it looks like. */
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { DatabaseDescription } from '../domain';
import { openEngines, type Engines } from '../workers/engines';
import { GateError } from './errors';

const WAIT_MS = 20_000;
/** Of one check of a claim, unless somebody gives it more. */
export const CHECK_MS = 25_000;

export async function checkDatabase(databases: Pick<Engines, 'engine'>, name: string): Promise<DatabaseDescription> {
  const { engine } = await databases.engine(name);
  const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
  if (description.tables.length > 0) return description;
  throw new GateError(`database '${name}' shows no tables: check path or URL, the user's rights, and the access lists`);
}

/** The same of a database that is opened for it alone. */
export function lookAt(config: Config, database: ResolvedDatabase): Promise<DatabaseDescription> {
  return withEngines(config, database, (engines) => checkDatabase(engines, database.name));
}

/** Work on a database that is opened for it and closed. */
export async function withEngines<T>(
  config: Config,
  database: ResolvedDatabase,
  work: (engines: Engines) => Promise<T>,
): Promise<T> {
  const engines = openEngines(config, [database]);
  return work(engines).finally(() => engines.close());
}
