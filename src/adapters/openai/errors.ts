/**
 * The only mapping from the client's errors to `ModelError`. The code decides whether the call is retried: rate-limited,
 * server-error, connection and timeout are, and bad-answer a few times; the messages of the others name the setting to change.
 * No message or cause contains the key: the endpoint's text is redacted first, and the text of a 401, which quotes a part of
 * the key, is left out.
 */
import { types } from 'node:util';
import { APIConnectionError, APIError } from 'openai';
import { ModelError, type ModelErrorCode } from '../../domain/ports';
import { sorted, type ErrorTable } from '../error-table';

/** To set up a connection, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

export interface CallContext {
  readonly endpoint: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly nowMs: number;
}

type AnyApiError = APIError<number | undefined, Headers | undefined, object | undefined>;

interface Finding {
  readonly code: ModelErrorCode;
  readonly message: string;
}

export function toModelError(error: unknown, context: CallContext): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof APIConnectionError) return connectionError(error, context);
  if (error instanceof APIError) {
    const failure = error as AnyApiError;
    if (failure.status !== undefined)
      return httpError({ ...fields(failure), status: failure.status, headers: failure.headers }, context);
  }
  return unreadable(error, context);
}

export function timeoutError(context: CallContext, cause?: unknown): ModelError {
  const message = `${context.endpoint} gave no complete reply within ${context.timeoutMs} ms (model "${context.model}")`;
  return new ModelError('timeout', message, { cause: redactedCause(cause, context) });
}

/** A failure that a gateway reports inside a 200: `{"error": {"code": 429, "message": …}}`. */
export function errorInBody(
  body: { code?: unknown; message?: unknown; type?: unknown },
  context: CallContext,
): ModelError {
  const status = Number(body.code);
  const said = {
    code: text(body.code),
    type: text(body.type),
    message: text(body.message) ?? 'an error without a message',
  };
  return httpError({ ...said, status: status >= 400 && status < 600 ? status : 502, headers: undefined }, context);
}

interface HttpFailure {
  readonly status: number;
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
  readonly headers: Headers | undefined;
}

function httpError(failure: HttpFailure, context: CallContext): ModelError {
  const found = honourRetryHeader(classify(failure, context), failure, context);
  const waits = found.code === 'rate-limited' || found.code === 'server-error';
  const wait = waits ? retryAfterMs(failure.headers, context.nowMs) : undefined;
  const capped = wait === MAX_RETRY_AFTER_MS ? `; waiting ${MAX_RETRY_AFTER_MS / 1000} s, the longest wait taken` : '';
  return new ModelError(found.code, redact(`${found.message}${capped}`, context), { retryAfterMs: wait });
}

function classify(failure: HttpFailure, context: CallContext): Finding {
  const { endpoint, model, apiKey } = context;
  const { status, code, type, message } = failure;
  const facts = {
    endpoint,
    model,
    said: `${endpoint} answered ${status}: ${oneLine(message)}`,
    noKey: apiKey === null ? 'needs a key: set OPENAI_API_KEY' : 'rejected the key: check OPENAI_API_KEY',
  };
  const says = `${status} code:${code ?? ''} type:${type ?? ''} | ${message}`;
  const found = sorted(ERRORS, says, facts) ?? { code: 'bad-request', line: facts.said };
  return { code: found.code, message: found.line };
}

const UNKNOWN_MODEL = '{endpoint} has no model "{model}" for this key: set GATE_MODEL to one it serves';

/**
 * An endpoint's own words for a request that does not fit the model's context. OpenAI and llama.cpp have a code for it; vLLM,
 * Ollama, LiteLLM, OpenRouter, TGI and gateways to Anthropic, Gemini and Mistral only say it in words, some with a status of 500.
 */
