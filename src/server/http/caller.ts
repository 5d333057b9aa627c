/** Who asks: a token of the configuration, or the person at this machine. */
import type { ServerConfig } from '../../config';

export const SCOPES = ['ask', 'steer', 'layer'] as const;
/** `ask`: questions, their answers, databases. `steer`: commands to running searches. `layer`: what is kept of a database. */
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  /** Of the token; null: the person at this machine, who may do all and sees all. */
  readonly token: string | null;
  /** Of the searches that it asks; others do not exist for it. */
  readonly namespace: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Configured names; null: all. */
  readonly databases: ReadonlySet<string> | null;
  /** US dollars; null: no limit. */
  readonly usdPerDay: number | null;
}

export const LOCAL: Caller = {
  ...{ token: null, namespace: 'user', databases: null, usdPerDay: null },
  scopes: new Set(SCOPES),
};

/** Of routes that are open. */
export const NOBODY: Caller = {
  ...{ token: null, namespace: '', usdPerDay: null },
  ...{ scopes: new Set(), databases: new Set() },
};

export function tokenCaller(name: string, entry: ServerConfig['tokens'][string]): Caller {
  const { databases, scopes, usdPerDay } = entry;
  return {
    ...{ token: name, namespace: `token:${name}`, usdPerDay },
    scopes: new Set(scopes),
    databases: databases === null ? null : new Set(databases),
  };
}
