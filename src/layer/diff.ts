/** What differs between two states of a layer, or between the layers of two databases. */
import { figuresOf, type HeldEntry, type Layer } from './state';

export interface LayerDiff {
  readonly added: readonly HeldEntry[];
  readonly removed: readonly HeldEntry[];
  /** In both, with another status, statement or counts. */
  readonly changed: readonly {
    readonly before: HeldEntry;
    readonly after: HeldEntry;
    readonly what: readonly string[];
  }[];
}

export function layerDiff(before: Layer, after: Layer): LayerDiff {
  const [old, now] = [byId(before), byId(after)];
  return {
    added: after.entries.filter(({ entry }) => !old.has(entry.entryId)),
    removed: before.entries.filter(({ entry }) => !now.has(entry.entryId)),
    changed: before.entries.flatMap((held) => {
      const other = now.get(held.entry.entryId);
      const what = other === undefined ? [] : differences(held, other);
      return other === undefined || what.length === 0 ? [] : [{ before: held, after: other, what }];
    }),
  };
}

function byId({ entries }: Layer): ReadonlyMap<string, HeldEntry> {
  return new Map(entries.map((held) => [held.entry.entryId, held]));
}

function differences(a: HeldEntry, b: HeldEntry): string[] {
  return [
    ...(a.status === b.status ? [] : [`${a.status} -> ${b.status}`]),
    ...(a.statement === b.statement ? [] : [`"${a.statement}" -> "${b.statement}"`]),
    ...(figuresOf(a) === figuresOf(b) ? [] : [`${figuresOf(a)} -> ${figuresOf(b)}`]),
  ];
}
