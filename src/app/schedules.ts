/**
 * Questions that are asked again by a Schedule in Temporal, and what they share with watches of layers (`layer-watch.ts`):
 * somebody serves the queue, and the server stays up.
 */
import type { ResolvedDatabase } from '../config/databases';
import type { SearchInput } from '../domain';
import { cut } from '../report/printable';
import { ITERATIONS_PER_RUN, shownAttributes } from '../workers/client';
import { compose } from '../workers/composition';
import { GRPC, grpcCode } from '../workers/grpc-status';
import {
  listSchedules,
  putRepetition,
  removeSchedule,
  scheduleIds,
  type Repetition,
  type When,
} from '../workers/schedules';
import { isPolled } from '../workers/running-elsewhere';
import { servingOf, servedName } from '../workers/serving';
import { databaseQueue } from '../workers/task-queues';
import { repeatScheduleId } from '../workflows/ids';
import type { App, Asked, ServedBy } from './app';
import { ask, type AskRequest } from './ask';
import { serveInBackground } from './background';
import { GateError, UsageError } from './errors';
import { askedDatabase } from './question-input';
import { inputOf, openServices, type Services } from './services';
import { announcedFor, LABEL_CHARS, neededQueues, type Announced } from './start-search';
import type { Told } from './surroundings';
import { openTemporal } from './open-temporal';
import type { TemporalSession } from './temporal-session';

export type { Repetition };

export interface AddSchedule {
  readonly request: AskRequest;
  readonly when: When;
  /** As it was written. */
  readonly written: string;
}

export interface Added {
  readonly asked: Asked;
  /** Also the id of the schedule. */
  readonly searchId: string;
  readonly database: string;
  readonly nextAt: Date | null;
}

/** Asks the question as `gate ask` does, then makes the schedule of its search, or changes it. */
export async function addSchedule(
  { request, when, written }: AddSchedule,
  app: App,
  at: Told,
  servedBy: ServedBy,
): Promise<Added> {
  const asked = await ask(request, app, servedBy);
  if (asked.kind !== 'answer')
    throw new GateError('the question is not answered yet: give the same command again', 'cancelled');
  const { id: searchId, status } = asked.record;
  if (status !== 'answered') throw new GateError(`${searchId} ended ${status}: there is no answer to keep up to date`);
  const { config } = app;
  const database = askedDatabase(config, request, app);
  const input = await inputOf(app.store, searchId);
  if (input === null) throw new GateError(`${searchId} is not in the store any more`);
  const { settings, question } = input;
  return withTemporal(app, at, async (session) => {
    const { queues } = await ensureServed(app, database, session, at, { settings });
    const repeated = {
      ...{ searchId, settings, iterationsPerRun: ITERATIONS_PER_RUN },
      taskQueues: queues.models === undefined ? {} : { models: queues.models },
      modelTimeoutMs: config.models.requestTimeoutMs,
      modelOutageMs: config.models.outageMs,
      searchAttributes: (await shownAttributes(session.gate)) ?? undefined,
    };
    const label = cut(`${database.name}: ${question.text}`, LABEL_CHARS);
    const repeating = { question: repeated, database: database.name, label, when: written };
    const nextAt = await putRepetition(session.gate, { input: repeating, when, taskQueue: queues.workflow }).catch(
      (error: unknown) => {
        if (grpcCode(error) !== GRPC.invalidArgument) throw error;
        throw new UsageError(`Temporal takes no '${written}': ${(error as { details?: string }).details ?? ''}`);
      },
    );
    return { asked, searchId, database: database.name, nextAt };
  });
}

export function schedulesOf(at: Told, db?: string): Promise<readonly Repetition[]> {
  return withTemporal(openServices(at), at, async ({ gate }) => {
    const all = await listSchedules(gate, 'repeatQuestion');
    return db === undefined ? all : all.filter(({ input }) => input.database === db);
  });
}

/** `wanted`: the id of the search that it began with, or its beginning. */
export function dropSchedule(at: Told, wanted: string): Promise<string> {
  return withTemporal(openServices(at), at, async ({ gate }) => {
    // A whole id is asked for by itself: the list may not have it yet.
    if (await removeSchedule(gate, repeatScheduleId(wanted))) return wanted;
    const found = (await scheduleIds(gate, 'repeatQuestion')).filter((id) => id.startsWith(repeatScheduleId(wanted)));
    const [only, ...others] = found;
    if (only === undefined) throw new UsageError(`no schedule has the id '${wanted}'; see gate schedule list`);
    if (others.length > 0) throw new UsageError(`'${wanted}' is the beginning of ${found.length} ids: give more of it`);
    await removeSchedule(gate, only);
    return only.slice(repeatScheduleId('').length);
  });
}

/**
 * A worker begins in the background where none serves what is asked: a schedule that nobody runs shows nothing. Without
 * `settings`: no model is asked.
 */
export async function ensureServed(
  { config }: Pick<Services, 'config'>,
  database: ResolvedDatabase,
  session: TemporalSession,
  at: Told,
  asked?: Pick<SearchInput, 'settings'>,
): Promise<Announced> {
  const composition = await compose(config, { adHoc: [database] });
  const serving = servingOf(config, composition, [database]);
  const plain = { queues: { workflow: databaseQueue(servedName(database.name, serving)) }, limited: [], serving };
  const announced = asked === undefined ? plain : announcedFor(config, composition, database, asked);
  await composition.close();
  const polled = neededQueues(announced).map((queue) => isPolled(session.gate, queue, at.now()));
  if ((await Promise.all(polled)).every((one) => one)) return announced;
  await serveInBackground(config, [{ database, announced }], session, at);
  at.err(
    'A worker runs the schedule in the background; gate dev --stop stops it, and gate ops worker takes its place.\n',
  );
  return announced;
}

export async function withTemporal<T>(
  { config }: Pick<Services, 'config'>,
  at: Told,
  work: (session: TemporalSession) => Promise<T>,
): Promise<T> {
  const session = await openTemporal(config, at.env, { onProgress: (line) => at.err(`${line}\n`) });
  let keep = false;
  try {
    const result = await work(session);
    // A schedule needs its server.
    keep = (await scheduleIds(session.gate)).length > 0;
    return result;
  } finally {
    await session.close({ keep });
  }
}
