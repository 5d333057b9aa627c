/** The long-running half of `worker` and `dev`: serves databases until it is interrupted. */
import type { Config } from '../config';
import { limitedModels } from '../config/limits';
import { storeLocation } from '../config/store';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { compose } from '../workers/composition';
import type { GateClient } from '../workers/client';
import { modelQueues } from '../workers/model-queues';
import { createGateWorkers, installLogger } from '../workers/run-worker';
import { servedName, servingOf, type Serving } from '../workers/serving';
import { UNSERVED_FIX, unservedLine, unservedModelQueues } from '../workers/unserved-queues';
import { UNSERVED_SEARCHES_FIX, unservedSearches, unservedSearchesLine } from '../workers/unserved-searches';
import { workerVersion } from '../workers/worker-version';
import { workflowBundle } from '../workers/workflow-bundle';
import { announce } from './background';
import { UsageError } from './errors';
import type { Io } from './io';
import type { ServedParts } from './served-parts';
import { batchPorts } from './services';
import type { TemporalSession } from './temporal-session';

export interface ServeOptions {
  readonly databases: readonly string[];
  readonly debug: boolean;
  readonly background: boolean;
  /** `endpoint`: who receives rows. */
  readonly ready: (databases: readonly string[], endpoint: string) => void;
  /** Left out: all queues. */
  readonly parts?: ServedParts;
}

export async function serveUntilInterrupted(
  config: Config,
  session: TemporalSession,
  serving: ServeOptions,
  io: Io,
): Promise<void> {
  installLogger(serving.debug ? 'INFO' : 'WARN', (line) => io.err(`${line}\n`));
  const { parts } = serving;
  const resolve = (specs: readonly string[]): ResolvedDatabase[] =>
    specs.map((spec) => resolveDatabase(config, spec, io.cwd));
  const given = serving.databases.length > 0 ? resolve(serving.databases) : null;
  const asked = parts?.workflow === false ? [] : (given ?? configuredDatabases(config, io));
  const composition = await compose(config, { adHoc: asked.filter(({ adHoc }) => adHoc) });
  const limited = modelQueues(config, composition, parts?.models);
  const names = asked.map(({ name }) => name);
  const servings = new Map(asked.map((database) => [database.name, servingOf(config, composition, [database])]));
  const versioning = session.embedded === null ? config.temporal.versioning : null;
  const version = versioning === null ? null : workerVersion(versioning);
  const bundle = io.bundle ?? (await workflowBundle());
  const workers = await createGateWorkers({
    ...{ address: session.address, namespace: session.namespace, steps: composition.steps, bundle },
    ...(session.connectionOptions === null ? {} : { connectionOptions: session.connectionOptions as never }),
    dataConverter: session.dataConverter,
    ...{ batch: batchPorts(composition.store), version, modelQueues: limited },
    databases: [...servings].map(([name, each]) => servedName(name, each)),
  });
  if (version !== null)
    io.err(
      `worker version ${version.deploymentName}.${version.buildId}; it gets work once you make this version current\n`,
    );
  const forget = announce(config, {
    pid: process.pid,
    databases: names,
    queues: workers.taskQueues,
    address: session.address,
    namespace: session.namespace,
    store: storeLocation(config.store),
    background: serving.background,
  });
  let interrupts = 0;
  let interrupt: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
  const stopListening = io.onInterrupt(() => {
    interrupts += 1;
    if (interrupts > 1) process.exit(1);
    io.err('stopping: running steps may finish; interrupt again to quit at once\n');
    workers.stop();
    interrupt();
  });
  const served = parts === undefined ? names : [...names, ...limited.map(({ model }) => `model ${model}`)];
  serving.ready(served, composition.model.endpoint);
  const stopWatching = watchQueues(session.gate, { queues: workers.taskQueues, servings }, serving.debug, io);
  try {
    // Without a database there is nothing to work on: `gate dev` keeps the server up all the same.
    if (workers.taskQueues.length === 0) await interrupted;
    await workers.run();
  } finally {
    stopWatching();
    stopListening();
    forget();
    await composition.close();
  }
}

const WATCH_EVERY_MS = 90_000;

/** Says once for each queue that work waits in it and nobody serves it; the server remembers a stopped worker for a while. */
function watchQueues(
  gate: GateClient,
  ours: { readonly queues: readonly string[]; readonly servings: ReadonlyMap<string, Serving> },
  debug: boolean,
  io: Pick<Io, 'err' | 'now'>,
): () => void {
  const told = new Set<string>();
  const tell = (taskQueue: string, line: string): void => {
    if (!told.has(taskQueue)) io.err(`${line}\n`);
    told.add(taskQueue);
  };
  const look = async (): Promise<void> => {
    for (const queue of await unservedModelQueues(gate, io.now(), ours.queues))
      tell(queue.taskQueue, `${unservedLine(queue)}: ${UNSERVED_FIX}`);
    for (const queue of await unservedSearches(gate, io.now(), ours.queues))
      tell(queue.taskQueue, `${unservedSearchesLine(queue, ours.servings)}: ${UNSERVED_SEARCHES_FIX}`);
  };
  // A Temporal that cannot be asked is told of by the workers; the next look may succeed.
  const attempt = (): void =>
    void look().catch((error: unknown) => {
      if (debug) io.err(`the queues could not be looked at: ${String(error)}\n`);
    });
  attempt();
  const timer = setInterval(attempt, WATCH_EVERY_MS);
  return () => clearInterval(timer);
}

/** Throws when a part names a model without a queue: said before anything starts. */
export function checkParts(config: Config, parts: ServedParts | undefined): void {
  const limited = limitedModels(config.models);
  const without = parts?.models.find((name) => !limited.includes(name));
  if (without === undefined) return;
  throw new UsageError(`--serve model:${without}: it has no queue of its own; set limits for it in "models.limits"`);
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
