/**
 * One dev server process: flags, ports, readiness, stop. Who shares it with whom is `embedded-server.ts`.
 *
 * The flags are measured (`npm run bench -- step`): the dev server has one shard whose transfer queue is polled 20
 * times a second by default, which makes every durable step wait; write-ahead logging and eager execution do the rest.
 * Tasks are written to one partition of a queue instead of four, since one process serves them all anyway: with four, the
 * first task of a search that began before its worker polled waited for 2.0 s in 5 of 16 starts, with one in none of 32.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { isAlive } from './process-identity';
import { ATTRIBUTE_TYPES } from './search-attributes';

const dynamic = (value: string): readonly string[] => ['--dynamic-config-value', value];

export const TUNED_FLAGS: readonly string[] = [
  ...['journal_mode=WAL', 'synchronous=NORMAL'].flatMap((pragma) => ['--sqlite-pragma', pragma]),
  ...[
    'history.transferProcessorMaxPollRPS=2000',
    'history.timerProcessorMaxPollRPS=2000',
    'system.enableActivityEagerExecution=true',
    'matching.numTaskqueueWritePartitions=1',
    // Priorities of tasks.
    'matching.useNewMatcher=true',
  ].flatMap(dynamic),
];

/** For the server that starts workers on its own machine; each signal that a task waits is passed on at once. */
export const SERVERLESS_FLAGS: readonly string[] = [
  'workercontroller.enabled=true',
  'workercontroller.compute_providers.enabled=["subprocess"]',
  'workercontroller.hook.min_signal_interval_no_sync_match=50',
].flatMap(dynamic);

export interface ServerProcessOptions {
  readonly binary: string;
  /** null: in memory, gone when it stops. */
  readonly databaseFile: string | null;
  readonly logFile: string;
  /** A fixed port must be free; without one a free one is taken. */
  readonly port?: number;
  /** null: no UI. */
  readonly uiPort?: number | null;
  /** Where the UI has payloads decoded (`codec-server.ts`). */
  readonly uiCodecEndpoint?: string;
  readonly flags?: readonly string[];
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Out of this process's group, so that Ctrl-C here does not end it before its users are done; default true. */
  readonly detached?: boolean;
  /** Told before it can be used, so that whoever is killed meanwhile leaves no server that nobody knows. */
  readonly onSpawn?: (server: Omit<ServerProcess, 'version'>) => void;
}

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  readonly uiPort: number | null;
  /** Version of the Temporal server, e.g. `1.29.1`. */
  readonly version: string;
}

export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
}

const HOST = '127.0.0.1';
/** gRPC health protocol. */
const SERVING = 1;
const START_TIMEOUT_MS = 60_000;
/** A fixed address for the UI is nicer to return to; any free one does. */
export const PREFERRED_UI_PORT = 8833;
const STARTS = 3;

/** Starts a server and returns when it can be used. It does not keep this process alive. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      // A port that was free a moment ago: another server was quicker, and the next look at the ports sees it.
      const taken = error instanceof ServerStartError && /address already in use/i.test(error.message);
      if (!taken || start === STARTS) throw error;
    }
  }
}

async function startOnce(options: ServerProcessOptions): Promise<ServerProcess> {
  const { binary, databaseFile, logFile, env, detached = true, uiCodecEndpoint, flags = TUNED_FLAGS } = options;
  const port = await portFor(options.port ?? 0, 'gRPC port');
  const preferred = async (): Promise<number> => (await listenOnce(PREFERRED_UI_PORT)) ?? portFor(0, 'UI port');
  const { uiPort: wanted = await preferred() } = options;
  const uiPort = wanted === null ? null : await portFor(wanted, 'UI port');
  mkdirSync(dirname(logFile), { recursive: true });
  // Histories hold answers: the folder is its owner's alone.
  if (databaseFile !== null) mkdirSync(dirname(databaseFile), { recursive: true, mode: 0o700 });
  const args = [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--log-level', 'error'],
    ...(databaseFile === null ? [] : ['--db-filename', databaseFile]),
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...ATTRIBUTE_TYPES.flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...(uiCodecEndpoint === undefined ? [] : ['--ui-codec-endpoint', uiCodecEndpoint]),
    ...flags,
  ];
  const log = openSync(logFile, 'w');
  const child = spawn(binary, args, { detached, stdio: ['ignore', log, log], env });
  closeSync(log);
  const exited = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) => reject(new ServerStartError(`cannot run ${binary}: ${error.message}`)));
    child.once('exit', (code) => reject(new ServerStartError(startFailure(logFile, code))));
  });
  exited.catch(() => undefined);
  try {
    const pid = child.pid ?? 0;
    if (pid > 0) options.onSpawn?.({ pid, port, uiPort });
    const version = await Promise.race([exited, untilReady(child, port, uiPort)]);
    child.unref();
    return { pid, port, uiPort, version };
  } catch (error) {
    if (child.pid !== undefined && child.exitCode === null) child.kill('SIGKILL');
    throw error;
  }
}

/** null when nothing that serves Temporal answers there in time. */
export async function serverVersionAt(port: number, timeoutMs = 2_000): Promise<string | null> {
  const connection = Connection.lazy({ address: `${HOST}:${port}` });
  try {
    return await connection.withDeadline(Date.now() + timeoutMs, async () => {
      await connection.ensureConnected();
      const [{ status }, { serverVersion }] = await Promise.all([
        connection.healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' }),
        connection.workflowService.getSystemInfo({}),
        connection.workflowService.describeNamespace({ namespace: 'default' }),
      ]);
      return (status as number) === SERVING ? serverVersion : null;
    });
  } catch {
    return null;
  } finally {
    await connection.close();
  }
}

/** Asks it to stop and waits until it is gone; a process that got the id of a dead server is left alone. */
export async function stopServerProcess(pid: number, timeoutMs = 10_000): Promise<void> {
  if (!isServerProcess(pid)) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + timeoutMs;
  while (isServerProcess(pid)) {
    if (Date.now() > deadline) return void process.kill(pid, 'SIGKILL');
    await sleep(20);
  }
}

/** Process ids are reused: on Linux the command line tells, elsewhere only that the process lives. */
export function isServerProcess(pid: number): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('start-dev');
  } catch {
    return false;
  }
}

async function untilReady(
  child: { readonly exitCode: number | null },
  port: number,
  uiPort: number | null,
): Promise<string> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && Date.now() < deadline) {
    // A refused gRPC connection backs off for a second, so wait for the port first.
    const version = (await accepts(port)) ? await serverVersionAt(port) : null;
    if (version !== null && (uiPort === null || (await accepts(uiPort)))) return version;
    await sleep(15);
  }
  throw new ServerStartError(`the embedded Temporal server was not ready after ${START_TIMEOUT_MS / 1000} s`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST }, () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** The port, where it is free; 0 gives any free one. */
async function portFor(port: number, what: string): Promise<number> {
  const got = await listenOnce(port);
  if (got === null) throw new ServerStartError(`${what} ${port} is in use: choose another one or leave it out`);
  return got;
}

function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(null));
    server.listen(port, HOST, () => {
      const { port: got } = server.address() as AddressInfo;
      server.close(() => resolve(got));
    });
  });
}

function startFailure(logFile: string, code: number | null): string {
  const lines = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : [];
  // A panic has its reason first and ends with the stack.
  const last = (lines.find((line) => line.startsWith('panic: ')) ?? lines.at(-1) ?? '').slice(0, 300);
  return `the embedded Temporal server stopped at its start (exit ${code}): ${last || 'no output'} (log: ${logFile})`;
}
