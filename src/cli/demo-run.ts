/**
 * What `gate demo` does: builds the sample database, asks its question through `gate ask` with a recording in place of the
 * model, and says plainly what was replayed and what ran. The SQL and the probes run for real.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseMethodSpec } from '../config/method-specs';
import { runAsk } from './ask-run';
import { GateError } from '../app/errors';
import type { ExitCode } from './exit';
import type { Io } from './io';
import { openServices } from '../app/services';
import { buildSprintDatabase } from './sprint-database';

export const DEMO_QUESTION =
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?';

const INTRODUCTION = `The sample database holds 18 sprint events; nobody wrote down how its JSON column stores times.
The winner's final_time is an absolute time, everybody else's a gap, some gaps with minutes. Read naively the answer is 0.

The model's replies are REPLAYED from a recording (its first line says how they were made). Everything else is real: the
search as a Temporal workflow, the SQL, the probes, the proof. With a model of your own:
  export OPENAI_API_KEY=…  GATE_MODEL=…      (or OPENAI_BASE_URL for any compatible endpoint, or a local Ollama)
`;

export async function runDemo(flags: { readonly json?: boolean; readonly debug?: boolean }, io: Io): Promise<ExitCode> {
  const examples = exampleFolder();
  const { config } = openServices(io);
  const database = join(config.folders.cache, 'demo', 'sprint.sqlite');
  buildSprintDatabase(join(examples, 'sprint.sql'), database);
  io.err(`${INTRODUCTION}  npx gate ask "${DEMO_QUESTION}" \\\n    --db ${database}\n\n`);
  const recording = join(examples, 'recording.jsonl');
  const options = { method: parseMethodSpec('fast'), output: 'answer', fresh: true } as const;
  return runAsk(DEMO_QUESTION, { ...options, ...flags, db: database, replay: recording, showPlan: true }, io);
}

/** Beside the compiled sources (`dist/src/cli`) and beside the sources (`src/cli`). */
function exampleFolder(): string {
  const folders = ['../../examples/sprint', '../../../examples/sprint'].map((path) => resolve(__dirname, path));
  const found = folders.find((folder) => existsSync(join(folder, 'recording.jsonl')));
  if (found === undefined) throw new GateError('the sample files (examples/sprint) are missing: install gate again');
  return found;
}
