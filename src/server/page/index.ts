/**
 * The local page (issue of the doors): routes that render fragments and forms that call the same functions of `src/app` as every
 * other door. It is for the person at this machine: who has a token of the configuration uses the API.
 *
 * 1. A form answers with a redirect, or with its page and what went wrong, so that all works without a script.
 * 2. What a form names is checked by the use case; databases come by configured name alone.
 */
import { anySignal } from '../../any-signal';
import { searchOf, type App, type Asked } from '../../app/app';
import { errorText, UsageError, GateError } from '../../app/errors';
import { askRequest, given, LayerCommand } from '../../app/given';
import type { Verdict } from '../../app/layer';
import { isOver, pause } from '../../app/waiting';
import type { SearchEvents } from '../../app/search-events';
import { findSearch } from '../../app/searches';
import { recordOf } from '../../app/services';
import { SteerCommand } from '../../app/steer';
import { authorOf } from '../../app/surroundings';
import { markup } from '../../report/html';
import { formattedSql } from '../../report/sql-section';
import { spreadsheetFile } from '../../report/result-section';
import { HttpError, httpError } from '../http/errors';
import type { HttpRequest, Reply, Route } from '../http/route';
import { answerBody, type CheckedAgain } from './answer';
import { answersBody, askBody, type AskPage } from './ask';
import { batchBody, batchesBody } from './batches';
import { databaseBody, databasesBody } from './databases';
import { layerBody } from './layer';
import { Looker } from './look';
import { Places } from './places';
import { searchingBody } from './searching';
import { mainOf, pageText, path, policy, type Said, type View } from './shell';
import { every, Watches, type Watched } from './watch';

/** After the first page. */
const WARM_MS = 2_000;
const RECENT = 12;
const LISTED = 50;
/** How often a page is looked at that changes rarely, or costs more to look at. */
const SLOW_MS = 1_500;

/** What a form holds. */
type Fields = Readonly<Record<string, string | undefined>>;

