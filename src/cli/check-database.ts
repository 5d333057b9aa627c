/** What can be checked of a database before a model call is paid: it answers and has tables. Gives what it looks like. */
import type { DatabaseDescription } from '../domain';
import type { Engines } from '../workers/composition';
import { CommandFailed } from './errors';

const WAIT_MS = 20_000;

export async function checkDatabase(databases: Pick<Engines, 'engine'>, name: string): Promise<DatabaseDescription> {
  const { engine } = await databases.engine(name);
  const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
  if (description.tables.length > 0) return description;
  throw new CommandFailed(
    `database '${name}' shows no tables: check path or URL, the user's rights, and the access lists`,
  );
}
