/** Serves databases until it is told to stop, or has nothing to do. */
import type { Config } from '../config';
import { limitedModels } from '../config/limits';
import { storeLocation } from '../config/store';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import { compose, type Composition } from '../workers/composition';
import type { LogEntry } from '@temporalio/worker';
import { telemetry } from '../workers/telemetry/tracing';
import { loginProblem } from '../workers/client';
import { modelQueues, type ModelQueue } from '../workers/task-queues';
import { createGateWorkers, DEFAULT_GRACE_MS, installLogger, type GateWorkers } from '../workers/run-worker';
import { servedName, servingOf, type Serving } from '../workers/serving';
import { workerVersion } from '../workers/workflow-bundle';
import { announce } from './background';
import { GateError, errorText, UsageError } from './errors';
import type { HealthServer } from '../workers/health';
import type { Told } from './surroundings';
import type { TemporalSession } from './temporal-session';
import { aborted } from './waiting';

/** `--serve` of `gate ops worker`: which task queues a process serves. */
export interface ServedParts {
  /** The databases' queues: workflows, SQL, store writes, and calls of models without limits. */
  readonly workflow: boolean;
  /** Models with limits whose queue is served. */
  readonly models: readonly string[];
}

export interface ServeOptions {
  readonly databases: readonly string[];
  readonly debug: boolean;
  readonly background: boolean;
  /** `endpoint`: who receives rows. */
  readonly ready: (databases: readonly string[], endpoint: string) => void;
  /** Left out: all queues. */
  readonly parts?: ServedParts;
  /** Stops when no task came for so long and nothing runs; left out: it goes on until it is stopped. */
  readonly exitWhenIdleMs?: number;
  /** For how long running steps may finish after that. */
  readonly graceMs?: number;
  readonly health?: HealthServer | null;
  /** Writes lines of the SDK's log; left out: their text. */
  readonly log?: (entry: LogEntry) => void;
  /** Address and port for Prometheus. */
  readonly metricsAt?: string;
}

/** `stop`: running steps may finish, then they are tried again elsewhere. */
export async function serve(
  config: Config,
  session: TemporalSession,
  serving: ServeOptions,
  io: Told,
  stop: AbortSignal,
): Promise<void> {
  startRuntime(serving, io);
  const { parts } = serving;
  const given = serving.databases.map((spec) => resolveDatabase(config, spec, io.cwd));
  const asked = parts?.workflow === false ? [] : given.length > 0 ? given : configuredDatabases(config, io);
  const composition = await compose(config, { adHoc: asked.filter(({ adHoc }) => adHoc) });
  const limited = modelQueues(config, composition, parts?.models);
  const names = asked.map(({ name }) => name);
  const servings = new Map(asked.map((database) => [database.name, servingOf(config, composition, [database])]));
  const { graceMs = DEFAULT_GRACE_MS } = serving;
  const workers = await startWorkers(config, session, { composition, limited, servings, graceMs }, io);
  const forget = announce(config, {
    pid: process.pid,
    databases: names,
    queues: workers.taskQueues,
    address: session.address,
    namespace: session.namespace,
    store: storeLocation(config.store),
    background: serving.background,
  });
  const stopped = aborted(stop);
  void stopped.then(() => {
    io.err(
      `stopping: running steps may finish (up to ${graceMs / 1000} s), then they are tried again elsewhere; interrupt again to quit at once\n`,
    );
    workers.stop();
  });
  const served = parts === undefined ? names : [...names, ...limited.map(({ model }) => `model ${model}`)];
  serving.ready(served, composition.model.endpoint);
  serving.health?.readyWhen(() => readiness(session, workers));
  const stopWatchingLogin = watchLogin(session, io);
  const stopTimer = stopWhenIdle(workers, serving.exitWhenIdleMs, io);
  try {
    // Without a database there is nothing to work on: `gate dev` keeps the server up all the same.
    if (workers.taskQueues.length === 0) await stopped;
    countStart();
    await workers.run();
  } finally {
    stopTimer();
    stopWatchingLogin();
    forget();
    await composition.close();
  }
}

