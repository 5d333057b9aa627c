/**
 * Tells readers of a page when it has changed. All readers of one page share one look, which goes on while there are any; a reader
 * who comes late or again gets the page as it is now.
 */
import { isOver, News, pause, untilLeft } from '../../app/waiting';
import type { ServerEvent } from '../http/route';

/** After a store or a database was out of reach. */
const AGAIN_MS = 120;

export interface Watched {
  /** Tells that the page may have changed, first at once; where it ends, the page changes no more. */
  readonly changes: (leave: AbortSignal) => AsyncIterable<unknown>;
  /** The page as HTML. */
  readonly page: () => Promise<string>;
}

/** Whenever `sign` gives another text. */
export async function* every(ms: number, sign: () => Promise<string>, leave: AbortSignal): AsyncGenerator<void, void> {
  let last: string | null = null;
  while (!isOver(leave)) {
    const now = await sign();
    if (now !== last) yield;
    last = now;
    await pause(ms, leave);
  }
}

interface Watch {
  html: string | null;
  readers: number;
  isLast: boolean;
  readonly news: News;
  readonly end: AbortController;
}

export class Watches {
  readonly #all = new Map<string, Watch>();

  /** `key`: pages with the same one are the same. Ends when the reader leaves, or with the last change. */
  async *follow(key: string, watched: Watched, leave: AbortSignal): AsyncGenerator<ServerEvent> {
    const watch = this.#all.get(key) ?? this.#begun(key, watched);
    watch.readers += 1;
    try {
      for (let told: string | null = null; ;) {
        const { html, isLast } = watch;
        const news = watch.news.next;
        if (html !== null && html !== told) yield { event: 'page', data: html };
        told = html;
        if (isOver(leave) || isLast) return;
        await untilLeft(news, leave);
      }
    } finally {
      watch.readers -= 1;
      if (watch.readers === 0) watch.end.abort();
      if (watch.end.signal.aborted && this.#all.get(key) === watch) this.#all.delete(key);
    }
  }

  #begun(key: string, watched: Watched): Watch {
    const watch: Watch = { html: null, readers: 0, isLast: false, news: new News(), end: new AbortController() };
    this.#all.set(key, watch);
    void look(watch, watched).then(() => {
      watch.isLast = true;
      watch.news.tell();
      if (this.#all.get(key) === watch) this.#all.delete(key);
    });
    return watch;
  }
}

async function look(watch: Watch, { changes, page }: Watched): Promise<void> {
  const { signal } = watch.end;
  while (!isOver(signal)) {
    try {
      for await (const _ of changes(signal)) {
        const html = await page();
        if (html !== watch.html) {
          watch.html = html;
          watch.news.tell();
        }
      }
      return;
    } catch {
      // A store or a database that is out of reach for a moment: the next look sees it again.
      await pause(AGAIN_MS, signal);
    }
  }
}
