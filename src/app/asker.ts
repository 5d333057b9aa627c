/**
 * On whose behalf something is asked, for doors that serve several people (HTTP, MCP).
 *
 * 1. What is another's does not exist: its searches and its databases are not found.
 * 2. Databases by configured name only.
 * 3. A budget holds before a question starts: what the searches of the day, or of the process, cost, for those that run what they
 *    may cost, and what this one may.
 */
import * as z from 'zod';
import type { SearchInput } from '../domain';
import { isConclusive } from '../domain/answer';
import type { ObjectStore } from '../domain/ports';
import { SEARCH_ID } from '../domain/question';
import { each } from '../limiter';
import { askedSince, readIndex } from '../record/search-index';
import { sha256 } from '../sha256';
import type { App, Asked, ServedBy } from './app';
import { dollars } from '../report/printable';
import { GateError, UsageError } from './errors';
import { AskOptions, askRequest, given } from './given';
import { unknownSearch } from './searches';
import { inputOf, recordOf } from './services';

export interface Asker {
  /** Of the token; null: the person at this machine, who sees all. */
  readonly token: string | null;
  /** Of the searches that it asks. */
  readonly namespace: string;
  /** Configured names; null: all. */
  readonly databases: ReadonlySet<string> | null;
  /** Null: no limit. */
  readonly budget: Budget | null;
}

/** For all questions of a day (UTC), or of this process. */
export interface Budget {
  readonly usd: number;
  readonly of: 'day' | 'process';
}

/** A question as a door takes it from others: no path, no address, no file. */
export const OthersQuestion = z.strictObject({
  question: z.string(),
  ...AskOptions.pick({ context: true, instructions: true, output: true, web: true, after: true }).shape,
  ...AskOptions.pick({ memory: true, seed: true, budgets: true, fresh: true }).shape,
  /** As `--method` takes it. */
  method: z.string().optional(),
  /** A configured name. Left out: the only one, or that of `after`. */
  db: AskOptions.shape.db,
});
export type OthersQuestion = z.input<typeof OthersQuestion>;

/** Throws as if there were no such search where it is another's. `id`: whole. */
export async function ownSearch(store: ObjectStore, id: string, asker: Asker): Promise<SearchInput> {
  const input = SEARCH_ID.test(id) ? await inputOf(store, id) : null;
  const isOwn = input !== null && (asker.token === null || input.namespace === asker.namespace);
  if (!isOwn || !mayAsk(asker, input.question.database)) throw unknownSearch(id);
  return input;
}

/** Also of what it asked before a database was taken from it. */
export function mayAsk({ databases }: Asker, name: string): boolean {
  return databases?.has(name) ?? true;
}

/** Configured names that it may ask, in their order. */
export function ownDatabases({ config }: Pick<App, 'config'>, asker: Asker): readonly string[] {
  return Object.keys(config.databases).filter((name) => mayAsk(asker, name));
}

/** `db` left out: the only one. */
export function ownDatabase(app: Pick<App, 'config'>, db: string | undefined, asker: Asker): string {
  const names = ownDatabases(app, asker);
  const name = db ?? (names.length === 1 ? names[0] : undefined);
  if (name !== undefined && names.includes(name)) return name;
  const known = names.length === 0 ? 'there is none' : `there are: ${names.join(', ')}`;
  if (name === undefined) throw new UsageError(`which database? give db (${known})`);
  throw new GateError(`no database of that name is configured here; ${known}`, 'not-found');
}

/** Asks questions of several people. One for a process: it knows what it has begun. */
export class Askers {
  /** Searches that count beside those of the index: being started, or all of a process. By namespace and id. */
  readonly #begun = new Map<string, Map<string, Begun>>();
  /** Of searches that have ended, by the key of their entry. */
  readonly #costs = new Map<string, number>();

  constructor(
    private readonly app: App,
    private readonly servedBy: Extract<ServedBy, string> = 'background',
  ) {}

