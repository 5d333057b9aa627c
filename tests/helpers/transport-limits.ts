/**
 * The limits of the HTTP client that a request really goes out under, read from the connection that carries it. They are
 * internal to undici, so this fails, and does not pass in silence, when a new version keeps them elsewhere.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface TransportLimits {
  readonly headersTimeout: unknown;
  readonly bodyTimeout: unknown;
}

export async function transportLimitsOf(request: () => Promise<unknown>): Promise<TransportLimits[]> {
  const seen: TransportLimits[] = [];
  const look = (message: unknown): void => {
    const client = inside(inside((message as { socket: object }).socket, /parser/i), 'client');
    seen.push({ headersTimeout: inside(client, /^headers timeout$/), bodyTimeout: inside(client, /^body timeout$/) });
  };
  subscribe('undici:client:sendHeaders', look);
  try {
    await request();
  } finally {
    unsubscribe('undici:client:sendHeaders', look);
  }
  return seen;
}

function inside(holder: unknown, name: RegExp | string): unknown {
  if (typeof holder !== 'object' || holder === null) throw new Error(`undici keeps ${String(name)} elsewhere now`);
  if (typeof name === 'string') return (holder as Record<string, unknown>)[name];
  for (let at: object | null = holder; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const key = Object.getOwnPropertySymbols(at).find(({ description }) => name.test(description ?? ''));
    if (key !== undefined) return (holder as Record<symbol, unknown>)[key];
  }
  throw new Error(`undici keeps ${name.source} elsewhere now`);
}
