/**
 * The EHRSQL valid split (1,044 questions) as one batch with 100 in flight and the simulated model at 300 ms; the same while its
 * process is killed again and again; and a part of it with S3 as the store, every request of which takes 20 ms, against a folder.
 * `gate batch run` is a process that serves the batch, the Temporal server and the model are others. GATE_SHARED_DATA is the
 * folder of the development data; default: `shared/data` beside the checkout.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { userFolders } from '../src/config/folders';
import { connectClient } from '../src/workers/client';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess, TUNED_FLAGS } from '../src/workers/temporal-process';
import { sharedDataFolder } from '../tests/helpers/shared-data';
import { bench, median, part, say, SHORT, type Figure } from './figure';
import { startCountedS3 } from './world/counted-s3';
import { GATE } from './world/gate-command';
import { startModel, stop } from './world/load-world';
import { endedCpuSeconds, processUse, treeCpuSeconds } from './world/process-use';
import { sqliteBytes } from './world/sizes';

const IN_FLIGHT = SHORT ? 8 : 100;
const MODEL_MS = 300;
const S3_MS = 20;
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
  /** Of the batch process with its children, of the Temporal server, and of the model. */
  readonly cpuSeconds: { readonly batch: number; readonly temporal: number; readonly model: number };
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
    const world = (name: string, count: number): World => {
      const questions = join(folder, `${name}.jsonl`);
      writeFileSync(questions, all.slice(0, count).join('\n'));
      return { folder, questions, database };
    };
    const whole = world('valid', SHORT ? 24 : all.length);
    let calm: Ran | null = null;
    await part('calm', async () => {
      calm = await ran(whole, 'calm');
      return calmFigures(calm);
    });
    await part('killed', async () => {
      calm ??= await ran(whole, 'calm');
      return killedFigures(calm, await ran(whole, 'killed', { killEveryMs: KILL_EVERY_MS }));
    });
    await part('S3', () => onS3(world('some', SHORT ? 12 : 400)));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface RunOptions {
  readonly killEveryMs?: number;
  /** Where the store is and how to reach it; default: a folder. */
  readonly storeEnv?: Readonly<Record<string, string>>;
}

async function ran(world: World, name: string, options: RunOptions = {}): Promise<Ran> {
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
      ...{ GATE_MEMORY: 'off', ...options.storeEnv },
    };
    const others = () => [server.pid, model.child.pid ?? 0].map(treeCpuSeconds);
    const [serverBefore = 0, modelBefore = 0] = others();
    const started = performance.now();
    let [kills, peakBytes, cpuSeconds] = [0, 0, 0];
    for (;;) {
      const end = await run(world, folder, env, SHORT && kills > 0 ? undefined : options.killEveryMs);
      peakBytes = Math.max(peakBytes, end.peakBytes);
      cpuSeconds += end.cpuSeconds;
      if (end.code === 0) break;
      if (!end.killed) throw new Error(`gate batch run ended with ${String(end.code)}: ${end.said}`);
      kills += 1;
    }
    const seconds = (performance.now() - started) / 1_000;
    const [serverAfter = 0, modelAfter = 0] = others();
    const text = readFileSync(join(folder, 'out', 'results.jsonl'), 'utf8').trim();
    const lines = text.split('\n').map((line) => JSON.parse(line) as Line);
    const { totals } = (await (await fetch(new URL('/ledger', model.url))).json()) as {
      readonly totals: { readonly billed: number; readonly billedAgain: number };
    };
    const temporalBytes = sqliteBytes(databaseFile);
    const historyBytes = await historyOf(temporal);
    const { billed: calls, billedAgain } = totals;
    return {
      ...{ lines, seconds, kills, calls, billedAgain, peakBytes, temporalBytes, historyBytes },
      cpuSeconds: { batch: cpuSeconds, temporal: serverAfter - serverBefore, model: modelAfter - modelBefore },
    };
  } finally {
    await stop(model.child);
    await stopServerProcess(server.pid);
  }
}

