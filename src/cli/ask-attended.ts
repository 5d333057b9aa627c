/**
 * `gate ask` with somebody waiting: this process serves the question's own task queue, follows it and prints it.
 *
 * 1. What needs another process or thread begins first and goes on while this thread loads code: the
 *    database is asked, then the SDK is loaded, then the worker is made, whose thread loads its own half of the SDK meanwhile.
 *    The search starts when the checks have passed, whether or not the worker is ready.
 * 2. A failed check wins over whatever else failed meanwhile: it says what to change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { storeLocation } from '../config/store';
import { keptText } from '../text/claim-text';
import { awaitKept } from '../workers/client';
import type { GateWorkers } from '../workers/run-worker';
import { servedName } from '../workers/serving';
import { checkAndStore, type Asking, announcedFor, startAsked } from '../app/start-search';
import { checkDatabase } from '../app/check-database';
import { GateError } from '../app/errors';
import type { ExitCode } from './exit';
import type { Io } from './io';
import { followSearch } from './follow';
import { holdInterrupts, pause } from './interrupts';
import { recordOf } from '../app/services';
import { decodedInUi } from './codec-server';
import { openTemporal, type Target, type TemporalSession } from '../app/temporal-session';

type AskingHere = Asking & { readonly io: Io };

interface AttendedFlags {
  readonly debug?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly sql?: boolean;
  readonly maxRows?: number;
  readonly showPlan?: boolean;
}

export async function askAttended(asking: AskingHere, flags: AttendedFlags): Promise<ExitCode> {
  const { services, input, io } = asking;
  const held = holdInterrupts(io);
  const { session, workers } = await openStarted(asking, flags, () => held.count() > 0).catch((error: unknown) => {
    held.release();
    throw held.count() > 0 ? interruptedEarly() : error;
  });
  try {
    if (session.uiUrl !== null)
      io.err(`Temporal UI ${session.uiOf(input.searchId) ?? session.uiUrl}${howLong(session)}\n`);
    io.err(decodedInUi(services.config, session));
    const serving = workers.run();
    try {
      // The search began while the worker was being made.
      if (held.count() > 0) await session.cancel(input.searchId);
      const broken = serving.then(() => Promise.reject(new GateError('the worker stopped; ask again to go on')));
      const following = followSearch(session, input.searchId, io, { cancelOnInterrupt: true });
      const ended = await Promise.race([following, broken]);
      const code = await printEnded(asking, flags, session, ended);
      if (ended.kind === 'completed' && ended.value.keeping === true) await waitForKept(asking, session, broken);
      return code;
    } finally {
      workers.stop();
      // Its error, if it has one, has ended the race above.
      await serving.catch(() => undefined);
    }
  } finally {
    await session.close().finally(() => held.release());
  }
}

async function printEnded(
  asking: AskingHere,
  { json = false, csv, sql, maxRows, showPlan }: AttendedFlags,
  session: TemporalSession,
  ended: Awaited<ReturnType<typeof followSearch>>,
): Promise<ExitCode> {
  const { services, input, io } = asking;
  const rows = { max: maxRows, engine: () => asking.engines.engine(asking.database.name) };
  const record = await recordOf(services.store, input.searchId);
  if (ended.kind === 'failed') {
    const { answerJson } = await import('./show-answer');
    if (json && record !== null) io.out(answerJson(record, { report: null, ui: null }));
    if (record?.givenUp !== undefined)
      io.err(`gate trace ${record.id} shows the last reply; ask again (or with --fresh) once the cause is fixed\n`);
    throw new GateError(ended.message);
  }
  if (record === null)
    throw new GateError(`${input.searchId} ended without a record in ${storeLocation(services.config.store)}`);
  const { withClockOfAsking } = await import('../app/ask-again');
  const current = await withClockOfAsking({ store: services.store, engines: asking.engines, io }, input, record);
  const { printAnswer } = await import('./print-answer');
  const ui = staysUp(session) ? session.uiOf(input.searchId) : null;
  return printAnswer(services, current ?? record, io, {
    ...{ json, csv, sql, rows, ui, showPlan },
    db: asking.database.addressLabel,
  });
}

/** How long this process serves the reading of what was proved, once the answer is printed. */
const KEEPING_MS = 15_000;