export function pageRoutes(app: App, events: SearchEvents, closing: AbortSignal): readonly Route[] {
  const looker = new Looker(app, events);
  const places = new Places(() => looker.app(), events.temporal);
  const watches = new Watches();
  const routes: Route[] = [];
  // Loading the formatter would hold up the first event of a search.
  setTimeout(() => formattedSql(`SELECT ${'1, '.repeat(40)}1`), WARM_MS).unref();

  const on = (method: Route['method'], at: string, handler: Route['handler']): void =>
    void routes.push({ method, path: at, scope: 'local', handler });
  const get = (at: string, view: (request: HttpRequest) => View | Promise<View>): void =>
    on('GET', at, (request) => shown(() => view(request)));
  /** A page that changes while it is read. */
  const live = (at: string, view: (request: HttpRequest) => View | Promise<View>, changes: Changes): void => {
    get(at, view);
    on('GET', at === '/' ? '/live' : `${at}/live`, (request) => {
      const { query, leave } = request;
      const page = async (): Promise<string> => mainOf(await view(request)).text;
      const watched: Watched = { page, changes: (end) => changes(request, end, page) };
      return { events: watches.follow(`${request.path}?${query.toString()}`, watched, leave) };
    });
  };
  const post = (at: string, work: (request: HttpRequest, fields: Fields) => Promise<View | string>): void =>
    on('POST', at, async (request) => {
      const done = await work(request, Object.fromEntries(await request.form()));
      return typeof done === 'string' ? { status: 303, headers: { location: done } } : html(done);
    });
  const idIn = ({ params }: HttpRequest): string => params['id'] ?? '';
  const nameIn = ({ params }: HttpRequest): string => places.named(params['name'] ?? '');

  /** The page of a search, as soon as it is known; the rest of its start goes on, and its page shows what becomes of it. */
  const begun = (start: (app: App) => Promise<Asked>): Promise<string> =>
    new Promise((resolve, reject) => {
      const stored = (id: string): void => {
        looker.begin(id, work);
        resolve(path`/q/${id}`);
      };
      const work = start({ ...looker.app(), onStored: stored });
      work.then((asked) => resolve(path`/q/${searchOf(asked)}`), reject);
    });

  // Asking
  const askView = async (more: Partial<AskPage> = {}, said: Said | null = null): Promise<View> => {
    const page = { databases: places.known(), ceilingUsd: looker.app().config.budgets.costUsd, model: places.model() };
    const body = askBody({ ...page, recent: (await looker.list(RECENT)).rows, ...more });
    return { title: 'Ask', place: 'ask', live: '/live', said, body };
  };
  const asked = async (): Promise<string> => JSON.stringify([places.known(), await looker.list(RECENT)]);
  live(
    '/',
    () => askView(),
    (_, end) => every(SLOW_MS / 3, asked, end),
  );
  post('/ask', async (_, typed) => {
    const { text = '', db, after, cost, fresh } = typed;
    const context = typed['context']?.trim();
    try {
      const { ask } = await import('../../app/ask');
      const request = askRequest(text, {
        after,
        ...(db !== undefined && { db: places.named(db) }),
        ...(cost !== undefined && { budgets: { costUsd: dollarsIn(cost) } }),
        ...(context && { context }),
        ...(fresh === 'yes' && { fresh: true }),
      });
      return await begun((at) => ask(request, at, 'background'));
    } catch (error) {
      return after === undefined ? askView({ typed }, failed(error)) : searchView(after, { said: failed(error) });
    }
  });
  get('/answers', async ({ query }) => {
    const { rows, next } = await looker.list(LISTED, query.get('after') ?? undefined);
    return { title: 'Answers', place: 'answers', body: answersBody(rows, { isFirst: !query.has('after'), next }) };
  });

  // One search, running or ended
  interface Shown {
    readonly said?: Said | null;
    readonly rows?: number;
    readonly again?: ReadonlyMap<number, CheckedAgain>;
  }
  const searchView = async (wanted: string, { said, rows = 1, again = new Map() }: Shown = {}): Promise<View> => {
    const id = await findSearch(looker.app().store, wanted);
    const view = { place: 'answers', said } as const;
    const title = (text: string): string => text.slice(0, 100);
    const answer = await looker.answer(id, rows, again);
    const mayGoOn = answer?.record.status === 'cancelled' || answer?.record.status === 'failed';
    if (answer !== null && !(mayGoOn && (looker.isStarting(id) || (await events.live(id)).isRunning)))
      return { ...view, title: title(answer.record.question), body: answerBody(answer) };
    const search = await looker.searching(id);
    const text = search.input?.question.text ?? id;
    return { ...view, title: title(text), live: path`/q/${id}/live`, body: searchingBody(search) };
  };
  /** One that has ended and is started again changes on. */
  const searchChanges = async function* (id: string, end: AbortSignal): AsyncGenerator<void, void> {
    for (let isGoingOn = true; isGoingOn && !isOver(end);) {
      isGoingOn = looker.isStarting(id);
      yield* events.changes(id, end);
      if (isGoingOn) await pause(SLOW_MS / 3, end);
    }
  };
  live(
    '/q/:id',
    (request) => searchView(idIn(request), { rows: pageIn(request, 'rows') }),
    (request, end) => searchChanges(idIn(request), end),
  );
  const onSearch = (
    name: string,
    work: (id: string, fields: Fields, request: HttpRequest) => Promise<string | Said | null>,
  ): void =>
    post(`/q/:id/${name}`, async (request, fields) => {
      const id = idIn(request);
      try {
        const done = await work(id, fields, request);
        events.forget(id);
        if (typeof done === 'string') return done;
        return done === null ? path`/q/${id}` : await searchView(id, { said: done });
      } catch (error) {
        return searchView(id, { said: failed(error) });
      }
    });
  for (const kind of ['hint', 'veto', 'pin', 'budget', 'pause', 'resume', 'stop', 'cancel'] as const)
    onSearch(kind, async (id, { cost, ...fields }) => {
      const { command } = await import('../../app/steer');
      const budgets = kind === 'budget' ? { budgets: { costUsd: dollarsIn(cost ?? '') } } : {};
      const told = given(SteerCommand, { ...fields, ...budgets, kind }, kind);
      const { id: known } = await command(id, told, looker.app());
      if (told.kind === 'budget') looker.ceilings.set(known, told.budgets.costUsd ?? null);
      return null;
    });
  onSearch('go-on', async (id) => {
    const { goOn } = await import('../../app/ask');
    return begun((at) => goOn(id, at));
  });
  onSearch('fork', async (id, fields) => {
    const { fork } = await import('../../app/fork');
    const text = fields['hint']?.trim();
    const hint = text ? { author: authorOf(undefined, app), text } : undefined;
    return begun((here) => fork(id, { at: wholeIn(fields['at']), hint }, here, 'background'));
  });
  post('/q/:id/checks/:number', async (request) => {
    const [id, number] = [idIn(request), wholeIn(request.params['number'])];
    const { checkAgain } = await import('../../app/check-again');
    const checked = await checkAgain(id, number, looker.app(), request.leave).then(
      (now): CheckedAgain => ({ now }),
      (error: unknown): CheckedAgain => ({ problem: failed(error).text }),
    );
    return searchView(id, { again: new Map([[number, checked]]) });
  });
  onSearch('wrong/:number', async (id, { statement = '', note }, { params }) => {
    const answer = await looker.answer(id, 1, new Map());
    if (answer?.askable !== true) throw new GateError(`${id} has not ended, or its database is not here`, 'conflict');
    const { tell } = await places.layer(answer.record.database);
    const entry = answer.kept.get(wholeIn(params['number']));
    await tell(entry === undefined ? { kind: 'add', statement } : { kind: 'reject', entry: entry.entryId, note });
    const text =
      entry === undefined
        ? 'Later questions are told it, as what you said.'
        : 'The layer uses it no more, nor what rests on it. Ask again to see what that changes.';
    return { kind: 'done', text };
  });
  on('GET', '/q/:id/rows.csv', async (request) => {
    const { store } = looker.app();
    const id = await findSearch(store, idIn(request));
    const record = await recordOf(store, id);
    if (record === null) throw new HttpError('not-found', `${id} has no result yet`);
    const names = record.columns.map(({ name }) => name);
    return { type: 'text/csv', headers: saved(`${id}.csv`), body: spreadsheetFile(names, record.rows).text };
  });
  on('GET', '/q/:id/report', async (request) => {
    const { reported } = await import('../../app/report');
    const { text: body, searchId } = await reported(idIn(request), looker.app());
    return { type: 'text/html', headers: saved(`${searchId}.html`), body };
  });

  // The layer
  interface OfLayer {
    readonly query?: URLSearchParams;
    readonly said?: Said | null;
    readonly verdict?: Verdict;
  }
  const layerView = async (request: HttpRequest, { said, verdict }: OfLayer = {}): Promise<View> => {
    const name = nameIn(request);
    const { open, app: use } = await places.layer(name);
    const body = layerBody({
      ...{ database: name, databases: places.names(), layer: open.layer, verdict: verdict ?? null },
      ...{ wanted: request.query.get('find') ?? '', page: pageIn(request, 'page') },
      history: (held) => use.historyOf(open, held),
    });
    return { title: `Conventions of ${name}`, place: 'layer', said, body };
  };
  on('GET', '/layer', () => {
    const [name] = places.names();
    return { status: 303, headers: { location: name === undefined ? '/databases' : path`/layer/${name}` } };
  });
  get('/layer/:name', (request) => layerView(request));
  post('/layer/:name/verify', async (request) => {
    try {
      const { app: use, open } = await places.layer(nameIn(request));
      const signal = anySignal([request.leave, closing]);
      return await layerView(request, { verdict: await use.verifyLayer(open, { signal, now: app.now() }) });
    } catch (error) {
      return layerView(request, { said: failed(error) });
    }
  });
  for (const [kind, text] of Object.entries(TOLD))
    post(`/layer/:name/${kind}`, async (request, fields) => {
      const name = nameIn(request);
      const tell = async (): Promise<Said> => {
        const { tell: told } = await places.layer(name);
        await told(given(LayerCommand, { ...fields, kind }, kind));
        return { kind: 'done', text };
      };
      return layerView(request, { said: await tell().catch(failed) });
    });

  // Databases
  const databasesView = (): View => {
    const body = databasesBody(places.known());
    return { title: 'Databases', place: 'databases', live: '/databases/live', body };
  };
  const reached = (): Promise<string> => Promise.resolve(JSON.stringify(places.known()));
  live('/databases', databasesView, (_, end) => every(SLOW_MS / 3, reached, end));
  get('/databases/:name', async (request) => {
    const name = nameIn(request);
    const body = databaseBody(await places.described(name, request.query.get('table')));
    return { title: name, place: 'databases', body };
  });

  // Batches
  const slowly: Changes = (_, end, page) => every(SLOW_MS, page, end);
  const batchesView = async (): Promise<View> => {
    const body = batchesBody(await places.batches(LISTED));
    return { title: 'Batches', place: 'batches', live: '/batches/live', body };
  };
  live('/batches', batchesView, slowly);
  const batchView = async (id: string, said: Said | null = null): Promise<View> => {
    const page = await places.batch(id);
    const title = page.status.name ?? id;
    return { title, place: 'batches', said, live: path`/batches/${id}/live`, body: batchBody(page) };
  };
  live('/batches/:id', (request) => batchView(idIn(request)), slowly);
  for (const kind of ['pause', 'resume', 'cancel', 'retry'] as const)
    post(`/batches/:id/${kind}`, async (request, { now }) => {
      const id = idIn(request);
      try {
        if (kind === 'retry') return await batchView(id, { kind: 'done', text: await places.retry(id, closing) });
        const { command } = await import('../../app/steer');
        await command(id, kind === 'pause' ? { kind, now: now === 'yes' } : { kind }, looker.app());
        return path`/batches/${id}`;
      } catch (error) {
        return batchView(id, failed(error));
      }
    });

  return routes;
}

