/**
 * Where drift is told (`gate layer watch`). The URL of a webhook may hold a token, so it stands in a variable of the worker's
 * environment, and schedules know only the variable's name. Only public addresses are told, and hosts that are named here.
 */
import { z } from 'zod';
import type { Environment } from './folders';
import { Secret } from './secrets';

export const WatchEntry = z.strictObject({
  /** `host` or `host:port`, as the URL has it, of webhooks that are not public. */
  privateHosts: z.array(z.string().regex(/^[^\s/@]+$/, 'is no host; write host or host:port')).optional(),
});

export interface WatchConfig {
  /** URLs by the name of their variable. */
  readonly webhooks: Readonly<Record<string, Secret>>;
  readonly privateHosts: readonly string[];
}

/** The first name for one, any further words for more. */
export const WEBHOOK_VARIABLE = /^GATE_WEBHOOK(_[A-Z0-9_]{1,60})?$/;

export function watchOf(entry: z.infer<typeof WatchEntry> | undefined, env: Environment): WatchConfig {
  const given = Object.entries(env).flatMap(([name, value]) =>
    WEBHOOK_VARIABLE.test(name) && value ? [[name, new Secret(value.trim())] as const] : [],
  );
  return { webhooks: Object.fromEntries(given), privateHosts: entry?.privateHosts ?? [] };
}
