/**
 * Makes `recording.jsonl`, the replies of the demo: runs the real search on the sample database with the hand-written
 * replies of `replies.ts` and keeps the exchange. Run it again whenever a prompt changes:
 * npx tsx examples/sprint/record.ts
 */
import { mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../../src/adapters/guard';
import { recordingModel } from '../../src/adapters/recording';
import { createMemoryStore, scriptedModel } from '../../src/adapters/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import { DEMO_QUESTION } from '../../src/cli/demo-run';
import { buildSprintDatabase } from '../../src/cli/sprint-database';
import type { SearchInput } from '../../src/domain';
import { settingsFor } from '../../src/presets';
import { clockAt } from '../../src/search/clock';
import { runLookThenProve } from '../../src/search/look';
import { createReactSteps, createSteps, storeInput } from '../../src/steps';
import { sha256 } from '../../src/sha256';
import { commit, look } from './replies';

const NOTE =
  'These replies were written by hand and no model was asked; a recording of a real model will replace them. The SQL in them is run for real.';
const MODEL = 'hand-written';

export async function record(file: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-record-'));
  const database = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, 'sprint.sql'), database);
  const inspector = createSqliteInspector();
  const engine = createGuardedEngine(createSqliteEngine({ path: database }), inspector, { allow: [], deny: [] });
  const fresh = join(folder, 'recording.jsonl');
  const script = scriptedModel({ endpoint: 'hand-written replies', replies: { look: [reply(look), reply(commit)] } });
  const model = recordingModel(script, fresh, { note: NOTE });
  const store = createMemoryStore();
  const deps = {
    store,
    models: () => model,
    engine: () => Promise.resolve({ engine, inspector }),
    clock: { now: () => Date.now() },
    hash: sha256,
  };
  const settings = settingsFor({ method: 'gate', preset: 'fast', models: { default: MODEL } });
  const input: SearchInput = {
    schemaVersion: 1,
    searchId: 'q-demo',
    namespace: 'demo',
    question: {
      schemaVersion: 1,
      text: DEMO_QUESTION,
      database: 'sprint',
      outputMode: 'answer',
      tools: ['execute_sql'],
      context: null,
      instructions: null,
      documents: [],
    },
    settings,
    // As `gate ask` gives one; no model sees it.
    clock: clockAt(0),
  };
  await storeInput(deps, input);
  const hooks = { now: () => Date.now(), stopRequested: () => null, onProgress: () => undefined };
  const steps = { ...createReactSteps(deps), ...createSteps(deps) };
  const outcome = await runLookThenProve({ searchId: input.searchId, settings, state: null }, steps, hooks);
  await model.flush();
  await engine.close();
  renameSync(fresh, file);
  return outcome.kind === 'finished' ? outcome.summary.answer : null;
}

/** Without tokens: a reply that nobody was charged for. */
function reply(value: object) {
  return { text: JSON.stringify(value), promptTokens: 0, completionTokens: 0, costUsd: 0, model: MODEL };
}

if (require.main === module) {
  void record(join(__dirname, 'recording.jsonl')).then((answer) => console.log(`answer: ${answer ?? 'none'}`));
}
