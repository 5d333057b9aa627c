/** Starts the workflow of a question on the queue that only processes which can reach its database serve. */
import type { Config } from '../config';
import type { SearchInput, SearchState } from '../domain';
import { cut, visible } from '../report/printable';
import { startQuestion } from '../workers/client';
import { modelQueues, type ModelQueue } from '../workers/model-queues';
import type { QuestionQueues } from '../workers/task-queues';
import type { TemporalSession } from './temporal-session';

/** Temporal keeps 400 bytes of a workflow's summary; letters outside ASCII take up to three. */
const LABEL_CHARS = 120;
/** And 20,000 bytes of details. */
const DETAILS_CHARS = 5_000;

/** A recording is written and read by this process alone. */
export function limitedModels(
  config: Config,
  { settings }: SearchInput,
  { record, replay }: { readonly record?: string; readonly replay?: string },
): ModelQueue[] {
  return (record ?? replay) === undefined ? modelQueues(config, Object.values(settings.models)) : [];
}

export async function startAsked(
  session: TemporalSession,
  config: Config,
  input: SearchInput,
  queues: QuestionQueues,
  state: SearchState | null,
): Promise<void> {
  const { searchId, settings, question } = input;
  await startQuestion(session.gate, {
    ...{ searchId, settings, modelTimeoutMs: config.models.requestTimeoutMs },
    ...{ queues, state },
    // Shown to whoever may open the UI: the question's text, no row of the database.
    label: cut(`${question.database}: ${question.text}`, LABEL_CHARS),
    details: visible([question.text, question.context ?? ''].join('\n\n').trim()).slice(0, DETAILS_CHARS),
  });
}
