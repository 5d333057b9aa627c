/**
 * One dev server process: flags, ports, readiness, stop. Who shares it with whom is `embedded-server.ts`.
 *
 * The flags are measured (`npm run bench -- step`): the dev server has one shard whose transfer queue is polled 20
 * times a second by default, which makes every durable step wait; write-ahead logging and eager execution do the rest.
 * Tasks are written to one partition of a queue instead of four, since one process serves them all anyway: with four, the
 * first task of a search that began before its worker polled waited for 2.0 s in 5 of 16 starts, with one in none of 32.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './process-identity';
import { ATTRIBUTE_TYPES } from './search-attributes';

const dynamic = (...values: readonly string[]): readonly string[] =>
  values.flatMap((value) => ['--dynamic-config-value', value]);

export const TUNED_FLAGS: readonly string[] = [
  ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
  ...dynamic(
    'history.transferProcessorMaxPollRPS=2000',
    'history.timerProcessorMaxPollRPS=2000',
    'system.enableActivityEagerExecution=true',
    'matching.numTaskqueueWritePartitions=1',
    // Priorities of tasks.
    'matching.useNewMatcher=true',
  ),
];

/** For the server that starts workers on its own machine; each signal that a task waits is passed on at once. */
export const SERVERLESS_FLAGS: readonly string[] = dynamic(
  'workercontroller.enabled=true',
  'workercontroller.compute_providers.enabled=["subprocess"]',
  'workercontroller.hook.min_signal_interval_no_sync_match=50',
);

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

export const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
/** A fixed address for the UI is nicer to return to; any free one does. */
export const PREFERRED_UI_PORT = 8833;

/** Starts a server and returns when it can be used. It does not keep this process alive. */
export async function startServerProcess(options: ServerProcessOptions, starts = 3): Promise<ServerProcess> {
  const { binary, databaseFile, logFile, env, detached = true, uiCodecEndpoint, flags = TUNED_FLAGS } = options;
  const port = await portFor(options.port ?? 0, 'gRPC port');
  const { uiPort: wanted = (await freePort(PREFERRED_UI_PORT)) ?? 0 } = options;
  const uiPort = wanted === null ? null : await portFor(wanted, 'UI port');
  mkdirSync(dirname(logFile), { recursive: true });
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
  const failures: string[] = [];
  child.once('error', ({ message }) => failures.push(`cannot run ${binary}: ${message}`));
  const { pid = 0 } = child;
  if (pid > 0) options.onSpawn?.({ pid, port, uiPort });
  const { serverVersionAt } = await import('./server-version');
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (failures.length === 0 && (child.exitCode ?? child.signalCode) === null && Date.now() < deadline) {
    // A refused gRPC connection backs off for a second, so wait for the port first.
    const version = (await accepts(port)) ? await serverVersionAt(`${HOST}:${port}`) : null;
    if (version !== null && (uiPort === null || (await accepts(uiPort)))) {
      child.unref();
      return { pid, port, uiPort, version };
    }
    await sleep(15);
  }
  const exit = child.exitCode ?? child.signalCode;
  child.kill('SIGKILL');
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  // A port that was free a moment ago: another server was quicker, and the next look at the ports sees it.
  if (starts > 1 && lines.some((line) => /address already in use/i.test(line)))
    return startServerProcess(options, starts - 1);
  // A panic has its reason first and ends with the stack.
  const last = (lines.find((line) => line.startsWith('panic: ')) ?? lines.at(-1) ?? '').slice(0, 300);
  const how =
    exit === null ? `was not ready after ${START_TIMEOUT_MS / 1000} s` : `stopped at its start (exit ${exit})`;
  throw new Error(failures[0] ?? `the embedded Temporal server ${how}: ${last || 'no output'} (log: ${logFile})`);
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

/** Whether somebody listens there. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST }, () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function portFor(port: number, what: string): Promise<number> {
  const got = await freePort(port);
  if (got === null) throw new Error(`${what} ${port} is in use: choose another one or leave it out`);
  return got;
}

/** The port, where it is free; 0 gives any free one. */
function freePort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(null));
    server.listen(port, HOST, () => {
      const { port: got } = server.address() as AddressInfo;
      server.close(() => resolve(got));
    });
  });
}
