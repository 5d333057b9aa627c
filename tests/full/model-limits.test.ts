/**
 * Many searches at once against an endpoint that allows fewer requests than they would make: real workers, steps and HTTP,
 * counted by the endpoint. Two sets of workers stand for two processes: each has its own pace.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type Config } from '../../src/config';
import type { SearchInput } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { withoutLooking } from '../helpers/without-looking';
import { searchIdOf } from '../../src/record/search-id';
import { startSimulatedModel, SIMULATED_MODEL, type LedgerReport } from '../../simulated-model';
import { storeInput } from '../../src/record/run-store';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { compose } from '../../src/workers/composition';
import { modelQueues, questionQueues, queuesByModel } from '../../src/workers/task-queues';
import { createGateWorkers, type GateWorkers } from '../../src/workers/run-worker';
import { loadTestData } from '../helpers/shared-data';
import { quietLogger, testFolder, testTemporal, unique, withClient } from '../helpers/temporal';

jest.setTimeout(300_000);
beforeAll(quietLogger);

const SEARCHES = 50;

interface Measured {
  readonly ledger: LedgerReport;
  /** Statuses of the searches, or what failed. */
  readonly ended: readonly string[];
}

interface Scenario {
  /** What the endpoint allows. */
  readonly allowed: { readonly requests: number; readonly windowMs: number };
  /** `models.limits` of the configuration. */
  readonly limits: object;
  readonly workers: number;
}

async function run({ allowed, limits, workers }: Scenario): Promise<Measured> {
  const data = await loadTestData(null, { sample: true });
  const model = await startSimulatedModel({
    ...{ questions: data.questionFiles, databases: data.databases, latencyMs: 20, rateLimit: allowed },
  });
  const folder = testFolder();
  const database = unique('sprint');
  const [question] = data.questions;
  const path = data.databases[0]?.split('=')[1];
  const settings = { databases: { [database]: { path, id: database } }, models: { default: SIMULATED_MODEL, limits } };
  writeFileSync(join(folder, 'gate.config.json'), JSON.stringify(settings));
  const env = { HOME: folder, GATE_STORE: join(folder, 'store'), OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'k' };
  const config = loadConfig({ env, cwd: folder });
  const serving = await Promise.all(Array.from({ length: workers }, () => startWorkers(config, database)));
  try {
    const searches = Array.from({ length: SEARCHES }, (_, seed) =>
      inputOf({ ...question, text: question?.question ?? '', database }, seed),
    );
    const composition = await compose(config);
    const { store } = composition;
    for (const input of searches) await storeInput(store, input);
    const queues = questionQueues(database, queuesByModel(modelQueues(config, composition)));
    const ended = await withClient(async (gate) => {
      for (const { searchId, settings: own } of searches)
        await startQuestion(gate, { searchId, settings: own, modelTimeoutMs: 60_000, queues, label: searchId });
      const ends = await Promise.all(searches.map(({ searchId }) => awaitQuestion(gate, searchId)));
      return ends.map((end) => (end.kind === 'completed' ? end.value.status : end.message));
    });
    return { ledger: model.ledger(), ended };
  } finally {
    for (const { workers: one, running, close } of serving) {
      one.stop();
      await running;
      await close();
    }
    await model.close();
    data.close();
  }
}

async function startWorkers(config: Config, database: string) {
  const composition = await compose(config);
  const workers: GateWorkers = await createGateWorkers({
    ...{ ...testTemporal(), graceMs: 200, steps: composition.steps, batch: composition.batch },
    ...{ databases: [database], modelQueues: modelQueues(config, composition) },
  });
  return { workers, running: workers.run(), close: () => composition.close() };
}

function inputOf({ text, database }: { readonly text: string; readonly database: string }, seed: number): SearchInput {
  const fast = settingsFor({
    ...{ method: 'fast', models: { default: SIMULATED_MODEL }, overrides: { seed } },
  });
  // The search of some calls: a conversation makes too few for a limit to matter.
  const settings = withoutLooking(fast);
  const question: SearchInput['question'] = {
    ...{ text, database, outputMode: 'sql', tools: ['execute_sql'], context: null },
    ...{ instructions: null, documents: [] },
  };
  const asked = { question, identity: database, settings, namespace: database };
  return { searchId: searchIdOf(asked), ...asked };
}

test('fifty searches keep to the requests a minute of their model over two workers: nothing is refused', async () => {
  const allowed = { requests: 140, windowMs: 60_000 };
  const limits = { [SIMULATED_MODEL]: { requestsPerMinute: 140, workers: 2 } };
  const { ledger, ended } = await run({ allowed, limits, workers: 2 });
  expect(new Set(ended)).toEqual(new Set(['answered']));
  expect(ledger.totals.billed).toBeGreaterThan(allowed.requests);
  expect(ledger.faultKinds).toEqual({});
  expect(ledger.totals.billedAgain).toBe(0);
});

test('without configured limits refusals stop all calls of a worker together: no storm, no search fails', async () => {
  const { ledger, ended } = await run({ allowed: { requests: 40, windowMs: 10_000 }, limits: {}, workers: 1 });
  const { asked, billed } = ledger.totals;
  expect(new Set(ended)).toEqual(new Set(['answered']));
  expect(asked / billed).toBeLessThanOrEqual(1.35);
});
