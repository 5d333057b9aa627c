/** What can be checked of a database before a model call is paid: it answers and has tables. */
import type { Engines } from '../workers/composition';
import { CommandFailed } from './errors';

const WAIT_MS = 20_000;

export async function checkDatabase(databases: Pick<Engines, 'engine'>, name: string): Promise<void> {
  const { engine } = await databases.engine(name);
  const { tables } = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
  if (tables.length > 0) return;
  throw new CommandFailed(
    `database '${name}' shows no tables: check path or URL, the user's rights, and the access lists`,
  );
}
