/** A batch of real searches, started as a client of Temporal does, watched through the store, and awaited over faults. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchInput } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { searchIdOf } from '../../src/record/search-id';
import { SIMULATED_MODEL, type GoldQuestion } from '../../simulated-model';
import { storeInput } from '../../src/record/run-store';
import { awaitQuestion, startQuestion, type Ended } from '../../src/workers/client';
import { describeQuestion } from '../../src/workers/workflow-views';
import { questionWorkflowId } from '../../src/workflows/ids';
import { until } from './polling';
import type { Stage } from './stage';
import { loadTrace, type Trace } from './trace';

export interface Batch {
  readonly inputs: readonly SearchInput[];
  /** Starts every search, or joins it where it runs. */
  start(): Promise<void>;
  /** Until every search has ended, over whatever happens to Temporal in between. */
  ended(timeoutMs?: number): Promise<readonly Ended<unknown>[]>;
  isEnded(): boolean;
  /** Objects in the store, all searches together. */
  objects(): number;
  /** From `sinceMs` to the next new object, for each search that had one. */
  recoveries(sinceMs: number): readonly number[];
  /** By question and engine. */
  traces(): Promise<readonly Trace[]>;
  /** Stops watching, and ends what is left of the searches. */
  close(): Promise<void>;
}

const WATCH_EVERY_MS = 50;
const PATIENCE_MS = 180_000;
const HEARTBEAT_MS = 8_000;

export function newBatch(
  stage: Stage,
  questions: readonly GoldQuestion[],
  options: { readonly seed: number; readonly namespace: string },
): Batch {
  const inputs = questions.map((question) => inputOf(question, options));
  const growth = new Map(inputs.map(({ searchId }) => [searchId, [] as { atMs: number; objects: number }[]]));
  const look = (): void => {
    for (const [searchId, seen] of growth) {
      const objects = countFiles(join(stage.storage.folder, 'runs', searchId));
      if (objects > (seen.at(-1)?.objects ?? 0)) seen.push({ atMs: Date.now(), objects });
    }
  };
  const timer = setInterval(look, WATCH_EVERY_MS);
  let over = 0;
  return {
    inputs,
    async start() {
      for (const input of inputs) await storeInput(stage.storage.store, input);
      await Promise.all(inputs.map((input) => start(stage, input)));
    },
    async ended(timeoutMs = PATIENCE_MS) {
      over = 0;
      return Promise.all(
        inputs.map(async ({ searchId }) => {
          const end = await outlast(stage, searchId, timeoutMs);
          over += 1;
          return end;
        }),
      );
    },
    isEnded: () => over === inputs.length,
    objects: () => {
      look();
      return [...growth.values()].reduce((sum, seen) => sum + (seen.at(-1)?.objects ?? 0), 0);
    },
    recoveries: (sinceMs) =>
      [...growth.values()].flatMap((seen) => {
        const next = seen.find(({ atMs }) => atMs >= sinceMs);
        return next === undefined ? [] : [next.atMs - sinceMs];
      }),
    traces: () => Promise.all(inputs.map(({ searchId }) => loadTrace(stage.storage.store, searchId))),
    async close() {
      clearInterval(timer);
      let left = 0;
      for (const { searchId } of inputs) {
        const handle = stage.gate.client.workflow.getHandle(questionWorkflowId(searchId));
        const { status } = await handle.describe();
        if (status.name !== 'RUNNING') continue;
        await handle.terminate('the moment is over');
        left += 1;
      }
      // Their steps learn of it with a heartbeat, and must not be found in the ledger of the next moment.
      if (left > 0) await sleep(HEARTBEAT_MS);
    },
  };
}

function inputOf(
  { question: text, database, engine }: GoldQuestion,
  { seed, namespace }: { readonly seed: number; readonly namespace: string },
): SearchInput {
  const models = { default: SIMULATED_MODEL };
  // A search that is long enough to be disturbed.
  const overrides = { seed, secondDerivation: 'always' } as const;
  const settings = settingsFor({ method: 'thorough', models, overrides });
  const question: SearchInput['question'] = {
    ...{ text, database, outputMode: engine === 'sqlite' ? 'answer' : 'sql' },
    ...{ tools: ['execute_sql'], context: null, instructions: null, documents: [] },
  };
  const asked = { question, identity: database, settings, namespace };
  return { searchId: searchIdOf(asked), ...asked };
}

/** As `gate ask` starts one; a server that is away is asked again. */
async function start(stage: Stage, { searchId, settings, question }: SearchInput): Promise<void> {
  const queues = await stage.queuesOf(question.database);
  await until(
    `${searchId} is started`,
    async () => {
      try {
        await startQuestion(stage.gate, {
          ...{ searchId, settings, queues, modelTimeoutMs: stage.requestTimeoutMs, label: question.text.slice(0, 60) },
        });
        return true;
      } catch (error) {
        if (isOutage(error)) return false;
        throw error;
      }
    },
    { everyMs: 200 },
  );
}

async function outlast(stage: Stage, searchId: string, timeoutMs: number): Promise<Ended<unknown>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const late = new AbortController();
    try {
      return await Promise.race([
        awaitQuestion(stage.gate, searchId),
        sleep(Math.max(1, deadline - Date.now()), null, { signal: late.signal }).then(() =>
          unended(stage, searchId, timeoutMs),
        ),
      ]);
    } catch (error) {
      if (!isOutage(error) || Date.now() > deadline) throw error;
      await sleep(200);
    } finally {
      late.abort();
    }
  }
}

async function unended(stage: Stage, searchId: string, timeoutMs: number): Promise<Ended<unknown>> {
  const pending = (await describeQuestion(stage.gate, searchId))?.pending ?? [];
  const steps = pending.map(
    ({ summary, attempt, lastFailure }) => `${summary} #${String(attempt)}: ${lastFailure ?? ''}`,
  );
  const waitsFor = steps.length === 0 ? 'nothing that Temporal knows' : steps.join('; ');
  return {
    kind: 'failed',
    message: `${searchId} not ended after ${String(timeoutMs / 1000)} s, waiting for ${waitsFor}`,
  };
}

/** gRPC: the server is not there, is starting, or the connection was cut. */
function isOutage(error: unknown): boolean {
  const codes = new Set([1, 4, 14]);
  for (let each: unknown = error; each instanceof Error; each = each.cause)
    if ('code' in each && typeof each.code === 'number' && codes.has(each.code)) return true;
  return false;
}

/** A search has one folder per kind of object. */
function countFiles(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, kind) => sum + readdirSync(join(folder, kind)).length, 0);
  } catch {
    return 0; // not there yet, or a store that is down
  }
}
