/** `/v1`: what a user can do, over HTTP. Each route calls one use case of `src/app`; what is another's is not found. */
import * as z from 'zod';
import { searchOf, type App } from '../../app/app';
import { mayAsk, OthersQuestion, ownDatabase, ownDatabases, ownSearch, type Askers } from '../../app/asker';
import { GateError } from '../../app/errors';
import { LayerCommand } from '../../app/given';
import { SearchStatus, standingWithin } from '../../app/read';
import { BatchStatus } from '../../app/run/batch-status';
import { PostedBatch } from '../../app/run/posted-batch';
import type { SearchEvents } from '../../app/search-events';
import { unknownBatch } from '../../app/searches';
import { recordOf } from '../../app/services';
import { command, SteerCommand, Steered } from '../../app/steer';
import { authorOf, saidBy } from '../../app/surroundings';
import { BudgetLimits, type AnswerRecord } from '../../domain';
import type { Held } from '../../layer/state';
import { sha256 } from '../../sha256';
import { csv } from '../../text/result-text';
import type { Caller } from '../http/caller';
import { HttpError } from '../http/errors';
import type { ServerEvent } from '../http/route';
import { apiRoute, type ApiRoute } from './api-route';
import { openApi } from './openapi';
import * as replies from './replies';

export interface Api {
  readonly app: App;
  readonly askers: Askers;
  readonly events: SearchEvents;
  /** The address of a page for one opening in a browser, under the name by which the server was reached. */
  readonly loginUrl: (caller: Caller, path: string, origin: string) => string;
}

const AT_MOST_S = 60;
const Page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.string().optional(),
});
const OfDatabase = z.strictObject({ db: z.string().optional() });

export function apiRoutes(api: Api): readonly ApiRoute[] {
  const routes = [...questions(api), ...steering(api), ...databases(api), ...layers(api), ...batches(api)];
  let described: object | null = null;
  return [
    ...routes,
    apiRoute('GET', '/v1/openapi.json', 'open', {
      summary: 'This description',
      replies: { 200: z.looseObject({}) },
      handle: () => ({ json: (described ??= openApi(routes)) }),
    }),
  ];
}

