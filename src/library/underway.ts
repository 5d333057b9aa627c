/** Work that tells events while it goes on: how the library hands out both its events and its result. */
import { gateError } from '../app/errors';
import { News } from '../app/waiting';

/** Something under way. */
export interface Underway<Event, Result> {
  /**
   * Gives each event once, also those of before; ends when the work is over. Leaving the loop stops nothing. Throws as
   * `result` does.
   */
  [Symbol.asyncIterator](): AsyncIterator<Event, void>;
  /** As soon as there is one. Throws a `GateError`; nobody has to ask for it. */
  result(): Promise<Result>;
}

export interface Telling<Event, Result> {
  readonly tell: (event: Event) => void;
  /** There is a result already, although the work goes on. */
  readonly tellResult: (result: Result) => void;
}

/** `replaces`: an unread event of which only the newest counts. `over`: never rejects. */
export function begin<Event extends object, Result>(
  work: (telling: Telling<Event, Result>) => Promise<Result>,
  replaces: (next: Event, last: Event) => boolean,
): { readonly underway: Underway<Event, Result>; readonly over: Promise<void> } {
  const unread: Event[] = [];
  const news = new News();
  const tell = (event: Event): void => {
    const last = unread.at(-1);
    if (last !== undefined && replaces(event, last)) unread.pop();
    unread.push(event);
    news.tell();
  };
  let state: 'running' | 'over' | { readonly failure: Error } = 'running';
  let [resolve, reject] = [(_: Result): void => undefined, (_: Error): void => undefined];
  const result = new Promise<Result>((onValue, onError) => ([resolve, reject] = [onValue, onError]));
  result.catch(() => undefined);
  const over = Promise.resolve()
    .then(() => work({ tell, tellResult: resolve }))
    .then(
      (value) => {
        state = 'over';
        resolve(value);
      },
      (error: unknown) => {
        state = { failure: gateError(error) };
        reject(state.failure);
      },
    )
    .then(() => news.tell());
  async function* events(): AsyncGenerator<Event, void> {
    for (;;) {
      for (let event = unread.shift(); event !== undefined; event = unread.shift()) yield event;
      if (state === 'over') return;
      if (typeof state === 'object') throw state.failure;
      await news.next;
    }
  }
  return { underway: { [Symbol.asyncIterator]: events, result: () => result }, over };
}
