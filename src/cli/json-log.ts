/**
 * Lines of a worker's log as JSON, one object each: `time`, `level`, `message`, and the search, workflow and step where they are
 * known (`workers/log-context.ts`).
 */
import type { LogEntry } from '@temporalio/worker';
import { logContext } from '../workers/log-context';
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

export function entryLine(entry: LogEntry): string {
  const { level, message, timestampNanos } = entry;
  return logLine(level.toLowerCase(), message, Number(timestampNanos / 1_000_000n), logContext(entry));
}
