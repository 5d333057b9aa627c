/**
 * Everything one kind of fault needs, of its own: a Temporal server with its database file, a simulated model, databases on
 * both engines, a store, and real `gate ops worker` processes. Kinds do not share servers, so that they can run side by side.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalStore } from '../../src/adapters/local/store';
import { ofThisFormat } from '../../src/workers/open-store';
import { userFolders } from '../../src/config/folders';
import type { ObjectStore } from '../../src/domain/ports';
import { SIMULATED_MODEL } from '../../simulated-model';
import { connectClient, type GateClient } from '../../src/workers/client';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, type ServerProcess } from '../../src/workers/temporal-process';
import type { QuestionQueues } from '../../src/workers/task-queues';
import { announcedQueues } from '../helpers/announced';
import { startPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { startModelServer, type ModelServer } from './model-server';
import { mountSmallDisk } from './small-disk';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy';
import { startWorker, type WorkerProcess } from './worker-process';

export interface StageOptions {
  readonly workers: 1 | 2;
  /** `disk`: a small file system of its own, that can be filled. */
  readonly store: 'local' | 'disk' | 's3';
  /** Of one model request: short where the model hangs, and else never reached, even on a machine that is busy. */
  readonly requestTimeoutMs: number;
  /** Extra environment of the workers, and of the model server, which then is a process of its own. */
  readonly clock: { readonly worker: NodeJS.ProcessEnv; readonly model: NodeJS.ProcessEnv } | null;
}

export interface StoreServer {
  /** What `GATE_STORE` is to the workers, with what else they need in their environment. */
  readonly env: NodeJS.ProcessEnv;
  /** What comes before the command of a worker. */
  readonly enter: readonly string[];
  readonly store: ObjectStore;
  /** The folder in which objects are files, to watch progress without asking the store. */
  readonly folder: string;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export interface TemporalControl {
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Same database file, same port. */
  restart(): Promise<void>;
}

export interface Stage {
  readonly folder: string;
  readonly requestTimeoutMs: number;
  readonly data: TestData;
  readonly model: ModelServer;
  readonly postgres: TestPostgres;
  /** Between the workers and PostgreSQL. */
  readonly proxy: TcpProxy;
  readonly storage: StoreServer;
  readonly temporal: TemporalControl;
  readonly gate: GateClient;
  /** Running now; a kind that kills one puts its successor here. */
  readonly workers: WorkerProcess[];
  startWorker(): WorkerProcess;
  /** Those that the workers serve. */
  queuesOf(database: string): Promise<QuestionQueues>;
  close(): Promise<void>;
}

const MODEL_LATENCY_MS = 150;
const RETRY_AFTER_SECONDS = 1;

export async function openStage(options: StageOptions): Promise<Stage> {
  const { requestTimeoutMs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'gate-faults-'));
  const undo: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const step of undo.reverse()) await step();
  };
  try {
    const postgres = await startPostgres();
    undo.push(() => postgres.stop());
    const data = await loadTestData(postgres, { sample: true });
    undo.push(() => data.close());
    const proxy = await startTcpProxy(postgres);
    undo.push(() => proxy.close());
    const temporal = await startTemporal(folder);
    undo.push(() => temporal.stop());
    const storage = await openStorage(options.store, folder);
    undo.push(() => storage.close());
    const model = await startModelServer({
      questions: data.questionFiles,
      databases: data.databases,
      latencyMs: MODEL_LATENCY_MS,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      process: options.clock === null ? null : { ...process.env, ...options.clock.model },
    });
    undo.push(() => model.close());
    const gate = await connectClient({ address: temporal.address, namespace: 'default' });
    undo.push(() => gate.close());
    const env: NodeJS.ProcessEnv = {
      ...{ PATH: process.env['PATH'], HOME: join(folder, 'home'), NO_COLOR: '1', OPENAI_API_KEY: 'none' },
      ...{
        GATE_CONFIG: writeConfig(folder, { data, baseUrl: model.baseUrl, port: proxy.port, requestTimeoutMs }),
        TEMPORAL_ADDRESS: temporal.address,
      },
      ...storage.env,
      ...options.clock?.worker,
    };
    const workers: WorkerProcess[] = [];
    undo.push(async () => {
      for (const worker of workers) {
        worker.signal('SIGCONT');
        await worker.stop();
      }
    });
    const start = (): WorkerProcess => startWorker(folder, env, storage.enter);
    while (workers.length < options.workers) workers.push(start());
    await Promise.all(workers.map((worker) => worker.ready()));
    return {
      folder,
      requestTimeoutMs,
      data,
      model,
      postgres,
      proxy,
      storage,
      temporal,
      gate,
      workers,
      startWorker: start,
      queuesOf: (database) => announcedQueues({ env, cwd: folder }, database),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ConfigParts {
  readonly data: TestData;
  readonly baseUrl: string;
  /** Of the proxy before PostgreSQL. */
  readonly port: number;
  readonly requestTimeoutMs: number;
}

function writeConfig(folder: string, { data, baseUrl, port, requestTimeoutMs }: ConfigParts): string {
  const postgresUrl = new URL(data.address({ engine: 'postgresql', database: 'sprint_pg' }));
  postgresUrl.host = `127.0.0.1:${String(port)}`;
  const file = join(folder, 'gate.config.json');
  const config = {
    databases: {
      sprint: { id: 'sprint', path: data.address({ engine: 'sqlite', database: 'sprint' }) },
      sprint_pg: { id: 'sprint_pg', url: postgresUrl.href },
    },
    models: { default: SIMULATED_MODEL, baseUrl, requestTimeoutMs },
    prices: { [SIMULATED_MODEL]: { inputPerMillion: 1, outputPerMillion: 4 } },
  };
  writeFileSync(file, JSON.stringify(config));
  mkdirSync(join(folder, 'home'));
  return file;
}

async function startTemporal(
  folder: string,
): Promise<TemporalControl & { readonly address: string; stop(): Promise<void> }> {
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const fixed = { binary, databaseFile: join(folder, 'temporal.sqlite'), uiPort: null, detached: true } as const;
  const logFile = join(folder, 'temporal.log');
  const start = (): Promise<ServerProcess> => startServerProcess({ ...fixed, logFile });
  // Beside its port it takes others without asking, which somebody else may just have got.
  const first = await start().catch(start).catch(start);
  let pid = first.pid;
  return {
    address: `127.0.0.1:${String(first.port)}`,
    kill: async () => {
      process.kill(pid, 'SIGKILL');
      await gone(pid);
    },
    restart: async () => {
      ({ pid } = await startServerProcess({ ...fixed, logFile, port: first.port }));
    },
    stop: () => stopServerProcess(pid),
  };
}

async function gone(pid: number): Promise<void> {
  const { until } = await import('./polling');
  await until('the killed server is gone', () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

async function openStorage(kind: StageOptions['store'], folder: string): Promise<StoreServer> {
  if (kind === 's3') {
    const { startS3Store } = await import('./s3-store');
    return startS3Store();
  }
  const root = join(folder, 'store');
  mkdirSync(root);
  const nothing = (): Promise<void> => Promise.resolve();
  const disk = kind === 'disk' ? await mountSmallDisk(root) : { folder: root, enter: [], close: () => undefined };
  return {
    env: { GATE_STORE: root },
    enter: disk.enter,
    store: ofThisFormat(createLocalStore(disk.folder), disk.folder),
    folder: disk.folder,
    down: nothing,
    up: nothing,
    close: () => {
      disk.close();
      return Promise.resolve();
    },
  };
}
