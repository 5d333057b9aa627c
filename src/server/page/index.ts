/**
 * The local page (issue of the doors): routes that render fragments and forms that call the same functions of `src/app` as every
 * other door. It is for the person at this machine: who has a token of the configuration uses the API.
 *
 * 1. A form answers with a redirect, or with its page and what went wrong, so that all works without a script.
 * 2. What a form names is checked by the use case; databases come by configured name alone.
 */
import { searchOf, type App, type Asked } from '../../app/app';
import { errorText, UsageError, GateError } from '../../app/errors';
import { authorOf } from '../../app/surroundings';
import type { SteerCommand } from '../../app/steer';
import { findSearch } from '../../app/searches';
import { recordOf } from '../../app/services';
import type { Verdict } from '../../app/layer';
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
import { SLOW_MS, Watches, type Watched } from './watch';

export interface Page {
  readonly routes: readonly Route[];
  close(): Promise<void>;
}

/** After the first page. */
const WARM_MS = 2_000;
const RECENT = 12;
const LISTED = 50;

export function openPage(app: App, closing: AbortSignal): Page {
  const looker = new Looker(app);
  const places = new Places(looker);
  const watches = new Watches();
  const routes: Route[] = [];
  // Loading the formatter would hold up the first event of a search.
  setTimeout(() => formattedSql(`SELECT ${'1, '.repeat(40)}1`), WARM_MS).unref();

  const get = (
    at: string,
    view: (request: HttpRequest) => Promise<View>,
    watched?: (request: HttpRequest) => Watched,
  ): void => {
    routes.push({
      ...{ method: 'GET', path: at, scope: 'login' },
      handler: async (request) => shown(request, () => view(request)),
    });
    if (watched === undefined) return;
    routes.push({
      ...{ method: 'GET', path: at === '/' ? '/live' : `${at}/live`, scope: 'login' },
      handler: (request) => {
        local(request);
        const key = `${request.path}?${request.query.toString()}`;
        return { events: watches.follow(key, watched(request), request.leave) };
      },
    });
  };
  const post = (at: string, work: (request: HttpRequest, form: URLSearchParams) => Promise<View | string>): void => {
    routes.push({
      ...{ method: 'POST', path: at, scope: 'login' },
      handler: async (request) => {
        local(request);
        const done = await work(request, await request.form());
        return typeof done === 'string' ? { status: 303, headers: { location: done } } : html(done);
      },
    });
  };

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
  const askPage = async (more: Partial<AskPage> = {}): Promise<AskPage> => ({
    ...{ databases: places.known(), ceilingUsd: looker.app().config.budgets.costUsd, model: places.model() },
    recent: (await looker.list(RECENT)).rows,
    ...more,
  });
  const askView = async (more?: Partial<AskPage>, said: Said | null = null): Promise<View> => ({
    ...{ title: 'Ask', place: 'ask', live: '/live', said },
    body: askBody(await askPage(more)),
  });
  get(
    '/',
    () => askView(),
    () => ({
      everyMs: SLOW_MS / 3,
      sign: async () => JSON.stringify([places.known(), await looker.list(RECENT)]),
      page: async () => mainOf(await askView()).text,
    }),
  );
  post('/ask', async (_, form) => {
    const typed = Object.fromEntries(form);
    try {
      const { ask } = await import('../../app/ask');
      const { askRequest } = await import('../../app/given');
      const context = form.get('context')?.trim();
      const request = askRequest(form.get('text') ?? '', {
        ...(form.has('db') && { db: places.named(form.get('db') ?? '') }),
        ...(form.has('after') && { after: form.get('after') }),
        ...(form.has('cost') && { budgets: { costUsd: dollarsIn(form.get('cost') ?? '') } }),
        ...(context && { context }),
        ...(form.get('fresh') === 'yes' && { fresh: true }),
      });
      return await begun((app) => ask(request, app, 'background'));
    } catch (error) {
      const after = form.get('after');
      return after === null ? askView({ typed }, failed(error)) : searchView(after, { said: failed(error) });
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
  const searchView = async (
    wanted: string,
    { said = null, rows = 1, again = new Map() }: Shown = {},
  ): Promise<View> => {
    const id = await findSearch(looker.app().store, wanted);
    const answer = await looker.answer(id, rows, again);
    const title = (text: string): string => text.slice(0, 100);
    if (
      answer !== null &&
      ((answer.record.status !== 'cancelled' && answer.record.status !== 'failed') || !(await looker.isRunning(id)))
    )
      return { title: title(answer.record.question), place: 'answers', said, body: answerBody(answer) };
    const search = await looker.searching(id);
    return {
      title: title(search.input?.question.text ?? id),
      place: 'answers',
      said,
      live: path`/q/${id}/live`,
      body: searchingBody(search),
    };
  };
  const idIn = ({ params }: HttpRequest): string => params['id'] ?? '';
  get(
    '/q/:id',
    (request) => searchView(idIn(request), { rows: Number(request.query.get('rows') ?? 1) || 1 }),
    (request) => ({
      sign: () => looker.sign(idIn(request)),
      page: async () => mainOf(await searchView(idIn(request))).text,
    }),
  );
  const onSearch = (
    name: string,
    work: (id: string, form: URLSearchParams, request: HttpRequest) => Promise<string | Said | null>,
  ): void =>
    post(`/q/:id/${name}`, async (request, form) => {
      const id = idIn(request);
      try {
        const done = await work(id, form, request);
        looker.forget(id);
        if (typeof done === 'string') return done;
        return done === null ? path`/q/${id}` : await searchView(id, { said: done });
      } catch (error) {
        return searchView(id, { said: failed(error) });
      }
    });
  const steer = (name: string, commandOf: (form: URLSearchParams) => SteerCommand): void =>
    onSearch(name, async (id, form) => {
      const { command } = await import('../../app/steer');
      const told = commandOf(form);
      const { id: known } = await command(id, told, looker.app());
      if (told.kind === 'budget') looker.ceilings.set(known, told.budgets.costUsd ?? null);
      return null;
    });
  const text = (form: URLSearchParams, name: string): string => form.get(name) ?? '';
  steer('hint', (form) => ({ kind: 'hint', text: text(form, 'text') }));
  steer('veto', (form) => ({ kind: 'veto', update: text(form, 'update'), reason: text(form, 'reason') }));
  steer('pin', (form) => ({ kind: 'pin', target: text(form, 'target'), reason: text(form, 'reason') }));
  steer('budget', (form) => ({ kind: 'budget', budgets: { costUsd: dollarsIn(text(form, 'cost')) } }));
  for (const kind of ['pause', 'resume', 'stop', 'cancel'] as const) steer(kind, () => ({ kind }));
  onSearch('go-on', async (id) => {
    const { goOn } = await import('../../app/go-on');
    return begun((app) => goOn(id, app));
  });
  onSearch('fork', async (id, form) => {
    const { fork } = await import('../../app/fork');
    const hint = text(form, 'hint').trim();
    const given = hint === '' ? {} : { hint: { author: authorOf(undefined, app), text: hint } };
    return begun((here) => fork(id, { at: wholeIn(text(form, 'at')), ...given }, here, 'background'));
  });
  post('/q/:id/checks/:number', async (request) => {
    const [id, number] = [idIn(request), wholeIn(request.params['number'] ?? '')];
    const { checkAgain } = await import('../../app/check-again');
    const checked = await checkAgain(id, number, looker.app(), request.leave).then(
      (now): CheckedAgain => ({ now }),
      (error: unknown): CheckedAgain => ({ problem: failed(error).text }),
    );
    return searchView(id, { again: new Map([[number, checked]]) });
  });
  onSearch('wrong/:number', async (id, form, request) => {
    const number = wholeIn(request.params['number'] ?? '');
    const answer = await looker.answer(id, 1, new Map());
    if (answer?.askable !== true) throw new GateError(`${id} has not ended, or its database is not here`, 'conflict');
    const layer = await places.layer(answer.record.database);
    const entry = answer.kept.get(number);
    if (entry === undefined) {
      await layer.app.addRule(layer.open, text(form, 'statement'), layer.said(''));
      return { kind: 'done', text: 'Later questions are told it, as what you said.' };
    }
    await layer.app.decideEntry(layer.open, 'rejected', entry.entryId, layer.said(text(form, 'note')));
    return {
      kind: 'done',
      text: 'The layer uses it no more, nor what rests on it. Ask again to see what that changes.',
    };
  });
  const file = (at: string, make: (id: string, request: HttpRequest) => Promise<Reply>): void => {
    routes.push({
      method: 'GET',
      path: `/q/:id/${at}`,
      scope: 'login',
      handler: (request) => (local(request), make(idIn(request), request)),
    });
  };
  file('rows.csv', async (id) => {
    const record = await recordOf(looker.app().store, await findSearch(looker.app().store, id));
    if (record === null) throw new HttpError('not-found', `${id} has no result yet`);
    const { text: body } = spreadsheetFile(
      record.columns.map(({ name }) => name),
      record.rows,
    );
    return { type: 'text/csv', headers: { 'content-disposition': `attachment; filename="${record.id}.csv"` }, body };
  });
  file('report', async (id) => {
    const { reported } = await import('../../app/report');
    const { text: body, searchId } = await reported(id, looker.app());
    return {
      type: 'text/html',
      headers: { 'content-disposition': `attachment; filename="${searchId}.html"` },
      body,
    };
  });

  // The layer
  const layerView = async (
    name: string,
    query = new URLSearchParams(),
    more: { readonly said?: Said | null; readonly verdict?: Verdict } = {},
  ): Promise<View> => {
    const { open, app: use } = await places.layer(name);
    const page = {
      ...{ database: name, databases: places.names(), layer: open.layer },
      wanted: query.get('find') ?? '',
      page: Number(query.get('page') ?? 1) || 1,
    };
    return {
      ...{ title: `Conventions of ${name}`, place: 'layer', said: more.said },
      body: layerBody({ ...page, verdict: more.verdict ?? null, history: (held) => use.historyOf(open, held) }),
    };
  };
  const first =
    (to: (name: string) => string): Route['handler'] =>
    (request) => {
      local(request);
      const [name] = places.names();
      return { status: 303, headers: { location: name === undefined ? '/databases' : to(name) } };
    };
  routes.push({ method: 'GET', path: '/layer', scope: 'login', handler: first((name) => path`/layer/${name}`) });
  const nameIn = ({ params }: HttpRequest): string => places.named(params['name'] ?? '');
  get('/layer/:name', (request) => layerView(nameIn(request), request.query));
  post('/layer/:name/verify', async (request) => {
    const name = nameIn(request);
    try {
      const { app: use, open } = await places.layer(name);
      const verdict = await use.verifyLayer(open, {
        signal: AbortSignal.any([request.leave, closing]),
        now: app.now(),
      });
      return await layerView(name, undefined, { verdict });
    } catch (error) {
      return layerView(name, undefined, { said: failed(error) });
    }
  });
  const decide = (
    action: string,
    done: string,
    work: (at: Awaited<ReturnType<Places['layer']>>, form: URLSearchParams) => Promise<unknown>,
  ): void =>
    post(`/layer/:name/${action}`, async (request, form) => {
      const name = nameIn(request);
      const said = await places
        .layer(name)
        .then((at) => work(at, form))
        .then((): Said => ({ kind: 'done', text: done }), failed);
      return layerView(name, undefined, { said });
    });
  for (const [action, kind, done] of [
    ['confirm', 'confirmed', 'Confirmed.'],
    ['reject', 'rejected', 'Rejected: it and all that rests on it are used no more.'],
  ] as const)
    decide(action, done, ({ app: use, open, said }, form) =>
      use.decideEntry(open, kind, text(form, 'entry'), said(text(form, 'note'))),
    );
  decide('edit', 'It has the new words.', ({ app: use, open, said }, form) =>
    use.editEntry(open, text(form, 'entry'), text(form, 'statement'), said('')),
  );
  decide('add', 'Later questions are told it.', ({ app: use, open, said }, form) =>
    use.addRule(open, text(form, 'statement'), said('')),
  );
  decide('answer', 'Later questions are told it.', ({ app: use, open, said }, form) =>
    use.answerQuestion(open, text(form, 'question'), text(form, 'text'), said('')),
  );

  // Databases
  const databasesView = (): View => ({
    title: 'Databases',
    place: 'databases',
    live: '/databases/live',
    body: databasesBody(places.known()),
  });
  get(
    '/databases',
    () => Promise.resolve(databasesView()),
    () => ({
      everyMs: SLOW_MS / 3,
      sign: () => Promise.resolve(JSON.stringify(places.known())),
      page: () => Promise.resolve(mainOf(databasesView()).text),
    }),
  );
  get('/databases/:name', async (request) => {
    const name = nameIn(request);
    return {
      title: name,
      place: 'databases',
      body: databaseBody(await places.described(name, request.query.get('table'))),
    };
  });

  // Batches
  const batchesView = async (): Promise<View> => {
    const body = batchesBody(await places.batches(LISTED));
    return { title: 'Batches', place: 'batches', live: '/batches/live', body };
  };
  get('/batches', batchesView, () => slow(batchesView));
  const batchView = async (id: string, said: Said | null = null): Promise<View> => {
    const page = await places.batch(id);
    return {
      title: page.status.name ?? id,
      place: 'batches',
      said,
      live: path`/batches/${id}/live`,
      body: batchBody(page),
    };
  };
  get(
    '/batches/:id',
    (request) => batchView(idIn(request)),
    (request) => slow(() => batchView(idIn(request))),
  );
  for (const kind of ['pause', 'resume', 'cancel', 'retry'] as const)
    post(`/batches/:id/${kind}`, async (request, form) => {
      const id = idIn(request);
      try {
        if (kind === 'retry') return await batchView(id, { kind: 'done', text: await places.retry(id, closing) });
        const { command } = await import('../../app/steer');
        await command(id, kind === 'pause' ? { kind, now: form.get('now') === 'yes' } : { kind }, looker.app());
        return path`/batches/${id}`;
      } catch (error) {
        return batchView(id, failed(error));
      }
    });

  return { routes, close: () => looker.close() };
}

/** A page that is looked at whole, now and then. */
function slow(view: () => Promise<View>): Watched {
  let page = '';
  return {
    everyMs: SLOW_MS,
    sign: async () => (page = mainOf(await view()).text),
    page: () => Promise.resolve(page),
  };
}

function local({ caller }: HttpRequest): void {
  if (caller.token !== null)
    throw new HttpError('forbidden', 'the page is for the person at this machine; a token asks at /v1');
}

async function shown(request: HttpRequest, view: () => Promise<View>): Promise<Reply> {
  local(request);
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

/** In one line, without passwords. */
function failed(error: unknown): Said {
  return { kind: 'failed', text: errorText(error, false) };
}

/** Null: no limit. */
function dollarsIn(given: string): number | null {
  const trimmed = given.trim().replace(/^\$/, '');
  if (trimmed === '') return null;
  const amount = Number(trimmed);
  if (!/^\d*\.?\d+$/.test(trimmed) || !(amount > 0))
    throw new UsageError(`the cost '${given}' is no amount: give US dollars, such as 0.50, or nothing for no limit`);
  return amount;
}

function wholeIn(given: string): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UsageError(`'${given}' is no number: give a whole one from 1`);
}
