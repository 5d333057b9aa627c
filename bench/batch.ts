/**
 * The EHRSQL valid split (1,044 questions) as one batch with 100 in flight and the simulated model at 300 ms, then the same
 * while its process is killed again and again: `gate batch run` as a process that serves the batch, the Temporal server and
 * the model as others. GATE_SHARED_DATA is the folder of the development data; default: `shared/data` beside the checkout.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { userFolders } from '../src/config/folders';
import { connectClient } from '../src/workers/client';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, TUNED_FLAGS } from '../src/workers/temporal-process';
import { sharedDataFolder } from '../tests/helpers/shared-data';
import { bench, median, say, SHORT, type Figure } from './figure';
import { startModel, stop } from './world/load-world';
import { processUse } from './world/process-use';

const GATE = join(__dirname, '../program/gate.js');
const IN_FLIGHT = SHORT ? 8 : 100;
const MODEL_MS = 300;
const KILL_EVERY_MS = SHORT ? 8_000 : 30_000;

interface Line {
  readonly id: string;
  readonly status: string;
  readonly sql: string | null;
  readonly verdict: string;
  readonly wallMs: number | null;
  readonly usage: { readonly llmCalls: number } | null;
}

interface World {
  readonly folder: string;
  readonly questions: string;
  readonly database: string;
}

interface Ran {
  readonly lines: readonly Line[];
  readonly seconds: number;
  readonly kills: number;
  readonly billedAgain: number;
  readonly calls: number;
  readonly peakBytes: number;
  readonly temporalBytes: number;
  readonly historyBytes: number;
}

async function measureBatch(): Promise<readonly Figure[]> {
  const shared = sharedDataFolder();
  if (shared === null) throw new Error('there is no development data: set GATE_SHARED_DATA to its folder');
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-batch-'));
  try {
    const source = join(shared, 'ehrsql_2024');
    const database = join(folder, 'mimic_iv.sqlite');
    writeFileSync(database, gunzipSync(readFileSync(join(source, 'db', 'mimic_iv.sqlite.gz'))));
    const all = readFileSync(join(source, 'questions.jsonl'), 'utf8').trim().split('\n');
    const questions = join(folder, 'valid.jsonl');
    writeFileSync(questions, all.slice(0, SHORT ? 24 : all.length).join('\n'));
    const world = { folder, questions, database };
    const calm = await ran(world, 'calm', null);
    const killed = await ran(world, 'killed', KILL_EVERY_MS);
    return figures(calm, killed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ran(world: World, name: string, killEveryMs: number | null): Promise<Ran> {
  const folder = join(world.folder, name);
  mkdirSync(join(folder, 'home'), { recursive: true });
  const databaseFile = join(folder, 'temporal.sqlite');
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const logFile = join(folder, 'temporal.log');
  const server = await startServerProcess({
    ...{ binary, uiPort: null, databaseFile, detached: false, logFile, flags: TUNED_FLAGS },
  });
  const temporal = `127.0.0.1:${String(server.port)}`;
  const model = await startModel(`mimic_iv=${world.database}`, { modelMs: MODEL_MS, questions: world.questions });
  try {
    const env = {
      ...{ PATH: process.env['PATH'], HOME: join(folder, 'home'), GATE_STORE: join(folder, 'store'), CI: '1' },
      ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'none', GATE_MODEL: 'simulated', TEMPORAL_ADDRESS: temporal },
      GATE_MEMORY: 'off',
    };
    const started = performance.now();
    let [kills, peakBytes] = [0, 0];
    for (;;) {
      const end = await run(world, folder, env, SHORT && kills > 0 ? null : killEveryMs);
      peakBytes = Math.max(peakBytes, end.peakBytes);
      if (end.code === 0) break;
      if (!end.killed) throw new Error(`gate batch run ended with ${String(end.code)}: ${end.said}`);
      kills += 1;
    }
    const seconds = (performance.now() - started) / 1_000;
    const text = readFileSync(join(folder, 'out', 'results.jsonl'), 'utf8').trim();
    const lines = text.split('\n').map((line) => JSON.parse(line) as Line);
    const { totals } = (await (await fetch(new URL('/ledger', model.url))).json()) as {
      readonly totals: { readonly billed: number; readonly billedAgain: number };
    };
    const temporalBytes = ['', '-wal'].reduce((sum, end) => sum + bytesOf(databaseFile + end), 0);
    const historyBytes = await historyOf(temporal);
    const { billed: calls, billedAgain } = totals;
    return { lines, seconds, kills, calls, billedAgain, peakBytes, temporalBytes, historyBytes };
  } finally {
    await stop(model.child);
    await stopServerProcess(server.pid);
  }
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

async function run({ questions, database }: World, cwd: string, env: NodeJS.ProcessEnv, killMs: number | null) {
  const args = ['batch', 'run', questions, '--db', `mimic_iv=${database}`, '--out', 'out'];
  const child = spawn(process.execPath, [GATE, ...args, '--concurrency', String(IN_FLIGHT)], {
    ...{ cwd, env, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let [said, killed, peakBytes] = ['', false, 0];
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const measure = setInterval(() => {
    peakBytes = Math.max(peakBytes, processUse(child.pid ?? 0).peakBytes);
  }, 1_000);
  const kill = setTimeout(
    () => {
      killed = child.kill('SIGKILL');
    },
    killMs ?? 2 ** 30,
  );
  const code = await ended;
  clearTimeout(kill);
  clearInterval(measure);
  return { code, killed, said, peakBytes };
}

/** The median of a question's history. */
async function historyOf(address: string): Promise<number> {
  const gate = await connectClient({ address, namespace: 'default' });
  try {
    const sizes: number[] = [];
    for await (const one of gate.client.workflow.list({ query: "WorkflowType = 'answerQuestion'" }))
      sizes.push(one.historySize ?? 0);
    return median(sizes);
  } finally {
    await gate.close();
  }
}

