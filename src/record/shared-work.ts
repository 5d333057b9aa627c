/**
 * Work of this process that several steps wait for, or several tries of one step: whoever needs the same result joins the
 * work that runs. A step is tried again while its first try still runs, for one, when its heartbeats were lost.
 */
import type { ObjectStore } from '../domain/ports';
import { untilAborted } from '../limiter';
import { perStore } from './per-store';

/** Whether the work stops or goes on when nobody waits for it any more. Work that goes on needs its own time limit. */
type Abandoned = 'stops' | 'goes on';

interface Work {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
}

/** By store, because tries of a step share nothing else. */
const runningOn = perStore(() => new Map<string, Work>());

/** `key` identifies the work, and so also the type of its result. */
export async function shareWork<T>(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
  abandoned: Abandoned = 'goes on',
): Promise<T> {
  signal.throwIfAborted();
  const running = runningOn(store);
  const work = running.get(key) ?? begun(running, key, begin);
  work.waiting += 1;
  try {
    return (await untilAborted(work.result, signal)) as T;
  } finally {
    work.waiting -= 1;
    if (work.waiting === 0 && abandoned === 'stops') {
      forget(running, key, work);
      work.controller.abort(signal.reason);
    }
  }
}

function begun(running: Map<string, Work>, key: string, begin: (signal: AbortSignal) => Promise<unknown>): Work {
  const controller = new AbortController();
  const work: Work = { result: begin(controller.signal), controller, waiting: 0 };
  running.set(key, work);
  const ended = (): void => forget(running, key, work);
  work.result.then(ended, ended);
  return work;
}

function forget(running: Map<string, Work>, key: string, work: Work): void {
  if (running.get(key) === work) running.delete(key);
}
