/** A database whose layer is checked by a Schedule in Temporal; what the checks show is kept in the layer. */
import { resolveDatabase } from '../config/databases';
import { listSchedules, putWatch, removeSchedule, type Watch } from '../workers/schedules';
import { watchScheduleId } from '../workflows/ids';
import { lookAt } from './check-database';
import { GateError } from './errors';
import { askedDatabase } from './question-input';
import { ensureServed, withTemporal } from './schedules';
import { openServices } from './services';
import type { Told } from './surroundings';

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
    const { queues } = await ensureServed(services, database, session, at);
    const input = { database: name, identity, timeoutMs };
    const nextAt = await putWatch(session.gate, { input, when: { everyMs }, taskQueue: queues.workflow });
    return { database: name, nextAt };
  });
}

/** Gives the name of the database. */
export async function stopWatching(at: Told, db?: string): Promise<string> {
  const services = openServices(at);
  const { name, identity } = askedDatabase(services.config, { db }, at);
  return withTemporal(services, at, async ({ gate }) => {
    if (await removeSchedule(gate, watchScheduleId(identity))) return name;
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
  const all = await withTemporal(services, at, ({ gate }) =>
    listSchedules(gate, 'watchLayer', identities.map(watchScheduleId)),
  );
  return db === undefined ? all : all.filter(({ input }) => identities.includes(input.identity));
}
