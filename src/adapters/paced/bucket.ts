/**
 * So many units a minute, whichever minute one looks at: a tenth of the limit may go at once, the rest trickles in. The
 * minute lasts a second longer here, because what leaves evenly does not arrive evenly.
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

  /** How long until `amount` may be taken. More than fits waits for a full bucket and is owed afterwards. */
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

  /** Begins anew at that time with one unit: what was saved up is what the endpoint refused. */
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
