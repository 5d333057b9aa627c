/**
 * What happens in a search, for readers that come at any time: what the store holds of it, in its order, then what comes, and what
 * the workflow says meanwhile.
 *
 * 1. Every reader gets the same: who comes late gets all from the beginning, who comes back only what it has not had. Ids of events
 *    hold while somebody reads and a minute longer; after that, and after a restart, a reader gets all again.
 * 2. All readers of a search share one look at the store and one at Temporal.
 * 3. Where nobody reads, nothing is looked at.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AnswerRecord, SqlResult } from '../domain';
import { compareText } from '../domain/canonical';
import { createRunStore } from '../record/run-store';
import { compareIds } from '../report/printable';
import { progressText, type Progress } from '../search/progress';
import { isPaused } from '../workers/workflow-views';
import type { Contents } from '../record/contents';
import type { App } from './app';
import { gateError } from './errors';
import { outagesOf, type Outage } from './outages';
import { openRunning } from './open-temporal';
import { howToGoOn } from './read';
import { inputOf, recordOf } from './services';
import type { TemporalSession } from './temporal-session';
import { isOver, pause } from './waiting';

/** In the order in which a step makes them. */
const MADE = [
  ...(['remark', 'plan', 'turn', 'action', 'proposal', 'observation', 'verdict', 'grounding'] as const),
  ...(['update', 'fact', 'candidate', 'kept'] as const),
];
type Made = (typeof MADE)[number];

export type SearchEvent =
  /** What a step made, as the store has it; of long results the first rows. */
  | { readonly [K in Made]: { readonly kind: K; readonly of: string; readonly data: Contents[K] } }[Made]
  | { readonly kind: 'progress'; readonly says: string; readonly isPaused: boolean; readonly progress: Progress }
  /** Steps whose last attempt failed; empty: no more. */
  | { readonly kind: 'retrying'; readonly outages: readonly Outage[] }
  /** Nobody works on it. */
  | { readonly kind: 'interrupted'; readonly next: string }
  /** The last one. */
  | { readonly kind: 'ended'; readonly record: AnswerRecord };

export interface Told {
  /** Of what stays; null: only the present state, which nobody needs later. */
  readonly id: string | null;
  readonly event: SearchEvent;
}

/** Of a result in an event. */
const ROWS = 20;
const LOOK_MS = 200;
/** Where looking is paid for. */
const REMOTE_LOOK_MS = 1_000;
const IDLE_MS = 2_000;
/** Beyond the last reader, who may only have lost the connection. */
const KEPT_MS = 60_000;

export class SearchEvents {
  readonly #searches = new Map<string, Followed>();

  constructor(private readonly app: App) {}

  /** Until the search has ended. `after`: the id of the last event that the reader had. */
  async *read(searchId: string, after: string | null, leave: AbortSignal): AsyncGenerator<Told, void> {
    const followed = this.#searches.get(searchId) ?? new Followed(this.app, searchId);
    this.#searches.set(searchId, followed);
    followed.enter();
    try {
      const [, own, number] = /^([0-9a-f]+)\.(\d{1,9})$/.exec(after ?? '') ?? [];
      let next = own === followed.name ? Number(number) + 1 : 0;
      let seen = 0;
      for (;;) {
        // Taken first: what happens while the reader takes its events is seen by the next round.
        const { looks, news } = followed;
        if (followed.failure !== null) throw followed.failure;
        for (; next < followed.lasting.length; next += 1) {
          const event = followed.lasting[next];
          if (event !== undefined) yield { id: `${followed.name}.${next}`, event };
        }
        for (const { event, at } of followed.present.values()) if (at > seen) yield { id: null, event };
        seen = looks;
        if (isOver(leave) || (followed.isEnded && next >= followed.lasting.length)) return;
        await untilLeft(news, leave);
      }
    } finally {
      followed.leave(() => this.#searches.delete(searchId));
    }
  }
}

/** One search, while somebody reads it. */
class Followed {
  readonly lasting: SearchEvent[] = [];
  /** The present state by kind, with the look at which it changed. */
  readonly present = new Map<SearchEvent['kind'], { readonly event: SearchEvent; readonly at: number }>();
  readonly name = randomBytes(4).toString('hex');
  isEnded = false;
  failure: Error | null = null;
  looks = 0;
  readonly #known = new Set<string>();
  #over = new AbortController();
  #readers = 0;
  #forgetting: NodeJS.Timeout | undefined;
  /** Resolves when there is something new. */
  news: Promise<void>;
  #wake: () => void = () => undefined;

