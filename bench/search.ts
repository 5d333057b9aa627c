/**
 * What durability costs a whole search: 40 model calls of 500 ms, in-process and as a workflow on the embedded server, by
 * the same code over the same steps, with a scripted model that never lets the search finish early. Also the history that
 * the workflow leaves.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../src/adapters/guard';
import { createLocalStore } from '../src/adapters/local/store';
import { scriptedModel } from '../tests/helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import { buildSprintDatabase } from '../src/app/demo';
import type { SearchInput } from '../src/domain';
import type { ModelRequest } from '../src/domain/ports';
import { userFolders } from '../src/config/folders';
import { settingsFor } from '../src/config/presets';
import { runSearch } from '../src/search/search';
import { withCheckpoints } from '../src/methods/checkpoints';
import { createSteps } from '../src/methods/steps';
import { storeInput } from '../src/record/run-store';
import { firstPlan, judgement } from '../scripts/histories/search-replies';
import { awaitQuestion, connectClient, startQuestion } from '../src/workers/client';
import { sha256 } from '../src/sha256';
import { joinEmbeddedServer } from '../src/workers/embedded-server';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { createGateWorkers, installLogger } from '../src/workers/run-worker';
import { questionQueues } from '../src/workers/task-queues';
import { questionWorkflowId } from '../src/workflows/ids';
import { bench, type Figure } from './figure';

const CALLS = 40;
const MODEL_MS = 500;
const DATABASE = 'sprint';
const HOW = `${CALLS} calls of ${MODEL_MS} ms, preset paper`;

/** Rollouts of six probes whose judge never decides: the search ends with its budget of model calls. */
function undecided(request: ModelRequest): string {
  const text = request.messages.map((message) => message.content).join('\n');
  switch (request.role) {
    case 'plan':
      return JSON.stringify({ ...firstPlan, tests: [] });
    case 'propose':
      return JSON.stringify({ tests: firstPlan.tests, done: false, note: 'look again' });
    case 'ground': {
      const observation = /\b(i\d+\.t[\d-]+\.s\d+\.a\d+\.r\d+\.probe)\b/g;
      const judged = [...new Set(text.match(observation) ?? [])].map((id) => judgement(id).judgements[0]);
      const open = judged.map((one) => ({
        ...one,
        winner: null,
        sql: null,
        verdicts: (one?.verdicts ?? []).map((verdict) => ({ ...verdict, verdict: 'open' })),
      }));
      return JSON.stringify({ ...judgement(''), judgements: open.slice(-1), facts: [] });
    }
    case 'evaluate': {
      const asked = /one score for each of: ([^\n]*), no others/.exec(text)?.[1] ?? '';
      const scores = asked.split(', ').map((trajectory) => ({
        trajectory,
        progress: 0.5,
        potential: trajectory === 't0' ? 9 : 3,
        bottleneck: null,
        note: '',
      }));
      return JSON.stringify({ scores });
    }
    default:
      throw new Error(`no reply for ${request.role}`);
  }
}

async function measureSearch(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-'));
  const path = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, '../../examples/sprint/sprint.sql'), path);
  const inspector = createSqliteInspector();
  const engine = createGuardedEngine(createSqliteEngine({ path }), inspector);
  const model = scriptedModel({ replies: undecided, latencyMs: MODEL_MS });
  const store = createLocalStore(join(folder, 'store'));
  const deps = {
    ...{ store, hash: sha256, clock: { now: () => Date.now() } },
    models: () => model,
    engine: () => Promise.resolve({ engine, inspector }),
  };
  const steps = createSteps(deps);
  const settings = settingsFor({ method: 'paper', models: { default: 'scripted' } });
  const limited = { ...settings, budgets: { ...settings.budgets, llmCalls: CALLS } };
  const begin = async (searchId: string): Promise<SearchInput> => {
    const input: SearchInput = {
      ...{ searchId, namespace: 'bench', identity: DATABASE, settings: limited },
      question: {
        ...{ text: 'Dominant victories?', database: DATABASE, outputMode: 'answer' },
        ...{ tools: ['execute_sql'], context: null, instructions: null, documents: [] },
      },
    };
    await storeInput(deps, input);
    return input;
  };
  try {
    const direct = await begin('q-direct');
    const directStart = Date.now();
    const hooks = { now: () => Date.now(), stopRequested: () => null, onProgress: () => undefined };
    await runSearch({ searchId: direct.searchId, settings: limited, state: null }, withCheckpoints(steps, null), hooks);
    const directMs = Date.now() - directStart;
    const directCalls = model.replied;

    installLogger('ERROR', () => undefined);
    const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
    const place = { cache: join(folder, 'cache'), home: join(folder, 'temporal') };
    const server = await joinEmbeddedServer({ place, env: { ...process.env, TEMPORAL_CLI_PATH: binary } });
    try {
      const durable = await begin('q-durable');
      const batch = { store, readAnswer: () => Promise.resolve(null) };
      const workers = await createGateWorkers({
        ...{
          address: server.address,
          namespace: 'default',
          steps,
          batch,
          databases: [DATABASE],
        },
      });
      const serving = workers.run();
      const gate = await connectClient({ address: server.address, namespace: 'default' });
      const durableStart = Date.now();
      await startQuestion(gate, {
        ...{ searchId: durable.searchId, settings: limited, modelTimeoutMs: 60_000, label: 'bench' },
        queues: questionQueues(DATABASE),
      });
      const ended = await awaitQuestion(gate, durable.searchId);
      const durableMs = Date.now() - durableStart;
      if (ended.kind !== 'completed') throw new Error(`the durable search ended as ${ended.kind}`);
      const { historySize = 0, historyLength } = await gate.client.workflow
        .getHandle(questionWorkflowId(durable.searchId))
        .describe();
      workers.stop();
      await serving;
      await gate.close();
      const calls = model.replied - directCalls;
      if (calls !== CALLS || directCalls !== CALLS)
        throw new Error(`${directCalls} and ${calls} calls instead of ${CALLS}`);
      return [
        { name: 'search, in-process', value: directMs / 1000, unit: 's', how: HOW },
        { name: 'search, durable', value: durableMs / 1000, unit: 's', how: HOW },
        {
          name: 'durable / in-process',
          value: durableMs / directMs,
          unit: 'times',
          atMost: 1.1,
          how: 'wall time of the two',
        },
        {
          name: 'history per model call',
          value: historySize / calls / 1024,
          unit: 'KB',
          atMost: 4,
          how: 'bytes of the history / model calls',
        },
        { name: 'history events', value: historyLength, unit: 'events', atMost: 600, how: 'of the whole search' },
      ];
    } finally {
      await server.leave();
    }
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

bench(measureSearch);
