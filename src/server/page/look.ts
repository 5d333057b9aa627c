/**
 * Looks at searches, layers, databases and batches for the pages. One connection to Temporal is kept for all of them; where it
 * breaks, the next look opens another one.
 */
import type { App } from '../../app/app';
import { outagesOf } from '../../app/outages';
import { errorText } from '../../app/errors';
import { openRunning, statusWithoutRecord } from '../../app/open-temporal';
import { traceOf } from '../../app/report';
import { searchRows, waitingIn, type RowPage } from '../../app/search-list';
import { inputOf, recordOf } from '../../app/services';
import type { TemporalSession } from '../../app/temporal-session';
import { resolveDatabase } from '../../config/databases';
import type { SearchInput, Usage } from '../../domain';
import { NO_USAGE } from '../../domain/control-view';
import type { ModelReply } from '../../domain/model-call';
import { loadConfig } from '../../config';
import { createRunStore } from '../../record/run-store';
import { followers } from '../../record/search-index';
import type { Trace } from '../../report';
import type { Progress } from '../../search/progress';
import { budgetsOf } from '../../search/steering';
import { isPolled } from '../../workers/running-elsewhere';
import { servedBy } from '../../workers/task-queues';
import { isPaused, type QuestionDescription } from '../../workers/workflow-views';
import type { Answer } from './answer';
import type { Searching } from './searching';

/** How long a page waits for a worker to tell what it does. */
const TELL_MS = 400;
/** Descriptions by Temporal change rarely and cost more than all else. */
const DESCRIBED_MS = 1_500;

/** How soon a search without a worker gets one again. */
const AGAIN_MS = 15_000;

interface Described {
  readonly atMs: number;
  readonly live: QuestionDescription | null;
  readonly paused: boolean;
  readonly served: boolean;
}

const NOTHING: Described = { atMs: 0, live: null, paused: false, served: false };

export class Looker {
  #session: Promise<TemporalSession | null> | null = null;
  #triedMs = -Infinity;
  readonly #described = new Map<string, Described>();
  readonly #progress = new Map<string, Progress>();
  readonly #underway = new Map<string, Promise<void>>();
  /** Searches that are being started; a text: why they could not be. */
  readonly #starting = new Map<string, string | null>();
  readonly #base: App;

  constructor(base: App) {
    this.#base = base;
  }

