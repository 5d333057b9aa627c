/**
 * What a line of the SDK's log is about. Of an error only its kind is told, because its message may quote data; `gate show`
 * tells it.
 */
import type { LogEntry } from '@temporalio/worker';

const QUESTION = 'question-';

export function logContext({ meta = {} }: Pick<LogEntry, 'meta'>) {
  const { workflowId, runId, workflowRunId, activityType, attempt, taskQueue, error } = meta as Meta;
  const searchId = workflowId?.startsWith(QUESTION) === true ? workflowId.slice(QUESTION.length) : undefined;
  const known = { searchId, workflowId, runId: runId ?? workflowRunId, step: activityType, attempt, taskQueue };
  return { ...known, error: error === undefined ? undefined : kindOf(error) };
}

/** As the SDK's workers and activities write it. */
type Meta = Readonly<
  Partial<Record<'workflowId' | 'runId' | 'workflowRunId' | 'activityType' | 'taskQueue', string>>
> & { readonly attempt?: number; readonly error?: unknown };

/** In one line: `WARN Activity failed: callModel of q-12ab, attempt 3: ModelError.server-error`. */
export function logText({ level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>): string {
  const { searchId, workflowId, step, attempt, error } = logContext({ meta });
  const of = searchId ?? workflowId;
  const parts = [
    [step, of].filter((part) => part !== undefined).join(' of '),
    attempt === undefined ? '' : `attempt ${String(attempt)}`,
  ].filter((part) => part !== '');
  return [`${level} ${message}`, ...(parts.length > 0 ? [parts.join(', ')] : []), ...(error ? [error] : [])].join(': ');
}

function kindOf(error: unknown): string {
  const { type, name } = (error ?? {}) as { readonly type?: unknown; readonly name?: unknown };
  return [type, name].find((one): one is string => typeof one === 'string' && one !== '') ?? 'unknown';
}
