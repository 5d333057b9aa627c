/** GATE in one process for benches of the product alone: the embedded server's settings, a worker, a client, SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSprintDatabase } from '../../src/app/demo';
import type { SearchInput } from '../../src/domain';
import { userFolders } from '../../src/config/folders';
import type { AnswerSummary } from '../../src/domain/ports/step-parts';
import { startSimulatedModel, type Rates } from '../../simulated-model';
import { awaitQuestion, connectClient, startQuestion, type GateClient } from '../../src/workers/client';
import { createGateWorkers, installLogger } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess } from '../../src/workers/temporal-process';
import { answerable, RATES, SPRINT_SQL } from './searches';
import { benchSteps, type BenchSteps } from './steps';

const DATABASE = 'sprint';

export interface GateWorld {
  readonly gate: GateClient;
  readonly store: BenchSteps['store'];
  /** Wall time of the workflow from start to result. */
  readonly ask: (
    input: SearchInput,
    options?: { readonly iterationsPerRun?: number },
  ) => Promise<{ summary: AnswerSummary; ms: number }>;
}

export interface GateWorldOptions {
  readonly latencyMs: number;
  readonly rates?: Partial<Rates>;
}

export async function withGateWorld<T>(
  { latencyMs, rates = RATES }: GateWorldOptions,
  work: (world: GateWorld) => Promise<T>,
): Promise<T> {
  installLogger('ERROR', (line) => process.stderr.write(`${line}\n`));
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-'));
  const database = join(folder, 'sprint.sqlite');
  buildSprintDatabase(SPRINT_SQL, database);
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const databases = [`${DATABASE}=${database}`];
  const model = await startSimulatedModel({ questions: answerable('sqlite'), databases, latencyMs, rates });
  const world = await benchSteps({ modelUrl: model.baseUrl, storeFolder: join(folder, 'store'), database });
  const server = await startServerProcess({
    ...{ binary, uiPort: null, databaseFile: join(folder, 'temporal.sqlite'), detached: false },
    logFile: join(folder, 'temporal.log'),
  });
  const temporal = { address: `127.0.0.1:${String(server.port)}`, namespace: 'default' };
  const batch = { store: world.store, readAnswer: () => Promise.resolve(null) };
  const workers = await createGateWorkers({
    ...{ ...temporal, steps: world.steps, batch, databases: [DATABASE] },
  });
  const serving = workers.run();
  const gate = await connectClient(temporal);
  try {
    return await work({
      ...{ gate, store: world.store },
      async ask(input, options = {}) {
        const { searchId, settings } = input;
        await world.begin(input);
        const startedAt = performance.now();
        const queues = questionQueues(DATABASE);
        await startQuestion(gate, { searchId, settings, modelTimeoutMs: 60_000, queues, label: 'bench', ...options });
        const ended = await awaitQuestion(gate, searchId);
        if (ended.kind !== 'completed') throw new Error(`${searchId} failed: ${ended.message}`);
        return { summary: ended.value, ms: performance.now() - startedAt };
      },
    });
  } finally {
    workers.stop();
    await serving;
    await gate.close();
    await stopServerProcess(server.pid);
    await world.close();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
