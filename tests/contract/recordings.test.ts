/**
 * Recordings of strong models (examples/recordings, see its README): what they replied must still parse, and run over the
 * real database it must still give the right answer. The replies are fed in their order, whatever the prompts have become
 * since, so that a prompt may be reworded without a new recording.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRecording } from '../../src/adapters/recording';
import type { Exchange } from '../../src/adapters/recording';
import { createMemoryStore, scriptedModel } from '../helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import { loadQuestions, scoreAnswer } from '../../src/questions';
import type { ObjectStore } from '../../src/domain/ports';
import { settingsFor } from '../../src/config/presets';
import { runLookThenProve } from '../../src/methods/look-then-prove';
import { sha256 } from '../../src/sha256';
import { createRunStore, storeInput } from '../../src/record/run-store';
import { withCheckpoints } from '../../src/methods/checkpoints';
import { createSteps } from '../../src/methods/steps';
import type { StepDeps } from '../../src/roles/shared/context';
import { loadTestData, ROOT, sharedDataFolder, type TestData } from '../helpers/shared-data';

const FOLDER = join(ROOT, 'examples', 'recordings');
const hooks = { now: () => 2_000, stopRequested: () => null, onProgress: () => undefined };

/** By question, in the order in which they were asked. */
async function recorded(file: string): Promise<ReadonlyMap<string, Exchange[]>> {
  const { exchanges } = await readRecording(join(FOLDER, file));
  const found = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const asked = exchange.messages.find(({ role }) => role === 'user')?.content ?? '';
    const question = /^Question: (.*)$/m.exec(asked)?.[1] ?? '';
    found.set(question, [...(found.get(question) ?? []), exchange]);
  }
  return found;
}

/** Runs the recorded replies of one question. */
async function run(store: ObjectStore, question: string, exchanges: readonly Exchange[], address: string) {
  const searchId = `q-${sha256(question).slice(0, 16)}`;
  const replies: Record<string, { text: string }[]> = {};
  for (const { role, reply } of exchanges) (replies[role] ??= []).push({ text: reply.text });
  // What goes back for a rule that is newer than the recording is said again.
  for (const said of Object.values(replies)) said.push(...said.slice(-1));
  const engine = createSqliteEngine({ path: address });
  const model = scriptedModel({ replies: replies });
  const deps: StepDeps = {
    store,
    models: () => model,
    engine: () => Promise.resolve({ engine, inspector: createSqliteInspector() }),
    clock: { now: () => 1_000 },
  };
  const settings = settingsFor({ method: 'fast', models: { default: 'recorded' } });
  await storeInput(deps.store, {
    ...{ searchId, namespace: 'test', identity: 'recorded', settings },
    question: {
      ...{ text: question, database: 'recorded', outputMode: 'answer', tools: ['execute_sql'] },
      ...{ context: null, instructions: null, documents: [] },
    },
  });
  const start = { searchId, settings, state: null };
  await runLookThenProve(start, withCheckpoints(createSteps(deps), null), hooks);
  const record = await createRunStore(store, searchId).get('result', searchId);
  return { record, engine, calls: model.requests.length };
}

const SQL = { timeoutMs: 25_000, maxRows: 10_000, signal: new AbortController().signal, tag: 'gate test' };
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));

test('there are recordings, each with a header that says how its replies were made', async () => {
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect((await readRecording(join(FOLDER, file))).note).toMatch(/replies of/i);
});

const shared = sharedDataFolder();
/** Without the development data there is no database to run them on. */
if (shared !== null)
  describe('over the database that they were asked of', () => {
    let data: TestData;
    beforeAll(async () => {
      data = await loadTestData(null, { only: ['conventions'] });
    });
    afterAll(() => data.close());

    test.each(files)('%s', async (file) => {
      const items = await loadQuestions(join(shared, 'conventions', 'questions.jsonl'));
      // One store, so that the database is profiled once.
      const store = createMemoryStore();
      const wrong: string[] = [];
      for (const [question, exchanges] of await recorded(file)) {
        const item = items.find((each) => each.question === question);
        if (item === undefined) throw new Error(`no gold for ${question}`);
        const address = data.address({ engine: 'sqlite', database: item.database ?? '' });
        const { record, engine, calls } = await run(store, question, exchanges, address);
        const score = await scoreAnswer(item, record, engine, SQL);
        await engine.close();
        if (!score.verdict.startsWith('correct') || calls > exchanges.length + 1)
          wrong.push(
            `${question}: ${score.verdict} ${score.reason} in ${String(calls)} of ${String(exchanges.length)} calls`,
          );
      }
      expect(wrong).toEqual([]);
    });
  });
