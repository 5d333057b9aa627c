/** What differs between two states of a layer, or between the layers of two databases. */
import { allHeld, figuresOf, type Held, type Layer } from './state';

export interface LayerDiff {
  readonly added: readonly Held[];
  readonly removed: readonly Held[];
  /** In both, with another status, statement or counts. */
  readonly changed: readonly {
    readonly before: Held;
    readonly after: Held;
    readonly what: readonly string[];
  }[];
}

export function layerDiff(before: Layer, after: Layer): LayerDiff {
  const [old, now] = [byId(before), byId(after)];
  return {
    added: allHeld(after).filter(({ entry }) => !old.has(entry.entryId)),
    removed: allHeld(before).filter(({ entry }) => !now.has(entry.entryId)),
    changed: allHeld(before).flatMap((held) => {
      const other = now.get(held.entry.entryId);
      const what = other === undefined ? [] : differences(held, other);
      return other === undefined || what.length === 0 ? [] : [{ before: held, after: other, what }];
    }),
  };
}

function byId(layer: Layer): ReadonlyMap<string, Held> {
  return new Map(allHeld(layer).map((held) => [held.entry.entryId, held]));
}

function differences(a: Held, b: Held): string[] {
  return [
    ...(a.status === b.status ? [] : [`${a.status} -> ${b.status}`]),
    ...(a.statement === b.statement ? [] : [`"${a.statement}" -> "${b.statement}"`]),
    ...(figuresOf(a) === figuresOf(b) ? [] : [`${figuresOf(a)} -> ${figuresOf(b)}`]),
  ];
}
