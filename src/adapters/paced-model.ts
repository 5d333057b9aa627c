/**
 * A language model within its limits. Each model name has its own pace in this process: its requests and tokens a minute, its
 * calls at the same time, and one common pause after a refusal. A call is never made twice here: what is refused is thrown as it
 * came, with the time at which the pause is over.
 *
 * 1. The lowest rank goes first, and within a rank who came first; a call that would wait too long is told when to come back
 *    instead.
 * 2. A 429 pauses all calls for the time that the endpoint gives (with jitter, because other processes were told the same)
 *    and halves the number of concurrent calls. Each success raises it a little again. So only the calls already in flight
 *    are refused, even if no limit is configured or the configured one is too high.
 * 3. Tokens are reserved by an estimate and corrected by what the reply used.
 */
import { ModelError, type LanguageModel, type ModelReply, type ModelRequest } from '../domain/ports';

/** null: no limit. All are this process's share. */
export interface PaceLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

const NO_LIMITS: PaceLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
/**
 * How long a call may wait inside its activity, which has the time for it where limits are configured
 * (`workflows/proxied-steps.ts`); without, only for a moment.
 */
const LONGEST_WAIT_MS = 120_000;
const SHORT_WAIT_MS = 10_000;
/** A rule of thumb for English and SQL; the first replies correct it. */
const CHARS_PER_TOKEN = 4;

/** `limitsOf` null: no limits are configured for this model, only refusals are heeded. `rankOf`: of the call that is about to wait. */
export function createPacedModel(
  inner: LanguageModel,
  limitsOf: (model: string) => PaceLimits | null,
  rankOf: () => number = () => 0,
): LanguageModel {
  const models = new Map<string, LanguageModel['complete']>();
  return {
    endpoint: inner.endpoint,
    complete: (request, options) => {
      const complete = models.get(request.model) ?? pacedCalls(inner, limitsOf(request.model), rankOf);
      models.set(request.model, complete);
      return complete(request, options);
    },
  };
}

function pacedCalls(inner: LanguageModel, limits: PaceLimits | null, rankOf: () => number): LanguageModel['complete'] {
  const pace = new Pace(limits ?? NO_LIMITS, limits === null ? SHORT_WAIT_MS : LONGEST_WAIT_MS);
  /** Running mean of how long replies were; null before the first. */
  let meanReply: number | null = null;
  const estimate = ({ messages, maxOutputTokens }: ModelRequest): number => {
    const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
    return Math.ceil(chars / CHARS_PER_TOKEN + Math.min(maxOutputTokens, meanReply ?? maxOutputTokens));
  };
  return async (request, options): Promise<ModelReply> => {
    const call = await pace.begin(estimate(request), options.signal, rankOf()).catch((error: unknown) => {
      if (!(error instanceof NoPlaceError)) throw error;
      const message = `${request.model} is at its limit (models.limits, or the endpoint's own): waiting for a place`;
      throw new ModelError('rate-limited', message, { retryAfterMs: error.retryAfterMs });
    });
    try {
      const reply = await inner.complete(request, options);
      const { promptTokens, completionTokens } = reply;
      call.ended(promptTokens + completionTokens);
      meanReply ??= completionTokens;
      meanReply += (completionTokens - meanReply) / 8;
      return reply;
    } catch (error) {
      const { code, options: said } = error instanceof ModelError ? error : { code: null, options: {} };
      if (code !== 'rate-limited' && (code !== 'server-error' || said.retryAfterMs === undefined)) {
        call.ended(null);
        throw error;
      }
      const retryAfterMs = call.refused(said.retryAfterMs ?? null);
      throw new ModelError(code, (error as Error).message, { cause: error, retryAfterMs });
    }
  };
}

/** A call under way; exactly one of its methods is called. */
export interface PacedCall {
  /** `tokens` null: unknown, so the estimate stands. */
  ended(tokens: number | null): void;
  /** By a 429 or an overloaded endpoint; null: it did not say for how long. Nothing was used. Gives the time to wait. */
  refused(retryAfterMs: number | null): number;
}

/** No place in time; come back after `retryAfterMs`. */
class NoPlaceError extends Error {
  constructor(readonly retryAfterMs: number) {
    super('no place in time');
  }
}

interface Waiter {
  readonly tokens: number;
  readonly rank: number;
  readonly go: (call: PacedCall) => void;
}

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 60_000;
const LARGEST_JITTER_MS = 2_000;
/** As many at the same time as if nothing had been refused. */
const FULLY_RECOVERED = 64;

export class Pace {
  readonly #requests: Bucket | null;
  readonly #tokens: Bucket | null;
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #underWay = 0;
  /** How many may be under way after refusals. */
  #room = Infinity;
  #pausedUntilMs = 0;
  #refusals = 0;

  /** A call waits here at most `longestWaitMs`. */
  constructor(
    private readonly limits: PaceLimits,
    private readonly longestWaitMs: number,
  ) {
    this.#requests = limits.requestsPerMinute === null ? null : new Bucket(limits.requestsPerMinute, 1);
    this.#tokens = limits.tokensPerMinute === null ? null : new Bucket(limits.tokensPerMinute, 0);
  }