  /** With the configuration as its file is now. */
  app(): App {
    return { ...this.#base, config: loadConfig(this.#base) };
  }

  /** Null: no Temporal answers. */
  async asking<T>(work: (session: TemporalSession) => Promise<T>): Promise<T | null> {
    const session = await this.#open();
    if (session === null) return null;
    try {
      return await work(session);
    } catch {
      // It has gone, or is another one now.
      this.#session = null;
      await session.close().catch(() => undefined);
      return null;
    }
  }

  async #open(): Promise<TemporalSession | null> {
    const found = await this.#session;
    if (found) return found;
    const nowMs = this.#base.now();
    if (nowMs - this.#triedMs < 500) return null;
    this.#triedMs = nowMs;
    this.#session = openRunning(this.app().config, this.#base.env).catch(() => null);
    return this.#session;
  }

  async close(): Promise<void> {
    const session = await this.#session;
    this.#session = null;
    await session?.close();
  }

  /** Somebody begins a search: it is being started until `work` ends, and shows why it could not be. */
  begin(id: string, work: Promise<unknown>): void {
    this.#starting.set(id, null);
    const over = (problem: string | null): void => {
      if (problem === null) this.#starting.delete(id);
      else this.#starting.set(id, problem);
      this.forget(id);
    };
    work.then(
      () => over(null),
      (error: unknown) => over(errorText(error, false)),
    );
  }

  /** A search that runs and has lost its worker gets another one, as long as somebody watches it. */
  async #revive(id: string, live: QuestionDescription): Promise<void> {
    // An interrupted batch waits for the command that goes on with it.
    if (servedBy(live.taskQueue) === null || this.#starting.has(id)) return;
    const app = this.app();
    if (!this.#isAskable(app, await inputOf(app.store, id))) return;
    const { goOn } = await import('../../app/go-on');
    this.begin(id, goOn(id, app));
    setTimeout(() => this.#starting.delete(id), AGAIN_MS).unref();
  }

  /** What it may cost from now on; its checkpoint tells that only after its present round. */
  readonly ceilings = new Map<string, number | null>();

  /** Something was done to it: what was known of it counts no more. */
  forget(id: string): void {
    this.#described.delete(id);
    this.#underway.delete(`description ${id}`);
  }

  /** `after`: where the page begins. */
  list(limit: number, after?: string): Promise<RowPage> {
    const app = this.app();
    const living = () => this.asking((session) => session.living(waitingIn(app)));
    return searchRows(app, { limit, after }, living);
  }

  /** What may tell that a search has changed: looked at often, so it costs little. */
  async sign(id: string): Promise<string> {
    const { store } = this.#base;
    const [keys, progress, { live, paused, served }] = await Promise.all([
      store.list(`runs/${id}/`),
      this.#progressOf(id),
      this.#describe(id),
    ]);
    return JSON.stringify([
      ...[this.#starting.get(id), this.ceilings.get(id)],
      keys.length,
      progress,
      live?.status,
      paused,
      served,
      live && outagesOf(live, this.#base.now()),
    ]);
  }

  /** As it was told last, where it was: a worker answers only between two tasks. Asked anew meanwhile. */
  async #progressOf(id: string): Promise<Progress | null> {
    const { live, served } = await this.#describe(id);
    if (live?.status !== 'RUNNING' || !served) return null;
    const asking = this.#once(`progress ${id}`, async () => {
      const told = await this.asking((session) => session.progress(id, TELL_MS));
      if (told !== null) this.#progress.set(id, told);
    });
    if (!this.#progress.has(id)) await asking;
    return this.#progress.get(id) ?? null;
  }

  /** One at a time. */
  #once(what: string, work: () => Promise<void>): Promise<void> {
    const found = this.#underway.get(what);
    if (found !== undefined) return found;
    const begun = work().finally(() => this.#underway.delete(what));
    this.#underway.set(what, begun);
    return begun;
  }

  /** As it was described last, where that is not long ago; described anew meanwhile. */
  async #describe(id: string): Promise<Described> {
    const found = this.#described.get(id);
    if (found !== undefined && this.#base.now() - found.atMs < DESCRIBED_MS) return found;
    const describing = this.#once(`description ${id}`, () => this.#describeNow(id));
    if (found !== undefined) return found;
    await describing;
    return this.#described.get(id) ?? NOTHING;
  }

  async #describeNow(id: string): Promise<void> {
    const atMs = this.#base.now();
    const described = await this.asking(async (session): Promise<Described> => {
      const live = await session.describe(id);
      const isRunning = live?.status === 'RUNNING';
      return {
        ...{ atMs, live },
        paused: isRunning && (await isPaused(session.gate, id)),
        served: isRunning && (await isPolled(session.gate, live.taskQueue, atMs)),
      };
    });
    if (described?.live?.status === 'RUNNING' && !described.served) void this.#revive(id, described.live);
    // What was done to it meanwhile counts more.
    if ((this.#described.get(id)?.atMs ?? 0) <= atMs) this.#described.set(id, described ?? { ...NOTHING, atMs });
  }

  async isRunning(id: string): Promise<boolean> {
    return (await this.#describe(id)).live?.status === 'RUNNING';
  }

  /** A search that has not ended. */
  async searching(id: string): Promise<Searching> {
    const app = this.app();
    const trace = await traceOf(id, app);
    const { input, state } = trace;
    const run = createRunStore(app.store, id);
    const [described, remarks, updates, intents, replies] = await Promise.all([
      ...([this.#describe(id), run.all('remark'), run.all('update')] as const),
      ...([run.all('intent'), run.all('reply')] as const),
    ]);
    const { live, paused, served } = described;
    const isRunning = live?.status === 'RUNNING';
    const begun = this.#starting.get(id);
    const progress = isRunning ? await this.#progressOf(id) : null;
    const otherwise = async (): Promise<string> => {
      const waiting = await this.asking((session) => waitingIn(app)(session));
      return waiting?.has(id) ? 'waiting' : statusWithoutRecord(app.config, app.env, waiting !== null);
    };
    const runningAs = (): string => (paused ? 'paused' : served || progress !== null ? 'running' : 'interrupted');
    const withdrawn = new Set(state?.updates.flatMap((one) => (one.status === 'active' ? [] : [one.id])));
    return {
      ...{ id, input, trace, progress },
      ...(typeof begun === 'string' && { problem: begun }),
      status: begun === null && progress === null ? 'starting' : isRunning ? runningAs() : await otherwise(),
      outages: live === null ? [] : outagesOf(live, app.now()),
      proved: [...updates].map(([update, { mapping }]) => ({
        id: update,
        says: mapping,
        status: withdrawn.has(update) ? 'withdrawn' : 'active',
      })),
      remarks: [...remarks.values()],
      usage: usageOf(progress?.usage ?? state?.usage ?? NO_USAGE, [...replies.values()]),
      asked: [...intents].filter(([call]) => !replies.has(call)).map(([, { role }]) => role),
      ceilingUsd: this.#ceilingOf(id, trace),
      ui: (await this.asking((session) => Promise.resolve(session.uiOf(id)))) ?? null,
      askable: this.#isAskable(app, input),
    };
  }

  #ceilingOf(id: string, { input, state }: Trace): number | null {
    const told = this.ceilings.get(id);
    if (told !== undefined || input === null) return told ?? null;
    return (state === null ? input.settings.budgets : budgetsOf(state, input.settings)).costUsd;
  }

  /** null: it has not ended. */
  async answer(id: string, rowsPage: number, again: Answer['again']): Promise<Answer | null> {
    const app = this.app();
    const record = await recordOf(app.store, id);
    if (record === null) return null;
    const trace = await traceOf(id, app);
    const askable = this.#isAskable(app, trace.input);
    const later = (await followers(app.store, id)).map((one) => one.later);
    return {
      ...{ trace, record, askable, rowsPage, again },
      ui: await this.asking(async (session) => ((await session.describe(id)) === null ? null : session.uiOf(id))),
      kept: askable ? await keptOf(app, record.database, record.claims ?? []) : new Map(),
      followers: await Promise.all(
        later.map(async (one) => ({
          id: one,
          question: (await createRunStore(app.store, one).find('input', one))?.question.text ?? one,
        })),
      ),
    };
  }

  /** Its database is configured here, and is the same. */
  #isAskable(app: App, input: SearchInput | null): boolean {
    if (input === null || app.config.databases[input.question.database] === undefined) return false;
    try {
      return resolveDatabase(app.config, input.question.database, app.cwd).identity === input.identity;
    } catch {
      return false;
    }
  }
}

/** A workflow counts the calls of a turn when it ends; the journal knows them before. */
function usageOf(told: Usage, replies: readonly { readonly reply: ModelReply }[]): Usage {
  if (replies.length <= told.llmCalls) return told;
  const sum = (of: (reply: ModelReply) => number): number => replies.reduce((all, { reply }) => all + of(reply), 0);
  return {
    ...{ ...told, llmCalls: replies.length },
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    costUsd: sum(({ costUsd }) => costUsd),
  };
}

/** Entries of the layer by the claims that have the same check. */
async function keptOf(
  app: App,
  database: string,
  claims: NonNullable<Answer['record']['claims']>,
): Promise<Answer['kept']> {
  if (claims.length === 0) return new Map();
  const { openLayer } = await import('../../app/layer');
  const { layer } = await openLayer(app, database);
  return new Map(
    claims.flatMap(({ check, entry }, at) => {
      const held = layer.entries.find((one) => one.entry.entryId === entry?.entryId || check.includes(one.entry.check));
      return held === undefined ? [] : [[at + 1, { entryId: held.entry.entryId, status: held.status }] as const];
    }),
  );
}