function startRuntime({ debug, metricsAt, log }: ServeOptions, io: Pick<Told, 'err'>): void {
  const write = (line: string, entry: LogEntry): void => (log === undefined ? io.err(`${line}\n`) : log(entry));
  try {
    installLogger(debug ? 'INFO' : 'WARN', write, metricsAt);
  } catch (error) {
    if (metricsAt === undefined) throw error;
    const message = `no metrics on ${metricsAt} (${errorText(error, debug)}): choose another --metrics-port or --listen`;
    throw new GateError(message, 'failed', { cause: error });
  }
  if (metricsAt !== undefined) io.err(`metrics on http://${metricsAt}/metrics\n`);
}

function countStart(): void {
  telemetry.metrics?.add('gate_cold_starts_total', {});
  telemetry.metrics?.add('gate_cold_start_seconds', {}, process.uptime());
}

const READY_WITHIN_MS = 1_000;

async function readiness({ gate, target }: TemporalSession, workers: GateWorkers): Promise<string | null> {
  const problem = await loginProblem(gate.client, target, READY_WITHIN_MS);
  if (problem !== null) return problem.what;
  return workers.polling() ? null : 'not polling';
}

const LOGIN_EVERY_MS = 15_000;

/** The SDK polls on without a word where the server refuses it, or is gone: it may be let in again later. */
function watchLogin({ gate, target }: TemporalSession, io: Pick<Told, 'err'>): () => void {
  let told: string | null = null;
  let isOver = false;
  const look = async (): Promise<void> => {
    const problem = await loginProblem(gate.client, target);
    const line =
      problem && `${problem.what}: ${problem.fix}; this worker goes on trying with the settings it began with`;
    if (isOver || line === told) return;
    io.err(`${line ?? `Temporal at ${target.address} lets this worker in again`}\n`);
    told = line;
  };
  const timer = setInterval(() => void look(), LOGIN_EVERY_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** Looks four times a second: what arrives between two looks is seen by the steps that it brings. */
function stopWhenIdle(workers: GateWorkers, idleMs: number | undefined, io: Pick<Told, 'err'>): () => void {
  if (idleMs === undefined) return () => undefined;
  const timer = setInterval(() => {
    if (workers.idleMs() < idleMs) return;
    clearInterval(timer);
    io.err(`stopping: nothing to do for ${idleMs / 1000} s\n`);
    workers.stop();
  }, 250);
  return () => clearInterval(timer);
}

interface Served {
  readonly graceMs: number;
  readonly composition: Composition;
  readonly limited: readonly ModelQueue[];
  readonly servings: ReadonlyMap<string, Serving>;
}

async function startWorkers(
  { temporal: { versioning } }: Config,
  { target, embedded }: TemporalSession,
  { composition, limited, servings, graceMs }: Served,
  io: Pick<Told, 'err' | 'bundle'>,
): Promise<GateWorkers> {
  const version = versioning === null || embedded !== null ? null : workerVersion(versioning);
  const workers = await createGateWorkers({
    ...target,
    steps: composition.steps,
    bundle: io.bundle,
    batch: composition.batch,
    scheduled: composition.scheduled,
    version,
    modelQueues: limited,
    graceMs,
    databases: [...servings].map(([name, each]) => servedName(name, each)),
  });
  if (version !== null)
    io.err(
      `worker version ${version.deploymentName}.${version.buildId}; it gets work once you make this version current\n`,
    );
  return workers;
}

/** Throws when a part names a model without a queue: said before anything starts. */
export function checkParts(config: Config, parts: ServedParts | undefined): void {
  const limited = limitedModels(config.models);
  const without = parts?.models.find((name) => !limited.includes(name));
  if (without === undefined) return;
  throw new UsageError(`--serve model:${without}: it has no queue of its own; set limits for it in "models.limits"`);
}

/** One that cannot be used is named and left out: the others are served. */
function configuredDatabases(config: Config, io: Pick<Told, 'err' | 'cwd'>): ResolvedDatabase[] {
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
