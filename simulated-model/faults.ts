/**
 * Transport faults on demand. Each attempt of a request has its own draw, from the seed, the content and the number of
 * attempts before. So a retry can succeed, and the order of requests does not matter.
 */
import { weighted, type Draw } from './draw';

export const WIRE_FAULTS = ['rate-limit', 'server-error', 'hang', 'drop', 'stall', 'malformed'] as const;
export type WireFault = (typeof WIRE_FAULTS)[number];
/** The last two are in the content of a reply. Such replies are billed like any other. */
export type FaultRates = Partial<Record<WireFault | 'broken-json' | 'failing-sql', number>>;

export function wireFault(draw: Draw, rates: FaultRates, contentHash: string, timesAsked: number): WireFault | null {
  const weights = WIRE_FAULTS.map((kind) => [kind, rates[kind] ?? 0] as const);
  return weighted(draw('wire', contentHash, timesAsked), weights);
}

export interface Latency {
  readonly medianMs: number;
  /** Sigma of a log-normal distribution; 0 for a fixed time. */
  readonly spread: number;
}

export function latencyOf(draw: Draw, { medianMs, spread }: Latency, contentHash: string, timesAsked: number): number {
  if (medianMs === 0 || spread === 0) return medianMs;
  const [u, v] = [draw('latency', contentHash, timesAsked, 0), draw('latency', contentHash, timesAsked, 1)];
  const normal = Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
  return medianMs * Math.exp(spread * normal);
}

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
