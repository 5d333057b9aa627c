/** The long-running half of `worker` and `dev`: serves databases until it is interrupted. */
import type { Config } from '../config';
import { storeLocation } from '../config-store';
import { resolveDatabase, type ResolvedDatabase } from '../databases';
import { compose } from '../workers/composition';
import { createGateWorkers, installLogger } from '../workers/run-worker';
import { workflowBundle } from '../workers/workflow-bundle';
import { announce } from './background';
import type { Io } from './io';
import { batchPorts } from './services';
import type { TemporalSession } from './temporal-session';

export interface Serving {
  readonly databases: readonly string[];
  readonly debug: boolean;
  readonly background: boolean;
  readonly ready: (databases: readonly string[]) => void;
}

export async function serveUntilInterrupted(
  config: Config,
  session: TemporalSession,
  serving: Serving,
  io: Io,
): Promise<void> {
  installLogger(serving.debug ? 'INFO' : 'WARN', (line) => io.err(`${line}\n`));
  const resolved = serving.databases.map((spec) => resolveDatabase(config, spec, io.cwd));
  const usable = serving.databases.length > 0 ? resolved : configuredDatabases(config, io);
  const composition = await compose(config, { adHoc: usable.filter(({ adHoc }) => adHoc) });
  const names = usable.map(({ name }) => name);
  const bundle = await workflowBundle();
  const common = {
    ...{ address: session.address, namespace: session.namespace, steps: composition.steps, bundle },
    ...(session.connectionOptions === null ? {} : { connectionOptions: session.connectionOptions as never }),
    dataConverter: session.dataConverter,
    batch: batchPorts(composition.store),
    databases: names,
  };
  // Local queues as well: questions whose own process is gone go on here.
  const all = [await createGateWorkers({ ...common, serve: 'local' })];
  if (!serving.background) all.push(await createGateWorkers({ ...common, serve: 'shared' }));
  const forget = announce(config, {
    pid: process.pid,
    databases: names,
    address: session.address,
    store: storeLocation(config.store),
    background: serving.background,
  });
  let interrupts = 0;
  const stop = (): void => all.forEach((workers) => workers.stop());
  const stopListening = io.onInterrupt(() => {
    interrupts += 1;
    if (interrupts > 1) process.exit(1);
    io.err('stopping: running steps may finish; interrupt again to quit at once\n');
    stop();
  });
  serving.ready(names);
  try {
    await Promise.all(
      all.filter(({ taskQueues }) => taskQueues.length > 0).map((workers) => workers.run().finally(stop)),
    );
  } finally {
    stopListening();
    forget();
    await composition.close();
  }
}

/** A configured database that cannot be used is named and left out: the others are served. */
function configuredDatabases(config: Config, io: Pick<Io, 'err' | 'cwd'>): ResolvedDatabase[] {
  return Object.keys(config.databases).flatMap((name) => {
    try {
      return [resolveDatabase(config, name, io.cwd)];
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ConfigError') throw error;
      io.err(`not served: ${error.message}\n`);
      return [];
    }
  });
}
