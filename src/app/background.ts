/**
 * Worker processes that outlive a command (`ask --detach`) or run in a terminal (`worker`, `dev`): who they are is
 * written into the state folder, so that a second one is not started for a database that is served already, and so that
 * `gate dev --stop` finds them. A database's address travels by environment, never by command line.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config';
import { deploymentOf } from '../config';
import { storeLocation } from '../config/store';
import type { ResolvedDatabase } from '../config/databases';
import { replaceFile } from '../replace-file';
import { startedQueues } from '../workers/deployments';
import { builtFile } from '../workers/package-folder';
import { isAlive } from '../workers/process-identity';
import { servedName } from '../workers/serving';
import { neededQueues, type Announced } from './start-search';
import type { ServedBy } from './app';
import { GateError } from './errors';
import type { Surroundings } from './surroundings';
import type { TemporalSession } from './temporal-session';

/** A list, as JSON. */
export const DATABASES_VARIABLE = 'GATE_WORKER_DATABASES';

export interface ServingProcess {
  readonly pid: number;
  readonly databases: readonly string[];
  /** Names with the fingerprint of what it answers with. */
  readonly queues: readonly string[];
  readonly address: string;
  readonly namespace: string;
  /** Folder or bucket. */
  readonly store: string;
  /** Started by `--detach`: nobody sees it, so `dev --stop` ends it. */
  readonly background: boolean;
}

const START_TIMEOUT_MS = 60_000;
/** Of a worker that ends when nothing is asked any more. */
const IDLE_S = 600;

export function announce(config: Config, process: ServingProcess): () => void {
  const folder = folderOf(config);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${process.pid}.json`);
  replaceFile(file, JSON.stringify(process));
  return () => rmSync(file, { force: true });
}

/** The processes that still run; entries of others are removed. */
export function servingProcesses(config: Config): ServingProcess[] {
  const folder = folderOf(config);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+\.json$/.test(name)) : [];
  return names.flatMap((name) => {
    const file = join(folder, name);
    if (isAlive(Number.parseInt(name, 10))) return [JSON.parse(readFileSync(file, 'utf8')) as ServingProcess];
    rmSync(file, { force: true });
    return [];
  });
}

export interface ToServe {
  readonly database: ResolvedDatabase;
  readonly announced: Announced;
}

/** Sees to it that somebody works on all of them without this process; returns a line that says who. */
export async function servedDetached(
  config: Config,
  wanted: readonly ToServe[],
  session: TemporalSession,
  io: Pick<Surroundings, 'env' | 'cwd'>,
  until: Extract<ServedBy, string> = 'background',
): Promise<string> {
  const byServer = await startedQueues(session.gate.client, deploymentOf(config.temporal.versioning));
  const rest = wanted.filter(({ announced }) => !neededQueues(announced).every((queue) => byServer.has(queue)));
  if (rest.length === 0) return 'The server starts a worker for it.';
  if (!(await serveInBackground(config, rest, session, io, until))) return 'A worker that runs already works on it.';
  return session.embedded === null
    ? 'The worker keeps running; gate dev --stop stops it.'
    : 'The server and the worker keep running; gate dev --stop stops them.';
}

/** Returns when processes answer as announced, starting one for what none does; whether `gate dev --stop` ends them. */
export async function serveInBackground(
  config: Config,
  wanted: readonly ToServe[],
  session: TemporalSession,
  io: Pick<Surroundings, 'env' | 'cwd'>,
  until: Extract<ServedBy, string> = 'background',
): Promise<boolean> {
  const serving = ({ announced }: ToServe): ServingProcess[] =>
    servingProcesses(config).filter(
      ({ address, namespace, queues }) =>
        address === session.address &&
        namespace === session.namespace &&
        neededQueues(announced).every((queue) => queues.includes(queue)),
    );
  const unserved = wanted.filter((one) => serving(one).length === 0);
  const [first] = unserved;
  if (first === undefined) return wanted.every((one) => serving(one).every(({ background }) => background));
  const folder = folderOf(config);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = join(folder, `${servedName(first.database.name, first.announced.serving)}.log`);
  const output = openSync(log, 'w', 0o600);
  const specs = unserved.map(({ database }) => (database.adHoc ? addressOf(database) : database.name));
  const [node = '', ...args] = gateCommand();
  const idle = until === 'background' ? [] : ['--exit-when-idle', String(IDLE_S)];
  const child = spawn(node, [...args, 'ops', 'worker', '--background', ...idle], {
    cwd: io.cwd,
    env: { ...io.env, [DATABASES_VARIABLE]: JSON.stringify(specs) },
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const end: { reason: string | null } = { reason: null };
  child.once('error', (error) => (end.reason = error.message));
  child.once('exit', (code) => (end.reason ??= `exit code ${String(code)}`));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (unserved.some((one) => serving(one).length === 0)) {
    if (end.reason !== null || Date.now() > deadline) {
      const last = lastLine(log);
      throw new GateError(
        `the background worker did not start (${last || end.reason || 'no reply in time'}); its log is ${log}`,
      );
    }
    await sleep(50);
  }
  child.unref();
  return true;
}

/** Ends the processes that `--detach` left on this configuration's store, whatever they answer with; returns how many. */
export async function stopBackground(config: Config): Promise<number> {
  const here = storeLocation(config.store);
  const processes = servingProcesses(config).filter(({ background, store }) => background && store === here);
  for (const { pid } of processes) process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (processes.some(({ pid }) => isAlive(pid)) && Date.now() < deadline) await sleep(50);
  return processes.length;
}

function addressOf({ address }: ResolvedDatabase): string {
  return address.kind === 'path' ? address.path : address.url.reveal();
}

function folderOf(config: Config): string {
  return join(config.folders.state, 'workers');
}

/** How `gate` is run as a process of its own. */
export function gateCommand(): readonly string[] {
  return [process.execPath, ...process.execArgv, builtFile('program/gate.js')];
}

export function lastLine(log: string): string | undefined {
  return readFileSync(log, 'utf8').trim().split('\n').at(-1);
}
