/**
 * When calls to one model may begin, in this process: its requests and tokens a minute, its calls at the same time, and
 * one common pause after a refusal.
 *
 * 1. The lowest rank goes first, and within a rank who came first; a call that would wait too long is told when to come back
 *    instead.
 * 2. A 429 pauses all calls for the time that the endpoint gives (with jitter, because other processes were told the same)
 *    and halves the number of concurrent calls. Each success raises it a little again. So only the calls already in flight
 *    are refused, even if no limit is configured or the configured one is too high.
 * 3. Tokens are reserved by an estimate and corrected by what the reply used.
 */

/** null: no limit. All are this process's share. */
export interface PaceLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

interface PaceOptions {
  readonly limits: PaceLimits;
  /** A call waits here at most this long. */
  readonly longestWaitMs: number;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** A call under way; exactly one of its methods is called. */
export interface PacedCall {
  /** `tokens` null: unknown, so the estimate stands. */
  ended(tokens: number | null): void;
  /** By a 429 or an overloaded endpoint; null: it did not say for how long. Nothing was used. Gives the time to wait. */
  refused(retryAfterMs: number | null): number;
}

/** No place in time; come back after `retryAfterMs`. */
export class NoPlaceError extends Error {
  constructor(readonly retryAfterMs: number) {
    super(`no place within ${String(Math.ceil(retryAfterMs / 1000))} s`);
  }
}

interface Waiter {
  readonly tokens: number;
  readonly rank: number;
  readonly go: (call: PacedCall) => void;
  readonly leave: (error: Error) => void;
}

const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 60_000;
const LARGEST_JITTER_MS = 2_000;
/** As many at the same time as if nothing had been refused. */
const FULLY_RECOVERED = 64;

export class Pace {
  private readonly requests: Bucket | null;
  private readonly tokens: Bucket | null;
  private readonly waiting = new Set<Waiter>();
  private timer: NodeJS.Timeout | null = null;
  private underWay = 0;
  /** How many may be under way after refusals. */
  private room = Infinity;
  private pausedUntilMs = 0;
  private refusals = 0;

  constructor(private readonly options: PaceOptions) {
    const { requestsPerMinute, tokensPerMinute } = options.limits;
    this.requests = requestsPerMinute === null ? null : new Bucket(requestsPerMinute, 1, options.now());
    this.tokens = tokensPerMinute === null ? null : new Bucket(tokensPerMinute, 0, options.now());
  }

