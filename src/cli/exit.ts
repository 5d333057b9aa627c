/** Exit codes, and the one of each error. */
import { CommanderError } from 'commander';
import { codeOf, GateError, type GateErrorCode } from '../app/errors';

export const EXIT = { ok: 0, failed: 1, usage: 2, cancelled: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES_HELP =
  'Exit codes: 0 answered, unanswerable or abstained; 1 failed; 2 wrong usage or configuration; 3 cancelled.';

/** The error has been told already, in a form of the command's own. */
export class AlreadyTold extends GateError {
  constructor(code: GateErrorCode) {
    super('', code);
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const code = codeOf(error);
  return code === 'usage' || code === 'cancelled' ? EXIT[code] : EXIT.failed;
}
