/**
 * Maps the errors of ports to Temporal failures (design D5). Outages are retried, a 429 after the server's own delay. An
 * error that no retry can fix fails at once, with a type and the setting to change. Messages are cut to one line and
 * stripped of credentials, because they are stored in the history.
 */
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { ModelErrorCode } from '../domain/ports/language-model';
import type { StoreErrorCode } from '../domain/ports/object-store';
import type { SqlEngineErrorCode } from '../domain/ports/sql-engine';
import type { WebErrorCode } from '../domain/ports/web';

interface Rule {
  readonly retry: boolean;
  /** What to change; not appended if the message already says it. */
  readonly advice?: string;
  /** How often it is tried where it is retried; left out: until the time for an outage is over. */
  readonly tries?: number;
  /** Expected under load: logged at debug level and not counted as a failure. */
  readonly benign?: boolean;
}

const MODEL_RULES: Readonly<Record<ModelErrorCode, Rule>> = {
  'rate-limited': { retry: true, benign: true },
  'server-error': { retry: true },
  connection: { retry: true },
  timeout: { retry: true },
  'bad-answer': { retry: true, tries: 3, advice: 'check OPENAI_BASE_URL' },
  authentication: { retry: false, advice: 'check OPENAI_API_KEY' },
  'unknown-model': { retry: false, advice: 'set GATE_MODEL (or --model) to a model that the endpoint serves' },
  'bad-request': { retry: false, advice: 'check the model settings (GATE_MODEL, temperature, top-p, output cap)' },
  'context-too-long': { retry: false },
  'not-configured': { retry: false, advice: 'set OPENAI_BASE_URL and OPENAI_API_KEY' },
  'recording-mismatch': { retry: false, advice: 'record again, or leave --replay out' },
  'recording-ended': { retry: false, advice: 'record again, or leave --replay out' },
};

const SQL_RULES: Readonly<Record<SqlEngineErrorCode, Rule>> = {
  connection: { retry: true },
  // A statement that ends the server must not be sent to it for an hour.
  lost: { retry: true, tries: 2, advice: "look at the database's log: the statement may be why" },
  authentication: { retry: false, advice: 'check the user and password of the database URL' },
  'not-found': { retry: false, advice: 'check the path or URL given with --db' },
  'not-configured': { retry: false, advice: 'configure the database on this worker' },
  'not-read-only': { retry: false, advice: 'give a connection that can be made read-only' },
};

const STORE_RULES: Readonly<Record<StoreErrorCode, Rule>> = {
  unavailable: { retry: true },
  corrupt: { retry: false },
  missing: { retry: false },
  conflict: { retry: false },
  // Another worker may have the key, so this is retried.
  'wrong-key': { retry: true },
  full: { retry: false, advice: 'free space in the store, then ask again: finished steps are kept' },
  misconfigured: { retry: false, advice: 'check GATE_STORE (gate doctor tries it)' },
};

/** Errors of a page are observations (`roles/web.ts`). They arrive here only if another try may help. */
const WEB_RULES: Readonly<Record<WebErrorCode, Rule>> = {
  connection: { retry: true },
  timeout: { retry: true },
  'rate-limited': { retry: true, benign: true },
  'server-error': { retry: true },
  authentication: { retry: false, advice: 'check the key that web.apiKeyEnv or web.apiKeyFile names' },
  'not-configured': { retry: false, advice: 'set "web" in the configuration of this worker' },
  misconfigured: { retry: false },
  'bad-answer': { retry: false },
  refused: { retry: false },
  robots: { retry: false },
  'not-found': { retry: false },
  unsupported: { retry: false },
};

const FAMILIES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  ModelError: MODEL_RULES,
  SqlEngineError: SQL_RULES,
  StoreError: STORE_RULES,
  WebError: WEB_RULES,
};

/** A server may ask for hours; the schedule-to-close limit of the activity is one hour. */
const LONGEST_DELAY_MS = 10 * 60_000;
/** An unexpected error may be temporary, so it is tried this often. */
const UNFORESEEN_ATTEMPTS = 4;
const DEFECTS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'ZodError']);

/**
 * Temporal's own failures pass unchanged. The type of others is `<Family>.<code>`, e.g. `ModelError.rate-limited`. `attempt`: of
 * the activity, from 1.
 */
export function toFailure(error: unknown, attempt = 1): ApplicationFailure | CancelledFailure {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  const { name, code, message, retryAfterMs } = describe(error);
  const rule = FAMILIES[name]?.[code];
  if (rule === undefined) return unforeseen(name, message, attempt);
  return ApplicationFailure.create({
    message: withAdvice(message, rule, name),
    type: `${name}.${code}`,
    nonRetryable: !rule.retry || attempt >= (rule.tries ?? Infinity),
    ...(rule.retry && retryAfterMs !== null ? { nextRetryDelay: Math.min(retryAfterMs, LONGEST_DELAY_MS) } : {}),
    ...(rule.benign === true ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
}

/** One line of at most 500 characters, without passwords, keys and tokens. */
export function publicMessage(text: string): string {
  const clean = text
    .replace(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/]*@/gi, '$1***@')
    .replace(/\b(sk|pk|rk|ghp|xox[abp])[-_][A-Za-z0-9_-]{8,}/g, '***')
    .replace(/\bBearer\s+\S+/gi, 'Bearer ***')
    .replace(
      /\b(password|passwd|pwd|api[_-]?key|token|secret)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)/gi,
      '$1$2***',
    )
    .replace(/\s+/g, ' ')
    .trim();
  return clean.length > 500 ? `${clean.slice(0, 499)}…` : clean;
}

function describe(error: unknown) {
  if (!(error instanceof Error) && !isErrorLike(error)) {
    return {
      name: 'unknown',
      code: '',
      message: typeof error === 'string' ? error : 'no error message',
      retryAfterMs: null,
    };
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const options = 'options' in error && typeof error.options === 'object' ? error.options : null;
  const after = options !== null && 'retryAfterMs' in options ? options.retryAfterMs : null;
  const retryAfterMs = typeof after === 'number' && Number.isFinite(after) && after >= 0 ? after : null;
  return { name: error.name, code, message: error.message, retryAfterMs };
}

/** Errors of another realm (a test sandbox, a child process) are not `instanceof Error`; they are recognised by their fields. */
function isErrorLike(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value && 'name' in value;
}

function unforeseen(name: string, message: string, attempt: number): ApplicationFailure {
  const defect = DEFECTS.has(name);
  return ApplicationFailure.create({
    message: publicMessage(`unexpected ${name}: ${message}`),
    type: defect ? 'Defect' : 'Unexpected',
    nonRetryable: defect || attempt >= UNFORESEEN_ATTEMPTS,
  });
}

/** A message with one of our settings already says what to change. */
const SETTING = /\b(OPENAI|GATE|TEMPORAL)_[A-Z_]+\b|--(record|replay|model|db)\b/;

/** Messages of our database adapters mostly end with an instruction. */
const INSTRUCTION =
  /[:;.] (add|ask|change|check|correct|give|grant|install|log in|name|open|renew|turn|use|write) [^:;]+(\([^)]*\))?$/i;

function withAdvice(message: string, rule: Rule, family: string): string {
  const text = publicMessage(message);
  if (rule.advice === undefined) return text;
  const isComplete = SETTING.test(text) || (family === 'SqlEngineError' && INSTRUCTION.test(text));
  return isComplete ? text : `${text.replace(/\.$/, '')}: ${rule.advice}`;
}
