/**
 * What happens in a search, for readers that come at any time: what the store holds of it, in its order, then what comes, and what
 * the workflow says meanwhile. The page only asks where it stands, and when that may be otherwise.
 *
 * 1. Every reader gets the same: who comes late gets all from the beginning, who comes back only what it has not had. Ids of events
 *    hold while somebody reads and a minute longer; after that, and after a restart, a reader gets all again.
 * 2. All readers of a search share one look at the store and one at Temporal.
 * 3. Where nobody reads, nothing is looked at.
 */
import { randomBytes } from 'node:crypto';
import type { AnswerRecord, SqlResult } from '../domain';
import { compareText } from '../domain/canonical';
import { createRunStore } from '../record/run-store';
import { compareIds } from '../report/printable';
import { progressText, type Progress } from '../search/progress';
import { isPolled } from '../workers/running-elsewhere';
import { isPaused, type QuestionDescription } from '../workers/workflow-views';
import type { Contents } from '../record/contents';
import type { App } from './app';
import { gateError } from './errors';
import { outagesOf, type Outage } from './outages';
import { howToGoOn } from './read';
import { inputOf, recordOf } from './services';
import { SharedTemporal } from './shared-temporal';
import { isOver, News, pause, untilLeft } from './waiting';

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

/** Where a search stands in Temporal. */
export interface Live {
  /** Null: Temporal does not know it, or does not answer. */
  readonly live: QuestionDescription | null;
  readonly isRunning: boolean;
  readonly isPaused: boolean;
  /** A worker takes its steps. */
  readonly isServed: boolean;
  readonly outages: readonly Outage[];
  /** As a worker told it last: it answers only between two tasks. Null: none has yet. */
  readonly progress: Progress | null;
}

const UNKNOWN: Live = {
  ...{ live: null, isRunning: false, isPaused: false, isServed: false },
  ...{ outages: [], progress: null },
};

/** Of a result in an event. */
const ROWS = 20;
/** Far below what a person notices. */
const LOOK_MS = 120;
/** Where looking is paid for. */
const REMOTE_LOOK_MS = 1_000;
/** At least, between two looks at a search that does not run. */
const IDLE_MS = 500;
/** Descriptions by Temporal change rarely and cost more than all else. */
const DESCRIBED_MS = 1_500;
/** How long a worker may take to tell what it does. */
const TELL_MS = 400;
/** Beyond the last reader, who may only have lost the connection. */
const KEPT_MS = 60_000;

export class SearchEvents {
  readonly temporal: SharedTemporal;
  readonly #searches = new Map<string, Followed>();

  constructor(private readonly app: App) {
    this.temporal = new SharedTemporal(app);
  }

  /** Until the search has ended. `after`: the id of the last event that the reader had. */
  async *read(searchId: string, after: string | null, leave: AbortSignal): AsyncGenerator<Told, void> {
    const followed = this.#enter(searchId);
    try {
      const [, own, number] = /^([0-9a-f]+)\.(\d{1,9})$/.exec(after ?? '') ?? [];
      let next = own === followed.name ? Number(number) + 1 : 0;
      let seen = 0;
      for (;;) {
        // Taken first: what happens while the reader takes its events is seen by the next round.
        const { looks } = followed;
        const news = followed.news.next;
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
      this.#leave(searchId, followed);
    }
  }

  /** At once, and whenever what the store or Temporal holds of it is otherwise, until the search has ended. */
  async *changes(searchId: string, leave: AbortSignal): AsyncGenerator<void, void> {
    const followed = this.#enter(searchId);
    try {
      for (let seen = ''; !isOver(leave);) {
        const { isEnded, failure, sign } = followed;
        const news = followed.news.next;
        if (failure !== null) throw failure;
        if (sign !== seen || isEnded) yield;
        seen = sign;
        if (isEnded) return;
        await untilLeft(news, leave);
      }
    } finally {
      this.#leave(searchId, followed);
    }
  }

  /** Now, or a moment ago. */
  async live(searchId: string): Promise<Live> {
    const followed = this.#searches.get(searchId) ?? new Followed(this.app, searchId, this.temporal);
    if (!followed.isDescribed()) await followed.describe();
    return followed.live;
  }

  /** Something was done to it: what was known of it counts no more. */
  forget(searchId: string): void {
    this.#searches.get(searchId)?.forget();
  }

  #enter(searchId: string): Followed {
    const followed = this.#searches.get(searchId) ?? new Followed(this.app, searchId, this.temporal);
    this.#searches.set(searchId, followed);
    followed.enter();
    return followed;
  }

