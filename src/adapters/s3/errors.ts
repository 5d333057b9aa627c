/**
 * The only mapping from S3 errors to `StoreError`. An outage is `unavailable` and is retried. A missing bucket, a missing
 * right and a wrong key are `misconfigured`; the message is one line and names the setting to change. The SDK's own texts
 * are not repeated, because some contain the access key.
 */
import { StoreError, type StoreErrorCode } from '../../domain/ports';
import { sorted, type ErrorTable } from '../error-table';

/** For messages: where the store is and where its key comes from. No secrets. */
interface S3Place {
  readonly bucket: string;
  /** `s3://bucket/prefix` and the endpoint. */
  readonly location: string;
  readonly credentialsFrom: string;
}

const OUTAGES = new Set([
  ...['SlowDown', 'SlowDownRead', 'SlowDownWrite', 'RequestTimeout', 'InternalError', 'ServiceUnavailable'],
  ...['ThrottlingException', 'Throttling', 'TooManyRequests', 'RequestLimitExceeded', 'TimeoutError', 'AbortError'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** By the code, the HTTP status, and the message after a bar. */
const ERRORS: ErrorTable<StoreErrorCode> = [
  [/^NoSuchBucket /, 'misconfigured', 'the bucket "{bucket}" does not exist ({location}): create it, or correct GATE_STORE'],
  [/^(InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|ExpiredTokenException|InvalidToken|TokenRefreshRequired|UnrecognizedClientException) /, 'misconfigured', '{location} does not accept the key from {credentialsFrom} ({code}): correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'],
  [/^CredentialsProviderError /, 'misconfigured', 'no key for {location}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'],
  [/^(RequestTimeTooSkewed|RequestExpired) /, 'misconfigured', "{location} refuses this machine's clock ({code}): set the clock right, GATE_STORE cannot be used until then"],
  [/^(AccessDenied|Forbidden|AllAccessDisabled|AccountProblem|MethodNotAllowed) |^\S* 403 /, 'misconfigured', '{location} may not be {done} with the key from {credentialsFrom}: allow s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket, or correct GATE_STORE'],
  [/^(AuthorizationHeaderMalformed|PermanentRedirect|IllegalLocationConstraintException) |^\S+ 301 /, 'misconfigured', 'the bucket "{bucket}" is {where} ({location}): set AWS_REGION to {region}'],
  [/^(QuotaExceeded|XMinioStorageFull|InsufficientStorage) |^\S* 507 /, 'full', 'No space left in {location}'],
  [/^NotImplemented |^\S* 501 /, 'misconfigured', '{location} does not support conditional writes (If-None-Match): choose another S3 server for GATE_STORE'],
  [/ \| Region is missing/, 'misconfigured', 'no region for {location}: set AWS_REGION'],
  [/^(ERR_INVALID_URL|InvalidBucketName) /, 'misconfigured', '{location} is not a valid address ({code}): correct GATE_STORE or AWS_ENDPOINT_URL_S3'],
  [new RegExp(`^(${[...OUTAGES].join('|')}) |^\\S* (5..|429|408) `), 'unavailable', 'the store {location} cannot be reached ({code})'],
  [/ \| .*checksum mismatch/is, 'unavailable', 'what {location} sent does not match its checksum'],
  [/^\S* 4\d\d /, 'misconfigured', '{location} refuses the request ({code}): check GATE_STORE'],
]; // prettier-ignore

export function isNoSuchKey(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(codeOf(error));
}

/** The bytes do not match their checksum. */
export function isGarbled(error: unknown): boolean {
  return /checksum mismatch/i.test(messageOf(error));
}

/** Another writer of the same new key was faster, or is writing now. */
export function isTaken(error: unknown): boolean {
  return isThere(error) || codeOf(error) === 'ConditionalRequestConflict';
}

/** The server says that the key exists and that nobody is writing it. */
export function isThere(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** An error that comes neither from S3 nor from the network is a defect of the program and is returned unchanged. */
export function toStoreError(error: unknown, doing: 'read' | 'write', place: S3Place): unknown {
  if (error instanceof StoreError || error instanceof RangeError) return error;
  const code = codeOf(error);
  const status = statusOf(error);
  const region = regionOf(error);
  const found = sorted(ERRORS, `${code} ${status} | ${messageOf(error)}`, {
    ...place,
    code: code || String(status),
    done: doing === 'write' ? 'written to' : 'read',
    where: region === null ? 'in another region' : `in the region ${region}`,
    region: region ?? "the bucket's",
  });
  return found === null ? error : new StoreError(found.code, found.line, { cause: error });
}

/** The `name` of an S3 error, else the system's error code. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { name, code, Code } = error as { name?: unknown; code?: unknown; Code?: unknown };
  if (typeof code === 'string' && (OUTAGES.has(code) || code.startsWith('ERR_'))) return code;
  if (typeof Code === 'string') return Code;
  if (typeof name === 'string' && !['Error', 'TypeError', 'AggregateError'].includes(name)) return name;
  if (typeof code === 'string') return code;
  // The SDK wraps what it takes for no error (one of another realm), and keeps only the text.
  return (
    messageOf(error)
      .split(/[^A-Z_]+/)
      .find((word) => OUTAGES.has(word)) ?? ''
  );
}

/** S3 names it in the body or in a header. */
function regionOf(error: unknown): string | null {
  const { Region: named, $response: response } = (error ?? {}) as {
    readonly Region?: unknown;
    readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  };
  const told = response?.headers?.['x-amz-bucket-region'];
  return typeof named === 'string' ? named : (told ?? null);
}

function statusOf(error: unknown): number {
  const metadata = (error as { $metadata?: { httpStatusCode?: unknown } } | null)?.$metadata;
  return typeof metadata?.httpStatusCode === 'number' ? metadata.httpStatusCode : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
