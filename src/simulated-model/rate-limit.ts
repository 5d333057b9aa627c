/** So many requests within any such time, counted as they arrive; what is beyond is refused and does not count. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export class RateLimiter {
  private readonly taken: number[] = [];

  constructor(private readonly limit: RateLimit) {}

  /** null: it may pass; else how long until the next one may. */
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
