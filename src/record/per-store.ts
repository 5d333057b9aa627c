import type { ObjectStore } from '../domain/ports';

/** What this process remembers beside a store, made on first use. */
export function perStore<T>(make: () => T): (store: ObjectStore) => T {
  const known = new WeakMap<ObjectStore, T>();
  return (store) => {
    const found = known.get(store) ?? make();
    known.set(store, found);
    return found;
  };
}