/** When a page may have changed. `page`: it as it is now. */
type Changes = (request: HttpRequest, end: AbortSignal, page: () => Promise<string>) => AsyncIterable<unknown>;

/** What is said once a layer was told something. */
const TOLD: Readonly<Record<LayerCommand['kind'], string>> = {
  confirm: 'Confirmed.',
  reject: 'Rejected: it and all that rests on it are used no more.',
  edit: 'It has the new words.',
  add: 'Later questions are told it.',
  answer: 'Later questions are told it.',
};

async function shown(view: () => View | Promise<View>): Promise<Reply> {
  try {
    return html(await view());
  } catch (error) {
    const { error: told, known } = httpError(error);
    if (!known) throw error;
    const said: Said = { kind: 'failed', text: told.message };
    return html({ title: 'Not here', place: null, body: NOT_HERE, said }, told.status);
  }
}

const NOT_HERE = markup`<h1>This page cannot be shown</h1><p><a href="/">Ask a question</a> or look at <a href="/answers">all answers</a>.</p>`;

const html = (view: View, status = 200): Reply => ({
  status,
  type: 'text/html',
  headers: { 'content-security-policy': policy() },
  body: pageText(view),
});

/** For a file that the browser keeps. */
const saved = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });

/** In one line, without passwords. */
function failed(error: unknown): Said {
  return { kind: 'failed', text: errorText(error, false) };
}

/** Null: no limit. */
function dollarsIn(text: string): number | null {
  const trimmed = text.trim().replace(/^\$/, '');
  if (trimmed === '') return null;
  const amount = Number(trimmed);
  if (!/^\d*\.?\d+$/.test(trimmed) || !(amount > 0))
    throw new UsageError(`the cost '${text}' is no amount: give US dollars, such as 0.50, or nothing for no limit`);
  return amount;
}

function wholeIn(text = ''): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is no number: give a whole one from 1`);
}

/** From 1. */
function pageIn({ query }: HttpRequest, name: string): number {
  return Number(query.get(name) ?? 1) || 1;
}
