/**
 * Lines of a worker's log as JSON, one object each: `time`, `level`, `message`, and the search, workflow and step where they are
 * known. Of an error only its kind is logged, because its message may quote data; `gate status` tells it.
 */
import type { LogEntry } from '@temporalio/worker';
import type { Io } from './io';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export function logLine(level: string, message: string, nowMs: number, more: object = {}): string {
  return `${JSON.stringify({ time: new Date(nowMs).toISOString(), level, message, ...more })}\n`;
}

/** Everything that the command itself says becomes lines of level `info`. */
export function jsonIo(io: Io): Io {
  return {
    ...io,
    err: (text) => {
      for (const line of text.split('\n')) if (line.trim() !== '') io.err(logLine('info', line, io.now()));
    },
  };
}

const QUESTION = 'question-';

export function entryLine({ level, message, timestampNanos, meta = {} }: LogEntry): string {
  const { workflowId, runId, workflowRunId, activityType, attempt, taskQueue, error } = meta as Readonly<
    Record<string, unknown>
  >;
  const searchId =
    typeof workflowId === 'string' && workflowId.startsWith(QUESTION) ? workflowId.slice(QUESTION.length) : undefined;
  const known = { searchId, workflowId, runId: runId ?? workflowRunId, step: activityType, attempt, taskQueue };
  const more = { ...known, error: error === undefined ? undefined : kindOf(error) };
  return logLine(level.toLowerCase(), message, Number(timestampNanos / 1_000_000n), more);
}

function kindOf(error: unknown): string {
  const { type, name } = (error ?? {}) as { readonly type?: unknown; readonly name?: unknown };
  return [type, name].find((one): one is string => typeof one === 'string' && one !== '') ?? 'unknown';
}
