/** Which searches are recorded. Between them they take every path of the control loop that a history can show. */
import { setTimeout as sleep } from 'node:timers/promises';
import { writeBatchManifest } from '../../src/activities/batch';
import { DEMO_QUESTION } from '../../src/app/demo';
import type { Settings } from '../../src/domain';
import type { ObjectStore } from '../../src/domain/ports';
import type { BatchEntry } from '../../src/domain/ports/batch';
import {
  DEFAULT_BUDGETS,
  settingsFor,
  WITHOUT_LOOKING,
  type Figures,
  type SettingsInput,
} from '../../src/config/presets';
import {
  awaitBatch,
  awaitKept,
  awaitQuestion,
  cancelWorkflow,
  startBatch,
  startQuestion,
  type GateClient,
} from '../../src/workers/client';
import { steerQuestion } from '../../src/workers/steer-question';
import { questionQueues } from '../../src/workers/task-queues';
import { batchWorkflowId, keepWorkflowId, questionWorkflowId } from '../../src/workflows/ids';
import { REFUSED_QUESTION, type HangingModel, type MODELS } from './replies';

/** Name of the database, and so of the queue. */
export const DATABASE = 'sprint';

export interface Recording {
  readonly gate: GateClient;
  readonly store: ObjectStore;
  /** Stores the question under this search id. */
  readonly ask: (searchId: string, text: string, settings: Settings) => Promise<void>;
  /** A model of this name that never replies to the judge's call. */
  readonly hang: (name: string) => HangingModel;
}

export interface RecordedCase {
  readonly name: string;
  /** Returns the workflow to fetch; fails if it did not end as the case wants. */
  readonly record: (recording: Recording) => Promise<string>;
}

type ModelName = keyof typeof MODELS | 'hanging' | 'hanging-steered' | 'hanging-in-batch' | 'hanging-look';

interface QuestionCase {
  readonly overrides?: Partial<Settings>;
  readonly reforce?: NonNullable<SettingsInput['overrides']>['reforce'];
  readonly method?: Settings['method'];
  readonly figures?: Figures;
  /** Begins with the conversation, as method `fast` does; else with the search. */
  readonly looks?: boolean;
  readonly model: ModelName;
  readonly iterationsPerRun?: number;
  readonly ends: string;
}

const KEEPING: QuestionCase = {
  ...{ model: 'keeping', method: 'thorough', ends: 'answered settled' },
  overrides: { layer: 'on' },
};

const kept = question('gate-kept', KEEPING);
let proved: () => void = () => undefined;
/** Of two searches that keep the same claim only the first one finds something to read. */
const isProved = new Promise<void>((resolve) => (proved = resolve));
/** A case may be recorded without the others. */
const A_MINUTE = 60_000;

export const CASES: readonly RecordedCase[] = [
  question('gate-fast', { model: 'agreeing', ends: 'answered agreement' }),
  question('gate-fast-chosen', { model: 'disagreeing', overrides: { iterations: 4, cMax: 2 }, ends: 'answered' }),
  question('gate-fast-doubtful', { model: 'doubtful', ends: 'answered' }),
  question('gate-fast-undecided', {
    ...{ model: 'undecided', ends: 'budget:llmCalls' },
    overrides: { planCarriesTests: false, budgets: limited(14) },
  }),
  question('gate-thorough', { model: 'agreeing', method: 'thorough', ends: 'answered settled' }),
  {
    // What follows the answer of a search that proved something; the first, because it is kept once.
    name: 'keep-proved',
    record: async (recording) => {
      const searchId = 'q-keep-proved';
      await start(recording, searchId, KEEPING);
      await ended(recording, searchId, KEEPING.ends);
      expectEnd(searchId, JSON.stringify(await awaitKept(recording.gate, searchId)), '"kept":1');
      proved();
      return keepWorkflowId(searchId);
    },
  },
  {
    ...kept,
    record: async (recording) => {
      await Promise.race([isProved, sleep(A_MINUTE, undefined, { ref: false })]);
      return kept.record(recording);
    },
  },
  question('gate-paper', {
    ...{ model: 'undecided', method: 'paper', ends: 'budget:llmCalls' },
    overrides: { budgets: limited(16) },
  }),
  question('gate-continued', {
    ...{ model: 'undecided', iterationsPerRun: 2, ends: 'iterations' },
    overrides: { iterations: 5 },
  }),
  question('gate-failed', { model: 'revoked', ends: 'failed: the endpoint refused the key: check OPENAI_API_KEY' }),
  question('gate-web', { model: 'curious', overrides: { lookups: 3 }, ends: 'answered agreement' }),
  question('look-at-once', { model: 'certain', looks: true, ends: 'answered settled' }),
  question('look', { model: 'looking', looks: true, ends: 'answered settled' }),
  question('look-mended', { model: 'mending', looks: true, ends: 'answered settled' }),
  question('look-declined', { model: 'declining', looks: true, ends: 'unanswerable settled' }),
  question('look-handed-over', {
    ...{ model: 'unsure', looks: true, iterationsPerRun: 2, ends: 'answered settled' },
  }),
  question('look-single-queries', { model: 'rambling', looks: true, ends: 'answered finished' }),
  cancelled('look-cancelled', { model: 'hanging-look', looks: true, ends: 'cancelled cancel' }),
  question('react', { model: 'acting', method: 'react', ends: 'answered finished' }),
  question('react-repeated', {
    ...{ model: 'repeating', method: 'react', ends: 'answered' },
    overrides: { repeated: { runs: 6 } },
  }),
  question('redel-seed', { model: 'delegating-late', method: 'redel', figures: 'seed', ends: 'answered finished' }),
  question('redel', { model: 'delegating', method: 'redel', ends: 'answered finished' }),
  question('reforce-seed', { model: 'voting', method: 'reforce', figures: 'seed', ends: 'answered' }),
  question('reforce', {
    ...{ model: 'voting', method: 'reforce', ends: 'answered' },
    reforce: { votes: 3, choose: 'model' },
  }),
  cancelled('gate-cancelled', { model: 'hanging', ends: 'cancelled cancel' }),
  {
    // Told something, paused, resumed and stopped while a judgement is under way.
    name: 'gate-steered',
    record: async (recording) => {
      const { asked } = recording.hang('hanging-steered');
      const searchId = 'q-gate-steered';
      await start(recording, searchId, { model: 'hanging-steered', ends: 'answered stop' });
      await asked;
      const author = 'ada';
      const commands = [
        { kind: 'hint', author, text: 'Gaps are times after the winner.' },
        { kind: 'pause', author },
        { kind: 'resume', author },
        { kind: 'budget', author, budgets: { llmCalls: 50 } },
        { kind: 'stop', author },
      ] as const;
      for (const command of commands) {
        const told = await steerQuestion(recording.gate, searchId, command);
        if (told.kind !== 'applied') throw new Error(`${command.kind} was ${told.kind}`);
      }
      return ended(recording, searchId, ' stop');
    },
  },
  {
    // Two pages, two at a time, handed over to a second run with questions in flight; one question fails.
    name: 'batch',
    record: async (recording) => {
      const texts = [DEMO_QUESTION, DEMO_QUESTION, REFUSED_QUESTION, DEMO_QUESTION];
      const batchId = await beginBatch(recording, 'b-batch', texts, 'refusing', 8);
      const end = await awaitBatch(recording.gate, batchId);
      expectEnd(batchId, JSON.stringify(end), '"infrastructure-failure":1');
      return batchWorkflowId(batchId);
    },
  },
  {
    name: 'batch-cancelled',
    record: async (recording) => {
      const { asked } = recording.hang('hanging-in-batch');
      const batchId = await beginBatch(
        recording,
        'b-cancelled',
        Array(3).fill(DEMO_QUESTION),
        'hanging-in-batch',
        1000,
      );
      await asked;
      await cancelWorkflow(recording.gate, batchWorkflowId(batchId));
      expectEnd(batchId, JSON.stringify(await awaitBatch(recording.gate, batchId)), '"stopping":true');
      return batchWorkflowId(batchId);
    },
  },
];

