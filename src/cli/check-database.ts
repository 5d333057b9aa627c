/** What can be checked of a database before a model call is paid: it answers and has tables. Gives what it looks like. */
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { DatabaseDescription } from '../domain';
import { openEngines, type Engines } from '../workers/engines';
import { GateError } from '../app/errors';
import type { Io } from './io';

const WAIT_MS = 20_000;

export async function checkDatabase(databases: Pick<Engines, 'engine'>, name: string): Promise<DatabaseDescription> {
  const { engine } = await databases.engine(name);
  const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
  if (description.tables.length > 0) return description;
  throw new GateError(`database '${name}' shows no tables: check path or URL, the user's rights, and the access lists`);
}

/** The same of a database that is opened for it alone. */
export function lookAt(config: Config, database: ResolvedDatabase): Promise<DatabaseDescription> {
  const engines = openEngines(config, [database]);
  return checkDatabase(engines, database.name).finally(() => engines.close());
}

/** Work on a database: opened for it, cancelled by an interrupt, and closed. */
export async function onDatabase<T>(
  { config, database }: { readonly config: Config; readonly database: ResolvedDatabase },
  io: Pick<Io, 'onInterrupt'>,
  work: (open: { readonly engines: Engines; readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const engines = openEngines(config, [database]);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    return await work({ engines, signal: stop.signal });
  } finally {
    stopListening();
    await engines.close();
  }
}
