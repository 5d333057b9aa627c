/**
 * Caches pure functions of immutable state, once per object. A search needs the same values of its plans and candidates at
 * every decision, and a worker that replays a history repeats all decisions.
 */
export function perObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}
