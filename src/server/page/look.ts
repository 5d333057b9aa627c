/** Looks at searches for the pages. */
import type { App } from '../../app/app';
import { errorText } from '../../app/errors';
import { statusWithoutRecord } from '../../app/open-temporal';
import { traceOf } from '../../app/report';
import { searchRows, waitingIn, type RowPage } from '../../app/search-list';
import { inputOf, recordOf } from '../../app/services';
import type { SharedTemporal } from '../../app/shared-temporal';
import type { SearchEvents } from '../../app/search-events';
import { resolveDatabase } from '../../config/databases';
import type { SearchInput, Usage } from '../../domain';
import { NO_USAGE } from '../../domain/control-view';
import type { ModelReply } from '../../domain/model-call';
import { loadConfig } from '../../config';
import { createRunStore } from '../../record/run-store';
import { followers } from '../../record/search-index';
import type { Trace } from '../../report';
import { budgetsOf } from '../../search/steering';
import { servedBy } from '../../workers/task-queues';
import type { QuestionDescription } from '../../workers/workflow-views';
import type { Answer } from './answer';
import type { Searching } from './searching';

/** How soon a search without a worker gets one again. */
const AGAIN_MS = 15_000;

export class Looker {
  /** Searches that are being started; a text: why they could not be. */
  readonly #starting = new Map<string, string | null>();
  /** What a search may cost from now on; its checkpoint tells that only after its present round. */
  readonly ceilings = new Map<string, number | null>();

  constructor(
    private readonly base: App,
    readonly events: SearchEvents,
  ) {}

  /** With the configuration as its file is now. */
  app(): App {
    return { ...this.base, config: loadConfig(this.base) };
  }

  /** Somebody begins a search: it is being started until `work` ends, and shows why it could not be. */
  begin(id: string, work: Promise<unknown>): void {
    this.#starting.set(id, null);
    const over = (problem: string | null): void => {
      if (problem === null) this.#starting.delete(id);
      else this.#starting.set(id, problem);
      this.events.forget(id);
    };
    work.then(
      () => over(null),
      (error: unknown) => over(errorText(error, false)),
    );
  }

  isStarting(id: string): boolean {
    return this.#starting.get(id) === null;
  }

  /** A search that runs and has lost its worker gets another one, as long as somebody watches it. */
  async #revive(id: string, live: QuestionDescription): Promise<void> {
    // An interrupted batch waits for the command that goes on with it.
    if (servedBy(live.taskQueue) === null || this.#starting.has(id)) return;
    const app = this.app();
    if (!this.#isAskable(app, await inputOf(app.store, id))) return;
    const { goOn } = await import('../../app/ask');
    this.begin(id, goOn(id, app));
    const again = (): void => {
      this.#starting.delete(id);
      this.events.forget(id);
    };
    setTimeout(again, AGAIN_MS).unref();
  }

  #asking: SharedTemporal['asking'] = (work) => this.events.temporal.asking(work);

  /** `after`: where the page begins. */
  list(limit: number, after?: string): Promise<RowPage> {
    const app = this.app();
    const living = () => this.#asking((session) => session.living(waitingIn(app)));
    return searchRows(app, { limit, after }, living);
  }

  /** A search that has not ended. */
  async searching(id: string): Promise<Searching> {
    const app = this.app();
    const trace = await traceOf(id, app);
    const { input, state } = trace;
    const run = createRunStore(app.store, id);
    const [now, remarks, updates, intents, replies] = await Promise.all([
      ...([this.events.live(id), run.all('remark'), run.all('update')] as const),
      ...([run.all('intent'), run.all('reply')] as const),
    ]);
    const { live, isRunning, isServed, progress, outages } = now;
    if (live !== null && isRunning && !isServed) void this.#revive(id, live);
    const begun = this.#starting.get(id);
    const otherwise = async (): Promise<string> => {
      const waiting = await this.#asking((session) => waitingIn(app)(session));
      return waiting?.has(id) ? 'waiting' : statusWithoutRecord(app.config, app.env, waiting !== null);
    };
    const runningAs = now.isPaused ? 'paused' : isServed ? 'running' : 'interrupted';
    const withdrawn = new Set(state?.updates.flatMap((one) => (one.status === 'active' ? [] : [one.id])));
    return {
      ...{ id, input, trace, progress },
      ...(typeof begun === 'string' && { problem: begun }),
      status: begun === null && progress === null ? 'starting' : isRunning ? runningAs : await otherwise(),
      outages,
      proved: [...updates].map(([update, { mapping }]) => ({
        id: update,
        says: mapping,
        status: withdrawn.has(update) ? 'withdrawn' : 'active',
      })),
      remarks: [...remarks.values()],
      usage: usageOf(progress?.usage ?? state?.usage ?? NO_USAGE, [...replies.values()]),
      asked: [...intents].filter(([call]) => !replies.has(call)).map(([, { role }]) => role),
      ceilingUsd: this.#ceilingOf(id, trace),
      ui: (await this.#asking((session) => Promise.resolve(session.uiOf(id)))) ?? null,
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
      ui: await this.#asking(async (session) => ((await session.describe(id)) === null ? null : session.uiOf(id))),
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
