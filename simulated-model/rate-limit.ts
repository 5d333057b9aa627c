/** A sliding window: at most so many requests in any such time. Refused requests do not count. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export class RateLimiter {
  private readonly taken: number[] = [];

  constructor(private readonly limit: RateLimit) {}

  /** null: the request is allowed; else the time until the next one is. */
  refusedForMs(nowMs: number): number | null {
    const { requests, windowMs } = this.limit;
    while (this.taken[0] !== undefined && this.taken[0] <= nowMs - windowMs) this.taken.shift();
    if (this.taken.length < requests) {
      this.taken.push(nowMs);
      return null;
    }
    return (this.taken[0] ?? nowMs) + windowMs - nowMs;
  }
}
