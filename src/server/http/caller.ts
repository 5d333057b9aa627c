/** Who asks: a token of the configuration, or the person at this machine. */
import type { Asker } from '../../app/asker';
import type { ServerConfig } from '../../config';
import { TOKEN_NAMESPACE } from '../../record/search-index';

export const SCOPES = ['ask', 'steer', 'layer'] as const;
/** `ask`: questions, their answers, databases. `steer`: commands to running searches. `layer`: decisions about what is kept. */
export type Scope = (typeof SCOPES)[number];

export interface Caller extends Asker {
  readonly scopes: ReadonlySet<Scope>;
}

/** May do all. */
export const LOCAL: Caller = {
  ...{ token: null, namespace: 'user', databases: null, budget: null },
  scopes: new Set(SCOPES),
};

/** Of routes that are open: nothing is theirs. */
export const NOBODY: Caller = {
  ...{ token: '', namespace: TOKEN_NAMESPACE, budget: null },
  ...{ scopes: new Set(), databases: new Set() },
};

export function tokenCaller(name: string, entry: ServerConfig['tokens'][string]): Caller {
  const { databases, scopes, usdPerDay } = entry;
  return {
    ...{ token: name, namespace: TOKEN_NAMESPACE + name },
    budget: usdPerDay === null ? null : { usd: usdPerDay, of: 'day' },
    scopes: new Set(scopes),
    databases: databases === null ? null : new Set(databases),
  };
}
