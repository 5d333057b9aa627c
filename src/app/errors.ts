/**
 * Errors of what a user can do, for every door (command line, page, library): the message is complete and says what to change,
 * `code` says of what kind it is. Classes are told apart by `name`, so that no heavy module is loaded to explain that it could
 * not be loaded.
 */
import type { AnswerRecord } from '../domain';
import { visible, visibleLine } from '../clip';

/**
 * `usage`: what was asked for is wrong; `not-found`: there is no such search or entry; `conflict`: not as things stand, such as a
 * command to a search that has ended; `budget`: it may not cost so much today; `cancelled`: a person ended it; `failed`: it could not be done.
 */
export type GateErrorCode = 'usage' | 'not-found' | 'conflict' | 'budget' | 'cancelled' | 'failed';

export class GateError extends Error {
  override readonly name: string = 'GateError';
  constructor(
    message: string,
    readonly code: GateErrorCode = 'failed',
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** What was asked for is wrong. */
export class UsageError extends GateError {
  override readonly name = 'UsageError';
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, 'usage', options);
  }
}

/** A search that failed; `record`: what it has found out until then. */
export class SearchFailedError extends GateError {
  override readonly name = 'SearchFailedError';
  constructor(
    message: string,
    readonly record: AnswerRecord | null,
  ) {
    super(message);
  }
}

const WRONG_INPUT = new Set(['ConfigError', 'MethodSpecError', 'QuestionFileError', 'BenchmarkDataError']);

/** Of any error. */
export function codeOf(error: unknown): GateErrorCode {
  if (error instanceof GateError) return error.code;
  return error instanceof Error && WRONG_INPUT.has(error.name) ? 'usage' : 'failed';
}

/** Of any error, without passwords, for doors that give errors to programs. */
export function gateError(error: unknown): GateError {
  if (error instanceof GateError) return error;
  const [line, cause] = [errorText(error, false), { cause: error }];
  return codeOf(error) === 'usage' ? new UsageError(line, cause) : new GateError(line, 'failed', cause);
}

/** A password may hold an @ of its own: the last one ends it. */
const LOGIN = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]*):[^\s/]+@/gi;

/** Without passwords, although the messages of adapters should not hold any. */
export function errorText(error: unknown, debug: boolean): string {
  if (debug && error instanceof Error) return withoutPasswords(stackOf(error));
  return withoutPasswords(lineOf(error));
}

function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return `failed: ${String(error)}`;
  if (error.name === 'ConfigError') return visible(error.message);
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return `${visibleLine(error.message)}: the port is in use; choose another one or stop its owner`;
  if (code === 'EACCES' || code === 'EPERM') return `${visibleLine(error.message)}; check the permissions of that path`;
  if (code === 'ENOSPC') return 'no space left on the device; free some, finished steps are kept';
  return visibleLine(rootMessage(error));
}

/** A failed workflow wraps what happened: the innermost failure says it. */
function rootMessage(error: Error): string {
  const wrappers = new Set([
    'WorkflowFailedError',
    'ActivityFailure',
    'ChildWorkflowFailure',
    'WorkflowExecutionFailedError',
  ]);
  let inner = error;
  while (wrappers.has(inner.name) && inner.cause instanceof Error) inner = inner.cause;
  return inner.message || inner.name;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

export function withoutPasswords(text: string): string {
  return text.replace(LOGIN, '$1:***@');
}

/** An argument of a command line, without passwords and without keys in the query of a URL. */
export function withoutSecrets(argument: string): string {
  return withoutPasswords(argument).replace(/([?&][^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*/gi, '$1***');
}
