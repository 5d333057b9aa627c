/**
 * Workers over given steps: which task queues this process serves, with what limits, and how they stop together.
 * The composition (which model, databases and store) is the caller's; here are only Temporal's knobs.
 */
import {
  type ActivityInterceptorsFactory,
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
  type Worker,
  type LogLevel,
  type WorkerOptions,
} from '@temporalio/worker';
import { createBatchActivities, type BatchPorts } from '../activities/batch';
import { createStepActivities, createScheduledActivities } from '../activities/steps';
import type { ScheduledSteps } from '../domain/ports/notices';
import type {
  ModelActivities,
  ScheduledActivities,
  SqlActivities,
  StoreActivities,
  WebActivities,
} from '../workflows/activities';
import type { createSteps } from '../methods/steps';
import { countedActivities, telemetry, tracedActivities, traceSinks } from './telemetry/tracing';
import { BUCKETS, createMetrics } from './telemetry/metrics';
import type { DataConverter } from '@temporalio/common';
import { dataConverter } from './payloads';
import { databaseQueue, type ModelQueue } from './task-queues';
import { logText } from './log-context';
import { OwnThreadWorker } from './own-thread-worker';
import { releaseAbandonedSteps } from './abandoned-steps';
import { processIdentity } from './process-identity';
import {
  deploymentOptions,
  type WorkerVersion,
  withEncodedFailures,
  workflowBundle,
  type WorkflowBundleOptions,
} from './workflow-bundle';
import { counted } from '../counted';

export type WorkerSteps = ReturnType<typeof createSteps>;

export interface WorkersOptions {
  readonly address: string;
  readonly namespace: string;
  /** TLS, API key and metadata of a configured Temporal. */
  readonly connectionOptions?: Parameters<typeof NativeConnection.connect>[0];
  readonly steps: WorkerSteps;
  readonly batch: BatchPorts;
  /** Left out: no schedule runs here, and nobody is told of anything. */
  readonly scheduled?: ScheduledSteps;
  /** The databases that this process serves, each by its name with the fingerprint (`servedName`). */
  readonly databases: readonly string[];
  /** A queue of this process's own, for everything on whatever it can reach (a batch). */
  readonly ownQueue?: string;
  /** Models with limits, each with a queue of its own. */
  readonly modelQueues?: readonly ModelQueue[];
  /** Model calls at the same time in this process. */
  readonly maxModelCalls?: number;
  readonly bundle?: WorkflowBundleOptions;
  /** Worker versioning; null or left out: off, and the worker takes whatever its queues hold. */
  readonly version?: WorkerVersion | null;
  /** How values become history (`payloads.ts`); default: nothing is encrypted. */
  readonly dataConverter?: DataConverter;
  /**
   * For how long running steps may finish after a stop; then they are cancelled and retried elsewhere. One that does not react
   * to that is left behind after another `FORCE_MS`.
   */
  readonly graceMs?: number;
  /** Of a process that lives for one invocation; left out: a long-lived worker. */
  readonly invocation?: Invocation;
}

export interface Invocation {
  /** The caller's, who closes it. */
  readonly connection: NativeConnection;
  /** Settings of the SDK that go before ours. */
  readonly tuning: Partial<WorkerOptions>;
}

export interface GateWorkers {
  readonly taskQueues: readonly string[];
  /** Runs until `stop`; rejects when a worker fails. */
  run(): Promise<void>;
  /** Idempotent. */
  stop(): void;
  /** For how long nothing ran and no task came; 0 while something runs. To be asked at least once a second. */
  idleMs(): number;
  /** All of them run and poll. */
  polling(): boolean;
}

/** What is left for cancelled steps to end, and for the last results to be sent. */
const FORCE_MS = 10_000;
export const DEFAULT_GRACE_MS = 5_000;

type WriteLog = (line: string, entry: LogEntry) => void;
let installed = false;
const writers = new Set<WriteLog>();

