/**
 * The only mapping from the client's errors to `ModelError`. The code decides whether the call is retried: rate-limited,
 * server-error, connection and timeout are, and bad-answer a few times; the messages of the others name the setting to change.
 * No message or cause contains the key: the endpoint's text is redacted first, and the text of a 401, which quotes a part of
 * the key, is left out.
 */
import { types } from 'node:util';
import { APIConnectionError, APIError } from 'openai';
import { oneLine } from '../../clip';
import { ModelError, type ModelErrorCode } from '../../domain/ports';
import { sorted, type ErrorTable } from '../error-table';

/** To set up a connection, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

export interface CallContext {
  readonly endpoint: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
}

export function toModelError(error: unknown, context: CallContext): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof APIConnectionError) return connectionError(error, context);
  if (error instanceof APIError && typeof error.status === 'number') {
    const { status, code, type, headers, message } = error as APIError<number, Headers, undefined>;
    return httpError({ status, code, type, headers, message: message.replace(/^\d{3} /, '') }, context);
  }
  return unreadable(error, context);
}

export function timeoutError(context: CallContext, cause?: unknown): ModelError {
  const message = `${context.endpoint} gave no complete reply within ${context.timeoutMs} ms (model "${context.model}")`;
  return new ModelError('timeout', message, { cause: redactedCause(cause, context) });
}

/** A failure that a gateway reports inside a 200: `{"error": {"code": 429, "message": …}}`. */
export function errorInBody(
  { code, message, type }: { code?: unknown; message?: unknown; type?: unknown },
  context: CallContext,
): ModelError {
  const status = Number(code) >= 400 && Number(code) < 600 ? Number(code) : 502;
  const said = typeof message === 'string' && message !== '' ? message : 'an error without a message';
  return httpError({ status, code, type, message: said }, context);
}

interface HttpFailure {
  readonly status: number;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message: string;
  readonly headers?: Headers;
}

function httpError({ status, code, type, message, headers }: HttpFailure, context: CallContext): ModelError {
  const { endpoint, model, apiKey } = context;
  const said = `${endpoint} answered ${status}: ${oneLine(message, 300)}`;
  const noKey = apiKey === null ? 'needs a key: set OPENAI_API_KEY' : 'rejected the key: check OPENAI_API_KEY';
  const [codeSaid, typeSaid] = [code, type].map((value) => (typeof value === 'string' ? value : ''));
  const says = `${status} code:${codeSaid} type:${typeSaid} | ${message}`;
  const found = sorted(ERRORS, says, { endpoint, model, said, noKey }) ?? { code: 'bad-request', line: said };
  const isRetried = found.code === 'rate-limited' || found.code === 'server-error';
  // The endpoint's own word on whether to call again wins over the status.
  const word = headers?.get('x-should-retry');
  if (word === 'true' && !isRetried) {
    found.code = 'server-error';
    found.line = `${endpoint} asks for another try: ${found.line}`;
  } else if (word === 'false' && isRetried) {
    found.code = 'bad-request';
    found.line += ' (the endpoint says not to try again)';
  }
  const waits = found.code === 'rate-limited' || found.code === 'server-error';
  const options = waits && headers !== undefined ? { retryAfterMs: retryAfterMs(headers) } : {};
  return new ModelError(found.code, withoutKey(found.line, apiKey), options);
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
  return new ModelError('connection', withoutKey(message, context.apiKey), {
    cause: redactedCause(error, context),
    ...(codes.some((code) => UNSENT.has(code)) && { unsent: true }),
  });
}

/** Neither an HTTP status nor a connection error: the body broke off or was not what it claimed to be. */
function unreadable(error: unknown, context: CallContext): ModelError {
  const why = types.isNativeError(error) ? oneLine(error.message, 300) : 'not an error object';
  const [code, what] =
    types.isNativeError(error) && error.name === 'SyntaxError'
      ? ([/["']<|<!doctype|<html/i.test(error.message) ? 'bad-answer' : 'server-error', 'sent malformed JSON'] as const)
      : (['connection', 'broke off its reply'] as const);
  return new ModelError(code, withoutKey(`${context.endpoint} ${what}: ${why}`, context.apiKey), {
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

/** A cause may be serialised with the error, so it carries a redacted message and nothing else of the original. */
function redactedCause(error: unknown, context: CallContext): Error | undefined {
  if (!types.isNativeError(error)) return undefined;
  const copy = new Error(withoutKey(oneLine(error.message, 300), context.apiKey));
  copy.name = error.name;
  copy.stack = `${copy.name}: ${copy.message}`;
  return copy;
}

/** Removes the key from an endpoint's message; one of a few letters, as used for local servers, only where it is a word of its own. */
function withoutKey(message: string, apiKey: string | null): string {
  const literal = (apiKey ?? '').replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const key = literal.length > 7 ? literal : `(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`;
  const plain = literal === '' ? message : message.replace(new RegExp(key, 'g'), '[key]');
  return plain.replace(/\b(sk|pk|key)-[\w*-]{4,}[\w*.-]*/g, '[key]');
}

const MAX_RETRY_AFTER_MS = 60_000;

/**
 * How long an endpoint asks to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date, which starts with the
 * name of a day. A wait of zero, in the past or unreadable is none. One over 60 s is capped there: the caller asks again and is
 * told the rest, so a bad header cannot park a search for a day.
 */
function retryAfterMs(headers: Headers): number | undefined {
  const after = headers.get('retry-after') ?? '';
  const date = /^\s*[A-Z]/.test(after) ? Date.parse(after) - Date.now() : NaN;
  const asked = [Number(headers.get('retry-after-ms')), Number(after) * 1_000, date].find((ms) => ms > 0);
  return asked === undefined ? undefined : Math.min(Math.ceil(asked), MAX_RETRY_AFTER_MS);
}
