/**
 * The time from Enter to the first SQL of `gate ask`, with a model that answers at once: with the embedded server down, and
 * with it up. The measured moment is the first request to the model, which comes after the step that reads schema and profiles:
 * its SQL was sent before that, so the figure is an upper bound. Then the time of whole commands that ask nothing.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secondPlan } from '../scripts/histories/search-replies';
import { buildSprintDatabase } from '../src/app/demo';
import { userFolders } from '../src/config/folders';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { bench, give, median, SHORT, type Figure } from './figure';
import { runGate, startDev } from './world/gate-command';
import { startModel } from './world/model';
import { stop } from './world/load-world';

const RUNS = SHORT ? 2 : 7;

async function measureAsk(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-ask-'));
  const database = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, '../../examples/sprint/sprint.sql'), database);
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const model = await startModel(secondPlan);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TEMPORAL_CLI_PATH: binary,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'none',
    GATE_MODEL: 'at-once',
    GATE_STORE: join(folder, 'store'),
  };
  const run = async (...args: readonly string[]): Promise<number> =>
    (await runGate(args, { cwd: folder, env })).wallSeconds;
  const ask = async (): Promise<number> => {
    const startedAt = performance.now();
    const how = ['--method', 'thorough', '--memory', 'off', '--fresh', '--json'];
    await run('ask', 'Dominant victories?', '--db', database, ...how);
    return (model.askedSince(startedAt) - startedAt) / 1000;
  };
  /** The first run makes what later ones find. */
  const measure = async (name: string, once: () => Promise<number>, atMost: number): Promise<void> => {
    await once();
    const seconds: number[] = [];
    for (let at = 0; at < RUNS; at += 1) seconds.push(await once());
    give({ name, value: median(seconds), unit: 's', atMost, how: `median of ${RUNS}` });
  };
  let server: ChildProcess | null = null;
  try {
    await measure('first SQL, server has to start', ask, 3);
    server = await startDev({ env, cwd: folder });
    await measure('first SQL, server is up', ask, 1);
    await measure('gate list, server is up', () => run('list'), 0.4);
    await measure('gate --help', () => run('--help'), 0.2);
    return [];
  } finally {
    if (server !== null) await stop(server);
    model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

bench(measureAsk);
