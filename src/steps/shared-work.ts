/**
 * Shared work of this process that continues after the step that began it. Other steps that need the same result join it, and
 * so does a later try of a step that timed out. The work must have its own time limit.
 */
import type { ObjectStore } from '../ports';

const OF_STORES = new WeakMap<ObjectStore, Map<string, Promise<unknown>>>();

/** `key` identifies the work, and so also the type of its result. */
export async function shareWork<T>(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const running = OF_STORES.get(store) ?? new Map<string, Promise<unknown>>();
  OF_STORES.set(store, running);
  const joined = (running.get(key) ?? begin(running, key, work)) as Promise<T>;
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([joined, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function begin<T>(running: Map<string, Promise<unknown>>, key: string, work: () => Promise<T>): Promise<T> {
  const begun = work();
  running.set(key, begun);
  const forget = (): void => void running.delete(key);
  begun.then(forget, forget);
  return begun;
}