const TOO_LONG = [
  'context[ _-]?(length|size|window)[ _-]?(limit )?(has been |is |was )?exceeded',
  "exceed(s|ed|ing)? (the )?(model'?s )?(maximum |available |configured )?context",
  'maximum context length',
  'longer than the maximum model length',
  'input tokens exceed',
  '(prompt|input|request) is too long\\b',
  'input token count.{0,40}exceeds',
  'reduce the length of the (messages|prompt|input)',
  'inputs`? tokens \\+ `?max_new_tokens',
].join('|');

/** By the status, the code and the type of the answer, and its message after a bar. */
const ERRORS: ErrorTable<ModelErrorCode> = [
  [/^402 |^\d+ (code:\S* type|code):insufficient_quota /, 'authentication', 'The account behind OPENAI_API_KEY has no quota left at {endpoint}: add credit there or use another key'],
  [new RegExp(`^\\d+ (code:\\S* type|code):(context_length_exceeded|exceed_context_size_error) | \\| .*(${TOO_LONG})`, 'is'), 'context-too-long', 'The prompt is longer than the context of model "{model}": set GATE_MODEL to a model with a longer context, serve this one with a longer context, lower models.maxOutputTokens, or shorten --docs and --context. {said}'],
  [/^\d+ code:model_not_found /, 'unknown-model', UNKNOWN_MODEL],
  [/^400 .* \| .*(invalid model name|model .{0,80}(not found|does not exist))/is, 'unknown-model', UNKNOWN_MODEL],
  [/^401 /, 'authentication', '{endpoint} {noKey} (401)'],
  [/^403 /, 'authentication', 'The key in OPENAI_API_KEY may not use this model or endpoint. {said}'],
  [/^404 .* \| .*model/is, 'unknown-model', UNKNOWN_MODEL],
  [/^404 /, 'unknown-model', '{endpoint} answered 404 for model "{model}": check GATE_MODEL, and that OPENAI_BASE_URL ends where /chat/completions follows (often /v1)'],
  [/^429 /, 'rate-limited', '{said}'],
  // Not implemented, a wrong HTTP version, a redirect: the endpoint is another one than the configuration says.
  [/^(501|505|[123]\d\d) /, 'bad-answer', '{said}'],
  [/^(408|409|5\d\d) /, 'server-error', '{said}'],
]; // prettier-ignore

/** `x-should-retry` is the endpoint's own word on whether to call again, and wins over the status. */
function honourRetryHeader(found: Finding, failure: HttpFailure, context: CallContext): Finding {
  const word = failure.headers?.get('x-should-retry');
  const retried = found.code === 'rate-limited' || found.code === 'server-error';
  if (word === 'true' && !retried)
    return { code: 'server-error', message: `${context.endpoint} asks for another try: ${found.message}` };
  if (word === 'false' && retried)
    return { code: 'bad-request', message: `${found.message} (the endpoint says not to try again)` };
  return found;
}

