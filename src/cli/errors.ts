/**
 * Errors as a user sees them: one line that says what to change, the exit code, and a stack trace only with `--debug`.
 * Classes are told apart by `name`, so that no heavy module is loaded to explain that it could not be loaded.
 */
import { CommanderError } from 'commander';
import { visible, visibleLine } from '../text/visible';

export const EXIT = { ok: 0, failed: 1, usage: 2, cancelled: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES_HELP =
  'Exit codes: 0 answered, unanswerable or abstained; 1 failed; 2 wrong usage or configuration; 3 cancelled.';

/** Something in the command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command could not do its work; the message is complete. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** The error has been told already, in a form of the command's own. */
export class AlreadyTold extends CommandFailed {
  constructor(exitCode: ExitCode) {
    super('', exitCode);
  }
}

const WRONG_INPUT = new Set(['UsageError', 'ConfigError', 'QuestionFileError', 'BenchmarkDataError']);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CommandFailed) return error.exitCode;
  if (error instanceof Error && WRONG_INPUT.has(error.name)) return EXIT.usage;
  return EXIT.failed;
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
