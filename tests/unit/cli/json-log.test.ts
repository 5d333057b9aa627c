/** A worker's log as JSON lines. */
import { ApplicationFailure } from '@temporalio/common';
import { entryLine, jsonIo } from '../../../src/cli/worker';
import { logText } from '../../../src/workers/log-context';
import type { Io } from '../../../src/cli/io';

const timestampNanos = 1_795_000_000_123_000_000n;
const time = '2026-11-18T11:06:40.123Z';

test('a line of the SDK names search, workflow and step, and of an error its kind alone', () => {
  const error = ApplicationFailure.nonRetryable("no column 'salary of Ann'", 'SqlEngineError.not-found');
  const meta = {
    workflowId: 'question-q-12ab',
    workflowRunId: 'r1',
    activityType: 'probe',
    attempt: 2,
    taskToken: 'x',
    error,
  };
  const line = entryLine({ level: 'WARN', message: 'Activity failed', timestampNanos, meta });
  expect(JSON.parse(line)).toEqual({
    ...{
      time,
      level: 'warn',
      message: 'Activity failed',
      searchId: 'q-12ab',
      workflowId: 'question-q-12ab',
      runId: 'r1',
    },
    ...{ step: 'probe', attempt: 2, error: 'SqlEngineError.not-found' },
  });
  expect(line.endsWith('}\n')).toBe(true);
});

test('the same as text', () => {
  const error = ApplicationFailure.nonRetryable("no column 'salary of Ann'", 'SqlEngineError.not-found');
  const meta = { workflowId: 'question-q-12ab', activityType: 'probe', attempt: 2, error };
  expect(logText({ level: 'WARN', message: 'Activity failed', meta })).toBe(
    'WARN Activity failed: probe of q-12ab, attempt 2: SqlEngineError.not-found',
  );
  expect(logText({ level: 'INFO', message: 'Workers polling' })).toBe('INFO Workers polling');
});

test('a batch is no search, and a line without context has none', () => {
  const of = (meta?: object) =>
    JSON.parse(entryLine({ level: 'INFO', message: 'm', timestampNanos, ...(meta && { meta }) })) as object;
  expect(of({ workflowId: 'batch-b1' })).toEqual({ time, level: 'info', message: 'm', workflowId: 'batch-b1' });
  expect(of()).toEqual({ time, level: 'info', message: 'm' });
});

test('what a command says is one object a line', () => {
  const said: string[] = [];
  const io = { err: (text: string) => said.push(text), now: () => Date.parse(time) };
  jsonIo(io as unknown as Io).err('one "quoted"\ntwo\n');
  expect(said.map((line) => JSON.parse(line) as object)).toEqual([
    { time, level: 'info', message: 'one "quoted"' },
    { time, level: 'info', message: 'two' },
  ]);
});
