/**
 * 200 searches at a time, with everything on this machine: the embedded server, `gate worker` as one process, the model
 * server as another, the asked database and this process, which starts them. What limits it is read from the times that
 * each process spent on a processor. GATE_BENCH_ENGINE=postgresql asks PostgreSQL instead of SQLite;
 * GATE_BENCH_PROFILE=FOLDER leaves the worker's CPU profiles there.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLocalStore } from '../src/adapters/local';
import { buildSprintDatabase } from '../src/cli/sprint-database';
import type { Dialect, SearchInput } from '../src/domain';
import { userFolders } from '../src/config/folders';
import { sha256 } from '../src/sha256';
import type { LedgerReport } from '../simulated-model';
import { storeInput } from '../src/steps';
import { awaitQuestion, connectClient, startQuestion, type GateClient } from '../src/workers/client';
import type { QuestionQueues } from '../src/workers/task-queues';
import { announcedQueues } from '../tests/helpers/announced';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess } from '../src/workers/temporal-process';
import { questionWorkflowId } from '../src/workflows/ids';
import { startPostgres, type TestPostgres } from '../tests/helpers/postgres';
import { median, printFigures, quantile, SHORT, say, type Figure } from './figure';
import { processUse, type ProcessUse } from './world/process-use';
import { benchSearches, QUESTIONS, RATES, readSprintSql, SPRINT_SQL } from './world/searches';

const CONCURRENT = SHORT ? 60 : 200;
const MODEL_MS = 500;
const GATE = join(__dirname, '../src/cli/main.js');
const MODEL = join(__dirname, '../simulated-model/main.js');
const ENGINE: Dialect = process.env['GATE_BENCH_ENGINE'] === 'postgresql' ? 'postgresql' : 'sqlite';
const DATABASE = ENGINE === 'sqlite' ? 'sprint' : 'sprint_pg';

async function measureLoad(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-load-'));
  const postgres = ENGINE === 'postgresql' ? await startPostgres() : null;
  const address = await openDatabase(folder, postgres);
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const server = await startServerProcess({
    ...{ binary, uiPort: null, databaseFile: join(folder, 'temporal.sqlite'), detached: false },
    logFile: join(folder, 'temporal.log'),
  });
  const temporal = `127.0.0.1:${String(server.port)}`;
  const children: ChildProcess[] = [];
  try {
    const model = await startModel(address);
    children.push(model.child);
    const { child: worker, env } = await startWorker(folder, { address, temporal, modelUrl: model.url });
    children.push(worker);
    const queues = await announcedQueues({ env, cwd: folder }, DATABASE);
    const gate = await connectClient({ address: temporal, namespace: 'default' });
    try {
      // One search alone first: connections, schema and bundle are there before the clock starts.
      await runAll(gate, queues, folder, 'warm', 1);
      await fetch(new URL('/reset', model.url), { method: 'POST' });
      const watched = {
        worker: worker.pid ?? 0,
        server: server.pid,
        model: model.child.pid ?? 0,
        starter: process.pid,
      };
      const before = usesOf(watched);
      const { seconds, each, inputs } = await runAll(gate, queues, folder, 'load', CONCURRENT);
      const after = usesOf(watched);
      const { totals } = (await (await fetch(new URL('/ledger', model.url))).json()) as LedgerReport;
      const histories = await readHistories(gate, inputs);
      report(before, after, { seconds, calls: totals.billed });
      const how = `${CONCURRENT} searches at once on ${ENGINE}, model at ${MODEL_MS} ms, ${totals.billed} calls in ${seconds.toFixed(0)} s`;
      return [
        {
          name: 'load: model calls per second',
          value: totals.billed / seconds,
          unit: '1/s',
          atMost: null,
          atLeast: 40,
          how,
        },
        {
          ...{
            name: 'load: memory of the worker',
            value: (after['worker']?.peakBytes ?? 0) / 2 ** 30,
            unit: 'GB',
            atMost: 1.5,
          },
          how: 'peak resident set of its process',
        },
        {
          name: 'load: failed workflow tasks',
          value: histories.failedTasks.length,
          unit: '',
          atMost: 0,
          how: ['failed or timed out, in all histories', ...new Set(histories.failedTasks)].join('; '),
        },
        {
          ...{ name: 'load: history per model call', value: histories.bytesPerCall / 1024, unit: 'KB', atMost: 4 },
          how: 'history bytes / model calls, median over the searches',
        },
        {
          name: 'load: a search, median',
          value: quantile(each, 0.5),
          unit: 's',
          atMost: null,
          how: 'from start to answer',
        },
        {
          name: 'load: a search, 95th percentile',
          value: quantile(each, 0.95),
          unit: 's',
          atMost: null,
          how: 'from start to answer',
        },
      ];
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

async function openDatabase(folder: string, postgres: TestPostgres | null): Promise<string> {
  if (postgres !== null) {
    await postgres.createDatabase(DATABASE, readSprintSql());
    return postgres.url(DATABASE);
  }
  const path = join(folder, 'sprint.sqlite');
  buildSprintDatabase(SPRINT_SQL, path);
  return path;
}

async function startModel(address: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const { doubt = 0, wrong = 0, inconclusive = 0, immaterial = 0 } = RATES;
  const rates = Object.entries({ doubt, wrong, inconclusive, immaterial });
  const flags = rates.flatMap(([name, rate]) => [`--${name}-rate`, String(rate)]);
  const args = [
    MODEL,
    '--questions',
    QUESTIONS,
    '--db',
    `${DATABASE}=${address}`,
    '--latency-ms',
    String(MODEL_MS),
    ...flags,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, 'stdout', /^\{/);
  return { child, url: (JSON.parse(line) as { baseUrl: string }).baseUrl };
}

async function startWorker(
  folder: string,
  { address, temporal, modelUrl }: { readonly address: string; readonly temporal: string; readonly modelUrl: string },
): Promise<{ readonly child: ChildProcess; readonly env: NodeJS.ProcessEnv }> {
  const home = join(folder, 'home');
  mkdirSync(home);
  const where = ENGINE === 'sqlite' ? { path: address } : { urlEnv: 'BENCH_DATABASE' };
  const config = join(folder, 'gate.config.json');
  writeFileSync(config, JSON.stringify({ databases: { [DATABASE]: where } }));
  const env = {
    ...{ PATH: process.env['PATH'], HOME: home, GATE_CONFIG: config, GATE_STORE: join(folder, 'store') },
    ...{ OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: 'none', GATE_MODEL: 'simulated', TEMPORAL_ADDRESS: temporal },
    BENCH_DATABASE: address,
  };
  const profile = process.env['GATE_BENCH_PROFILE'];
  const flags = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  const child = spawn(process.execPath, [...flags, GATE, 'worker'], {
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await firstLine(child, 'stderr', /^serving /);
  return { child, env };
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

async function runAll(gate: GateClient, queues: QuestionQueues, folder: string, name: string, count: number) {
  const store = createLocalStore(join(folder, 'store'));
  const inputs = benchSearches({ shape: 'usual', count, engine: ENGINE, name });
  for (const input of inputs) await storeInput({ store, hash: sha256 }, input);
  const startedAt = performance.now();
  const ended = await Promise.all(
    inputs.map(async ({ searchId, settings }) => {
      const since = performance.now();
      await startQuestion(gate, { searchId, settings, modelTimeoutMs: 60_000, queues, label: 'bench' });
      const end = await awaitQuestion(gate, searchId);
      if (end.kind !== 'completed') throw new Error(`${searchId} failed: ${end.message}`);
      return { seconds: (performance.now() - since) / 1000, calls: end.value.usage.llmCalls };
    }),
  );
  const calls = new Map(inputs.map(({ searchId }, at) => [searchId, ended[at]?.calls ?? 0]));
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    seconds,
    each: ended.map((one) => one.seconds),
    inputs: inputs.map((input) => ({ ...input, calls: calls.get(input.searchId) ?? 1 })),
  };
}

async function readHistories(gate: GateClient, inputs: readonly (SearchInput & { readonly calls: number })[]) {
  const failedTasks: string[] = [];
  const perCall: number[] = [];
  for (const { searchId, calls } of inputs) {
    const handle = gate.client.workflow.getHandle(questionWorkflowId(searchId));
    const { events } = await handle.fetchHistory();
    for (const event of events ?? []) {
      const failed = event.workflowTaskFailedEventAttributes;
      const late = event.workflowTaskTimedOutEventAttributes;
      if (failed) failedTasks.push(failed.failure?.message ?? `cause ${String(failed.cause)}`);
      if (late) failedTasks.push(LATE[Number(late.timeoutType)] ?? 'timed out');
    }
    perCall.push(((await handle.describe()).historySize ?? 0) / calls);
  }
  return { failedTasks, bytesPerCall: median(perCall) };
}

/** Temporal's types of timeouts. */
const LATE: Readonly<Record<number, string>> = { 1: 'not done in time', 2: 'not begun in time' };

