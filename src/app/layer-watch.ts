/** A database whose layer is checked by a Schedule in Temporal; what the checks show is kept in the layer. */
import type { ResolvedDatabase } from '../config/databases';
import { resolveDatabase } from '../config/databases';
import { compose } from '../workers/composition';
import { listWatches, putWatch, stopWatch, type Watch } from '../workers/layer-schedules';
import { isPolled } from '../workers/running-elsewhere';
import { servedName, servingOf } from '../workers/serving';
import { databaseQueue } from '../workers/task-queues';
import { serveInBackground } from './background';
import { lookAt } from './check-database';
import { GateError } from './errors';
import { askedDatabase } from './question-input';
import { openServices, type Services } from './services';
import type { Told } from './surroundings';
import { openTemporal } from './open-temporal';
import type { TemporalSession } from './temporal-session';

export type { Watch };

/** Begins, or changes how often. */
export async function watchLayer(
  at: Told,
  { db, everyMs, timeoutMs }: { readonly db?: string; readonly everyMs: number; readonly timeoutMs: number },
): Promise<{ readonly database: string; readonly nextAt: Date | null }> {
  const services = openServices(at);
  const database = askedDatabase(services.config, { db }, at);
  await lookAt(services.config, database);
  return withTemporal(services, at, async (session) => {
    const { name, identity } = database;
    const taskQueue = await ensureServed(services, database, session, at);
    await putWatch(session.gate, { input: { database: name, identity, timeoutMs }, everyMs, taskQueue });
    const watches = await listWatches(session.gate, [identity]);
    return { database: name, nextAt: watches.find(({ input }) => input.identity === identity)?.nextAt ?? null };
  });
}

/** The queue for this database. A worker begins in the background where none serves it: a check that nobody runs shows nothing. */
async function ensureServed(
  { config }: Services,
  database: ResolvedDatabase,
  session: TemporalSession,
  at: Told,
): Promise<string> {
  const composition = await compose(config, { adHoc: [database] });
  const serving = servingOf(config, composition, [database]);
  await composition.close();
  const workflow = databaseQueue(servedName(database.name, serving));
  if (await isPolled(session.gate, workflow, at.now())) return workflow;
  const announced = { queues: { workflow }, limited: [], serving };
  await serveInBackground(config, [{ database, announced }], session, at);
  at.err(
    'A worker runs the checks in the background; gate dev --stop stops it, and gate ops worker takes its place.\n',
  );
  return workflow;
}

/** Gives the name of the database. */
export async function stopWatching(at: Told, db?: string): Promise<string> {
  const services = openServices(at);
  const { name, identity } = askedDatabase(services.config, { db }, at);
  return withTemporal(services, at, async ({ gate }) => {
    if (await stopWatch(gate, identity)) return name;
    throw new GateError(`'${name}' is not watched; begin with: gate layer watch --db ${name} --every 1h`);
  });
}

/** Those of one database, or all that Temporal knows. */
export async function watchesOf(at: Told, db?: string): Promise<readonly Watch[]> {
  const services = openServices(at);
  const { config } = services;
  const identities = (db === undefined ? Object.keys(config.databases) : [db]).flatMap((name) => {
    try {
      return [resolveDatabase(config, name, at.cwd).identity];
    } catch (error) {
      // Of all databases, one that cannot be used here may be watched from elsewhere.
      if (db !== undefined || !(error instanceof Error) || error.name !== 'ConfigError') throw error;
      return [];
    }
  });
  const all = await withTemporal(services, at, ({ gate }) => listWatches(gate, identities));
  return db === undefined ? all : all.filter(({ input }) => identities.includes(input.identity));
}

async function withTemporal<T>(
  { config }: Services,
  at: Told,
  work: (session: TemporalSession) => Promise<T>,
): Promise<T> {
  const session = await openTemporal(config, at.env, { onProgress: (line) => at.err(`${line}\n`) });
  let keep = false;
  try {
    const result = await work(session);
    // A schedule needs its server.
    keep = (await listWatches(session.gate, [])).length > 0;
    return result;
  } finally {
    await session.close({ keep });
  }
}
