/**
 * Sorts the errors of Snowflake, its driver and the network: an error that the statement caused is a value, an
 * infrastructure error is thrown. Each message is one line and holds no secret. Server codes have six digits and come with
 * an SQLSTATE: those that begin with 0 or 1 (compiling, running) belong to the statement, 39 to the login, 40 to the driver.
 */
import { oneLine } from '../../clip';
import type { SqlEngineError } from '../../domain/ports/sql-engine';
import { errorBy, networkCode, type EngineErrors, type Outcome } from '../kit/engine';
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
const WAREHOUSE = /^(000606|000607|090073|090078|090108)\b/;

/** The server accepted the cancellation but did not end the statement. */
export class Unanswered extends Error {}

export function toOutcome(error: unknown, target: Target): Outcome {
  if (error instanceof Unanswered || isCancelled(error)) return { kind: 'timeout' };
  if (!isOfStatement(error)) throw toEngineError(error, target);
  return { kind: 'sql-error', message: oneLine((error as SdkError).message), code: codeOf(error) };
}

export const isCancelled = (error: unknown): boolean =>
  CANCELLED.has(codeOf(error)) || (error as SdkError).sqlState === '57014';

/** Whether the statement itself caused the error, which includes its cancellation: other statements may still run. */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(error);
  return (error as SdkError).sqlState !== undefined && /^[01]\d{5}$/.test(code) && !isInfrastructure(code);
}

/** Warehouse errors, and server failures for which Snowflake asks to retry. */
const isInfrastructure = (code: string): boolean => WAREHOUSE.test(code) || /^00060[0235]$/.test(code);

export function toEngineError(error: unknown, target: Target): SqlEngineError {
  const { account, user, role, warehouse, database, schema } = target;
  const message = oneLine((error as SdkError).message);
  const network = networkCode(error);
  const code = error instanceof NoAnswer ? 'no-answer' : codeOf(error);
  const facts = {
    ...{ account, user, message },
    role: role ?? '(default)',
    warehouse: warehouse ?? 'none is named',
    named: [database, schema, warehouse].filter(Boolean).join(', '),
  };
  const lost = `lost Snowflake account ${account}: ${message}${network === '' ? '' : ` (${network})`}`;
  const says = `${code} http:${statusOf(error) ?? ''} ${network} | ${message}`;
  return errorBy(ERRORS, says, facts, lost, error);
}

/** By the code of the server or the driver, the HTTP status, the code of the network, and the message after a bar. */
const ERRORS: EngineErrors = [
  [/^no-answer /, 'connection', 'Snowflake account {account} does not answer: {message}'],
  [WAREHOUSE, 'not-configured', 'Snowflake cannot use the warehouse ({warehouse}): {message}; name one that {user} may use and that can run'],
  [/^(390104|39011[0-5]|390195) /, 'connection', 'the session with Snowflake ended: {message}'],
  [/^390100 /, 'authentication', 'Snowflake refused {user}: {message} Check user and password'],
  [/^390144 /, 'authentication', 'Snowflake refused the key of {user}: {message} Check that its public half is set (ALTER USER … SET RSA_PUBLIC_KEY) and the clock'],
  [/^39018[69] /, 'authentication', 'Snowflake does not grant the role {role} to {user}: {message}'],
  [/^390201 /, 'not-found', 'Snowflake does not know, or not show, one of {named}: {message}'],
  [/^39\d{4} /, 'authentication', 'Snowflake refused {user}: {message}; check the login'],
  [/^\S* http:40[34] /, 'not-found', 'there is no Snowflake account {account}: check the URL'],
  [/^\S* \S+ ENOTFOUND /, 'not-found', 'there is no host for the Snowflake account {account}: check the URL'],
  [/^40[34]\d{3} |\|.*(private key|passphrase|decrypt|PEM)/i, 'not-configured', 'the Snowflake login cannot be used: {message}'],
]; // prettier-ignore

function codeOf(error: unknown): string {
  const { code } = error as SdkError;
  return code === undefined ? '' : String(code).padStart(6, '0');
}

function statusOf(error: unknown): number | undefined {
  const { response, cause } = (error ?? {}) as SdkError;
  return response?.statusCode ?? response?.status ?? (cause === undefined ? undefined : statusOf(cause));
}
