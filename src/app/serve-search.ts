/**
 * A search that this process serves until it ends, or that a process in the background serves.
 *
 * 1. What needs another process or thread begins first and goes on while this thread loads code: the
 *    database is asked, then the SDK is loaded, then the worker is made, whose thread loads its own half of the SDK meanwhile.
 *    The search starts when the checks have passed, whether or not the worker is ready.
 * 2. A failed check wins over whatever else failed meanwhile: it says what to change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { storeLocation } from '../config/store';
import { keptText } from '../text/claim-text';
import { awaitKept, type Ended } from '../workers/client';
import type { GateWorkers } from '../workers/run-worker';
import { servedName } from '../workers/serving';
import type { AnswerSummary } from '../domain/ports/step-parts';
import { note, type Asked, type Patience, type ServedBy } from './app';
import { withClockOfAsking } from './ask-again';
import { servedDetached } from './background';
import { checkDatabase } from './check-database';
import { GateError, SearchFailedError, UsageError } from './errors';
import { followSearch } from './follow';
import { told } from './rows';
import { recordOf } from './services';
import { announcedFor, checkAndStore, startAsked, type Asking } from './start-search';
import type { Target } from '../workers/configured-temporal';
import { openTemporal } from './open-temporal';
import type { TemporalSession } from './temporal-session';
import { aborted, overAfter } from './waiting';

export async function serveHere(asking: Asking, patience: Patience): Promise<Asked> {
  const { app, input } = asking;
  const { searchId } = input;
  const { stop } = patience;
  const { session, workers, endLog } = await openStarted(asking, stop).catch((error: unknown) => {
    throw stop?.aborted === true ? stoppedEarly() : error;
  });
  try {
    await app.onEvent({ kind: 'begun', searchId, ui: session.uiPlace(searchId, app.config) });
    const serving = workers.run();
    try {
      const broken = serving.then(() => Promise.reject(new GateError('the worker stopped; ask again to go on')));
      const ended = await Promise.race([followSearch(session, searchId, app, patience), broken]);
      const asked = await answered(asking, session, ended);
      if (ended.kind === 'completed' && ended.value.keeping === true) await waitForKept(asking, session, broken, stop);
      return asked;
    } finally {
      workers.stop();
      // Its error, if it has one, has ended the race above.
      await serving.catch(() => undefined);
    }
  } finally {
    endLog();
    await session.close();
  }
}

async function answered(asking: Asking, session: TemporalSession, ended: Ended<AnswerSummary>): Promise<Asked> {
  const { app, engines, input } = asking;
  const { searchId } = input;
  const record = await recordOf(app.store, searchId);
  if (ended.kind === 'failed') {
    if (record?.givenUp !== undefined)
      note(app, `gate show ${searchId} --trace shows the last reply; ask again once the cause is fixed`);
    throw new SearchFailedError(ended.message, record);
  }
  if (record === null) throw new GateError(`${searchId} ended without a record in ${storeLocation(app.config.store)}`);
  const { url, staysUp } = session.uiPlace(searchId, app.config);
  return told(asking, {
    record: await withClockOfAsking({ app, engines }, input, record),
    ui: staysUp ? url : null,
  });
}

/** How long this process serves the reading of what was proved, once the answer is told. */
const KEEPING_MS = 15_000;

/** What is not kept in time goes on with whoever serves the database next. */
async function waitForKept(
  { app, input }: Asking,
  session: TemporalSession,
  broken: Promise<never>,
  stop: AbortSignal | undefined,
): Promise<void> {
  note(app, `reading what was proved for later questions: at most ${KEEPING_MS / 1000} s, or interrupt`);
  const waited = aborted(overAfter(KEEPING_MS, stop)).then(() => null);
  const kept = await Promise.race([awaitKept(session.gate, input.searchId), broken, waited]);
  const problem = kept?.kind === 'failed' ? kept.message : (kept?.value.notKept ?? null);
  if (kept === null) note(app, 'not kept yet; it goes on when this database is asked next');
  else if (problem !== null) note(app, `nothing was kept: ${problem}`);
  else {
    const record = await recordOf(app.store, input.searchId);
    const text = record && keptText(record);
    note(app, text === null ? 'nothing of it helps later questions' : `kept for later questions: ${text}`);
  }
}

