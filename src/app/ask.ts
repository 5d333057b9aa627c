/**
 * Asking a question: look into the store, check what can be checked without paying, join or start Temporal, have the
 * question's task queue served, follow it. A question is known by its search id: asked again, it is joined while it runs,
 * and its stored answer costs nothing.
 *
 * Learning: a search without a question, durable like any other. Learning again goes on with a lesson that was interrupted or
 * stopped; after one that ended it begins the next, which knows what is kept already.
 *
 * The first SQL has to come within a second of Enter (`npm run bench -- ask`), and most of that is loading code: the large
 * modules are imported where they are used.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ResolvedDatabase } from '../config/databases';
import type { SearchInput } from '../domain';
import { isConclusive } from '../domain/answer';
import { sha256 } from '../sha256';
import { clockAt } from '../sql/clock';
import type { Composition } from '../workers/composition';
import { openEngines } from '../workers/engines';
import { note, type App, type Asked, type ServedBy } from './app';
import { askAgain } from './ask-again';
import { GateError, UsageError } from './errors';
import {
  askedDatabase,
  sameDatabase,
  checkWeb,
  following,
  modelsFor,
  offeredModels,
  questionOf,
  questionText,
  searchInput,
  webNotice,
  type QuestionParts,
  type SearchChoices,
} from './question-input';
import { told } from './rows';
import { earlierSearch, findSearch } from './searches';
import { inputOf, recordOf } from './services';
import type { Asking } from './start-search';

export interface AskRequest extends SearchChoices, QuestionParts {
  readonly text: string;
  /** A configured name, a path or a URL; left out: the only configured database. */
  readonly db?: string;
  /** Searches anew, whatever is stored. */
  readonly fresh?: boolean;
  /** Files that the exchanges with the model are written to, or read from instead of a model. */
  readonly record?: string;
  readonly replay?: string;
  /** More rows than are stored are read again with the same SQL. */
  readonly maxRows?: number;
  /** Whose search it is (`asker.ts`); left out: of the person at this machine. */
  readonly namespace?: string;
  /** Of `fresh`: with the same one it is the same search again. */
  readonly nonce?: string;
  /** Throws where a search may not be started, for what it may cost. */
  readonly admit?: (input: SearchInput) => Promise<void>;
}

export async function ask(request: AskRequest, app: App, servedBy: ServedBy): Promise<Asked> {
  const text = questionText(request.text);
  const { config } = app;
  checkWeb(config, request);
  const earlier = request.after === undefined ? null : await earlierSearch(app.store, request.after);
  const database =
    earlier === null ? askedDatabase(config, request, app) : sameDatabase(earlier, request, app, 'what follows it');
  const parts = earlier === null ? request : { ...request, ...following(earlier, request) };
  const question = await questionOf(text, database, parts, app.cwd);
  const files = recordingOf(request, app.cwd, servedBy);
  return withOpened(app, database, files, async (opened) => {
    // A recording or a local Ollama offers names where none is configured.
    const isNamed = request.model?.['default'] !== undefined || config.models.default !== null;
    const models = modelsFor(config, request, isNamed ? [] : offeredModels(await opened.composition()));
    const namespace =
      files.replay === undefined
        ? (request.namespace ?? 'user')
        : `replay-${sha256(await readFile(files.replay, 'utf8')).slice(0, 8)}`;
    // A recording is complete without the reading of what was proved.
    const memory = Object.keys(files).length === 0 ? config.memory : 'off';
    const named = { identity: database.identity, models, namespace, memory };
    // With the clock of this asking; a context may tell one of its own.
    const now = question.context === null ? { clock: clockAt(app.now()) } : {};
    const inputFor = (nonce?: string): SearchInput => ({
      ...searchInput(config, request, question, { ...named, nonce }),
      ...now,
    });
    const asked = inputFor(request.fresh ? (request.nonce ?? randomBytes(8).toString('hex')) : undefined);
    const again = await askAgain({ app, engines: opened.engines, inputFor }, asked);
    const asking = { app, ...opened, database, input: asked, files, maxRows: request.maxRows };
    if (again.kind === 'answer') return told(asking, { record: again.record, ui: null });
    await request.admit?.(again.input);
    const notice = webNotice(config, request);
    if (notice !== null) note(app, notice);
    return serve({ ...asking, input: again.input }, servedBy);
  });
}

