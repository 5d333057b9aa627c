/**
 * Pure functions of the immutable state, each computed once per object: a search asks the same of its plans and candidates
 * at every decision, and a worker that replays a history takes all of these decisions again.
 */
export function perObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}
