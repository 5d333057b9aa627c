/**
 * Sorts the errors of BigQuery, the login and the network: an error that the statement caused is a value, an infrastructure
 * error is thrown. Each message is one line and holds no secret: of an error only its message and codes are kept, because the
 * login's errors hold the request with its token.
 */
import { oneLine } from '../../clip';
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { errorBy, networkCode, type EngineErrors, type Outcome } from '../kit/engine';
import type { Target } from './target';

export class ApiFailure extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** BigQuery's word for it, `notFound` for example; empty: it has none. */
    readonly reason: string,
    /** Of the network or the login, `ECONNREFUSED` for example. */
    readonly code: string,
  ) {
    super(message);
  }

  /** The same request, or job, may go through a second later. */
  get isPassing(): boolean {
    return (
      PASSING.has(this.reason) || [429, 502, 503, 504].includes(this.status) || /^(ECONNRESET|EPIPE)$/.test(this.code)
    );
  }
}

const PASSING = new Set(['backendError', 'rateLimitExceeded', 'jobBackendError', 'jobInternalError', 'jobRateLimitExceeded', 'internalError']); // prettier-ignore

/** Of the network, or with the answer of BigQuery or of a login. */
interface Raw {
  readonly message: string;
  readonly name?: string;
  readonly response?: { readonly status: number; readonly data?: Body };
}
interface Body {
  readonly error?: string | { readonly message?: string; readonly errors?: readonly { readonly reason?: string }[] };
  readonly error_description?: string;
}

export function failureOf(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const { message, name = '', response } = error as Raw;
  const { error: said = '', error_description: described } = response?.data ?? {};
  const told = typeof said === 'string' ? described : said.message;
  const reason = typeof said === 'string' ? said : said.errors?.[0]?.reason;
  const text = told ?? (/^(Timeout|Abort)Error$/.test(name) ? 'no answer' : message);
  return new ApiFailure(oneLine(text), response?.status ?? 0, reason ?? '', networkCode(error));
}

/** Errors that the text of a statement causes, or its data, or its size. */
const OF_STATEMENT = /^(invalidQuery|invalid|notFound|duplicate|bytesBilledLimitExceeded|billingTierLimitExceeded|resourcesExceeded|responseTooLarge|notImplemented|tableUnavailable|unsupported)$/; // prettier-ignore

/** By its time limit, or because it was cancelled. */
export const isStopped = ({ reason }: ApiFailure): boolean => reason === 'stopped' || reason === 'timeout';

/** Why a job failed, and not why a request for its rows did. */
export const isOfJob = ({ reason, status }: ApiFailure): boolean =>
  reason.startsWith('job') || (status >= 400 && status < 500 && status !== 429);

/** The server's words, and what to change where they do not say it. */
export function toOutcome(error: unknown, target: Target): Outcome {
  if (!(error instanceof ApiFailure)) throw error;
  const { reason, message } = error;
  if (isStopped(error)) return { kind: 'timeout' };
  // What the project, dataset or job of the address lacks is not the statement's fault.
  const isOurs = reason === 'notFound' && /Not found: (Project|Job) |Not found: Dataset [^ ]+ was not found in location/.test(message); // prettier-ignore
  const isDenied = reason === 'accessDenied' && /Table |View /.test(message);
  if (!isDenied && (isOurs || !OF_STATEMENT.test(reason))) throw toEngineError(error, target);
  const help =
    reason === 'bytesBilledLimitExceeded' ? ': select fewer columns or partitions, or raise maxScanBytes' : '';
  return { kind: 'sql-error', message: `${message}${help}`, code: reason };
}

export function toEngineError(error: unknown, target: Target): SqlEngineError {
  if (error instanceof SqlEngineError) return error;
  const failure = failureOf(error);
  const { project, dataset, billing, location, endpoint, key } = target;
  const { message, reason, status, code } = failure;
  const facts = {
    ...{ project, dataset, billing, endpoint, message },
    location: location ?? 'not given',
    who: key === null ? 'the login of Application Default Credentials' : key.client_email,
  };
  const says = `${reason || '-'} http:${status} ${code} | ${message}`;
  const lost = `lost BigQuery (${endpoint}): ${message || reason}${code === '' ? '' : ` (${code})`}`;
  return errorBy(ERRORS, says, facts, lost, failure);
}

/** By BigQuery's reason, the HTTP status, the code of the network, and the message after a bar. */
const ERRORS: EngineErrors = [
  [/Could not load the default credentials/, 'authentication', 'BigQuery needs a login: set keyFile in the URL, bigquery.keyFile or keyEnv for this database, or run gcloud auth application-default login'],
  [/DECODER|PEM|private key|asn1|secretOrPrivateKey/i, 'not-configured', 'the key of {who} cannot be used: {message}; create another key'],
  [/invalid_grant|invalid_client|^\S+ http:401 /, 'authentication', 'BigQuery refused {who}: {message}; check the key and the clock of this machine'],
  [/not found in location/, 'not-found', '{message}: set location in the URL to where the dataset is (now: {location})'],
  [/^notFound .*Not found: (Dataset|Table)/, 'not-found', '{message}: check project ({project}) and dataset ({dataset}) in the URL'],
  [/^notFound |^\S+ http:404 /, 'not-found', '{message}: check project ({project}), billing ({billing}) and location ({location}) in the URL'],
  [/^billingNotEnabled |billing has not been enabled|billing to be enabled/i, 'not-configured', 'the project {billing} has no billing account: {message}; name one that has in billing'],
  [/^accessDenied .*bigquery\.jobs\.create/, 'authentication', '{who} may not run queries in {billing}: grant it roles/bigquery.jobUser there, or name another project in billing'],
  [/^(accessDenied|forbidden) |^\S+ http:403 .*(permission|denied)/i, 'authentication', '{who} may not do this: {message}; grant it roles/bigquery.dataViewer on {project}.{dataset}'],
  [/^(quotaExceeded|jobRateLimitExceeded|rateLimitExceeded) /, 'connection', 'a quota of {billing} is used up: {message}'],
  [/^accessNotConfigured |SERVICE_DISABLED|has not been used in project/, 'not-configured', 'the BigQuery API is off in {billing}: {message}'],
  [/ (ENOTFOUND|EAI_AGAIN) /, 'connection', 'there is no host for {endpoint}: check the network, and endpoint in the URL'],
  [/\| no answer$/, 'connection', 'BigQuery ({endpoint}) does not answer'],
]; // prettier-ignore

/** The table was dropped since, or may not be read. */
export const isGone = (error: unknown): boolean => error instanceof ApiFailure && [403, 404].includes(error.status);

/** Null: it is gone. */
export async function gone<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
}
