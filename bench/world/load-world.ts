/**
 * Everything that answers questions, each as a process of its own on this machine: the embedded server, `gate ops worker`, the
 * model server, the asked database, perhaps an S3 server; this process starts them and asks.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSprintDatabase } from '../../src/app/demo';
import { loadConfig } from '../../src/config';
import { userFolders } from '../../src/config/folders';
import type { Dialect, SearchInput } from '../../src/domain';
import type { LedgerReport, Rates } from '../../simulated-model';
import { storeInput } from '../../src/record/run-store';
import { awaitQuestion, connectClient, startQuestion, type GateClient } from '../../src/workers/client';
import { openStore } from '../../src/workers/open-store';
import type { QuestionQueues } from '../../src/workers/task-queues';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, TUNED_FLAGS } from '../../src/workers/temporal-process';
import { announcedQueues } from '../../tests/helpers/announced';
import { startPostgres, type TestPostgres } from '../../tests/helpers/postgres';
import { say } from '../figure';
import { GATE } from './gate-command';
import { postmasterPid, processUse, type ProcessUse } from './process-use';
import { QUESTIONS, RATES, readSprintSql, SPRINT_SQL } from './searches';

const MODEL = join(__dirname, '../../simulated-model/main.js');

export interface LoadOptions {
  readonly engine: Dialect;
  readonly modelMs: number;
  readonly rates?: Partial<Rates>;
  /** Another model than the simulated one, over another database than the sprint example. */
  readonly asked?: { readonly modelUrl: string; readonly database: string; readonly path: string };
  /** Where the store is and how to reach it; default: a folder. */
  readonly storeEnv?: Readonly<Record<string, string>>;
  readonly metricsPort?: number;
  /** Default: as the product has it. */
  readonly iterationsPerRun?: number;
}

export interface AskedSearch extends SearchInput {
  readonly seconds: number;
  readonly calls: number;
}

export type Uses = Readonly<Record<string, ProcessUse>>;

export interface LoadWorld {
  readonly gate: GateClient;
  readonly postgres: TestPostgres | null;
  /** Asks all of them, so many at a time (default: all), and waits for the answers. */
  readonly ask: (inputs: readonly SearchInput[], atATime?: number) => Promise<readonly AskedSearch[]>;
  /** By part: worker, server, model, postgres, starter (this process). */
  readonly uses: () => Uses;
  readonly ledger: () => Promise<LedgerReport['totals']>;
  readonly resetLedger: () => Promise<unknown>;
}

