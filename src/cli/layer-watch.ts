/** `gate layer watch`: a schedule in Temporal runs the checks of a layer; what they show is kept in the layer. */
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { visibleLine } from '../text/clip';
import { compose } from '../workers/composition';
import { listWatches, putWatch, stopWatch, type Watch, type WatchRunState } from '../workers/layer-schedules';
import { isPolled } from '../workers/running-elsewhere';
import { servedName, servingOf } from '../workers/serving';
import { databaseQueue } from '../workers/task-queues';
import { askedDatabase } from '../app/question-input';
import { serveInBackground } from '../app/background';
import { lookAt } from '../app/check-database';
import { GateError, UsageError } from '../app/errors';
import type { Io } from './io';
import { resultText } from './layer-run';
import { intervalText } from './options';
import { openServices, type Services } from '../app/services';
import { openTemporal, type TemporalSession } from '../app/temporal-session';

export interface WatchFlags {
  readonly db?: string;
  readonly every?: number;
  readonly timeout: number;
  readonly list?: boolean;
  readonly stop?: boolean;
  readonly json?: boolean;
}

export async function watchLayer(flags: WatchFlags, io: Io): Promise<void> {
  const { every, list, stop } = flags;
  const asked = [every, list, stop].filter((each) => each !== undefined).length;
  if (asked !== 1)
    throw new UsageError('say how often the checks run, such as --every 1h, or give --list or --stop: one of them');
  const services = openServices(io);
  if (list) return listAll(services, flags, io);
  const database = askedDatabase(services.config, flags, io);
  return stop ? stopWatching(services, database, flags, io) : watch(services, database, every ?? 0, flags, io);
}

async function watch(
  services: Services,
  database: ResolvedDatabase,
  everyMs: number,
  flags: WatchFlags,
  io: Io,
): Promise<void> {
  await lookAt(services.config, database);
  await withTemporal(services, io, async (session) => {
    const { name, identity } = database;
    const taskQueue = await ensureServed(services, database, session, io);
    const input = { database: name, identity, timeoutMs: Math.round(flags.timeout * 1000) };
    await putWatch(session.gate, { input, everyMs, taskQueue });
    const watches = await listWatches(session.gate, [identity]);
    const nextAt = watches.find((each) => each.input.identity === identity)?.nextAt ?? null;
    const every = intervalText(everyMs);
    if (flags.json) io.out(`${JSON.stringify({ database: name, every, nextAt }, null, 2)}\n`);
    else io.out(`'${name}' is watched: every ${every}; next check ${timeText(nextAt)}\n`);
  });
}

/** The queue for this database. A worker begins in the background where none serves it: a check that nobody runs shows nothing. */
async function ensureServed(
  { config }: Services,
  database: ResolvedDatabase,
  session: TemporalSession,
  io: Io,
): Promise<string> {
  const composition = await compose(config, { adHoc: [database] });
  const serving = servingOf(config, composition, [database]);
  await composition.close();
  const workflow = databaseQueue(servedName(database.name, serving));
  if (await isPolled(session.gate, workflow, io.now())) return workflow;
  const announced = { queues: { workflow }, limited: [], serving };
  await serveInBackground(config, [{ database, announced }], session, io);
  io.err(
    'A worker runs the checks in the background; gate dev --stop stops it, and gate ops worker takes its place.\n',
  );
  return workflow;
}

async function stopWatching(
  services: Services,
  { name, identity }: ResolvedDatabase,
  flags: WatchFlags,
  io: Io,
): Promise<void> {
  await withTemporal(services, io, async (session) => {
    if (!(await stopWatch(session.gate, identity)))
      throw new GateError(`'${name}' is not watched; begin with: gate layer watch --db ${name} --every 1h`);
    if (flags.json) io.out(`${JSON.stringify({ database: name, stopped: true }, null, 2)}\n`);
    else io.out(`'${name}' is no longer watched; what its layer holds stays\n`);
  });
}

async function listAll(services: Services, flags: WatchFlags, io: Io): Promise<void> {
  const { config } = services;
  const names = flags.db === undefined ? Object.keys(config.databases) : [flags.db];
  const identities = names.flatMap((name) => {
    try {
      return [resolveDatabase(config, name, io.cwd).identity];
    } catch (error) {
      // Of all databases, one that cannot be used here may be watched from elsewhere.
      if (flags.db !== undefined || !(error instanceof Error) || error.name !== 'ConfigError') throw error;
      return [];
    }
  });
  await withTemporal(services, io, async ({ gate }) => {
    const all = await listWatches(gate, identities);
    const shown = flags.db === undefined ? all : all.filter(({ input }) => identities.includes(input.identity));
    if (flags.json) {
      const watches = shown.map(({ input: { database }, everyMs, ...more }) => ({
        database,
        every: intervalText(everyMs),
        ...more,
      }));
      io.out(`${JSON.stringify({ watches }, null, 2)}\n`);
      return;
    }
    if (shown.length === 0) io.err('nothing is watched; begin with: gate layer watch --db NAME --every 1h\n');
    for (const each of shown) io.out(`${watchText(each)}\n`);
  });
}

async function withTemporal(
  { config }: Services,
  io: Io,
  work: (session: TemporalSession) => Promise<void>,
): Promise<void> {
  const session = await openTemporal(config, io.env, { onProgress: (line) => io.err(`${line}\n`) });
  let keep = false;
  try {
    await work(session);
    // A schedule needs its server.
    keep = (await listWatches(session.gate, [])).length > 0;
  } finally {
    await session.close({ keep });
  }
}

function watchText({ input, everyMs, paused, nextAt, runs }: Watch): string {
  const next = paused ? 'none: paused in Temporal' : timeText(nextAt);
  return [
    `${input.database}: every ${intervalText(everyMs)}`,
    `  next check ${next}`,
    ...(runs.length === 0 ? ['  no check yet'] : []),
    ...runs.map(({ startedAt, outcome }) => `  ${timeText(startedAt)}  ${outcomeText(outcome)}`),
  ].join('\n');
}

function outcomeText(outcome: WatchRunState['outcome']): string {
  switch (outcome.kind) {
    case 'checked':
      return resultText(outcome.result);
    case 'failed':
      return `failed: ${visibleLine(outcome.message)}`;
    case 'running':
      return 'runs now';
    case 'unknown':
      return 'forgotten by Temporal';
  }
}

function timeText(at: Date | null): string {
  return at === null ? 'none' : `${at.toISOString().slice(0, 16)}Z`;
}
