/** The one form of errors: `{"error": {"code", "message"}}`, a stable code and one line that says what to change. */
import { gateError, type GateErrorCode } from '../../app/errors';

const STATUS = {
  usage: 400,
  unauthorized: 401,
  budget: 402,
  forbidden: 403,
  'not-found': 404,
  method: 405,
  timeout: 408,
  conflict: 409,
  cancelled: 409,
  'too-large': 413,
  'content-type': 415,
  host: 421,
  'key-reused': 422,
  'too-many': 429,
  failed: 500,
  unavailable: 503,
} as const satisfies Record<string, number> & Record<GateErrorCode, number>;
export type HttpErrorCode = keyof typeof STATUS;
export const HTTP_ERROR_CODES = Object.keys(STATUS) as [HttpErrorCode, ...HttpErrorCode[]];

/** What a caller is told. Anything else that is thrown is told by its code of `app/errors.ts`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly code: HttpErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  get status(): number {
    return STATUS[this.code];
  }
}

/** `known`: the program threw it on purpose, so that its line is for the caller; else only the server's log gets it. */
export function httpError(error: unknown): { readonly error: HttpError; readonly known: boolean } {
  if (error instanceof HttpError) return { error, known: true };
  const { code, message } = gateError(error);
  const known = error instanceof Error && (error.name.startsWith('Gate') || TOLD.has(error.name));
  if (!known && code === 'failed')
    return { error: new HttpError('failed', "it failed inside; the server's log says why"), known };
  const line = message.split('\n').join('; ');
  const told = code === 'failed' ? line.replace(PLACES, '…') : line;
  return { error: new HttpError(code, told), known: known && told === line };
}

/** Paths and addresses: where things lie is for the server's log. */
const PLACES = /(?:\b[a-z][a-z0-9+.-]*:\/\/|(?<![\w.])\/(?=[\w.~-]+\/))[^\s'",;)]*/gi;

const TOLD = new Set(['UsageError', 'SearchFailedError', 'ConfigError', 'SqlEngineError']);