export async function withLoadWorld<T>(options: LoadOptions, work: (world: LoadWorld) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-load-'));
  const { engine, asked } = options;
  const name = asked?.database ?? (engine === 'sqlite' ? 'sprint' : 'sprint_pg');
  const postgres = engine === 'postgresql' ? await startPostgres() : null;
  const address = asked?.path ?? (await openSprint(folder, name, postgres));
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const metrics = options.metricsPort === undefined ? [] : ['--metrics-port', String(options.metricsPort)];
  const server = await startServerProcess({
    ...{ binary, uiPort: null, databaseFile: join(folder, 'temporal.sqlite'), detached: false },
    ...{ logFile: join(folder, 'temporal.log'), flags: [...TUNED_FLAGS, ...metrics] },
  });
  const temporal = `127.0.0.1:${String(server.port)}`;
  const children: ChildProcess[] = [];
  try {
    const model = asked === undefined ? await startModel(`${name}=${address}`, options) : null;
    if (model !== null) children.push(model.child);
    const modelUrl = model?.url ?? asked?.modelUrl ?? '';
    const env = environment(folder, { name, engine, address, temporal, modelUrl, storeEnv: options.storeEnv ?? {} });
    const worker = await startWorker(folder, env);
    children.push(worker);
    const source = { env, cwd: folder };
    const queues = await announcedQueues(source, name);
    const gate = await connectClient({ address: temporal, namespace: 'default' });
    // The bench reads its own environment for the store's keys, as the SDK does.
    Object.assign(process.env, options.storeEnv ?? {});
    const store = openStore(loadConfig(source));
    const pids = {
      ...{ worker: worker.pid, server: server.pid, model: model?.child.pid, starter: process.pid },
      ...(postgres === null ? {} : { postgres: await postmasterPid(postgres.url(name)) }),
    };
    const ask = async (input: SearchInput): Promise<AskedSearch> => {
      await storeInput(store, input);
      return { ...input, ...(await answer(gate, queues, input, options)) };
    };
    try {
      return await work({
        ...{ gate, postgres },
        ask: (inputs, atATime = inputs.length) => inTurns(inputs, atATime, ask),
        uses: () => Object.fromEntries(Object.entries(pids).map(([part, pid]) => [part, processUse(pid ?? 0)])),
        ledger: async () => ((await (await fetch(new URL('/ledger', modelUrl))).json()) as LedgerReport).totals,
        resetLedger: () => fetch(new URL('/reset', modelUrl), { method: 'POST' }),
      });
    } finally {
      await gate.close();
    }
  } finally {
    for (const child of children) await stop(child);
    await stopServerProcess(server.pid);
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the order given, so many at a time. */
async function inTurns<A, B>(items: readonly A[], atATime: number, use: (item: A) => Promise<B>): Promise<B[]> {
  const done: B[] = [];
  const left = [...items.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) done[next[0]] = await use(next[1]);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return done;
}

async function answer(
  gate: GateClient,
  queues: QuestionQueues,
  { searchId, settings }: SearchInput,
  { iterationsPerRun }: LoadOptions,
) {
  const since = performance.now();
  await startQuestion(gate, { searchId, settings, modelTimeoutMs: 60_000, queues, label: 'bench', iterationsPerRun });
  const end = await awaitQuestion(gate, searchId);
  if (end.kind !== 'completed') throw new Error(`${searchId} failed: ${end.message}`);
  return { seconds: (performance.now() - since) / 1000, calls: end.value.usage.llmCalls };
}

async function openSprint(folder: string, name: string, postgres: TestPostgres | null): Promise<string> {
  if (postgres !== null) {
    await postgres.createDatabase(name, readSprintSql());
    return postgres.url(name);
  }
  const path = join(folder, 'sprint.sqlite');
  buildSprintDatabase(SPRINT_SQL, path);
  return path;
}

export async function startModel(
  database: string,
  { modelMs, rates = RATES, questions = QUESTIONS }: Pick<LoadOptions, 'modelMs' | 'rates'> & { questions?: string },
) {
  const options = { questions: [questions], databases: [database], latencyMs: modelMs, rates };
  const args = [MODEL, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, 'stdout', /^\{/);
  return { child, url: (JSON.parse(line) as { baseUrl: string }).baseUrl };
}

interface Places {
  readonly name: string;
  readonly engine: Dialect;
  readonly address: string;
  readonly temporal: string;
  readonly modelUrl: string;
  readonly storeEnv: Readonly<Record<string, string>>;
}

function environment(folder: string, places: Places): NodeJS.ProcessEnv {
  const { name, engine, address, temporal, modelUrl, storeEnv } = places;
  const home = join(folder, 'home');
  mkdirSync(home);
  const where = engine === 'sqlite' ? { path: address } : { urlEnv: 'BENCH_DATABASE' };
  const config = join(folder, 'gate.config.json');
  writeFileSync(config, JSON.stringify({ databases: { [name]: { id: name, ...where } } }));
  return {
    ...{ PATH: process.env['PATH'], HOME: home, GATE_CONFIG: config, GATE_STORE: join(folder, 'store') },
    ...{ OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: 'none', GATE_MODEL: 'simulated', TEMPORAL_ADDRESS: temporal },
    ...{ BENCH_DATABASE: address, ...storeEnv },
  };
}

async function startWorker(folder: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const profile = process.env['GATE_BENCH_PROFILE'];
  const flags = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  const child = spawn(process.execPath, [...flags, GATE, 'ops', 'worker'], {
    ...{ env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  await firstLine(child, 'stderr', /^serving /);
  return child;
}

function firstLine(child: ChildProcess, from: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = child[from];
    if (stream === null) throw new TypeError(`no ${from} to read`);
    child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${String(code)}`)));
    createInterface({ input: stream }).on('line', (line) => {
      if (pattern.test(line)) resolve(line);
      else if (from === 'stderr') say(line);
    });
  });
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}
