/**
 * Records the histories that tests/replay replays: real searches on a Temporal server of its own, with scripted models and
 * the sprint database. Run it when the control loop was changed on purpose (docs/changing-the-search.md):
 * npx tsx scripts/record-histories.ts [NAME...]
 * With names of cases it records these alone, and the others stay as they are.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedEngine } from '../src/adapters/kit/guard';
import { createMemoryStore } from '../tests/helpers/scripted';
import { createSqliteEngine, createSqliteInspector } from '../src/adapters/sqlite';
import { batchPorts } from '../src/workers/composition';
import { buildSprintDatabase } from '../src/app/demo';
import type { Question } from '../src/domain';
import { userFolders } from '../src/config/folders';
import { WebError, type LanguageModel, type Web } from '../src/domain/ports';
import { createSteps } from '../src/methods/steps';
import { storeInput } from '../src/record/run-store';
import { connectClient, type GateClient } from '../src/workers/client';
import { createGateWorkers, installLogger } from '../src/workers/run-worker';
import { findTemporalBinary } from '../src/workers/temporal-binary';
import { startServerProcess, stopServerProcess } from '../src/workers/temporal-process';
import { bundleWorkflows } from './workflow-bundle';
import { CASES, DATABASE, type RecordedCase, type Recording } from './histories/cases';
import { askedSteps } from './histories/asked';
import { privateParts, readableText, toCleanJson, toText, type HistoryJson } from './histories/history';
import { hangingModel, MODELS } from './histories/replies';

const HISTORIES = join(__dirname, '..', 'tests', 'replay', 'histories');

/** Most of a case is waiting for the server. */
const AT_ONCE = 4;
/** Under load a step may take longer than a local activity has; such a case is recorded again. */
const ROUNDS = 5;

const scriptedWeb: Web = {
  search: () =>
    Promise.resolve([
      { title: 'Dominant', url: 'https://example.org/gone', snippet: 'A victory is dominant by a clear margin.' },
    ]),
  fetch: () => Promise.reject(new WebError('not-found', 'the page answered 404')),
};

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-histories-'));
  const binary = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
  const logFile = join(folder, 'temporal.log');
  const server = await startServerProcess({ binary, databaseFile: null, uiPort: null, detached: false, logFile });
  try {
    installLogger('ERROR', () => undefined);
    const bundle = { code: await bundleWorkflows() };
    const names = process.argv.slice(2);
    if (names.length === 0) rmSync(HISTORIES, { recursive: true, force: true });
    let wanted = wantedCases(names);
    for (let round = 1; wanted.length > 0 && round <= ROUNDS; round += 1) {
      const slow = await record(mkdtempSync(join(folder, 'round-')), `127.0.0.1:${server.port}`, bundle, wanted);
      wanted = wanted.filter(({ name }) => slow.has(name));
    }
    if (wanted.length > 0) {
      const missing = wanted.map(({ name }) => name).join(' ');
      throw new Error(`the machine was too busy for ${missing}: record these again, by their names`);
    }
  } finally {
    await stopServerProcess(server.pid);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes what was recorded, and gives the cases in which a local step timed out, which is no part of any case. */
async function record(
  folder: string,
  address: string,
  bundle: { readonly code: string },
  cases: readonly RecordedCase[],
): Promise<ReadonlySet<string>> {
  const path = join(folder, 'sprint.sqlite');
  buildSprintDatabase(join(__dirname, '..', 'examples', 'sprint', 'sprint.sql'), path);
  const inspector = createSqliteInspector();
  const engine = createGuardedEngine(createSqliteEngine({ path }), inspector);
  const models = new Map<string, LanguageModel>(Object.entries(MODELS));
  const store = createMemoryStore();
  const deps = {
    ...{ store, clock: { now: () => Date.now() } },
    models: (name: string) => known(models, name),
    engine: () => Promise.resolve({ engine, inspector }),
    web: () => Promise.resolve(scriptedWeb),
  };
  const temporal = { address, namespace: 'default' };
  const workers = await createGateWorkers({
    ...{ ...temporal, databases: [DATABASE], batch: batchPorts(store) },
    steps: createSteps(deps),
    bundle,
  });
  const serving = workers.run();
  const gate = await connectClient(temporal);
  const recording: Recording = {
    ...{ gate, store },
    ask: (searchId, text, settings) => {
      const question: Question = {
        ...{ text, database: DATABASE, outputMode: 'answer' },
        tools: settings.lookups === undefined ? ['execute_sql'] : ['execute_sql', 'web_search', 'fetch_url'],
        ...{ context: null, instructions: null, documents: [] },
      };
      return storeInput(deps.store, { searchId, namespace: 'replay', question, identity: DATABASE, settings });
    },
    hang: (name) => {
      const model = hangingModel();
      models.set(name, model);
      return model;
    },
  };
  const slow = new Set<string>();
  const waiting = [...cases];
  const recordNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const recorded = await histories(gate, next.name, await next.record(recording));
      const asked = await Promise.all(recorded.map(([, text]) => askedSteps(JSON.parse(text) as HistoryJson, bundle)));
      if (asked.some(isRepeated)) slow.add(next.name);
      else writeFiles(next.name, recorded, asked);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, recordNext));
    return slow;
  } finally {
    workers.stop();
    await serving;
    await gate.close();
    await engine.close();
  }
}