/** The answer is printed. What is not kept in time goes on with whoever serves the database next. */
async function waitForKept(
  { services, input, io }: AskingHere,
  session: TemporalSession,
  broken: Promise<never>,
): Promise<void> {
  io.err(`reading what was proved for later questions: at most ${KEEPING_MS / 1000} s, or interrupt\n`);
  const over = new AbortController();
  const stopListening = io.onInterrupt(() => over.abort());
  try {
    const kept = await Promise.race([
      awaitKept(session.gate, input.searchId),
      broken,
      pause(KEEPING_MS, over.signal).then(() => null),
    ]);
    if (kept === null) io.err('not kept yet; it goes on when this database is asked next\n');
    else if (kept.kind === 'failed') io.err(`nothing was kept: ${kept.message}\n`);
    else if (kept.value.notKept !== null) io.err(`nothing was kept: ${kept.value.notKept}\n`);
    else {
      const record = await recordOf(services.store, input.searchId);
      const text = record === null ? null : keptText(record);
      io.err(text === null ? 'nothing of it helps later questions\n' : `kept for later questions: ${text}\n`);
    }
  } finally {
    stopListening();
    over.abort();
  }
}

function staysUp({ embedded }: TemporalSession): boolean {
  return embedded === null || embedded.info.keep;
}

/** The last user of the embedded server stops it, and its UI with it. */
function howLong(session: TemporalSession): string {
  return staysUp(session) ? '' : ' (while this runs; gate dev keeps it up)';
}

function interruptedEarly(): GateError {
  return new GateError('interrupted before the search began; nothing was asked', 'cancelled');
}

/** Within this time the database check has sent its first request, or has failed because there is no such file. */
const CHECKS_AHEAD_MS = 15;

/** Temporal, a worker on it and the started search; a failed check closes everything again. */
async function openStarted(
  asking: AskingHere,
  flags: AttendedFlags,
  isInterrupted: () => boolean,
): Promise<{ readonly session: TemporalSession; readonly workers: GateWorkers }> {
  const { services, database, input, io } = asking;
  const { config } = services;
  const databaseChecked = checkDatabase(asking.engines, database.name);
  await Promise.race([databaseChecked, sleep(CHECKS_AHEAD_MS)]);
  const { createGateWorkers, installLogger } = await import('../workers/run-worker');
  installLogger('WARN', (line) => flags.debug && io.err(`${line}\n`));
  const { target, opening } = openWithTarget(asking);
  const announcing = asking.composition().then((opened) => announcedFor(config, opened, database, input));
  const making = announcing.then(async ({ serving, limited }) => {
    const [at, { steps, watch, batch }] = await Promise.all([target, asking.composition()]);
    const queues = { databases: [servedName(database.name, serving)], modelQueues: limited };
    return createGateWorkers({ ...at, steps, watch, batch, bundle: io.bundle, ...queues });
  });
  const checking = checkAndStore(asking, databaseChecked);
  const starting = Promise.all([opening, checking, announcing]).then(async ([session, state, announced]) => {
    if (isInterrupted()) throw interruptedEarly();
    await startAsked({ session, config, input, announced, state, io });
  });
  const [checked, opened, started, made] = await Promise.allSettled([checking, opening, starting, making]);
  if (opened.status === 'fulfilled' && started.status === 'fulfilled' && made.status === 'fulfilled')
    return { session: opened.value, workers: made.value };
  if (opened.status === 'fulfilled') await opened.value.close();
  throw [checked, opened, started, made].find((one) => one.status === 'rejected')?.reason;
}

function openWithTarget({ services, io }: AskingHere) {
  const onProgress = (line: string): void => io.err(`${line}\n`);
  const known = signal<Target>();
  const opening = openTemporal(services.config, io.env, { onProgress, onTarget: known.give });
  // Without an address there is nothing to make a worker for.
  const failed = opening.then(() => known.given);
  return { opening, target: Promise.race([known.given, failed]) };
}

function signal<T = void>(): { readonly given: Promise<T>; readonly give: (value: T) => void } {
  let give = (_value: T): void => undefined;
  const given = new Promise<T>((resolve) => (give = resolve));
  return { given, give: (value) => give(value) };
}
