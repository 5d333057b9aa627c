/** How often something was done in the present minute, by name. */
const WINDOW_MS = 60_000;

export function windows(now: () => number) {
  let since = now();
  let counts = new Map<string, number>();
  const current = (): Map<string, number> => {
    if (now() - since >= WINDOW_MS) {
      since = now();
      counts = new Map();
    }
    return counts;
  };
  return {
    /** The number with this one. */
    add: (name: string): number => {
      const all = current();
      const count = (all.get(name) ?? 0) + 1;
      all.set(name, count);
      return count;
    },
    secondsLeft: (): number => Math.max(1, Math.ceil((since + WINDOW_MS - now()) / 1000)),
  };
}