/** A step that timed out as a local activity ran again as a regular one. */
function isRepeated(asked: readonly string[]): boolean {
  return asked.some((step, at) => step === asked[at - 1]);
}

/** One file per run, from the last back to the first. */
async function histories({ client }: GateClient, name: string, workflowId: string): Promise<[string, string][]> {
  const runs: string[] = [];
  let runId: string | undefined;
  do {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const clean = toCleanJson(history);
    const found = privateParts(await readableText(clean));
    if (found.length > 0) throw new Error(`the history of ${name} holds what it must not: ${found.join(' ')}`);
    runs.unshift(toText(clean));
    const before = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    runId = before ? before : undefined;
  } while (runId !== undefined);
  return runs.map((text, at) => [runs.length === 1 ? `${name}.json` : `${name}-${at + 1}.json`, text]);
}

function wantedCases(names: readonly string[]): readonly RecordedCase[] {
  const unknown = names.filter((wanted) => !CASES.some(({ name }) => name === wanted));
  if (unknown.length > 0)
    throw new Error(`no case ${unknown.join(', ')}: use ${CASES.map(({ name }) => name).join(', ')}`);
  return names.length === 0 ? CASES : CASES.filter(({ name }) => names.includes(name));
}

/** In place of the files of the last recording of this case. */
function writeFiles(
  name: string,
  recorded: readonly (readonly [string, string])[],
  asked: readonly (readonly string[])[],
): void {
  mkdirSync(HISTORIES, { recursive: true });
  for (const file of readdirSync(HISTORIES))
    if (/^(.*?)(?:-\d+)?\.(?:json|steps)$/.exec(file)?.[1] === name) rmSync(join(HISTORIES, file));
  recorded.forEach(([file, text], at) => {
    writeFileSync(join(HISTORIES, file), text);
    writeFileSync(join(HISTORIES, file.replace(/json$/, 'steps')), `${asked[at]?.join('\n') ?? ''}\n`);
    const events = (JSON.parse(text) as { events: unknown[] }).events.length;
    console.log(
      `${file.padEnd(28)} ${String(events).padStart(4)} events ${(text.length / 1024).toFixed(0).padStart(5)} KB`,
    );
  });
}

function known(models: ReadonlyMap<string, LanguageModel>, name: string): LanguageModel {
  const model = models.get(name);
  if (model === undefined) throw new Error(`no scripted model ${name}`);
  return model;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