  /** Resolves when the call may begin. Rejects with the signal's reason, or with `NoPlaceError`. */
  async begin(tokens: number, signal: AbortSignal, rank = 0): Promise<PacedCall> {
    signal.throwIfAborted();
    const pauseMs = this.#pausedUntilMs - Date.now();
    if (pauseMs > this.longestWaitMs) throw new NoPlaceError(later(pauseMs));
    let end: () => void = () => undefined;
    const begun = new Promise<PacedCall>((resolve, reject) => {
      const waiter: Waiter = { tokens, rank, go: resolve };
      const leave = (error: Error): void => {
        // At once: a place given to one that has left would never be free again.
        this.#waiting.delete(waiter);
        reject(error);
      };
      const aborted = (): void => leave(signal.reason as Error);
      const deadline = setTimeout(() => leave(new NoPlaceError(later(0))), this.longestWaitMs);
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(waiter);
      end = () => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', aborted);
        // Whoever stood behind one that left may go now.
        this.#pump();
      };
    });
    this.#pump();
    return begun.finally(end);
  }

  #pump(): void {
    clearTimeout(this.#timer);
    for (const waiter of [...this.#waiting].sort((a, b) => a.rank - b.rank)) {
      const waitMs = this.#waitMs(waiter.tokens);
      if (waitMs > 0) {
        // Infinity: no timer, because a call that ends pumps again.
        if (waitMs < Infinity) this.#timer = setTimeout(() => this.#pump(), waitMs);
        return;
      }
      this.#requests?.take(1);
      this.#tokens?.take(waiter.tokens);
      this.#underWay += 1;
      this.#waiting.delete(waiter);
      waiter.go(this.#callOf(waiter.tokens));
    }
  }

  #waitMs(tokens: number): number {
    if (this.#underWay >= Math.min(Math.floor(this.#room), this.limits.concurrency ?? Infinity)) return Infinity;
    const pauseMs = this.#pausedUntilMs - Date.now();
    return Math.max(pauseMs, this.#requests?.waitMs(1) ?? 0, this.#tokens?.waitMs(tokens) ?? 0);
  }

  #callOf(reserved: number): PacedCall {
    const begunMs = Date.now();
    return {
      ended: (used) => {
        this.#underWay -= 1;
        if (used !== null) {
          this.#tokens?.take(used - reserved);
          this.#recover(begunMs);
        }
        this.#pump();
      },
      refused: (retryAfterMs) => {
        this.#tokens?.take(-reserved);
        this.#pause(begunMs, retryAfterMs);
        this.#underWay -= 1;
        this.#pump();
        return later(this.#pausedUntilMs - Date.now());
      },
    };
  }

  #recover(begunMs: number): void {
    if (begunMs < this.#pausedUntilMs) return;
    this.#refusals = 0;
    this.#room += 1 / this.#room;
    if (this.#room >= FULLY_RECOVERED) this.#room = Infinity;
  }

  #pause(begunMs: number, retryAfterMs: number | null): void {
    // Calls that were under way together are refused together: one event.
    if (begunMs >= this.#pausedUntilMs) {
      this.#room = Math.max(1, Math.floor(Math.min(this.#room, this.#underWay) / 2));
      this.#refusals += 1;
    }
    const waitMs = retryAfterMs ?? Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (this.#refusals - 1));
    const jitterMs = Math.min(waitMs / 10, LARGEST_JITTER_MS) * Math.random();
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, Date.now() + waitMs + jitterMs);
    this.#requests?.restartAt(this.#pausedUntilMs);
  }
}

/** `ms`, spread out: whoever was told the same does not come back together. */
function later(ms: number): number {
  return Math.ceil(ms + Math.random() * LARGEST_JITTER_MS);
}

const MINUTE_MS = 61_000;
const AT_ONCE = 0.1;

/**
 * A token bucket that keeps a limit per minute in every window of a minute: a tenth of the limit is available at once, the
 * rest is added evenly. Its minute lasts 61 seconds, because calls that leave evenly do not arrive evenly.
 */
class Bucket {
  readonly #capacity: number;
  readonly #perMs: number;
  #level: number;
  #at = Date.now();

  /** `grain`: the size of what is taken, when it is always the same (1 for requests); 0 when it varies (tokens). */
  constructor(perMinute: number, grain: 0 | 1) {
    this.#capacity = Math.max(1, Math.floor(perMinute * AT_ONCE));
    this.#perMs = Math.max(perMinute - this.#capacity + grain, 1) / MINUTE_MS;
    this.#level = this.#capacity;
  }

  /** How long until `amount` may be taken. An amount above the capacity waits for a full bucket, whose level then is negative. */
  waitMs(amount: number): number {
    const nowMs = Date.now();
    if (nowMs > this.#at) {
      this.#level = Math.min(this.#capacity, this.#level + (nowMs - this.#at) * this.#perMs);
      this.#at = nowMs;
    }
    const missing = Math.min(amount, this.#capacity) - this.#level;
    return this.#at - nowMs + (missing <= 1e-9 ? 0 : Math.ceil(missing / this.#perMs));
  }

  /** A negative amount is given back. */
  take(amount: number): void {
    this.#level = Math.min(this.#capacity, this.#level - amount);
  }

  /** Starts again at that time with at most one unit, because the endpoint has just refused a burst. */
  restartAt(timeMs: number): void {
    this.#level = Math.min(this.#level, 1);
    this.#at = Math.max(this.#at, timeMs);
  }
}
