/**
 * A token bucket that keeps a limit per minute in every window of a minute: a tenth of the limit is available at once, the
 * rest is added evenly. Its minute lasts 61 seconds, because calls that leave evenly do not arrive evenly.
 */
const MINUTE_MS = 61_000;
const AT_ONCE = 0.1;

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
