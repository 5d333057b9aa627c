/** `gate ask --detach`: a worker in the background serves the question, this process only starts it. */
import { queuesByModel } from '../workers/model-queues';
import { questionQueues } from '../workers/task-queues';
import { serveInBackground } from './background';
import { checkAndStore, type Asking } from './ask-checks';
import { limitedModels, startAsked } from './ask-start';
import { checkDatabase } from './check-database';
import { EXIT, type ExitCode } from './errors';
import { openTemporal } from './temporal-session';
import { decodedInUi } from './ui-codec';

export async function askDetached(asking: Asking, { json = false }: { readonly json?: boolean }): Promise<ExitCode> {
  const { services, database, input, io } = asking;
  const { config } = services;
  const opening = openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
  const [opened, checked] = await Promise.allSettled([
    opening,
    checkAndStore(asking, checkDatabase(asking.engines, database.name)),
  ]);
  if (checked.status === 'rejected') {
    if (opened.status === 'fulfilled') await opened.value.close();
    throw checked.reason;
  }
  const session = await opening;
  const { searchId } = input;
  const ui = session.uiOf(searchId);
  try {
    await serveInBackground(config, database, session, io);
    const limited = limitedModels(config, input, asking.files);
    await startAsked(session, config, input, questionQueues(database.name, queuesByModel(limited)), checked.value);
  } finally {
    await session.close({ keep: true });
  }
  if (json) io.out(`${JSON.stringify({ id: searchId, status: 'running', ui }, null, 2)}\n`);
  else io.out(`${searchId}\n`);
  io.err(
    `${ui === null ? '' : `Temporal UI ${ui}\n`}${decodedInUi(config, session)}gate status ${searchId} shows where it stands, gate result ${searchId} --wait prints the answer.\n`,
  );
  io.err('Server and worker stay up; gate dev --stop ends them.\n');
  return EXIT.ok;
}