function questions({ app, askers, events, loginUrl }: Api): ApiRoute[] {
  const keys = new UsedKeys(() => app.now());
  const ended = async (id: string, caller: Caller): Promise<AnswerRecord> => {
    await ownSearch(app.store, id, caller);
    const record = await recordOf(app.store, id);
    if (record === null) throw new GateError(`${id} has not ended`, 'conflict');
    return record;
  };
  const standing = async (id: string, caller: Caller, waitMs: number, leave: AbortSignal) => {
    await ownSearch(app.store, id, caller);
    const found = await standingWithin(id, app, { waitMs, leave });
    return caller.token === null ? found : { ...found, ui: null, traceId: null };
  };
  return [
    apiRoute('POST', '/v1/questions', 'ask', {
      summary: 'Asks; the same question again is the same search',
      body: OthersQuestion,
      headers: { 'Idempotency-Key': 'with "fresh": the same key is the same search again' },
      replies: { 200: SearchStatus, 202: replies.Accepted },
      handle: async ({ request: { caller, headers, leave }, body }) => {
        const key = keys.checked(caller, headers['idempotency-key'], body);
        const asked = await askers.ask(caller, body, key);
        const id = searchOf(asked);
        const location = { location: `/v1/questions/${id}` };
        if (asked.kind === 'answer') return { headers: location, json: await standing(id, caller, 0, leave) };
        const ui = caller.token === null ? asked.ui : null;
        return { status: 202, headers: location, json: { id, status: 'running', ui } };
      },
    }),
    apiRoute('GET', '/v1/questions', 'ask', {
      summary: 'Questions, the newest first',
      query: Page,
      replies: { 200: replies.Questions },
      handle: async ({ request: { caller }, query }) => {
        const { searchRows } = await import('../../app/search-list');
        const namespace = caller.token === null ? undefined : caller.namespace;
        const { rows, next } = await searchRows(app, { ...query, namespace });
        return { json: { questions: rows.filter(({ database }) => mayAsk(caller, database)), next } };
      },
    }),
    apiRoute('GET', '/v1/questions/:id', 'ask', {
      summary: 'Where a question stands, and its answer',
      query: z.strictObject({
        wait: z.coerce.number().min(0).max(AT_MOST_S).default(0).describe('for so many seconds while it runs'),
      }),
      replies: { 200: SearchStatus },
      handle: async ({ request: { caller, leave }, id, query }) => ({
        json: await standing(id, caller, query.wait * 1000, leave),
      }),
    }),
    apiRoute('GET', '/v1/questions/:id/events', 'ask', {
      summary: 'What happens, as server-sent events from the beginning, until "ended"',
      query: z.strictObject({ lastEventId: z.string().optional() }),
      headers: { 'Last-Event-ID': 'only what comes after it' },
      replies: { 200: 'text/event-stream', 204: 'text/event-stream' },
      handle: async ({ request: { caller, lastEventId, leave }, id }) => {
        await ownSearch(app.store, id, caller);
        if (lastEventId === ENDED) return { status: 204 };
        return { events: sent(events, id, lastEventId, leave) };
      },
    }),
    apiRoute('GET', '/v1/questions/:id/rows.csv', 'ask', {
      summary: 'The rows, as they are stored',
      replies: { 200: 'text/csv' },
      handle: async ({ request: { caller }, id }) => {
        const record = await ended(id, caller);
        if (record.columns.length === 0) throw new GateError(`${id} has no rows: ${record.status}`, 'conflict');
        const headers = {
          'content-disposition': `attachment; filename="${id}.csv"`,
          'x-gate-truncated': String(record.truncated),
        };
        const names = record.columns.map(({ name }) => name);
        return { type: 'text/csv', headers, body: csv(names, record.rows) };
      },
    }),
    apiRoute('GET', '/v1/questions/:id/report', 'ask', {
      summary: 'The report, a page that needs no other file',
      replies: { 200: 'text/html' },
      handle: async ({ request: { caller }, id }) => {
        await ownSearch(app.store, id, caller);
        const { reported } = await import('../../app/report');
        return {
          type: 'text/html',
          headers: { 'content-security-policy': REPORT_POLICY },
          body: (await reported(id, app)).text,
        };
      },
    }),
    apiRoute('POST', '/v1/logins', 'login', {
      summary: 'An address that opens the page once, within ten minutes',
      body: z.strictObject({
        path: z
          .string()
          .regex(/^\/(?![/\\])[^?#]*$/, 'give a path of this server')
          .default('/'),
      }),
      replies: { 201: z.object({ url: z.string() }) },
      handle: ({ request: { caller, origin }, body }) => ({
        status: 201,
        json: { url: loginUrl(caller, body.path, origin) },
      }),
    }),
  ];
}

/** Its own policy, in its head, is narrower. */
const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";

/** A browser that lost the connection after the last event asks again with its id, and stops at a 204. */
const ENDED = 'ended';

async function* sent(
  events: SearchEvents,
  id: string,
  after: string | null,
  leave: AbortSignal,
): AsyncGenerator<ServerEvent, void> {
  for await (const { id: eventId, event } of events.read(id, after, leave))
    yield { ...(eventId !== null && { id: event.kind === 'ended' ? ENDED : eventId }), event: event.kind, data: event };
}

/** The same key with another body is a mistake of the program that sends it. */
class UsedKeys {
  readonly #bodies = new Map<string, { readonly body: string; readonly at: number }>();

  constructor(private readonly now: () => number) {}

  checked({ namespace }: Caller, key: string | readonly string[] | undefined, body: unknown): string | null {
    if (key === undefined) return null;
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
      throw new HttpError('usage', 'Idempotency-Key: give 1 to 255 visible characters of ASCII');
    const [name, hash] = [`${namespace}\n${key}`, sha256(JSON.stringify(body))];
    const before = this.#bodies.get(name);
    if (before !== undefined && before.body !== hash && this.now() - before.at < KEPT_MS)
      throw new HttpError('key-reused', 'this Idempotency-Key was used with another body');
    this.#bodies.delete(name);
    this.#bodies.set(name, { body: hash, at: this.now() });
    for (const oldest of this.#bodies.keys()) if (this.#bodies.size > MOST_KEYS) this.#bodies.delete(oldest);
    return key;
  }
}

const KEPT_MS = 24 * 3_600_000;
const MOST_KEYS = 10_000;

const text = z.string();
const nothing = z.strictObject({});
/** By the last part of the path. */
const COMMANDS = {
  hints: ['hint', 'Tells a running search what the data does not show', z.strictObject({ text })],
  pause: ['pause', 'No further model call until it is resumed', nothing],
  resume: ['resume', 'Goes on after a pause', nothing],
  budget: ['budget', 'New limits; null lifts one', z.strictObject({ budgets: BudgetLimits })],
  veto: ['veto', 'Withdraws an update', z.strictObject({ update: text, reason: text })],
  pin: ['pin', 'Keeps a reading', z.strictObject({ target: text, reason: text })],
  stop: ['stop', 'Ends it with its best answer so far', nothing],
  cancel: ['cancel', 'Ends it; asked again, it goes on', nothing],
} as const;

function steering({ app, events }: Api): ApiRoute[] {
  return Object.entries(COMMANDS).map(([name, [kind, summary, body]]) =>
    apiRoute('POST', `/v1/questions/:id/${name}`, 'steer', {
      summary,
      body,
      replies: { 200: Steered },
      handle: async ({ request: { caller }, id, body: given }) => {
        const { settings } = await ownSearch(app.store, id, caller);
        const author = authorOf(caller.token ?? undefined, app);
        const told = SteerCommand.parse({ ...(given as object), kind, author });
        const { costUsd } = told.kind === 'budget' ? told.budgets : {};
        const asked = settings.budgets.costUsd ?? Infinity;
        if (caller.budget !== null && costUsd !== undefined && (costUsd ?? Infinity) > asked)
          throw new GateError('this token has a budget: ask anew for a question that may cost more', 'budget');
        const steered = await command(id, told, app);
        events.forget(id);
        return { json: steered };
      },
    }),
  );
}

function databases({ app }: Api): ApiRoute[] {
  return [
    apiRoute('GET', '/v1/databases', 'ask', {
      summary: 'The databases that may be asked',
      replies: { 200: replies.Databases },
      handle: async ({ request: { caller } }) => {
        const { listDatabases } = await import('../../app/databases');
        const own = new Set(ownDatabases(app, caller));
        const listed = listDatabases(app.config).filter(({ name }) => own.has(name));
        return { json: replies.Databases.parse({ databases: listed }) };
      },
    }),
    apiRoute('GET', '/v1/databases/:id', 'ask', {
      summary: 'Its schema as a model would see it',
      query: z.strictObject({ table: z.string().optional(), question: z.string().optional() }),
      replies: { 200: replies.Described },
      handle: async ({ request: { caller }, id, query: { table, question } }) => {
        const { describeDatabase } = await import('../../app/databases');
        const flags = { question, ...(table !== undefined && { table: [table] }) };
        const found = await describeDatabase(ownDatabase(app, id, caller), flags, app);
        return { json: replies.Described.parse(found) };
      },
    }),
  ];
}

const ToLayer = z.discriminatedUnion('kind', [...LayerCommand.options, z.strictObject({ kind: z.literal('verify') })]);

/** Whose question proved an entry, and how it was asked, is not for a token. */
export function heldFor({ token }: Caller, held: Held): object {
  return token === null ? held : { ...held, entry: { ...held.entry, from: undefined } };
}

function layers({ app }: Api): ApiRoute[] {
  return [
    apiRoute('GET', '/v1/layer', 'ask', {
      summary: 'What is kept of a database',
      query: OfDatabase,
      replies: { 200: replies.Layer },
      handle: async ({ request: { caller }, query }) => {
        const { openLayer } = await import('../../app/layer');
        const { layer, database } = await openLayer(app, ownDatabase(app, query.db, caller));
        const { entries, rules, questions: open, verifiedAt } = layer;
        const shown = entries.map((held) => heldFor(caller, held));
        return { json: { database: database.name, entries: shown, rules, questions: open, verifiedAt } };
      },
    }),
    apiRoute('POST', '/v1/layer', 'layer', {
      summary: 'A decision about what is kept, or all checks again',
      query: OfDatabase,
      body: ToLayer,
      replies: { 200: replies.LayerDone },
      handle: async ({ request: { caller, leave }, query, body }) => {
        const { openLayer, tellLayer, verifyLayer } = await import('../../app/layer');
        const open = await openLayer(app, ownDatabase(app, query.db, caller));
        if (body.kind === 'verify') return { json: await verifyLayer(open, { signal: leave, now: app.now() }) };
        const by = saidBy(app, { author: caller.token ?? undefined, note: body.note });
        return { json: { held: heldFor(caller, (await tellLayer(open, body, by)).held) } };
      },
    }),
  ];
}

/** Batches are run by people at this machine: of a token there are none. */
function batches({ app }: Api): ApiRoute[] {
  const only = ({ token }: Caller, id: string): void => {
    if (token !== null) throw unknownBatch(id);
  };
  return [
    apiRoute('GET', '/v1/batches', 'ask', {
      summary: 'Batches, the newest first',
      query: Page.omit({ after: true }),
      replies: { 200: replies.Batches },
      handle: async ({ request: { caller }, query: { limit } }) => {
        if (caller.token !== null) return { json: { batches: [] } };
        const { listStatuses, lookedAt } = await import('../../app/run/batch-status');
        return { json: { batches: await lookedAt(app, (at) => listStatuses(at, limit)) } };
      },
    }),
    apiRoute('POST', '/v1/batches', 'ask', {
      summary: 'Asks many questions, in the background',
      body: PostedBatch,
      replies: { 202: replies.StartedBatch },
      handle: async ({ request: { caller }, body }) => {
        if (caller.token !== null) throw new HttpError('forbidden', 'batches are for the person at this machine');
        const { postBatch } = await import('../../app/run/posted-batch');
        const { id, status, ui, questions: count } = await postBatch(body, caller, app);
        const json = { id, status, ui, questions: count };
        return { status: 202, headers: { location: `/v1/batches/${id}` }, json };
      },
    }),
    apiRoute('GET', '/v1/batches/:id', 'ask', {
      summary: 'Where a batch stands',
      replies: { 200: BatchStatus },
      handle: async ({ request: { caller }, id }) => {
        only(caller, id);
        const { batchStatus, lookedAt } = await import('../../app/run/batch-status');
        const { findBatch } = await import('../../app/run/stored-batches');
        return { json: await lookedAt(app, async (at) => batchStatus(at, await findBatch(app.store, id))) };
      },
    }),
    ...(['pause', 'resume', 'cancel'] as const).map((kind) =>
      apiRoute('POST', `/v1/batches/:id/${kind}`, 'steer', {
        summary: `Tells a batch: ${kind}`,
        body: z.strictObject({}),
        replies: { 200: Steered },
        handle: async ({ request: { caller }, id }) => {
          only(caller, id);
          if (!id.startsWith('b-')) throw unknownBatch(id);
          return { json: await command(id, { kind, author: authorOf(undefined, app) }, app) };
        },
      }),
    ),
  ];
}
