/** `gate ask --detach`: a worker in the background serves the question, this process only starts it. */
import { servedDetached } from '../app/background';
import { announcedFor, checkAndStore, startAsked, type Asking } from '../app/start-search';
import { checkDatabase } from '../app/check-database';
import { EXIT, type ExitCode } from './exit';
import type { Io } from './io';
import { openTemporal } from '../app/temporal-session';
import { decodedInUi } from './codec-server';

export async function askDetached(
  asking: Asking & { readonly io: Io },
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
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
  let who = '';
  const ui = session.uiOf(searchId);
  try {
    const announced = announcedFor(config, await asking.composition(), database, input);
    who = await servedDetached(config, [{ database, announced }], session, io);
    await startAsked({ session, config, input, announced, state: checked.value, io });
  } finally {
    await session.close({ keep: true });
  }
  if (json) io.out(`${JSON.stringify({ id: searchId, status: 'running', ui }, null, 2)}\n`);
  else io.out(`${searchId}\n`);
  io.err(
    `${ui === null ? '' : `Temporal UI ${ui}\n`}${decodedInUi(config, session)}gate status ${searchId} shows where it stands, gate result ${searchId} --wait prints the answer.\n${who}\n`,
  );
  return EXIT.ok;
}