async function run({ questions, database }: World, cwd: string, env: NodeJS.ProcessEnv, killMs?: number) {
  const args = ['batch', 'run', questions, '--db', `mimic_iv=${database}`, '--out', 'out'];
  const endedBefore = endedCpuSeconds();
  const child = spawn(process.execPath, [GATE, ...args, '--concurrency', String(IN_FLIGHT)], {
    ...{ cwd, env, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let [said, killed, peakBytes, cpuSeconds] = ['', false, 0, 0];
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  const measure = setInterval(() => {
    const use = processUse(child.pid ?? 0);
    peakBytes = Math.max(peakBytes, use.peakBytes);
    cpuSeconds = Math.max(cpuSeconds, use.cpuSeconds + use.childCpuSeconds);
  }, 250);
  const kill = setTimeout(
    () => {
      killed = child.kill('SIGKILL');
    },
    killMs ?? 2 ** 30,
  );
  const code = await ended;
  clearTimeout(kill);
  clearInterval(measure);
  // Its last moment was not seen, or it did not wait for its children.
  cpuSeconds = Math.max(cpuSeconds, endedCpuSeconds() - endedBefore);
  return { code, killed, said, peakBytes, cpuSeconds };
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

const perMinute = (one: Ran): number => (60 * one.lines.length) / one.seconds;
const cpuMs = (one: Ran, of: keyof Ran['cpuSeconds']): number => (1000 * one.cpuSeconds[of]) / one.lines.length;

function howOf({ lines, calls, seconds }: Ran): string {
  return `${lines.length} questions of EHRSQL valid, ${IN_FLIGHT} in flight, model at ${MODEL_MS} ms, ${calls} calls in ${seconds.toFixed(0)} s`;
}

function calmFigures(calm: Ran): readonly Figure[] {
  const { lines, calls, peakBytes, temporalBytes, historyBytes } = calm;
  // Each question waits for its calls one after the other.
  const bound = (60 * IN_FLIGHT) / ((calls / lines.length) * (MODEL_MS / 1_000));
  const [batch, temporal] = [cpuMs(calm, 'batch'), cpuMs(calm, 'temporal')];
  return [
    { name: 'batch: questions a minute', value: perMinute(calm), unit: '1/min', atLeast: 1_200, how: howOf(calm) },
    {
      ...{ name: 'batch: bound by latency and calls', value: bound, unit: '1/min' },
      how: 'in flight / (calls per question × latency)',
    },
    {
      ...{ name: 'batch: processor time a question', value: batch + temporal, unit: 'ms', atMost: 100 },
      how: `its process with its readers of SQLite ${batch.toFixed(0)}, Temporal ${temporal.toFixed(0)}`,
    },
    {
      ...{ name: 'batch: processor time of the model', value: cpuMs(calm, 'model'), unit: 'ms' },
      how: 'a question, simulated; not in the figure above',
    },
    {
      ...{ name: 'batch: memory of its process', value: peakBytes / 2 ** 30, unit: 'GB', atMost: 0.5 },
      how: 'peak resident set; it runs workflows, steps and scoring',
    },
    {
      ...{ name: 'batch: Temporal database per question', unit: 'KB' },
      ...{ value: temporalBytes / lines.length / 1024, how: 'its file and log / questions' },
    },
    {
      ...{ name: 'batch: history per question', value: historyBytes / 1024, unit: 'KB' },
      how: 'median over its questions',
    },
  ];
}

function killedFigures(calm: Ran, killed: Ran): readonly Figure[] {
  const before = new Map(calm.lines.map((line) => [line.id, resultOf(line)]));
  const other = killed.lines.filter((line) => before.get(line.id) !== resultOf(line));
  for (const { id, status, verdict } of other.slice(0, 5)) say(`other than without kills: ${id} ${status} ${verdict}`);
  const missing = calm.lines.length - killed.lines.length;
  return [
    {
      ...{ name: 'batch: questions a minute, killed', value: perMinute(killed), unit: '1/min' },
      how: `SIGKILL every ${KILL_EVERY_MS / 1_000} s, ${killed.kills} times, and run again`,
    },
    {
      ...{ name: 'batch: other results after kills', value: other.length + missing, unit: '', atMost: 0 },
      how: 'questions whose status, SQL or verdict differ, or that are missing',
    },
    {
      name: 'batch: calls paid again for a kill',
      ...{ value: killed.billedAgain / Math.max(1, killed.kills), unit: '', atMost: IN_FLIGHT },
      how: `${killed.billedAgain} of ${killed.calls} calls; at most those in flight`,
    },
  ];
}

async function onS3(world: World): Promise<readonly Figure[]> {
  const folder = await ran(world, 'folder');
  const s3 = await startCountedS3({ delayMs: S3_MS });
  try {
    const before = processUse(s3.pid).cpuSeconds;
    const remote = await ran(world, 's3', { storeEnv: s3.env });
    const [ours, theirs] = [remote, folder].map((one) => cpuMs(one, 'batch') + cpuMs(one, 'temporal'));
    const server = (1000 * (processUse(s3.pid).cpuSeconds - before)) / remote.lines.length;
    return [
      {
        ...{ name: `batch: S3 at ${S3_MS} ms / folder, questions a minute`, unit: 'times', atLeast: 0.8 },
        value: perMinute(remote) / perMinute(folder),
        how: `${perMinute(remote).toFixed(0)} / ${perMinute(folder).toFixed(0)} a minute, ${howOf(remote)}`,
      },
      {
        ...{ name: 'batch: requests to S3 a question', unit: '', atMost: 15 },
        value: (s3.counts()['requests'] ?? 0) / remote.lines.length,
        how: Object.entries(s3.counts())
          .map(([name, count]) => `${name} ${(count / remote.lines.length).toFixed(1)}`)
          .join(', '),
      },
      {
        ...{ name: 'batch: processor time a question, S3', value: ours ?? Number.NaN, unit: 'ms' },
        how: `folder ${theirs?.toFixed(0) ?? ''}; the S3 server took ${server.toFixed(0)} besides`,
      },
    ];
  } finally {
    await s3.stop();
  }
}

const resultOf = ({ status, sql, verdict }: Line): string => JSON.stringify([status, sql, verdict]);

bench(measureBatch);
