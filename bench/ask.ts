/**
 * The time from Enter to the first SQL of `gate ask`, with a model that answers at once: with the embedded server down, and
 * with it up. It runs the compiled command in a process of its own. The measured moment is the end of the search's first step,
 * which reads schema and profiles. Its SQL was sent before that, so the figure is an upper bound. The time of the first
 * statement written by the model, after its first reply, is reported beside it.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secondPlan } from '../scripts/histories/search-replies';
import { buildSprintDatabase } from '../src/app/demo';
import { userFolders } from '../src/config/folders';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { bench, median, type Figure } from './figure';

const GATE = join(__dirname, '../program/gate.js');
const RUNS = 7;

/** A chat-completions endpoint that gives the plan of the sprint question, without tests, to whoever asks. */
async function startModel(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      const models = { object: 'list', data: [{ id: 'at-once', object: 'model', created: 0, owned_by: 'bench' }] };
      const completion = {
        id: 'x',
        object: 'chat.completion',
        model: 'at-once',
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: JSON.stringify(secondPlan) } },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      };
      response.end(JSON.stringify(request.method === 'GET' ? models : completion));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() };
}

async function measureAsk(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-ask-'));
  const database = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, '../../examples/sprint/sprint.sql'), database);
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const model = await startModel();
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TEMPORAL_CLI_PATH: binary,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'none',
    GATE_MODEL: 'at-once',
    GATE_STORE: join(folder, 'store'),
  };
  const ask = () => firstSqlMs(env, database, env.GATE_STORE);
  const dev = () => spawn(process.execPath, [GATE, 'dev'], { env, cwd: folder, stdio: 'ignore' });
  try {
    await ask();
    const cold: FirstSql[] = [];
    for (let run = 0; run < RUNS; run++) cold.push(await ask());
    const server = dev();
    await untilExists(env.GATE_STORE, 'server.json');
    await ask();
    const warm: FirstSql[] = [];
    for (let run = 0; run < RUNS; run++) warm.push(await ask());
    server.kill('SIGTERM');
    await new Promise((ended) => server.once('exit', ended));
    const how = `median of ${RUNS} on a warm machine, model at 0 ms`;
    return [...figures('server has to start', cold, 3, how), ...figures('server is up', warm, 1, how)];
  } finally {
    model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function figures(when: string, found: readonly FirstSql[], atMost: number, how: string): Figure[] {
  const seconds = (of: (one: FirstSql) => number): number => median(found.map(of)) / 1000;
  return [
    { name: `first SQL, ${when}`, value: seconds(({ search }) => search), unit: 's', atMost, how },
    { name: `first SQL of a plan, ${when}`, value: seconds(({ plan }) => plan), unit: 's', how },
  ];
}

function firstSqlMs(env: Record<string, string>, database: string, store: string): Promise<FirstSql> {
  const known = new Set(searches(store));
  const startedAt = Date.now();
  const args = [
    GATE,
    'ask',
    'Dominant victories?',
    '--db',
    database,
    '--method',
    'thorough',
    '--memory',
    'off',
    '--fresh',
    '--json',
  ];
  const child = spawn(process.execPath, args, { env, cwd: env['HOME'], stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => {
      const fresh = searches(store).find((search) => !known.has(search));
      if (code !== 0 || fresh === undefined) reject(new Error(`gate ask ended with ${String(code)}: ${errors}`));
      else {
        const { search, plan } = firstSqlAt(join(store, 'runs', fresh, 'steps'));
        resolve({ search: search - startedAt, plan: plan - startedAt });
      }
    });
  });
}

interface FirstSql {
  readonly search: number;
  readonly plan: number;
}

function firstSqlAt(steps: string): FirstSql {
  const at = (name: string): number => statSync(join(steps, name)).mtimeMs;
  const first = (position: RegExp): number =>
    Math.min(
      ...readdirSync(steps)
        .filter((name) => position.test(name))
        .map(at),
    );
  return { search: first(/^prepare\./), plan: first(/\.check\d+\./) };
}

function searches(store: string): string[] {
  const runs = join(store, 'runs');
  return existsSync(runs) ? readdirSync(runs) : [];
}

async function untilExists(folder: string, name: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const found =
      existsSync(folder) && readdirSync(folder, { recursive: true }).some((path) => String(path).endsWith(name));
    if (found) return;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  throw new Error(`${name} did not appear in ${folder}`);
}

bench(measureAsk);
