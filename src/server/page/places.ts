/** What the pages show besides searches: databases and whether they answer, their layers, batches and their figures. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../app/app';
import type { LayerCommand } from '../../app/given';
import type * as AppLayer from '../../app/layer';
import { lookAt } from '../../app/check-database';
import { describeDatabase, listDatabases } from '../../app/databases';
import { errorText, GateError } from '../../app/errors';
import { unpricedModels } from '../../app/model-check';
import { batchStatus, listStatuses, type ListedStatus, type Looking } from '../../app/run/batch-status';
import { SUMMARY } from '../../app/run/results';
import { findBatch, isFailure, resultFolder, storedBatch } from '../../app/run/stored-batches';
import { inputOf } from '../../app/services';
import type { SharedTemporal } from '../../app/shared-temporal';
import { saidBy } from '../../app/surroundings';
import { OPENAI_BASE_URL } from '../../adapters/openai';
import { namedDatabase } from '../../config/databases';
import { parsedJson } from '../../json';
import { each } from '../../limiter';
import { Run } from '../../report/run';
import type { AskPage, KnownDatabase, Reached } from './ask';
import type { BatchPage } from './batches';
import type { DatabasePage } from './databases';

/** How long what is known of a database counts. */
const REACHED_MS = 60_000;
const FAILED_SHOWN = 20;

export interface OpenedLayer {
  readonly app: typeof AppLayer;
  readonly open: AppLayer.OpenLayer;
  readonly tell: (command: LayerCommand) => Promise<unknown>;
}

export class Places {
  readonly #reached = new Map<string, { readonly atMs: number; readonly reached: Reached }>();
  readonly #described = new Map<string, { readonly atMs: number; readonly page: Promise<DatabasePage> }>();

  /** `app`: with the configuration of now. */
  constructor(
    private readonly app: () => App,
    private readonly temporal: SharedTemporal,
  ) {}

  names(): readonly string[] {
    return Object.keys(this.app().config.databases);
  }

  /** A configured name, and nothing else: no path or address comes through a page. */
  named(name: string): string {
    if (this.names().includes(name)) return name;
    throw new GateError(`no database is configured as '${name}'`, 'not-found');
  }

  /** All of them. Whether they answer is found out meanwhile, and known the next time. */
  known(): readonly KnownDatabase[] {
    const app = this.app();
    return listDatabases(app.config).map((one) => {
      const found = this.#reached.get(one.name);
      const reached = found?.reached ?? null;
      if (one.engine === '?') return { ...one, reached: { problem: one.address } };
      if (found === undefined || app.now() - found.atMs > REACHED_MS) {
        this.#reached.set(one.name, { atMs: app.now(), reached });
        const tell = (reached: Reached): void => void this.#reached.set(one.name, { atMs: app.now(), reached });
        lookAt(app.config, namedDatabase(app.config, one.name)).then(
          ({ tables }) => tell({ tables: tables.length }),
          (error: unknown) => tell({ problem: errorText(error, false) }),
        );
      }
      return { ...one, reached };
    });
  }

  model(): AskPage['model'] {
    const { config } = this.app();
    const { default: name, baseUrl, apiKey } = config.models;
    if (name === null || (baseUrl === null && apiKey === null)) return null;
    return { name, endpoint: baseUrl ?? OPENAI_BASE_URL, unpriced: unpricedModels(config, [name]).length > 0 };
  }

  async layer(name: string): Promise<OpenedLayer> {
    const at = this.app();
    const app = await import('../../app/layer');
    const open = await app.openLayer(at, this.named(name));
    return { app, open, tell: (command) => app.tellLayer(open, command, saidBy(at, command)) };
  }

  /** Profiles take seconds: they are remembered for a while. */
  described(name: string, only: string | null): Promise<DatabasePage> {
    const key = JSON.stringify([name, only]);
    const nowMs = this.app().now();
    const found = this.#described.get(key);
    if (found !== undefined && nowMs - found.atMs < REACHED_MS) return found.page;
    const page = this.#describe(name, only);
    for (const [old, { atMs }] of this.#described) if (nowMs - atMs > REACHED_MS) this.#described.delete(old);
    this.#described.set(key, { atMs: nowMs, page });
    page.catch(() => this.#described.delete(key));
    return page;
  }

  async #describe(name: string, only: string | null): Promise<DatabasePage> {
    const at = this.app();
    const { config } = at;
    const database = namedDatabase(config, this.named(name));
    const [description, described] = await Promise.all([
      lookAt(config, database),
      describeDatabase(name, only === null ? {} : { table: [only] }, at),
    ]);
    const { access, docs } = database;
    return { databases: this.names(), described, description, access, docs, only, showsValues: config.showsValues };
  }

  async batches(limit: number): Promise<readonly ListedStatus[]> {
    return this.#looking((at) => listStatuses(at, limit));
  }

  async batch(wanted: string): Promise<BatchPage> {
    const { store } = this.app();
    const listed = await findBatch(store, wanted);
    const [status, batch] = await Promise.all([
      this.#looking((at) => batchStatus(at, listed)),
      storedBatch(store, listed),
    ]);
    const failed = batch.questions.filter(({ outcome }) => isFailure(outcome)).slice(0, FAILED_SHOWN);
    const folder = resultFolder(batch);
    return {
      status,
      run: folder === null ? null : runIn(folder),
      failed: await each(failed, async ({ searchId }) => ({
        id: searchId,
        question: (await inputOf(store, searchId))?.question.text ?? searchId,
      })),
    };
  }

  /** Asks the questions again that failed; gives a line that says so. */
  async retry(id: string, closing: AbortSignal): Promise<string> {
    const at = this.app();
    const { retryOf, detachRun, runQuestions } = await import('../../app/run/run');
    const notes: string[] = [];
    const found = await retryOf(id, { undecided: false, command: `gate batch retry ${id}` }, at, (line) =>
      notes.push(line),
    );
    if (found.kind === 'nothing') return found.reason;
    const door = {
      surroundings: { ...at, cwd: found.cwd },
      tell: () => undefined,
      stopping: { asked: closing, quit: closing },
    };
    if (found.isDetached) await detachRun(found.wanted, door, () => undefined);
    // It goes on while this server runs; what ends it early stands in its state.
    else runQuestions(found.wanted, door).catch(() => undefined);
    return 'The questions that failed are asked again.';
  }

  async #looking<T>(work: (at: Looking) => Promise<T>): Promise<T> {
    const app = this.app();
    const at = { services: app, surroundings: app, records: new Map() };
    return (await this.temporal.asking((session) => work({ ...at, session }))) ?? work({ ...at, session: null });
  }
}

/** Null: it has no figures yet, or of another version. */
function runIn(folder: string): Run | null {
  try {
    return Run.safeParse(parsedJson(readFileSync(join(folder, SUMMARY), 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}
