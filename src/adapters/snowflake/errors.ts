/**
 * Sorts the errors of Snowflake, its driver and the network: an error that the statement caused is a value, an
 * infrastructure error is thrown. Each message is one line and holds no secret. Server codes have six digits and come with
 * an SQLSTATE: those that begin with 0 or 1 (compiling, running) belong to the statement, 39 to the login, 40 to the driver.
 */
import type { SqlResult } from '../../domain';
import { SqlEngineError } from '../../ports/sql-engine';
import type { Target } from './target';

interface SdkError {
  readonly message: string;
  readonly code?: string | number;
  readonly sqlState?: string;
  readonly name?: string;
  readonly cause?: unknown;
  readonly response?: { readonly statusCode?: number; readonly status?: number };
}

/** No answer in time to a login, a statement or its cancellation. */
export class NoAnswer extends Error {}

const CANCELLED = new Set(['000604', '000630', '000631']);
/** Codes for: no warehouse, a suspended one that this role may not resume, one that a quota stopped. */
const WAREHOUSE = new Set(['000606', '090073', '090078', '090108', '000607']);
const SESSION_GONE = new Set(['390104', '390110', '390111', '390112', '390113', '390114', '390115', '390195']);

export function toResult(
  error: unknown,
  target: Target,
  limits: { readonly timeoutMs: number; readonly elapsedMs: number },
): SqlResult {
  if (isCancelled(error)) return { kind: 'timeout', afterMs: limits.timeoutMs };
  if (!isOfStatement(error)) throw toEngineError(error, target);
  const message = oneLine((error as SdkError).message);
  return { kind: 'sql-error', message, code: codeOf(error), elapsedMs: limits.elapsedMs };
}

export const isCancelled = (error: unknown): boolean =>
  CANCELLED.has(codeOf(error)) || (error as SdkError).sqlState === '57014';

/** Whether the statement itself caused the error, which includes its cancellation: other statements may still run. */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(error);
  return (error as SdkError).sqlState !== undefined && /^[01]\d{5}$/.test(code) && !isInfrastructure(code);
}

/** Warehouse errors, and server failures for which Snowflake asks to retry. */
const isInfrastructure = (code: string): boolean => WAREHOUSE.has(code) || /^00060[0235]$/.test(code);

export function toEngineError(error: unknown, target: Target): SqlEngineError {
  if (error instanceof SqlEngineError) return error;
  const { account, user, role, warehouse, database, schema } = target;
  const { message } = error as SdkError;
  const code = codeOf(error);
  const options = { cause: error };
  const said = oneLine(message);
  if (error instanceof NoAnswer)
    return new SqlEngineError('connection', `Snowflake account ${account} does not answer: ${said}`, options);
  if (WAREHOUSE.has(code)) {
    const which = warehouse ?? 'none is named';
    return new SqlEngineError(
      'not-configured',
      `Snowflake cannot use the warehouse (${which}): ${said}; name one that ${user} may use and that can run`,
      options,
    );
  }
  if (SESSION_GONE.has(code))
    return new SqlEngineError('connection', `the session with Snowflake ended: ${said}`, options);
  switch (code) {
    case '390100':
      return new SqlEngineError(
        'authentication',
        `Snowflake refused ${user}: ${said} Check user and password`,
        options,
      );
    case '390144':
      return new SqlEngineError(
        'authentication',
        `Snowflake refused the key of ${user}: ${said} Check that its public half is set (ALTER USER … SET RSA_PUBLIC_KEY) and the clock`,
        options,
      );
    case '390189':
    case '390186':
      return new SqlEngineError(
        'authentication',
        `Snowflake does not grant the role ${role ?? '(default)'} to ${user}: ${said}`,
        options,
      );
    case '390201': {
      const named = [database, schema ?? '', warehouse ?? ''].filter(Boolean).join(', ');
      return new SqlEngineError('not-found', `Snowflake does not know, or not show, one of ${named}: ${said}`, options);
    }
    default:
  }
  if (/^39\d{4}$/.test(code))
    return new SqlEngineError('authentication', `Snowflake refused ${user}: ${said}; check the login`, options);
  const status = statusOf(error);
  if (status === 403 || status === 404)
    return new SqlEngineError('not-found', `there is no Snowflake account ${account}: check the URL`, options);
  const reason = networkCode(error);
  if (reason === 'ENOTFOUND')
    return new SqlEngineError(
      'not-found',
      `there is no host for the Snowflake account ${account}: check the URL`,
      options,
    );
  if (/^40(4|3)\d{3}$/.test(code) || /private key|passphrase|decrypt|PEM/i.test(message))
    return new SqlEngineError('not-configured', `the Snowflake login cannot be used: ${said}`, options);
  return new SqlEngineError(
    'connection',
    `lost Snowflake account ${account}: ${reason === null ? said : `${said} (${reason})`}`,
    options,
  );
}

function codeOf(error: unknown): string {
  const { code } = error as SdkError;
  return code === undefined ? '' : String(code).padStart(6, '0');
}

function statusOf(error: unknown): number | null {
  for (const { response } of chain(error)) {
    const status = response?.statusCode ?? response?.status;
    if (status !== undefined) return status;
  }
  return null;
}

function networkCode(error: unknown): string | null {
  for (const { code } of chain(error)) if (typeof code === 'string' && /^[A-Z][A-Z_]+$/.test(code)) return code;
  return null;
}

function* chain(error: unknown): Generator<SdkError> {
  for (let each = error; typeof each === 'object' && each !== null; each = (each as SdkError).cause)
    yield each as SdkError;
}

const oneLine = (message: string): string => message.trim().replace(/\s*\n\s*/g, ' ');