  #leave(searchId: string, followed: Followed): void {
    followed.leave(() => {
      if (this.#searches.get(searchId) === followed) this.#searches.delete(searchId);
    });
  }
}

/** One search, while somebody reads it. */
class Followed {
  readonly lasting: SearchEvent[] = [];
  /** The present state by kind, with the look at which it changed. */
  readonly present = new Map<SearchEvent['kind'], { readonly event: SearchEvent; readonly at: number }>();
  readonly name = randomBytes(4).toString('hex');
  readonly news = new News();
  isEnded = false;
  failure: Error | null = null;
  looks = 0;
  live = UNKNOWN;
  readonly #known = new Set<string>();
  /** Objects that the store holds of it. */
  #stored = -1;
  #describedMs = -Infinity;
  #telling: Promise<void> | null = null;
  #forgotten = 0;
  #over = new AbortController();
  #readers = 0;
  #forgetting: NodeJS.Timeout | undefined;

  constructor(
    private readonly app: App,
    private readonly searchId: string,
    private readonly temporal: SharedTemporal,
  ) {}

  /** Another text: something is otherwise. */
  get sign(): string {
    const { live, ...more } = this.live;
    return JSON.stringify([this.#stored, this.#forgotten, live?.status, more]);
  }

  isDescribed(): boolean {
    return this.app.now() - this.#describedMs < DESCRIBED_MS;
  }

  forget(): void {
    this.#describedMs = -Infinity;
    this.#forgotten += 1;
    this.#tell();
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

  async describe(): Promise<void> {
    const { searchId, temporal } = this;
    const atMs = this.app.now();
    const forgotten = this.#forgotten;
    const found = await temporal.asking(async (session) => {
      const live = await session.describe(searchId);
      if (live?.status !== 'RUNNING') return { ...UNKNOWN, live };
      const [paused, isServed] = await Promise.all([
        isPaused(session.gate, searchId),
        isPolled(session.gate, live.taskQueue, atMs),
      ]);
      const { progress } = this.live;
      const outages = outagesOf(live, atMs);
      return { live, isRunning: true, isPaused: paused, isServed, outages, progress: isServed ? progress : null };
    });
    this.live = found ?? UNKNOWN;
    // What was done to it meanwhile counts more.
    if (forgotten === this.#forgotten) this.#describedMs = atMs;
    const telling = this.#askWorker();
    if (this.live.progress === null) await telling;
  }

  /** One question at a time: a worker answers only between two tasks. */
  #askWorker(): Promise<void> {
    if (!this.live.isServed) return Promise.resolve();
    const ask = async (): Promise<void> => {
      const told = await this.temporal.asking((session) => session.progress(this.searchId, TELL_MS));
      if (told === null || !this.live.isServed) return;
      this.live = { ...this.live, progress: told };
      if (this.#readers > 0) this.#tellLive();
    };
    this.#telling ??= ask().finally(() => (this.#telling = null));
    return this.#telling;
  }

  #tell(): void {
    this.looks += 1;
    this.news.tell();
  }

  async #follow(end: AbortSignal): Promise<void> {
    const { app, searchId } = this;
    const everyMs = app.config.store.kind === 's3' ? REMOTE_LOOK_MS : LOOK_MS;
    while (!isOver(end)) {
      const { length } = await app.store.list(`runs/${searchId}/`);
      const isNew = length !== this.#stored;
      if (isNew) {
        this.#stored = length;
        this.#tell();
        await this.#readStore();
      }
      const before = this.sign;
      // A step has begun or ended: Temporal may say otherwise, too.
      if (isNew || !this.isDescribed()) await this.describe();
      const { isRunning } = this.live;
      // Again: a search that has ended before is read whole.
      if (!isRunning) await this.#readStore();
      if (this.sign !== before) this.#tell();
      if (isRunning) {
        void this.#askWorker();
        this.#tellLive();
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
      await Promise.race([pause(Math.max(IDLE_MS, 2 * everyMs), end), this.news.next]);
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

  #tellLive(): void {
    const { isPaused: paused, outages, progress } = this.live;
    const events: SearchEvent[] = [];
    if (progress !== null)
      events.push({ kind: 'progress', says: progressText(progress, this.app.now()), isPaused: paused, progress });
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