function recordingOf({ record, replay }: AskRequest, cwd: string, servedBy: ServedBy): Asking['files'] {
  if (typeof servedBy === 'string' && (record ?? replay) !== undefined)
    throw new UsageError('--record and --replay do not work in the background: leave --detach out');
  if (replay !== undefined && !existsSync(resolve(cwd, replay)))
    throw new UsageError(`--replay ${replay}: no such file; give a recording that --record wrote`);
  return {
    ...(record !== undefined && { record: resolve(cwd, record) }),
    ...(replay !== undefined && { replay: resolve(cwd, replay) }),
  };
}

/** Each way of serving is loaded only where it is wanted. */
export async function serve(asking: Asking, servedBy: ServedBy): Promise<Asked> {
  const { serveHere, serveInBackground } = await import('./serve-search');
  return typeof servedBy === 'string' ? serveInBackground(asking, servedBy) : serveHere(asking, servedBy);
}

/** Databases and models of one asking: opened by whoever needs them first, and closed at the end. */
export async function withOpened<T>(
  { config }: Pick<App, 'config'>,
  database: ResolvedDatabase,
  files: Asking['files'],
  work: (opened: Pick<Asking, 'engines' | 'composition'>) => Promise<T>,
): Promise<T> {
  const engines = openEngines(config, [database]);
  let composing: Promise<Composition> | undefined;
  try {
    const compose = async () => (await import('../workers/composition')).compose(config, { engines, ...files });
    return await work({ engines, composition: () => (composing ??= compose()) });
  } finally {
    // An error on opening has already ended the asking, so it is not thrown again.
    const [settled] = await Promise.allSettled(composing === undefined ? [] : [composing]);
    await (settled?.status === 'fulfilled' ? settled.value : engines).close();
  }
}

/**
 * Somebody works on a search again: a worker in the background goes on where it was, and pays nothing twice. It has what it was
 * asked with; its database has to be configured here.
 */
export async function goOn(wanted: string, app: App): Promise<Asked> {
  const id = await findSearch(app.store, wanted);
  const [input, record] = await Promise.all([inputOf(app.store, id), recordOf(app.store, id)]);
  if (input === null) throw new GateError(`the store no longer has the question of ${id}`);
  if (record !== null && isConclusive(record)) throw new GateError(`${id} has its answer`, 'conflict');
  const database = sameDatabase(input, {}, app, 'going on');
  return withOpened(app, database, {}, (opened) => serve({ app, ...opened, database, input, files: {} }, 'background'));
}

export interface LearnRequest extends Pick<SearchChoices, 'model' | 'budgets'>, Pick<QuestionParts, 'docs'> {
  readonly db?: string;
  /** At most this many turns of queries and claims. */
  readonly turns: number;
}

/** As lists and the Temporal UI show it. */
const LESSON = 'Which conventions does this database follow?';

export async function learn(request: LearnRequest, app: App, servedBy: ServedBy): Promise<Asked> {
  const { config, store } = app;
  const { turns: iterations } = request;
  const database = askedDatabase(config, request, app);
  const question = await questionOf(LESSON, database, { ...request, output: 'sql' }, app.cwd);
  const models = modelsFor(config, request, []);
  const named = { models, namespace: 'learn', identity: database.identity, memory: 'on' } as const;
  const flags = { ...request, method: { spec: 'learn', method: 'learn', overrides: { iterations } } } as const;
  return withOpened(app, database, {}, async (opened) => {
    // The first lesson of these settings that has not ended by itself: a stopped one goes on, and reads what it has not read.
    for (let lesson = 1; ; lesson += 1) {
      const input = searchInput(config, flags, question, { ...named, nonce: `lesson ${lesson}` });
      const record = await recordOf(store, input.searchId);
      if (record === null || record.endedBy === 'stop' || !isConclusive(record))
        return serve({ app, ...opened, database, input, files: {} }, servedBy);
    }
  });
}
