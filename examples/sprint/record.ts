/**
 * Makes `recording.jsonl`, the replies of the demo, anew: runs the real search on the sample database with the replies that
 * stand in it and keeps the exchange. Run it again whenever a prompt changes:
 * npx tsx examples/sprint/record.ts
 *
 * What the model said stays as it was (the header tells how it came about); what it was asked is as the prompts are now. For
 * other replies ask the demo's question with `gate ask --record` and put that recording here.
 */
import { mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../../src/adapters/kit/guard';
import { readRecording, recordingModel } from '../../src/adapters/recording';
import { createMemoryStore, scriptedModel } from '../../tests/helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../../src/adapters/sqlite';
import { buildSprintDatabase, DEMO_QUESTION } from '../../src/app/demo';
import type { SearchInput } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { clockAt } from '../../src/sql/clock';
import { runLookThenProve } from '../../src/methods/look-then-prove';
import { withCheckpoints } from '../../src/methods/checkpoints';
import { createSteps } from '../../src/methods/steps';
import { storeInput } from '../../src/record/run-store';

export async function record(file: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-record-'));
  const database = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, 'sprint.sql'), database);
  const inspector = createSqliteInspector();
  const engine = createGuardedEngine(createSqliteEngine({ path: database }), inspector, { allow: [], deny: [] });
  const fresh = join(folder, 'recording.jsonl');
  const { note, exchanges } = await readRecording(file);
  const said = exchanges.map(({ reply }) => reply);
  const script = scriptedModel({ endpoint: 'a recording', replies: { look: said } });
  const model = recordingModel(script, fresh, { note });
  const store = createMemoryStore();
  const deps = {
    store,
    models: () => model,
    engine: () => Promise.resolve({ engine, inspector }),
    clock: { now: () => Date.now() },
  };
  const settings = settingsFor({ method: 'fast', models: { default: said[0]?.model ?? 'recorded' } });
  const input: SearchInput = {
    searchId: 'q-demo',
    namespace: 'demo',
    identity: 'sprint',
    question: {
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
  await storeInput(deps.store, input);
  const hooks = { now: () => Date.now(), stopRequested: () => null, onProgress: () => undefined };
  const steps = createSteps(deps);
  const outcome = await runLookThenProve(
    { searchId: input.searchId, settings, state: null },
    withCheckpoints(steps, null),
    hooks,
  );
  await engine.close();
  renameSync(fresh, file);
  return outcome.kind === 'finished' ? outcome.summary.answer : null;
}

if (require.main === module) {
  void record(join(__dirname, 'recording.jsonl')).then((answer) => console.log(`answer: ${answer ?? 'none'}`));
}