function stoppedEarly(): GateError {
  return new GateError('interrupted before the search began; nothing was asked', 'cancelled');
}

/** Within this time the database check has sent its first request, or has failed because there is no such file. */
const CHECKS_AHEAD_MS = 15;

/** Temporal, a worker on it and the started search; a failed check closes everything again. */
async function openStarted(
  asking: Asking,
  stop: AbortSignal | undefined,
): Promise<{ readonly session: TemporalSession; readonly workers: GateWorkers; readonly endLog: () => void }> {
  const { app, database, input } = asking;
  const databaseChecked = checkDatabase(asking.engines, database.name);
  await Promise.race([databaseChecked, sleep(CHECKS_AHEAD_MS)]);
  const { createGateWorkers, installLogger } = await import('../workers/run-worker');
  const endLog = installLogger('WARN', (line) => void app.onEvent({ kind: 'log', text: line }));
  const onProgress = (line: string): void => note(app, line);
  let onTarget = (_target: Target): void => undefined;
  const known = new Promise<Target>((resolve) => (onTarget = resolve));
  const opening = openTemporal(app.config, app.env, { onProgress, onTarget: (given) => onTarget(given) });
  // Without an address there is nothing to make a worker for.
  const target = Promise.race([known, opening.then(() => known)]);
  const announcing = asking.composition().then((opened) => announcedFor(app.config, opened, database, input));
  const making = announcing.then(async ({ serving, limited }) => {
    const [at, { steps, scheduled, batch }] = await Promise.all([target, asking.composition()]);
    const queues = { databases: [servedName(database.name, serving)], modelQueues: limited };
    return createGateWorkers({ ...at, steps, scheduled, batch, bundle: app.bundle, ...queues });
  });
  const checking = checkAndStore(asking, databaseChecked);
  const starting = Promise.all([opening, checking, announcing]).then(async ([session, state, announced]) => {
    if (stop?.aborted) throw stoppedEarly();
    await startAsked({ session, app, input, announced, state });
  });
  const [checked, opened, started, made] = await Promise.allSettled([checking, opening, starting, making]);
  if (opened.status === 'fulfilled' && started.status === 'fulfilled' && made.status === 'fulfilled')
    return { session: opened.value, workers: made.value, endLog };
  if (made.status === 'fulfilled') await discard(made.value);
  endLog();
  if (opened.status === 'fulfilled') await opened.value.close();
  throw [checked, opened, started, made].find((one) => one.status === 'rejected')?.reason;
}

/** A worker polls from when it is made, and only one that runs can be stopped. */
async function discard(workers: GateWorkers): Promise<void> {
  const ended = workers.run();
  workers.stop();
  await ended.catch(() => undefined);
}

/** A worker in the background serves the question, this process only starts it. */
export async function serveInBackground(asking: Asking, until: Extract<ServedBy, string>): Promise<Asked> {
  const { app, database, input } = asking;
  const { config, env } = app;
  const { searchId } = input;
  if (app.configuration !== undefined)
    throw new UsageError('a worker in the background reads the configuration from a file: open with the path of one');
  const state = await checkAndStore(asking, checkDatabase(asking.engines, database.name));
  const session = await openTemporal(config, env, { onProgress: (line) => note(app, line) });
  try {
    const announced = announcedFor(config, await asking.composition(), database, input);
    const servedBy = await servedDetached(config, [{ database, announced }], session, app, until);
    await startAsked({ session, app, input, announced, state });
    await app.onEvent({ kind: 'begun', searchId, ui: { ...session.uiPlace(searchId, config), staysUp: true } });
    return { kind: 'running', searchId, ui: session.uiOf(searchId), servedBy };
  } finally {
    // A worker that ends when it is idle leaves the server then.
    await session.close({ keep: until === 'background' });
  }
}
