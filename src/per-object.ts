/**
 * Caches pure functions of immutable values, once per object and for as long as that is in use. A search needs the same values
 * of its plans and candidates at every decision, and a worker that replays a history repeats all decisions; a profile compares
 * each column with many others.
 */
export function perObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}
