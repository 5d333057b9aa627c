/** `gate ask --detach`: a worker in the background serves the question, this process only starts it. */
import { serveInBackground } from './background';
import { announcedFor, checkAndStore, neededQueues, startAsked, type Asking } from './ask-start';
import { checkDatabase } from './check-database';
import { CommandFailed, EXIT, type ExitCode } from './errors';
import { deploymentOf } from '../config/limits';
import { startedQueues } from '../workers/deployments';
import { openTemporal } from './temporal-session';
import { decodedInUi } from './codec-server';

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
  let isStarted = false;
  let isBackground = false;
  const ui = session.uiOf(searchId);
  try {
    const announced = announcedFor(config, await asking.composition(), database, input);
    const started = await startedQueues(session.gate.client, deploymentOf(config.temporal.versioning));
    isStarted = neededQueues(announced).every((queue) => started.has(queue));
    if (!isStarted) isBackground = await serveInBackground(config, database, announced, session, io);
    const asked = await startAsked({ session, config, input, announced, state: checked.value, io });
    if (asked === 'earlier-version') {
      const line = `${searchId} was started by an earlier version of gate: ask again without --detach to continue it`;
      throw new CommandFailed(line);
    }
  } finally {
    await session.close({ keep: true });
  }
  if (json) io.out(`${JSON.stringify({ id: searchId, status: 'running', ui }, null, 2)}\n`);
  else io.out(`${searchId}\n`);
  io.err(
    `${ui === null ? '' : `Temporal UI ${ui}\n`}${decodedInUi(config, session)}gate status ${searchId} shows where it stands, gate result ${searchId} --wait prints the answer.\n`,
  );
  if (isStarted) io.err('The server starts a worker for it.\n');
  else if (!isBackground) io.err('A worker that runs already works on it.\n');
  else if (session.embedded === null) io.err('The worker keeps running; gate dev --stop stops it.\n');
  else io.err('The server and the worker keep running; gate dev --stop stops them.\n');
  return EXIT.ok;
}
