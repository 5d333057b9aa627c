/** `gate layer verify`: all checks of a layer run again, and what broke or holds again becomes an event. */
import type { DatabaseDescription, LayerEvent } from '../domain';
import type { HeldEntry } from '../layer/state';
import type { SqlEngine } from '../ports';
import { recounted, visibleEntries, type Recounted } from './layer-entries';

/** Checks of one snapshot: a read-only transaction must not stay open for long. */
const AT_ONCE = 50;

export interface Verified {
  readonly entries: readonly Recounted[];
  /** Those that this reader may not see, or that the database did not answer. */
  readonly unseen: number;
  /** To append to the layer. */
  readonly events: readonly LayerEvent[];
}

/** Entries that a person rejected are left out. */
export async function verifyEntries(
  entries: readonly HeldEntry[],
  options: {
    readonly engine: SqlEngine;
    readonly description: Pick<DatabaseDescription, 'tables'>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    /** The time of the events (ISO). */
    readonly at: string;
    readonly progress?: (done: number, of: number) => void;
  },
): Promise<Verified> {
  const held = entries.filter(({ status }) => status !== 'rejected');
  const visible = visibleEntries(held, options.description);
  const seen: Recounted[] = [];
  for (let at = 0; at < visible.length; at += AT_ONCE) {
    const some = visible.slice(at, at + AT_ONCE);
    const { results } = await options.engine.run(
      some.map(({ entry }) => entry.check),
      { timeoutMs: options.timeoutMs, maxRows: 2, signal: options.signal, tag: 'gate layer verify' },
    );
    seen.push(...recounted(some, results));
    options.progress?.(seen.length, visible.length);
  }
  const told = seen.filter(({ unseen }) => !unseen);
  const { at } = options;
  const changed = told.flatMap(({ held: { entry, status, why: before }, why, counts }): LayerEvent[] => {
    const { entryId } = entry;
    if (why === null) return status === 'broken' ? [{ kind: 'held-again', entryId, at, counts }] : [];
    return status === 'broken' && why === before ? [] : [{ kind: 'broken', entryId, at, why, counts }];
  });
  const broken = told.flatMap(({ held: { entry }, why }) => (why === null ? [] : [entry.entryId]));
  return {
    entries: told,
    unseen: held.length - told.length,
    events: [...changed, { kind: 'verified', at, checked: told.length, broken }],
  };
}
