/** What one run of all checks changed in a layer: which entries broke, match fewer rows or hold again, and since when. */
import type { EntryCounts, LayerEvent } from '../domain';
import { fellFrom, type Agreement } from '../sql/agreement';
import { figuresNow, hasFallen, layerOf, type HeldEntry } from './state';

export interface Drift {
  /** Held before. */
  readonly broke: readonly DriftEntry[];
  /** Hold, but for a smaller share of the rows than before; `kept`: the figures that they are held to. */
  readonly fell: readonly (DriftEntry & { readonly kept: Agreement })[];
  readonly heldAgain: readonly (DriftEntry & { readonly brokenSince: string })[];
}

interface DriftEntry {
  readonly entryId: string;
  readonly statement: string;
  /** Why it does not hold; null if it does. */
  readonly why: string | null;
  readonly counts: EntryCounts | null;
}

/** `events`: of the layer, with those that the run at this time appended. */
export function driftAt(events: readonly LayerEvent[], at: string): Drift {
  const before = layerOf(events.filter((event) => event.at < at)).entries;
  const was = new Map(before.map((held) => [held.entry.entryId, held]));
  const touched = new Set(
    events.flatMap((event) =>
      event.at === at && (event.kind === 'broken' || event.kind === 'counted') ? [event.entryId] : [],
    ),
  );
  const changes = layerOf(events, at).entries.flatMap((now) => {
    const then = was.get(now.entry.entryId);
    if (then === undefined || !touched.has(now.entry.entryId)) return [];
    return [{ then, now, held: then.status !== 'broken', holds: now.status !== 'broken' }];
  });
  return {
    broke: changes.flatMap(({ now, held, holds }) => (held && !holds ? [entryOf(now)] : [])),
    fell: changes
      .filter(({ held, holds }) => held && holds)
      .filter(({ then, now }) => hasFallen(now) && fellFrom(figuresNow(then), figuresNow(now)))
      .map(({ now }) => fallOf(now)),
    heldAgain: changes
      .filter(({ held, holds }) => !held && holds)
      .map(({ then, now }) => ({ ...entryOf(now), why: null, brokenSince: then.since })),
  };
}

function entryOf({ entry: { entryId }, statement, why, counts }: HeldEntry): DriftEntry {
  return { entryId, statement, why, counts };
}

export function fallOf(held: HeldEntry): Drift['fell'][number] {
  const { matching, examined } = held.entry;
  return { ...entryOf(held), why: null, kept: { matching, examined } };
}

/** `1905 of 2000, kept as 2000 of 2000` */
export function fallText({ counts, kept }: Drift['fell'][number]): string {
  const { matching, examined } = { ...kept, ...counts };
  return `${matching ?? '?'} of ${examined ?? '?'}, kept as ${kept.matching} of ${kept.examined}`;
}
