/** What fits into a prompt's room, most wanted first: what is too long leaves its room to shorter ones. */
export function fitting<T>(
  items: readonly T[],
  room: number,
  costOf: (item: T, kept: ReadonlySet<T>) => number,
): ReadonlySet<T> {
  const kept = new Set<T>();
  let left = room;
  for (const item of items) {
    const cost = costOf(item, kept);
    if (cost > left) continue;
    left -= cost;
    kept.add(item);
  }
  return kept;
}
