/**
 * Records a store as the version at hand writes it, for the tests of later versions (tests/e2e/older-store.test.ts): the
 * real commands `gate ask`, `fork`, `cancel` and `batch run`, with the simulated model and a Temporal server of its own.
 *
 *   node scripts/ensure-built.cjs && npx tsx scripts/record-store.ts 2026-11-22      # 1 minute; asks no real model
 *
 * Record one for each release that changes what is written, under its date, and keep the older ones: they stand for the
 * stores that users have. Recording an old date again with new code would hide what breaks them.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSprintDatabase } from '../src/cli/sprint-database';
import { userFolders } from '../src/config/folders';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess } from '../src/workers/temporal-process';
import { gateHome, type Ended, type GateHome } from '../tests/helpers/gate-process';
import {
  AD_HOC,
  askArgs,
  ASKED,
  BATCH,
  BATCH_ANSWERED,
  BATCH_ARGS,
  configuration,
  CONFIGURED_AT,
  FORK_FLAGS,
  goldOf,
  place,
  recordedModel,
  STORES,
  type AskedName,
} from '../tests/helpers/recorded-store';
import type { SimulatedModel } from '../simulated-model';
import { ROOT } from '../tests/helpers/shared-data';

/** What a store keeps only to be fast. */
const CACHES = ['schemas', '.tmp'];
/** Longer than `gate cancel` takes to start, so that the search is still at work. */
const LATENCY_MS = 800;

type Env = NodeJS.ProcessEnv;

async function main(): Promise<void> {
  const [date = ''] = process.argv.slice(2);
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new Error('give the date of the version: 2026-11-21');
  const target = join(STORES, date);
  if (existsSync(target)) throw new Error(`${target} is there: stores of older versions are never recorded again`);
  const folder = mkdtempSync(join(tmpdir(), 'gate-record-'));
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const logFile = join(folder, 'temporal.log');
  const server = await startServerProcess({ binary, databaseFile: null, uiPort: null, detached: false, logFile });
  process.env['GATE_TEST_FOLDER'] = folder;
  process.env['GATE_TEST_TEMPORAL'] = `127.0.0.1:${server.port}`;
  try {
    await record(target);
  } finally {
    await stopServerProcess(server.pid);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function record(target: string): Promise<void> {
  const sprint = join(mkdtempSync(join(process.env['GATE_TEST_FOLDER'] ?? '', 'db-')), 'sprint.sqlite');
  buildSprintDatabase(join(ROOT, 'examples', 'sprint', 'sprint.sql'), sprint);
  const home = gateHome({ baseUrl: 'http://127.0.0.1:1/v1', env: { USER: 'ada' } });
  const at = (name: string): string => join(home.folder, name);
  cpSync(sprint, at('sprint.sqlite'));
  for (const path of [AD_HOC, CONFIGURED_AT]) place(sprint, path);
  writeFileSync(at('gate.config.json'), json(configuration(CONFIGURED_AT)));
  writeFileSync(at('questions.jsonl'), BATCH.map((id) => `${JSON.stringify(goldOf(id))}\n`).join(''));
  const withModel = async <T>(question: string | null, work: (model: SimulatedModel, env: Env) => Promise<T>) => {
    const model = await recordedModel(sprint, question, LATENCY_MS);
    try {
      return await work(model, { OPENAI_BASE_URL: model.baseUrl });
    } finally {
      await model.close();
    }
  };
  const searches: Record<string, string> = {};
  for (const name of Object.keys(ASKED) as AskedName[]) {
    searches[name] = await withModel(ASKED[name].question, (model, env) =>
      name === 'cancelled'
        ? cancelled(home, askArgs(name), env, model.billed(1))
        : idOf(home.run(['ask', ...askArgs(name), '--json'], env)),
    );
  }
  const fork = ['fork', searches['answered'] ?? '', ...FORK_FLAGS, '--json'];
  searches['fork'] = await withModel(ASKED.answered.question, (_model, env) => idOf(home.run(fork, env)));
  await withModel(null, (_model, env) => interruptedBatch(home, env));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(at('recorded.json'), json({ recordedWith: version, searches }));
  writeFileSync(at('gate.config.json'), json(configuration('./sprint.sqlite')));
  keep(home, target);
}

async function idOf(ended: Promise<Ended>, code = 0): Promise<string> {
  const { code: got, out, err } = await ended;
  if (got !== code) throw new Error(`exit ${got}: ${err}`);
  return (JSON.parse(out) as { id: string }).id;
}

async function cancelled(home: GateHome, args: string[], env: Env, paid: Promise<void>): Promise<string> {
  const asking = home.start(['ask', ...args, '--json'], env);
  await paid;
  await home.run(['cancel', 'last']);
  return idOf(asking.ended, 3);
}

async function interruptedBatch(home: GateHome, env: Env): Promise<void> {
  const running = home.start([...BATCH_ARGS], env);
  await running.said(new RegExp(`\\n${BATCH_ANSWERED}/${BATCH.length} `));
  running.child.kill('SIGINT');
  const { code, err } = await running.ended;
  const results = readFileSync(join(home.folder, 'out', 'results.jsonl'), 'utf8')
    .trim()
    .split('\n');
  if (code !== 3 || results.length !== BATCH_ANSWERED)
    throw new Error(`the batch ended with ${results.length} results, exit ${code}: record again\n${err}`);
}

/** Everything but the home folder, reports and caches; nothing of this machine and no key is in it. */
function keep(home: GateHome, target: string): void {
  const store = join(home.folder, 'store');
  for (const cache of CACHES) rmSync(join(store, cache), { recursive: true, force: true });
  for (const folder of ['home', 'reports']) rmSync(join(home.folder, folder), { recursive: true, force: true });
  const files = filesIn(home.folder);
  const secret = [home.folder, ROOT, homedir() === '/' ? null : `${homedir()}/`, hostname(), 'test-key', '127.0.0.1'];
  for (const file of files) {
    const text = readFileSync(file, 'latin1');
    const found = secret.find((part) => part !== null && text.includes(part));
    if (found !== undefined) throw new Error(`${file} holds ${found}`);
  }
  mkdirSync(target, { recursive: true });
  cpSync(home.folder, target, { recursive: true });
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(`${files.length} files, ${(bytes / 1024).toFixed(0)} KB in ${target}`);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