  /** Resolves when the call may begin. Rejects with the signal's reason, or with `NoPlaceError`. */
  begin(tokens: number, signal: AbortSignal, rank = 0): Promise<PacedCall> {
    signal.throwIfAborted();
    const pauseMs = this.pausedUntilMs - this.options.now();
    if (pauseMs > this.options.longestWaitMs) return Promise.reject(new NoPlaceError(this.later(pauseMs)));
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.waiting.delete(waiter);
        clearTimeout(deadline);
        signal.removeEventListener('abort', aborted);
      };
      const waiter: Waiter = {
        tokens,
        rank,
        go: (call) => {
          settle();
          resolve(call);
        },
        leave: (error) => {
          settle();
          reject(error);
          this.pump();
        },
      };
      const aborted = (): void => waiter.leave(signal.reason as Error);
      const deadline = setTimeout(() => waiter.leave(new NoPlaceError(this.later(0))), this.options.longestWaitMs);
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.add(waiter);
      this.pump();
    });
  }

  /** `ms`, spread out: whoever was told the same does not come back together. */
  private later(ms: number): number {
    return Math.ceil(ms + this.options.random() * LARGEST_JITTER_MS);
  }

  private pump(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    for (const waiter of [...this.waiting].sort((a, b) => a.rank - b.rank)) {
      const waitMs = this.waitMs(waiter.tokens);
      if (waitMs > 0) {
        // Infinity: no timer, because a call that ends pumps again.
        if (waitMs < Infinity) this.timer = setTimeout(() => this.pump(), waitMs);
        return;
      }
      this.requests?.take(1);
      this.tokens?.take(waiter.tokens);
      this.underWay += 1;
      waiter.go(this.callOf(waiter.tokens));
    }
  }

  private waitMs(tokens: number): number {
    const nowMs = this.options.now();
    if (this.underWay >= Math.min(Math.floor(this.room), this.options.limits.concurrency ?? Infinity)) return Infinity;
    return Math.max(
      this.pausedUntilMs - nowMs,
      this.requests?.waitMs(1, nowMs) ?? 0,
      this.tokens?.waitMs(tokens, nowMs) ?? 0,
    );
  }

  private callOf(reserved: number): PacedCall {
    const begunMs = this.options.now();
    return {
      ended: (used) => {
        this.underWay -= 1;
        if (used !== null) {
          this.tokens?.giveBack(reserved - used);
          this.recover(begunMs);
        }
        this.pump();
      },
      refused: (retryAfterMs) => {
        this.tokens?.giveBack(reserved);
        this.pause(begunMs, retryAfterMs);
        this.underWay -= 1;
        this.pump();
        return this.later(this.pausedUntilMs - this.options.now());
      },
    };
  }

  private recover(begunMs: number): void {
    if (begunMs < this.pausedUntilMs) return;
    this.refusals = 0;
    this.room += 1 / this.room;
    if (this.room >= FULLY_RECOVERED) this.room = Infinity;
  }

  private pause(begunMs: number, retryAfterMs: number | null): void {
    const nowMs = this.options.now();
    // Calls that were under way together are refused together: one event.
    if (begunMs >= this.pausedUntilMs) {
      this.room = Math.max(1, Math.floor(Math.min(this.room, this.underWay) / 2));
      this.refusals += 1;
    }
    const backOffMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (this.refusals - 1));
    const waitMs = retryAfterMs ?? backOffMs;
    const jitterMs = Math.min(waitMs / 10, LARGEST_JITTER_MS) * this.options.random();
    this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + waitMs + jitterMs);
    this.requests?.restartAt(this.pausedUntilMs);
  }
}

const MINUTE_MS = 61_000;
const AT_ONCE = 0.1;

/**
 * A token bucket that keeps a limit per minute in every window of a minute: a tenth of the limit is available at once, the
 * rest is added evenly. Its minute lasts 61 seconds, because calls that leave evenly do not arrive evenly.
 */
export class Bucket {
  readonly capacity: number;
  private readonly perMs: number;
  private level: number;
  private at: number;

  /** `grain`: the size of what is taken, when it is always the same (1 for requests); 0 when it varies (tokens). */
  constructor(perMinute: number, grain: 0 | 1, nowMs: number) {
    this.capacity = Math.max(1, Math.floor(perMinute * AT_ONCE));
    this.perMs = Math.max(perMinute - this.capacity + grain, 1) / MINUTE_MS;
    this.level = this.capacity;
    this.at = nowMs;
  }

  /** How long until `amount` may be taken. An amount above the capacity waits for a full bucket, whose level then is negative. */
  waitMs(amount: number, nowMs: number): number {
    this.fill(nowMs);
    const missing = Math.min(amount, this.capacity) - this.level;
    const startsIn = Math.max(0, this.at - nowMs);
    return missing <= 1e-9 ? startsIn : startsIn + Math.ceil(missing / this.perMs);
  }

  take(amount: number): void {
    this.level -= amount;
  }

  /** Corrects what was taken: less was used, or (negative) more. */
  giveBack(amount: number): void {
    this.level = Math.min(this.capacity, this.level + amount);
  }

  /** Starts again at that time with at most one unit, because the endpoint has just refused a burst. */
  restartAt(timeMs: number): void {
    this.level = Math.min(this.level, 1);
    this.at = Math.max(this.at, timeMs);
  }

  private fill(nowMs: number): void {
    if (nowMs <= this.at) return;
    this.level = Math.min(this.capacity, this.level + (nowMs - this.at) * this.perMs);
    this.at = nowMs;
  }
}
