/**
 * Tells readers of a page when it has changed. All readers of one page share one look, which goes on while there are any; a reader
 * who comes late or again gets the page as it is now.
 */
import { pause } from '../../app/waiting';
import type { ServerEvent } from '../http/route';

/** Far below what a person notices. */
const LOOK_MS = 120;
/** Of pages that change rarely and cost more to look at. */
export const SLOW_MS = 1_500;

export interface Watched {
  /** Cheap: another text means that the page may have changed. */
  readonly sign: () => Promise<string>;
  /** The page as HTML. */
  readonly page: () => Promise<string>;
  readonly everyMs?: number;
}

interface Watch {
  html: string | null;
  readers: number;
  readonly wakes: Set<() => void>;
  readonly end: AbortController;
}

export class Watches {
  readonly #all = new Map<string, Watch>();

  /** `key`: pages with the same one are the same. Ends when the reader leaves. */
  async *follow(key: string, watched: Watched, leave: AbortSignal): AsyncGenerator<ServerEvent> {
    const watch = this.#join(key, watched);
    let told: string | null = null;
    let wake = (): void => undefined;
    const onLeave = (): void => wake();
    leave.addEventListener('abort', onLeave, { once: true });
    try {
      while (!leave.aborted && !watch.end.signal.aborted) {
        const news = new Promise<void>((resolve) => (wake = resolve));
        watch.wakes.add(wake);
        if (watch.html === null || watch.html === told) await news;
        watch.wakes.delete(wake);
        // Changed while this reader waited for its own turn.
        const { html } = watch;
        if (html === null || html === told) continue;
        told = html;
        yield { event: 'page', data: html };
      }
    } finally {
      leave.removeEventListener('abort', onLeave);
      watch.wakes.delete(wake);
      watch.readers -= 1;
      if (watch.readers === 0) {
        watch.end.abort();
        if (this.#all.get(key) === watch) this.#all.delete(key);
      }
    }
  }

  #join(key: string, watched: Watched): Watch {
    const found = this.#all.get(key);
    if (found !== undefined) {
      found.readers += 1;
      return found;
    }
    const watch: Watch = { html: null, readers: 1, wakes: new Set(), end: new AbortController() };
    this.#all.set(key, watch);
    void look(watch, watched);
    return watch;
  }
}

async function look(watch: Watch, { sign, page, everyMs = LOOK_MS }: Watched): Promise<void> {
  const { signal } = watch.end;
  let last: string | null = null;
  while (!signal.aborted) {
    try {
      const now = await sign();
      if (now !== last) {
        const html = await page();
        last = now;
        if (html !== watch.html) {
          watch.html = html;
          for (const wake of watch.wakes) wake();
        }
      }
    } catch {
      // A store or a database that is out of reach for a moment: the next look sees it again.
    }
    await pause(everyMs, signal);
  }
}