type Uses = Readonly<Record<string, ProcessUse>>;

function usesOf(pids: Readonly<Record<string, number>>): Uses {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, processUse(pid)]));
}

/** Who had the processors: the first place to look when the rate is too low. Per call it says what the machine's load hides. */
function report(
  before: Uses,
  after: Uses,
  { seconds, calls }: { readonly seconds: number; readonly calls: number },
): void {
  const shares = Object.entries(after).map(([name, use]) => {
    const own = use.cpuSeconds - (before[name]?.cpuSeconds ?? 0);
    // The starter's children are the others.
    const children = name === 'starter' ? 0 : use.childCpuSeconds - (before[name]?.childCpuSeconds ?? 0);
    return { name, own, children };
  });
  const each = (spent: number): string => `${(spent / seconds).toFixed(2)} (${((1000 * spent) / calls).toFixed(1)} ms)`;
  const texts = shares.flatMap(({ name, own, children }) => [
    `${name} ${each(own)}`,
    ...(children > 0.05 ? [`children of ${name} ${each(children)}`] : []),
  ]);
  const all = shares.reduce((sum, { own, children }) => sum + own + children, 0);
  say(
    `processors used (per model call): ${texts.join(', ')}; together ${each(all)}; load average ${loadavg()[0]?.toFixed(0) ?? ''}`,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

printFigures(measureLoad());
