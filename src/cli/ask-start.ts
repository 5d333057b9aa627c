/** Starts the workflow of a question on a task queue that only processes with the announced configuration serve. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { SearchInput, SearchState } from '../domain';
import { cut, visible } from '../report/printable';
import { startQuestion } from '../workers/client';
import { runningWorkflow } from '../workers/workflow-views';
import type { Composition } from '../workers/composition';
import { modelQueues, queuesByModel, type ModelQueue } from '../workers/model-queues';
import { whereItRuns } from '../workers/running-elsewhere';
import { servedName, servingOf, type Serving } from '../workers/serving';
import { databaseQueue, questionQueues, type QuestionQueues } from '../workers/task-queues';
import { questionWorkflowId } from '../workflows/ids';
import { CommandFailed } from './errors';
import type { Io } from './io';
import type { TemporalSession } from './temporal-session';

/** Temporal keeps 400 bytes of a workflow's summary; letters outside ASCII take up to three. */
const LABEL_CHARS = 120;
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
  { settings }: SearchInput,
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

export interface Start {
  readonly session: TemporalSession;
  readonly config: Config;
  readonly input: SearchInput;
  readonly announced: Announced;
  readonly state: SearchState | null;
  readonly io: Pick<Io, 'err' | 'now'>;
}

/** `earlier-version`: joined; it goes on only if this process also serves the queue that versions before used. */
export async function startAsked(start: Start): Promise<'started' | 'earlier-version'> {
  const { session, config, input, announced, state } = start;
  const { searchId, settings, question } = input;
  // Shown to whoever may open the UI: the question's text, no row of the database.
  const label = cut(`${question.database}: ${question.text}`, LABEL_CHARS);
  const details = visible([question.text, question.context ?? ''].join('\n\n').trim()).slice(0, DETAILS_CHARS);
  for (let tries = 1; ; tries += 1) {
    try {
      await startQuestion(session.gate, {
        ...{ searchId, settings, modelTimeoutMs: config.models.requestTimeoutMs },
        ...{ queues: announced.queues, serving: announced.serving, state, ifRunning: 'fail' },
        database: question.database,
        label,
        // A short question stands whole in the title.
        ...(label === `${question.database}: ${details}` ? {} : { details }),
      });
      return 'started';
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries >= TRIES) throw error;
    }
    const joined = await join(start);
    if (joined !== null) return joined;
  }
}

/** The search may end, or be asked by somebody else, between two checks. */
const TRIES = 5;

/** null: the search has ended meanwhile, so there is nothing to join. */
async function join({ session, input, announced, io }: Start): Promise<'started' | 'earlier-version' | null> {
  const { searchId, question } = input;
  const running = await runningWorkflow(session.gate, questionWorkflowId(searchId));
  if (running === null) return null;
  const { serving, queues } = announced;
  const asked = { serving, taskQueue: queues.workflow, earlierQueue: databaseQueue(question.database) };
  const found = await whereItRuns(session.gate, running, asked, io.now());
  switch (found.kind) {
    case 'here':
      return 'started';
    case 'earlier-version':
      return 'earlier-version';
    case 'served':
      throw new CommandFailed(
        `${searchId} runs ${found.difference}: cancel it with gate cancel ${searchId}, or ask with --fresh`,
      );
    case 'abandoned':
      io.err(
        `${searchId} ran ${found.difference}\nNo process works on it any more, so it goes on here; nothing is paid twice.\n`,
      );
      await session.gate.client.workflow
        .getHandle(running.workflowId, running.runId)
        .terminate('asked again with another configuration');
      return null;
    default:
      return found satisfies never;
  }
}
