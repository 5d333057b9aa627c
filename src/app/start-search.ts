/**
 * Checks a question and stores its input, so that every mistake is reported before a model call is paid; then starts its
 * workflow on a task queue that only processes with the announced configuration serve.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { SearchInput, SearchState, DatabaseDescription } from '../domain';
import { cut, visible } from '../report/printable';
import { startQuestion } from '../workers/client';
import { runningWorkflow } from '../workers/workflow-views';
import type { Composition } from '../workers/composition';
import type { Engines } from '../workers/engines';
import {
  type ModelQueue,
  modelQueues,
  questionQueues,
  type QuestionQueues,
  queuesByModel,
} from '../workers/task-queues';
import { whereItRuns } from '../workers/running-elsewhere';
import { servedName, servingOf, type Serving } from '../workers/serving';
import { questionWorkflowId } from '../workflows/ids';
import { GateError } from './errors';
import { note, type App } from './app';
import type { TemporalSession } from './temporal-session';
import { tellWhoReceivesRows } from './notice';
import { inputOf, saveAsked } from './services';
import { storeFork, type Fork } from '../record/fork';

/** Temporal keeps 400 bytes of a workflow's summary; letters outside ASCII take up to three. */
export const LABEL_CHARS = 120;
/** And 20,000 bytes of details. */
const DETAILS_CHARS = 5_000;

/** What answers a question: with which settings, and on which queues. */
export interface Announced {
  readonly serving: Serving;
  readonly queues: QuestionQueues;
  readonly limited: readonly ModelQueue[];
}

export function announcedFor(
  config: Config,
  composition: Composition,
  database: ResolvedDatabase,
  { settings }: Pick<SearchInput, 'settings'>,
): Announced {
  const serving = servingOf(config, composition, [database]);
  // A recording is written and read by this process alone.
  const limited =
    composition.recording === null ? modelQueues(config, composition, Object.values(settings.models)) : [];
  return { serving, limited, queues: questionQueues(servedName(database.name, serving), queuesByModel(limited)) };
}

/** All that must be served for an answer. */
export function neededQueues({ queues, limited }: Announced): readonly string[] {
  return [queues.workflow, ...limited.map(({ taskQueue }) => taskQueue)];
}

interface Start {
  readonly session: TemporalSession;
  readonly app: App;
  readonly input: SearchInput;
  readonly announced: Announced;
  readonly state: SearchState | null;
}

/** Starts the search, or joins it. */
export async function startAsked(start: Start): Promise<void> {
  const { session, app, input, announced, state } = start;
  const { models } = app.config;
  const { searchId, settings, question } = input;
  // Shown to whoever may open the UI: the question's text, no row of the database.
  const label = cut(`${question.database}: ${question.text}`, LABEL_CHARS);
  const details = visible([question.text, question.context ?? ''].join('\n\n').trim()).slice(0, DETAILS_CHARS);
  for (let tries = 1; ; tries += 1) {
    try {
      await startQuestion(session.gate, {
        searchId,
        settings,
        modelTimeoutMs: models.requestTimeoutMs,
        modelOutageMs: models.outageMs,
        queues: announced.queues,
        serving: announced.serving,
        state,
        ifRunning: 'fail',
        database: question.database,
        label,
        // A short question stands whole in the title.
        ...(label === `${question.database}: ${details}` ? {} : { details }),
      });
      return;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries >= TRIES) throw error;
    }
    if (await joined(start)) return;
  }
}

/** The search may end, or be asked by somebody else, between two checks. */
const TRIES = 5;

/** Not when the search has ended meanwhile, so that there is nothing to join. */
async function joined({ session, app, input, announced }: Start): Promise<boolean> {
  const { searchId } = input;
  const running = await runningWorkflow(session.gate, questionWorkflowId(searchId));
  if (running === null) return false;
  const { serving, queues } = announced;
  const asked = { serving, taskQueue: queues.workflow };
  const found = await whereItRuns(session.gate, running, asked, app.now());
  switch (found.kind) {
    case 'here':
      return true;
    case 'served':
      throw new GateError(
        `${searchId} runs ${found.difference}: cancel it with gate cancel ${searchId}, or ask with --fresh`,
      );
    case 'abandoned':
      note(app, `${searchId} ran ${found.difference}`);
      note(app, 'No process works on it any more, so it goes on here; nothing is paid twice.');
      await session.gate.client.workflow
        .getHandle(running.workflowId, running.runId)
        .terminate('asked again with another configuration');
      return false;
    default:
      return found satisfies never;
  }
}

export interface Asking {
  readonly app: App;
  readonly engines: Engines;
  /** Models and steps over these engines; opened by whoever needs them first. */
  readonly composition: () => Promise<Composition>;
  readonly database: ResolvedDatabase;
  readonly input: SearchInput;
  readonly files: { readonly record?: string; readonly replay?: string };
  /** How many rows of the answer are asked for. */
  readonly maxRows?: number;
  /** A search that goes on from a checkpoint of another one. */
  readonly fork?: Fork;
}

/**
 * `databaseChecked`: takes a process of its own and is best begun before anything else. Returns the state that the search
 * starts from, if it is a fork.
 */
export async function checkAndStore(
  asking: Asking,
  databaseChecked: Promise<DatabaseDescription>,
): Promise<SearchState | null> {
  const { app, database, input, files } = asking;
  const { config, store } = app;
  const composition = await asking.composition();
  const { checkModel, unpricedModels } = await import('./model-check');
  const replayed = files.replay !== undefined;
  const models = [...new Set(Object.values(input.settings.models))];
  await Promise.all([databaseChecked, replayed ? undefined : checkModel(config, composition, models)]);
  if (files.record !== undefined) {
    const { noteOf, prepareRecording } = await import('../adapters/recording');
    await prepareRecording(files.record, noteOf(composition.model));
  }
  if (!replayed) {
    const unpriced = unpricedModels(config, models);
    const { costUsd } = input.settings.budgets;
    const asked = { database: database.name, identity: database.identity };
    tellWhoReceivesRows(
      config.folders,
      { endpoint: composition.model.endpoint, ...asked, unpriced, costCeilingUsd: costUsd },
      (line) => note(app, line),
    );
  }
  const { fork } = asking;
  const before = fork === undefined ? await inputOf(store, input.searchId) : null;
  await saveAsked(store, withFirstClock(before, input), app.now());
  const state = fork === undefined ? null : await storeFork(store, fork);
  app.onStored?.(input.searchId);
  return state;
}

/** All steps of a search have one clock: that of the asking that began it (`withClockOfAsking`). */
function withFirstClock(before: SearchInput | null, input: SearchInput): SearchInput {
  if (before === null) return input;
  const { clock: _, ...unclocked } = input;
  return before.clock === undefined ? unclocked : { ...unclocked, clock: before.clock };
}