function question(name: string, wanted: QuestionCase): RecordedCase {
  return {
    name,
    record: async (recording) => {
      await start(recording, `q-${name}`, wanted);
      return ended(recording, `q-${name}`, wanted.ends);
    },
  };
}

/** Cancelled while a reply is waited for. */
function cancelled(name: string, wanted: QuestionCase): RecordedCase {
  return {
    name,
    record: async (recording) => {
      const { asked } = recording.hang(wanted.model);
      await start(recording, `q-${name}`, wanted);
      await asked;
      await cancelWorkflow(recording.gate, questionWorkflowId(`q-${name}`));
      return ended(recording, `q-${name}`, wanted.ends);
    },
  };
}

async function start(recording: Recording, searchId: string, wanted: QuestionCase): Promise<void> {
  const { iterationsPerRun } = wanted;
  const settings = settingsOf(wanted);
  await recording.ask(searchId, DEMO_QUESTION, settings);
  await startQuestion(recording.gate, {
    ...{ searchId, settings, iterationsPerRun, modelTimeoutMs: 60_000, queues: questionQueues(DATABASE) },
    label: `${DATABASE} · "Dominant victories?"`,
  });
}

function settingsOf({ method = 'fast', figures, looks, model, overrides, reforce }: QuestionCase): Settings {
  const settings = settingsFor({ method, models: { default: model }, overrides: { figures, reforce } });
  const { procedure: _, secondDerivation: __, ...rest } = settings;
  return { ...(looks || method !== 'fast' ? settings : { ...rest, ...WITHOUT_LOOKING }), ...overrides };
}

async function ended({ gate }: Recording, searchId: string, wanted: string): Promise<string> {
  const end = await awaitQuestion(gate, searchId);
  const text = end.kind === 'failed' ? `failed: ${end.message}` : `${end.value.status} ${end.value.endedBy}`;
  expectEnd(searchId, text, wanted);
  return questionWorkflowId(searchId);
}

async function beginBatch(
  { gate, store, ask }: Recording,
  batchId: string,
  texts: readonly string[],
  model: ModelName,
  eventsPerRun: number,
): Promise<string> {
  const settings = settingsOf({ model, ends: '' });
  const entries: BatchEntry[] = [];
  for (const [n, text] of texts.entries()) {
    const searchId = `q-${batchId}-${n}`;
    await ask(searchId, text, settings);
    entries.push({ n, searchId, label: `question ${n + 1}`, taskQueues: questionQueues(DATABASE) });
  }
  const { pages } = await writeBatchManifest(store, batchId, entries, 2);
  const asked = { settings, modelTimeoutMs: 60_000, iterationsPerRun: 20 };
  const limits = { concurrency: 2, total: entries.length, pages, eventsPerRun };
  await startBatch(
    gate,
    { batchId, question: asked, resume: null, ...limits },
    questionQueues(DATABASE).workflow,
    batchId,
  );
  return batchId;
}

function limited(llmCalls: number): Settings['budgets'] {
  return { ...DEFAULT_BUDGETS, llmCalls };
}

/** A case that takes another path than it is named for would cover less than it says. */
function expectEnd(name: string, found: string, wanted: string): void {
  if (!found.includes(wanted)) throw new Error(`${name} ended as "${found}" and not as "${wanted}"`);
}