  constructor(
    private readonly app: App,
    private readonly searchId: string,
  ) {
    this.news = new Promise((resolve) => (this.#wake = resolve));
  }

  enter(): void {
    this.#readers += 1;
    clearTimeout(this.#forgetting);
    if (this.#readers > 1 || this.isEnded) return;
    const over = new AbortController();
    this.#over = over;
    void this.#follow(over.signal).catch((error: unknown) => {
      // Nobody reads what it followed, or another look does.
      if (over.signal.aborted) return;
      this.failure = gateError(error);
      this.#tell();
    });
  }

  leave(forget: () => void): void {
    this.#readers -= 1;
    if (this.#readers > 0) return;
    this.#over.abort();
    // One that has ended may be asked again.
    if (this.isEnded || this.failure !== null) forget();
    else this.#forgetting = setTimeout(forget, KEPT_MS).unref();
  }

  #tell(): void {
    this.looks += 1;
    this.#wake();
    this.news = new Promise((resolve) => (this.#wake = resolve));
  }

  async #follow(end: AbortSignal): Promise<void> {
    const { app, searchId } = this;
    const everyMs = app.config.store.kind === 's3' ? REMOTE_LOOK_MS : LOOK_MS;
    let session: TemporalSession | null = null;
    try {
      for (let look = 0; !isOver(end); look += 1) {
        session ??= await openRunning(app.config, app.env);
        // Asked first: a search that ends meanwhile is read whole by the next look.
        const live = session === null ? null : await session.describe(searchId);
        await this.#readStore();
        if (session !== null && live?.status === 'RUNNING') {
          if (look % 2 === 0) await this.#readWorkflow(session, outagesOf(live, app.now()));
          await pause(everyMs, end);
          continue;
        }
        const record = await recordOf(app.store, searchId);
        // Whoever left and came back has begun another look meanwhile, which tells it.
        if (isOver(end)) return;
        if (record !== null) {
          this.lasting.push({ kind: 'ended', record: shortened(record) });
          this.isEnded = true;
          this.#tell();
          return;
        }
        if (this.#set({ kind: 'interrupted', next: howToGoOn(await inputOf(app.store, searchId)) })) this.#tell();
        await session?.close();
        session = null;
        await pause(IDLE_MS, end);
      }
    } finally {
      await session?.close();
    }
  }

  async #readStore(): Promise<void> {
    const run = createRunStore(this.app.store, this.searchId);
    const found: { readonly event: SearchEvent; readonly of: string; readonly rank: number }[] = [];
    for (const [rank, kind] of MADE.entries())
      for (const [of, data] of await run.all(kind)) {
        if (this.#known.has(`${kind}/${of}`)) continue;
        this.#known.add(`${kind}/${of}`);
        found.push({ of, rank, event: { kind, of, data: shortened(data) } as SearchEvent });
      }
    if (found.length === 0) return;
    found.sort((a, b) => compareIds(a.of, b.of) || a.rank - b.rank || compareText(a.of, b.of));
    this.lasting.push(...found.map(({ event }) => event));
    this.#tell();
  }

  async #readWorkflow(session: TemporalSession, outages: readonly Outage[]): Promise<void> {
    const { searchId, app } = this;
    const [progress, paused] = await Promise.all([session.progress(searchId), isPaused(session.gate, searchId)]);
    const events: SearchEvent[] = [];
    if (progress !== null)
      events.push({ kind: 'progress', says: progressText(progress, app.now()), isPaused: paused, progress });
    if (outages.length > 0 || this.present.has('retrying')) events.push({ kind: 'retrying', outages });
    this.present.delete('interrupted');
    if (events.map((event) => this.#set(event)).some(Boolean)) this.#tell();
  }

  /** False: it is as it was. */
  #set(event: SearchEvent): boolean {
    const before = this.present.get(event.kind)?.event;
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(event)) return false;
    this.present.set(event.kind, { event, at: this.looks + 1 });
    return true;
  }
}

async function untilLeft(news: Promise<void>, leave: AbortSignal): Promise<void> {
  const heard = new AbortController();
  await Promise.race([news, once(leave, 'abort', { signal: heard.signal }).catch(() => undefined)]);
  heard.abort();
}

/** Of every result in it the first rows. */
function shortened<T>(value: T): T {
  if (Array.isArray(value)) return value.map((one: unknown) => shortened(one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const all = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened<unknown>(one)])) as T & {
    rows?: unknown;
  };
  if (!Array.isArray(all.rows) || !Array.isArray((all as Partial<SqlResult & { columns: unknown }>).columns))
    return all;
  return all.rows.length <= ROWS ? all : { ...all, rows: all.rows.slice(0, ROWS), truncated: true };
}