/** What ended the call, never the configured time limit: that one is `timeoutError`. */
const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'its name cannot be resolved',
  ETIMEDOUT: 'the network gave up on the connection',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`,
};

/** Before a connection stands; of ETIMEDOUT and others nobody can tell. */
const UNSENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function connectionError(error: APIConnectionError, context: CallContext): ModelError {
  const codes = causeCodes(error);
  const known = codes.map((code) => CONNECTION_FAILURES[code]).find((words) => words !== undefined);
  const why = known ?? codes[0] ?? 'connection failed';
  const message = `${context.endpoint} cannot be reached (${why}): check OPENAI_BASE_URL and that the endpoint is up`;
  return new ModelError('connection', redact(message, context), {
    cause: redactedCause(error, context),
    ...(codes.some((code) => UNSENT.has(code)) && { unsent: true }),
  });
}

/** Neither an HTTP status nor a connection error: the body broke off or was not what it claimed to be. */
function unreadable(error: unknown, context: CallContext): ModelError {
  const why = types.isNativeError(error) ? oneLine(error.message) : 'not an error object';
  const [code, what] =
    types.isNativeError(error) && error.name === 'SyntaxError'
      ? ([/["']<|<!doctype|<html/i.test(error.message) ? 'bad-answer' : 'server-error', 'sent malformed JSON'] as const)
      : (['connection', 'broke off its reply'] as const);
  return new ModelError(code, redact(`${context.endpoint} ${what}: ${why}`, context), {
    cause: redactedCause(error, context),
  });
}

/** `isNativeError` and not `instanceof`: an error of `fetch` may come from another realm. System codes along the chain of causes (`fetch failed` carries its reason there). */
function causeCodes(error: unknown): string[] {
  const codes: string[] = [];
  for (let link: unknown = error, depth = 0; types.isNativeError(link) && depth < 6; link = link.cause, depth += 1) {
    if ('code' in link && typeof link.code === 'string') codes.push(link.code);
    const parts: readonly unknown[] = 'errors' in link && Array.isArray(link.errors) ? link.errors : [];
    for (const part of parts) codes.push(...causeCodes(part));
  }
  return codes;
}

function fields(error: AnyApiError): {
  code: string | null;
  type: string | null;
  message: string;
} {
  return { code: text(error.code), type: text(error.type), message: error.message.replace(/^\d{3} /, '') };
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function oneLine(message: string, limit = 300): string {
  const flat = message.replace(/\s+/g, ' ').trim();
  return flat.length > limit ? `${flat.slice(0, limit)}…` : flat;
}

const redact = (message: string, { apiKey }: CallContext): string => withoutKey(message, apiKey);

/** A cause may be serialised with the error, so it carries a redacted message and nothing else of the original. */
function redactedCause(error: unknown, context: CallContext): Error | undefined {
  if (!types.isNativeError(error)) return undefined;
  const copy = new Error(redact(oneLine(error.message), context));
  copy.name = error.name;
  copy.stack = `${copy.name}: ${copy.message}`;
  return copy;
}

const TINY = 3;
const SHORT = 7;

/**
 * Removes the key from an endpoint's message. A key of one to three characters ("x", as used for local servers) may also be
 * part of ordinary words, so it is removed only where it stands as a value. Removing it everywhere would make the message
 * unreadable and reveal the key.
 */
function withoutKey(message: string, apiKey: string | null): string {
  const plain = apiKey === null || apiKey === '' ? message : withoutValue(message, apiKey);
  return plain.replace(/\b(sk|pk|key)-[\w*-]{4,}[\w*.-]*/g, '[key]');
}

function withoutValue(message: string, key: string): string {
  if (key.length > SHORT) return message.replaceAll(key, '[key]');
  const literal = key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const before =
    key.length > TINY ? '(?<![A-Za-z0-9])' : '(?<=(?:key|token|bearer|provided)["\'`]?\\s*[:=]?\\s*["\'`]?)';
  return message.replace(new RegExp(`${before}${literal}(?![A-Za-z0-9])`, key.length > TINY ? 'g' : 'gi'), '[key]');
}

/**
 * How long an endpoint asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
 * A wait of zero, in the past or unreadable is no wait. One over 60 s is capped there: the caller asks again and is told
 * the rest, so a bad header cannot park a search for a day.
 */

const MAX_RETRY_AFTER_MS = 60_000;

function retryAfterMs(headers: Headers | undefined, nowMs: number): number | undefined {
  if (headers === undefined) return undefined;
  const asked = [
    numeric(headers.get('retry-after-ms')),
    scaled(numeric(headers.get('retry-after')), 1000),
    untilDate(headers.get('retry-after'), nowMs),
  ].find((value) => value !== undefined && value > 0);
  return asked === undefined ? undefined : Math.min(Math.ceil(asked), MAX_RETRY_AFTER_MS);
}

function numeric(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** HTTP dates start with the name of a day; without that check `Date.parse` reads '-5' as a month. */
function untilDate(text: string | null, nowMs: number): number | undefined {
  if (text === null || !/^\s*[A-Z][a-z]{2}/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
}