/**
 * Sends the SDK's own log lines to `write`, until the function that it gives is called; call it before anything else of
 * Temporal in a process, which has one log: all that listen are told every line, and the level of the first one stays.
 * `metricsAt`: the address and port at which Prometheus finds this process's metrics.
 */
export function installLogger(level: LogLevel, write: WriteLog, metricsAt?: string): () => void {
  writers.add(write);
  const stop = (): void => void writers.delete(write);
  if (installed) return stop;
  installed = true;
  // A queue that only serves a model has no workflows on purpose.
  const logger = new DefaultLogger(level, (entry) => {
    if (!entry.message.startsWith('No workflows registered')) for (const each of writers) each(logText(entry), entry);
  });
  const logging = { forward: { level: level === 'DEBUG' ? ('INFO' as const) : ('ERROR' as const) } };
  const prometheus = { useSecondsForDurations: true, histogramBucketOverrides: BUCKETS };
  const metrics = metricsAt === undefined ? {} : { metrics: { prometheus: { ...prometheus, bindAddress: metricsAt } } };
  const runtime = Runtime.install({ logger, shutdownSignals: [], telemetryOptions: { logging, ...metrics } });
  if (metricsAt !== undefined) telemetry.metrics = createMetrics(runtime.metricMeter);
  return stop;
}

export async function createGateWorkers(options: WorkersOptions): Promise<GateWorkers> {
  const { invocation } = options;
  const connection =
    invocation?.connection ??
    (await NativeConnection.connect({ ...options.connectionOptions, address: options.address }));
  const release = invocation === undefined ? () => connection.close() : () => Promise.resolve();
  const workers: Worker[] = [];
  const meter = createLoadMeter();
  let stopping = false;
  try {
    const specified = await specifications(options);
    // Before the workers are there, which wait for nothing of it. It lists all running searches: too much for each of many
    // short lives.
    if (invocation === undefined) void takeOver(connection, options, specified, () => stopping);
    for (const specification of specified) {
      const converter = { dataConverter: options.dataConverter ?? dataConverter };
      workers.push(
        await OwnThreadWorker.create({
          ...COMMON,
          ...converter,
          ...buildOf(options.version ?? null),
          ...specification,
          ...invocation?.tuning,
          interceptors: { activity: [meter.interceptor, tracedActivities, countedActivities] },
          sinks: traceSinks,
          connection,
          namespace: options.namespace,
          identity: processIdentity(),
        }),
      );
    }
  } catch (error) {
    stopping = true;
    await release();
    throw error;
  }
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    for (const worker of workers.filter((one) => one.getState() === 'RUNNING')) worker.shutdown();
  };
  return {
    taskQueues: workers.map((worker) => worker.options.taskQueue),
    stop,
    idleMs: () => meter.idleMs(workers),
    polling: () => workers.every((worker) => isPolling(worker)),
    run: async () => {
      try {
        await Promise.all(workers.map((worker) => worker.run().finally(stop)));
      } finally {
        await release();
      }
    },
  };
}

/** Every worker has steps; only those of a model's own queue poll no workflows. */
function isPolling(worker: Worker): boolean {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  return runState === 'RUNNING' && workflowPollerState !== 'FAILED' && activityPollerState === 'POLLING';
}

/** What killed processes had in hand is taken over at once; without that it is after Temporal's timeouts. */
async function takeOver(
  connection: NativeConnection,
  { namespace }: Pick<WorkersOptions, 'namespace'>,
  workers: readonly WorkerOptions[],
  isOver: () => boolean,
): Promise<void> {
  const { logger } = Runtime.instance();
  const taskQueues = workers.map(({ taskQueue }) => taskQueue);
  try {
    const taken = await releaseAbandonedSteps(connection, namespace, taskQueues);
    if (taken > 0) logger.info(`took over ${counted(taken, 'step')} of processes that are gone`);
  } catch (error) {
    if (!isOver()) logger.warn(`steps of killed processes wait for Temporal's timeouts: ${String(error)}`);
  }
}