function figures(calm: Ran, killed: Ran): readonly Figure[] {
  const { lines, seconds, calls } = calm;
  const perMinute = (one: Ran): number => (60 * one.lines.length) / one.seconds;
  // Each question waits for its calls one after the other.
  const bound = (60 * IN_FLIGHT) / ((calls / lines.length) * (MODEL_MS / 1_000));
  const before = new Map(lines.map((line) => [line.id, resultOf(line)]));
  const other = killed.lines.filter((line) => before.get(line.id) !== resultOf(line));
  for (const { id, status, verdict } of other.slice(0, 5)) say(`other than without kills: ${id} ${status} ${verdict}`);
  const how = `${lines.length} questions of EHRSQL valid, ${IN_FLIGHT} in flight, model at ${MODEL_MS} ms, ${calls} calls in ${seconds.toFixed(0)} s`;
  const none = {};
  return [
    { ...none, name: 'batch: questions a minute', value: perMinute(calm), unit: '1/min', how },
    {
      ...{ ...none, name: 'batch: bound by latency and calls', value: bound, unit: '1/min' },
      how: 'in flight / (calls per question × latency)',
    },
    {
      ...{ name: 'batch: memory of its process', value: calm.peakBytes / 2 ** 30, unit: 'GB', atMost: 1.5 },
      how: 'peak resident set; it runs workflows, steps and scoring',
    },
    {
      ...{ ...none, name: 'batch: Temporal database per question', unit: 'KB' },
      ...{ value: calm.temporalBytes / lines.length / 1024, how: 'its file and log / questions' },
    },
    {
      ...{ ...none, name: 'batch: history per question', value: calm.historyBytes / 1024, unit: 'KB' },
      how: 'median over its questions',
    },
    {
      ...{ ...none, name: 'batch: questions a minute, killed', value: perMinute(killed), unit: '1/min' },
      how: `SIGKILL every ${KILL_EVERY_MS / 1_000} s, ${killed.kills} times, and run again`,
    },
    {
      ...{ name: 'batch: other results after kills', value: other.length, unit: '', atMost: 0 },
      how: 'questions whose status, SQL or verdict differ, or that are missing',
    },
    {
      name: 'batch: calls paid again for a kill',
      ...{ value: killed.billedAgain / Math.max(1, killed.kills), unit: '', atMost: IN_FLIGHT },
      how: `${killed.billedAgain} of ${killed.calls} calls; at most those in flight`,
    },
  ];
}

const resultOf = ({ status, sql, verdict }: Line): string => JSON.stringify([status, sql, verdict]);

bench(measureBatch);