  /** In the background. `key`: the same one makes `fresh` the same search again. */
  async ask(asker: Asker, written: OthersQuestion, key: string | null = null): Promise<Asked> {
    const { question, db, ...options } = given(OthersQuestion, written, 'question');
    const { store } = this.app;
    const { after } = options;
    const earlier = after === undefined ? null : await ownSearch(store, after, asker);
    const name = ownDatabase(this.app, db ?? earlier?.question.database, asker);
    const { namespace } = asker;
    const nonce = key === null ? undefined : sha256(`${namespace}\n${key}`).slice(0, 16);
    const request = { ...askRequest(question, { ...options, db: name }), namespace, nonce };
    const { ask } = await import('./ask');
    let release = (): void => undefined;
    const admit = async (input: SearchInput): Promise<void> => {
      release = await this.#reserved(asker, input);
    };
    return ask({ ...request, admit }, this.app, this.servedBy).finally(() => release());
  }

  /** What today's searches of a token cost, or may cost while they run, by search. */
  async #costsToday(namespace: string): Promise<ReadonlyMap<string, number>> {
    const { store } = this.app;
    const today = new Date(this.app.now()).setUTCHours(0, 0, 0, 0);
    const costs = await each([...(await askedSince(store, today, namespace))], async ([id, key]) => {
      const known = this.#costs.get(key);
      if (known !== undefined) return [id, known] as const;
      const entry = await readIndex(store, key);
      const isOpen = entry === null || entry.status === null;
      const record = isOpen ? await recordOf(store, id) : null;
      const recorded = record !== null && isConclusive(record) ? record.usage.costUsd : null;
      const cost = isOpen ? recorded : (entry.costUsd ?? 0);
      if (cost === null) return [id, (await inputOf(store, id))?.settings.budgets.costUsd ?? Infinity] as const;
      this.#costs.set(key, cost);
      return [id, cost] as const;
    });
    return new Map(costs);
  }

  /** What the searches of this process cost, or may cost while they run. */
  async #costsOf(begun: ReadonlyMap<string, Begun>): Promise<ReadonlyMap<string, number>> {
    const costs = await each([...begun], async ([id, { most, atMs }]) => {
      const record = await recordOf(this.app.store, id);
      // One that was cancelled or failed, and was begun again since, has the record of before.
      const isOver = record !== null && (isConclusive(record) || Date.parse(record.endedAt) >= atMs);
      return [id, isOver ? record.usage.costUsd : most] as const;
    });
    return new Map(costs);
  }

  /** Until the function that it gives is called: then the store knows of the search. A budget of the process goes on counting it. */
  async #reserved({ namespace, budget }: Asker, { searchId, settings }: SearchInput): Promise<() => void> {
    if (budget === null) return () => undefined;
    const { usd, of } = budget;
    const most = settings.budgets.costUsd ?? (of === 'process' ? usd : null);
    if (most === null) throw new UsageError('budgets.costUsd: this token has a budget, so each question needs a limit');
    const begun = this.#begun.get(namespace) ?? new Map<string, Begun>();
    this.#begun.set(namespace, begun);
    const before = begun.get(searchId);
    begun.set(searchId, { most, atMs: this.app.now() });
    const release = (): void => {
      begun.delete(searchId);
    };
    try {
      const starting = [...begun].map(([id, one]) => [id, one.most] as const);
      const known = await (of === 'day' ? this.#costsToday(namespace) : this.#costsOf(begun));
      // One that is begun again may cost more than the store knows of. One that runs already is joined.
      const costs = new Map(of === 'day' ? [...known, ...starting] : known);
      const others = [...costs].filter(([id]) => id !== searchId);
      const spent = others.reduce((sum, [, cost]) => sum + cost, 0);
      if (spent + most > usd + 1e-9) throw new GateError(refusal({ usd, of }, spent, most), 'budget');
    } catch (error) {
      if (of === 'process' && before !== undefined) begun.set(searchId, before);
      else release();
      throw error;
    }
    return of === 'day' ? release : () => undefined;
  }
}

interface Begun {
  /** What it may cost, in US dollars. */
  readonly most: number;
  readonly atMs: number;
}

function refusal({ usd, of }: Budget, spent: number, most: number): string {
  if (of === 'process')
    return `all questions here may cost ${usd} US dollars together: ${spent.toFixed(2)} are spent or set aside, and this one may cost ${most}; start gate mcp with a higher --budget, or ask for answers that there are`;
  const left = dollars(Math.max(0, usd - spent));
  return `the question may cost ${dollars(most)}, and ${left} of ${dollars(usd)} are left today (UTC): give a smaller budgets.costUsd`;
}