/** Two events in three carry it; the default is the SDK's version with a hash of the bundle (design D3). */
const UNVERSIONED = { buildId: 'gate' } as const;

function buildOf(version: WorkerVersion | null) {
  return version === null ? UNVERSIONED : { workerDeploymentOptions: deploymentOptions(version) };
}

const COMMON = {
  /** Cached workflows hold a control view each; without a limit a batch could fill the heap. */
  maxCachedWorkflows: 300,
  /** Beats carry cancellation to running steps; the default would hold them back far too long. */
  maxHeartbeatThrottleInterval: '4s',
  defaultHeartbeatThrottleInterval: '4s',
} as const;

async function specifications(options: WorkersOptions): Promise<WorkerOptions[]> {
  const { steps, databases, ownQueue, maxModelCalls = 256 } = options;
  const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
  const grace = { shutdownGraceTime: graceMs, shutdownForceTime: graceMs + FORCE_MS };
  const plainBundle = options.bundle ?? workflowBundle();
  const encodes = options.dataConverter?.failureConverterPath !== undefined;
  const workflows = { workflowBundle: encodes ? await withEncodedFailures(plainBundle) : plainBundle };
  const ofSteps: ModelActivities & SqlActivities & StoreActivities & WebActivities = createStepActivities(steps);
  const model: ModelActivities = { callModel: (input) => ofSteps.callModel(input) };
  const scheduled: ScheduledActivities | undefined = options.scheduled && createScheduledActivities(options.scheduled);
  const everything = { ...ofSteps, ...createBatchActivities(options.batch), ...scheduled };
  return [
    ...(options.modelQueues ?? []).map(({ taskQueue, requestsPerSecond, concurrency }) => ({
      ...grace,
      taskQueue,
      activities: model,
      maxConcurrentActivityTaskExecutions: Math.min(concurrency ?? maxModelCalls, maxModelCalls),
      maxTaskQueueActivitiesPerSecond: requestsPerSecond ?? undefined,
    })),
    ...[...databases.map(databaseQueue), ...(ownQueue === undefined ? [] : [ownQueue])].map((taskQueue) => ({
      ...grace,
      ...workflows,
      taskQueue,
      activities: everything,
      maxConcurrentActivityTaskExecutions: maxModelCalls,
    })),
  ];
}

/**
 * For how long workers have had nothing to do. Steps are counted as they begin and end, by an interceptor; workflow tasks are
 * seen when somebody looks: one in flight, or another number of workflows in memory. One that comes and goes between two looks
 * without any step is overlooked (a query, a timer): nothing is lost by it, because a task that arrives while a worker stops is
 * still worked on.
 */
interface LoadMeter {
  readonly interceptor: ActivityInterceptorsFactory;
  /** 0 while something runs. */
  idleMs(workers: readonly Pick<Worker, 'getStatus'>[]): number;
}

function createLoadMeter(): LoadMeter {
  // In milliseconds, of a clock that nobody sets.
  const now = (): number => performance.now();
  let running = 0;
  let lastAt = now();
  let cachedBefore = 0;
  return {
    interceptor: () => ({
      inbound: {
        execute: async (input, next) => {
          running += 1;
          try {
            return await next(input);
          } finally {
            running -= 1;
            lastAt = now();
          }
        },
      },
    }),
    idleMs: (workers) => {
      const status = workers.map((worker) => worker.getStatus());
      const cached = sum(status.map(({ numCachedWorkflows }) => numCachedWorkflows));
      const inFlight = sum(status.map((one) => one.numInFlightWorkflowActivations + one.numInFlightActivities));
      const at = now();
      if (running > 0 || inFlight > 0 || cached !== cachedBefore) lastAt = at;
      cachedBefore = cached;
      return at - lastAt;
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
