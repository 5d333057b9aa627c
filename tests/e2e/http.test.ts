/** The HTTP API as a program meets it, with a worker in the background; every reply is held against the served description. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { openApp, searchOf, type App } from '../../src/app/app';
import { Askers, type Asker } from '../../src/app/asker';
import { stopBackground } from '../../src/app/background';
import { command } from '../../src/app/steer';
import { TOKEN_NAMESPACE } from '../../src/record/search-index';
import { sha256 } from '../../src/sha256';
import type { AnswerRecord } from '../../src/domain';
import type { HttpServer } from '../../src/server/http/server';
import { runningServer, startServer } from '../../src/server/start';
import { Gate, GateError } from '../../src/library';
import { eventually } from '../helpers/engine';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { unique } from '../helpers/temporal';
import { BAD_QUESTIONS, FOREIGN_DATABASES, FOREIGN_IDS, FOREIGN_OPTIONS } from '../hostile/doors';

const QUESTION = 'How many drivers are there?';
const TEAMS = 'List the names of all teams in alphabetical order.';
const DOMINANT =
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?';

let data: TestData;
let model: SimulatedModel;
let home: GateHome;
let app: App;
let server: HttpServer;
let check: (method: string, path: string, status: number, body: unknown) => readonly string[];
const db = unique('sprint');
const other = unique('other');
const logged: string[] = [];
/** Tokens of a small budget, and of those the next one that has asked nothing: two tests, each tried again. */
const POOR = ['poor1', 'poor2', 'poor3', 'poor4'] as const;
const unused = [...POOR];

beforeAll(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, apiKey: 'test-key' });
  home = gateHome({ baseUrl: model.baseUrl });
  const path = data.address({ engine: 'sqlite', database: 'sprint' });
  const all = ['ask', 'steer', 'layer'];
  const tokens = {
    ann: { sha256: sha256('ann-secret'), databases: [db], scopes: all },
    bob: { sha256: sha256('bob-secret') },
    eve: { sha256: sha256('eve-secret'), scopes: all },
    ...Object.fromEntries(
      POOR.map((name) => [name, { sha256: sha256(`${name}-secret`), scopes: all, usdPerDay: 1.5 }]),
    ),
  };
  const databases = { [db]: { path }, [other]: { path, id: 'the-other' } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases, server: { tokens } }));
  app = openApp({ env: home.env, cwd: home.folder, platform: process.platform, now: () => Date.now() });
  server = await startServer(app, {
    host: '127.0.0.1',
    port: 0,
    log: (line, error) => logged.push(`${line} ${String(error)}`),
  });
  const described = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as Described;
  check = checker(described);
});
// What a test that failed has held must not hold the next one.
beforeEach(() => model.reset());
afterAll(async () => {
  await server.close();
  await stopBackground(app.config);
  await model.close();
  data.close();
  expect(logged).toEqual([]);
});

interface Described {
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, { schema: object }> }> }>
  >;
}

const met = new Set<string>();

function checker({ paths }: Described): typeof check {
  const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  return (method, path, status, body) => {
    const found = Object.entries(paths).find(([pattern, item]) => {
      const form = new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`);
      return form.test(path.split('?')[0] ?? '') && item[method.toLowerCase()] !== undefined;
    });
    if (found === undefined) return status === 404 ? [] : [`${method} ${path} is not described`];
    const { responses } = found[1][method.toLowerCase()]!;
    if (status < 400) met.add(`${method} ${found[0]}`);
    const schema = (responses[String(status)] ?? responses['default'])?.content['application/json']?.schema;
    if (schema === undefined) return [];
    const validate = ajv.compile(schema);
    validate(body);
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${method} ${path}: ${instancePath} ${message ?? ''}`,
    );
  };
}

/** What the tests read of replies, whose form the description says. */
interface Body {
  readonly id: string;
  readonly status: string;
  readonly record: AnswerRecord;
  readonly error: { readonly code: string; readonly message: string };
  readonly questions: readonly { readonly id: string }[];
  readonly next: string;
  readonly databases: readonly { readonly name: string }[];
  readonly text: string;
  readonly held: { readonly entry: { readonly entryId: string } };
  readonly rules: readonly unknown[];
  readonly checked: number;
  readonly url: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

interface Sent {
  readonly as?: 'ann' | 'bob' | 'eve' | 'local' | (typeof POOR)[number];
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

async function call(method: string, path: string, { as = 'ann', body, headers = {} }: Sent = {}): Promise<Answer> {
  const token = as === 'local' ? server.access.localToken : `${as}-secret`;
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type') === 'application/json';
  const read: unknown = isJson ? JSON.parse(text) : null;
  if (isJson) expect(check(method, path, answer.status, read)).toEqual([]);
  else check(method, path, answer.status, null);
  return { status: answer.status, headers: answer.headers, text, body: read as Body };
}

async function ask(question: string, { body, ...sent }: Sent = {}): Promise<string> {
  const asked = await call('POST', '/v1/questions', { body: { question, db, ...(body as object) }, ...sent });
  expect([asked.status, asked.text]).toEqual([asked.status === 200 ? 200 : 202, asked.text]);
  expect(asked.headers.get('location')).toBe(`/v1/questions/${asked.body.id}`);
  return asked.body.id;
}

async function ended(id: string, as: Sent['as'] = 'ann'): Promise<Answer> {
  for (;;) {
    const answer = await call('GET', `/v1/questions/${id}?wait=20`, { as });
    expect(answer.status).toBe(200);
    if ((answer.body.record as AnswerRecord | null) !== null) return answer;
  }
}

interface Event {
  readonly id: string | null;
  readonly kind: string;
  readonly data: { readonly of?: string; readonly record?: AnswerRecord };
}

/** Until they end, or as many as were asked for. */
async function events(
  id: string,
  { as = 'ann', after, most = Infinity }: { as?: 'ann' | 'local'; after?: string; most?: number } = {},
) {
  const token = as === 'local' ? server.access.localToken : `${as}-secret`;
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${token}`, ...(after !== undefined && { 'last-event-id': after }) };
  const answer = await fetch(`${server.url}/v1/questions/${id}/events`, { headers, signal: leave.signal });
  expect(answer.status).toBe(200);
  met.add('GET /v1/questions/{id}/events');
  const found: Event[] = [];
  let text = '';
  for await (const piece of answer.body!.pipeThrough(
    new TextDecoderStream() as never,
  ) as unknown as AsyncIterable<string>) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: ?(.*)/s) as [string, string]),
      );
      text = text.slice(end + 2);
      if (fields['data'] !== undefined)
        found.push({
          id: fields['id'] ?? null,
          kind: fields['event'] ?? '',
          data: JSON.parse(fields['data']) as Event['data'],
        });
    }
    if (found.length >= most) {
      leave.abort();
      break;
    }
  }
  return found;
}

describe('a question', () => {
  let id = '';

  it('is accepted, worked on in the background, and answered', async () => {
    id = await ask(QUESTION);
    const { body } = await ended(id);
    expect(body).toMatchObject({
      id,
      question: QUESTION,
      status: 'answered',
      ui: null,
      record: { id, status: 'answered' },
    });
    expect(body.record.rows).toHaveLength(1);
    const rows = await call('GET', `/v1/questions/${id}/rows.csv`);
    expect([rows.status, rows.headers.get('content-type'), rows.headers.get('x-gate-truncated')]).toEqual([
      ...[200, 'text/csv; charset=utf-8', 'false'],
    ]);
    expect(rows.text.trim().split('\n')).toHaveLength(2);
    const report = await call('GET', `/v1/questions/${id}/report`);
    expect([report.status, report.text.slice(0, 15).toLowerCase()]).toEqual([200, '<!doctype html>']);
  });

  it('asked again is the same search, and costs nothing', async () => {
    const before = model.ledger().totals.billed;
    const again = await call('POST', '/v1/questions', { body: { question: QUESTION, db } });
    expect([again.status, again.body.id, again.body.status]).toEqual([200, id, 'answered']);
    expect(model.ledger().totals.billed).toBe(before);
  });

  it('of another token is another search, and nobody sees that of another', async () => {
    const theirs = await ask(QUESTION, { as: 'bob' });
    expect(theirs).not.toBe(id);
    await ended(theirs, 'bob');
    for (const path of ['', '/events', '/rows.csv', '/report'])
      expect((await call('GET', `/v1/questions/${id}${path}`, { as: 'bob' })).status).toBe(404);
    const unknown = await call('GET', '/v1/questions/q-0123456789abcdef', { as: 'bob' });
    const foreign = await call('GET', `/v1/questions/${id}`, { as: 'bob' });
    expect(foreign.text.replaceAll(id, 'ID')).toBe(unknown.text.replaceAll('q-0123456789abcdef', 'ID'));
    const after = await call('POST', '/v1/questions', { as: 'bob', body: { question: 'and?', db, after: id } });
    expect([after.status, after.body.error.code]).toEqual([404, 'not-found']);
    for (const name of ['hints', 'pause', 'resume', 'budget', 'veto', 'pin', 'stop', 'cancel']) {
      const body = { text: 'a', budgets: {}, update: 'u', target: 't', reason: 'r' };
      const wanted = {
        hints: ['text'],
        budget: ['budgets'],
        veto: ['update', 'reason'],
        pin: ['target', 'reason'],
      } as Record<string, string[]>;
      const own = Object.fromEntries((wanted[name] ?? []).map((key) => [key, body[key as keyof typeof body]]));
      const steered = await call('POST', `/v1/questions/${id}/${name}`, { as: 'eve', body: own });
      expect([name, steered.status]).toEqual([name, 404]);
    }
    const listed = async (as: Sent['as']) => {
      const all = (await call('GET', '/v1/questions', { as })).body.questions.map((one) => one.id);
      return all.filter((one) => one === id || one === theirs);
    };
    expect(await listed('ann')).toEqual([id]);
    expect(await listed('bob')).toEqual([theirs]);
    expect(await listed('eve')).toEqual([]);
    expect(await listed('local')).toEqual([theirs, id]);
    expect((await call('GET', `/v1/questions/${id}`, { as: 'local' })).status).toBe(200);
  });

  it('asked afresh with an Idempotency-Key is one search; the key with another question is refused', async () => {
    const fresh = { body: { fresh: true }, headers: { 'idempotency-key': 'k1' } };
    const one = await ask(QUESTION, fresh);
    expect(one).not.toBe(id);
    expect(await ask(QUESTION, fresh)).toBe(one);
    expect(await ask(QUESTION, { ...fresh, as: 'bob' })).not.toBe(one);
    const reused = await call('POST', '/v1/questions', { body: { question: TEAMS, db }, headers: fresh.headers });
    expect([reused.status, reused.body.error.code]).toEqual([422, 'key-reused']);
    expect(await ask(QUESTION, { body: { fresh: true }, headers: { 'idempotency-key': 'k2' } })).not.toBe(one);
    const bad = await call('POST', '/v1/questions', {
      body: { question: TEAMS, db },
      headers: { 'idempotency-key': 'a b' },
    });
    expect(bad.status).toBe(400);
  });

  it('is listed page by page', async () => {
    // One that ends meanwhile would be listed otherwise the second time.
    for (const asked of (await call('GET', '/v1/questions')).body.questions) await ended(asked.id);
    const first = await call('GET', '/v1/questions?limit=1');
    const rest = await call('GET', `/v1/questions?limit=50&after=${encodeURIComponent(first.body.next)}`);
    const whole = await call('GET', '/v1/questions');
    expect([...first.body.questions, ...rest.body.questions]).toEqual(whole.body.questions);
  });
});

describe('events', () => {
  it('tell a reader who is there, one who comes late and one who comes back the same', async () => {
    const release = model.holdAfter(1);
    const id = await ask(DOMINANT, { body: { fresh: true } });
    const early = events(id);
    await model.billed(1);
    // A second reader loses the connection in the middle.
    const some = await events(id, { as: 'local', most: 3 });
    release();
    const all = await early;
    const kinds = all.map(({ kind }) => kind);
    expect(kinds.at(-1)).toBe('ended');
    expect(kinds).toEqual(expect.arrayContaining(['progress', 'turn', 'verdict', 'candidate']));
    expect(all.at(-1)?.data.record).toMatchObject({ id, status: 'answered' });
    const lasting = (list: readonly Event[]) =>
      list.filter((one) => one.id !== null).map(({ kind, data }) => `${kind} ${String(data.of)}`);
    expect(lasting(await events(id)).sort()).toEqual(lasting(all).sort());
    expect(some.every(({ kind }) => kind !== 'ended')).toBe(true);
    const numbered = all.filter((one) => one.id !== null);
    expect(new Set(numbered.map((one) => one.id)).size).toBe(numbered.length);
    expect(JSON.stringify(all)).not.toContain('test-key');
  });
});

describe('steering', () => {
  it('needs its scope, reaches a running search, and is refused by one that has ended', async () => {
    const release = model.holdAfter(1);
    const id = await ask(DOMINANT, { body: { seed: 7, fresh: true } });
    await model.billed(1);
    const body = { text: 'gaps are in seconds' };
    expect((await call('POST', `/v1/questions/${id}/hints`, { as: 'bob', body })).status).toBe(403);
    expect((await call('POST', `/v1/questions/${id}/hints`, { body })).body).toMatchObject({
      id,
      kind: 'hint',
      author: 'ann',
      remarkId: 'h1',
    });
    expect((await call('POST', `/v1/questions/${id}/pause`, { body: {} })).status).toBe(200);
    expect((await call('GET', `/v1/questions/${id}`)).body.status).toBe('paused');
    const twice = await call('POST', `/v1/questions/${id}/pause`, { body: {} });
    expect([twice.status, twice.body.error.code]).toEqual([409, 'conflict']);
    expect((await call('POST', `/v1/questions/${id}/resume`, { body: {} })).status).toBe(200);
    expect((await call('POST', `/v1/questions/${id}/budget`, { body: { budgets: { llmCalls: 50 } } })).status).toBe(
      200,
    );
    const veto = await call('POST', `/v1/questions/${id}/veto`, { body: { update: 'u99', reason: 'wrong' } });
    expect(veto.status).toBe(409);
    expect((await call('POST', `/v1/questions/${id}/stop`, { body: {} })).status).toBe(200);
    release();
    expect((await ended(id)).body.record.steering?.[0]).toMatchObject({ kind: 'hint', author: 'ann', text: body.text });
    expect((await call('POST', `/v1/questions/${id}/hints`, { body })).status).toBe(409);
  });
});

describe('a budget of a day', () => {
  it('counts what ran and what runs, and what is answered already costs none of it', async () => {
    const release = model.holdAfter(0);
    const as = unused.shift();
    const one = await ask(TEAMS, { as });
    const body = { question: QUESTION, db };
    const refused = await call('POST', '/v1/questions', { as, body });
    expect([refused.status, refused.body.error.code]).toEqual([402, 'budget']);
    expect(refused.body.error.message).toMatch(/may cost \$1.00, and \$0.500 of \$1.50 are left/);
    // The one that runs is joined.
    expect(await ask(TEAMS, { as })).toBe(one);
    const unlimited = await call('POST', '/v1/questions', { as, body: { ...body, budgets: { costUsd: null } } });
    expect(unlimited.status).toBe(400);
    const more = await call('POST', `/v1/questions/${one}/budget`, { as, body: { budgets: { costUsd: 5 } } });
    expect([more.status, more.body.error.code]).toEqual([402, 'budget']);
    release();
    await ended(one, as);
    const two = await ask(QUESTION, { as });
    await ended(two, as);
    expect(await ask(TEAMS, { as })).toBe(one);
  });

  it('counts what a search may cost that is begun again, before the store knows that it is', async () => {
    const release = model.holdAfter(0);
    const own = { as: unused.shift() };
    const one = await ask(TEAMS, own);
    await call('POST', `/v1/questions/${one}/cancel`, { ...own, body: {} });
    await ended(one, own.as);
    const held = holdNextIndexing();
    const again = ask(TEAMS, own);
    await held.reached;
    const refused = await call('POST', '/v1/questions', { ...own, body: { question: QUESTION, db } });
    held.release();
    expect(refused).toMatchObject({ status: 402, body: { error: { code: 'budget' } } });
    expect(await again).toBe(one);
    release();
    await ended(one, own.as);
  });
});

test('the budget of a process counts a cancelled search that runs again with all that it may cost', async () => {
  const release = model.holdAfter(0);
  const askers = new Askers(app);
  const token = unique('agent');
  const asker: Asker = {
    ...{ token, namespace: `${TOKEN_NAMESPACE}${token}`, databases: null },
    budget: { usd: 1.5, of: 'process' },
  };
  const one = searchOf(await askers.ask(asker, { question: TEAMS, db }));
  await command(one, { kind: 'cancel' }, app);
  await ended(one, 'local');
  expect(searchOf(await askers.ask(asker, { question: TEAMS, db }))).toBe(one);
  await expect(askers.ask(asker, { question: QUESTION, db })).rejects.toMatchObject({ code: 'budget' });
  release();
  while ((await call('GET', `/v1/questions/${one}?wait=20`, { as: 'local' })).body.status !== 'answered');
  expect(searchOf(await askers.ask(asker, { question: QUESTION, db }))).not.toBe(one);
});

/** Until it is released, the store does not list the next search that is asked. */
function holdNextIndexing(): { readonly reached: Promise<void>; readonly release: () => void } {
  const { store } = app;
  const put = store.put.bind(store);
  let [arrive, release] = [(): void => undefined, (): void => undefined];
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  store.put = async (key, ...rest) => {
    if (!key.startsWith('index/asked/')) return put(key, ...rest);
    store.put = put;
    arrive();
    await released;
    return put(key, ...rest);
  };
  return { reached, release: () => release() };
}

describe('databases and what is kept of them', () => {
  it('are those of the token, by name', async () => {
    const names = async (as: Sent['as']) =>
      ((await call('GET', '/v1/databases', { as })).body.databases as { name: string }[]).map(({ name }) => name);
    expect(await names('ann')).toEqual([db]);
    expect(await names('bob')).toEqual([db, other]);
    const { text } = await call('GET', '/v1/databases');
    expect(text).not.toContain('.sqlite');
    expect((await call('GET', `/v1/databases/${db}`)).body.text).toContain('drivers');
    expect((await call('GET', `/v1/databases/${other}`)).status).toBe(404);
    expect((await call('GET', `/v1/layer?db=${other}`)).status).toBe(404);
  });

  it('take a rule from who may, with the name of the token as author', async () => {
    const body = { kind: 'add', statement: 'A driver of the table drivers is a person.' };
    expect((await call('POST', `/v1/layer?db=${db}`, { as: 'bob', body })).status).toBe(403);
    const added = await call('POST', `/v1/layer?db=${db}`, { body });
    expect(added.body.held.entry).toMatchObject({ author: 'ann', statement: body.statement });
    const { entryId } = added.body.held.entry as { entryId: string };
    const { body: layer } = await call('GET', `/v1/layer?db=${db}`);
    expect(layer.rules).toHaveLength(1);
    expect((await call('POST', `/v1/layer?db=${db}`, { body: { kind: 'reject', entry: entryId } })).status).toBe(200);
    expect((await call('POST', `/v1/layer?db=${db}`, { body: { kind: 'verify' } })).body.checked).toBe(0);
    expect((await call('POST', `/v1/layer?db=${db}`, { body: { kind: 'reject', entry: 'eabcdef' } })).status).toBe(404);
  });

  it('batches are for the person at this machine', async () => {
    const questions = [QUESTION, TEAMS].map((question) => ({ question, db }));
    expect((await call('POST', '/v1/batches', { body: { name: 'two', questions } })).status).toBe(403);
    const name = unique('two');
    const foreign = { name, questions: [{ question: QUESTION, db: '/etc/passwd' }] };
    expect((await call('POST', '/v1/batches', { as: 'local', body: foreign })).status).toBe(404);
    const posted = await call('POST', '/v1/batches', { as: 'local', body: { name, questions } });
    expect([posted.status, posted.body]).toMatchObject([202, { questions: 2 }]);
    const { id } = posted.body;
    const batch = async () => (await call('GET', `/v1/batches/${id}`, { as: 'local' })).body;
    expect(await eventually(batch, ({ status }) => status === 'ended')).toMatchObject({ done: 2, failed: 0 });
    expect((await call('POST', `/v1/batches/${id}/pause`, { as: 'local', body: {} })).status).toBe(409);
    expect((await call('POST', '/v1/batches', { as: 'local', body: { name, questions } })).body).toMatchObject({
      id,
      status: 'completed',
    });
    expect((await call('GET', '/v1/batches')).body).toEqual({ batches: [] });
    expect((await call('GET', '/v1/batches', { as: 'local' })).status).toBe(200);
    expect((await call('GET', '/v1/batches/b-0123456789abcdef')).status).toBe(404);
    expect((await call('GET', '/v1/batches/b-0123456789abcdef', { as: 'local' })).status).toBe(404);
  });
});

describe('what is wrong', () => {
  it.each(BAD_QUESTIONS)(
    '$what: the same code and line from the library',
    async ({ question, options, code, says }) => {
      const own = { ...options, db };
      const { status, body } = await call('POST', '/v1/questions', { body: { question, ...own } });
      expect([status, body.error.code]).toEqual([{ usage: 400, 'not-found': 404, conflict: 409 }[code], code]);
      expect(body.error.message).toMatch(says);
      const gate = await Gate.open({ config: join(home.folder, 'gate.config.json'), env: home.env, cwd: home.folder });
      const thrown = await gate.start(question, own as never).catch((error: unknown) => error);
      await gate.close();
      expect(thrown).toBeInstanceOf(GateError);
      expect((thrown as GateError).code).toBe(code);
      // Which settings there are is the door's own.
      const line = (text: string) => text.replace(/^(body|options|question)(: |\.)/, '').replace(/; allowed: .*/, '');
      expect(line((thrown as GateError).message).split('\n')[0]).toBe(line(body.error.message));
    },
  );

  it.each(FOREIGN_DATABASES)('the database %p is not asked', async (foreign) => {
    const { status } = await call('POST', '/v1/questions', { as: 'bob', body: { question: QUESTION, db: foreign } });
    expect([400, 404]).toContain(status);
  });

  it.each(FOREIGN_OPTIONS)('%p is not taken', async (option) => {
    const { status, body } = await call('POST', '/v1/questions', { body: { question: QUESTION, db, ...option } });
    expect([status, body.error.code]).toEqual([400, 'usage']);
  });

  it.each(FOREIGN_IDS)('the id %p is not found', async (id) => {
    for (const path of ['', '/events', '/rows.csv', '/report'])
      expect((await call('GET', `/v1/questions/${id}${path}`, { as: 'local' })).status).toBe(404);
  });

  it('says the time in bounds', async () => {
    expect((await call('GET', '/v1/questions/q-0123456789abcdef?wait=1000')).status).toBe(400);
    expect((await call('GET', '/v1/questions?limit=100000')).status).toBe(400);
    expect((await call('GET', '/v1/questions?colour=red')).status).toBe(400);
  });
});

describe('the server', () => {
  it('is found through the state folder, and hands out addresses that open once', async () => {
    expect(runningServer(app.config)).toBe(server.url);
    const { body } = await call('POST', '/v1/logins', { as: 'local', body: { path: '/v1/databases' } });
    const first = await new Promise<number | undefined>((resolve) =>
      request(body.url, ({ statusCode }) => resolve(statusCode)).end(),
    );
    expect(first).toBe(303);
    const again = await fetch(body.url);
    expect(again.status).toBe(401);
    expect((await call('POST', '/v1/logins', { body: { path: '//evil.example' } })).status).toBe(400);
    expect(await (await fetch(`${server.url}/readyz`)).text()).toBe('ok\n');
  });

  it('answered every route of its description as it says', async () => {
    const { paths } = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as Described;
    const all = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // Only a batch that runs, and a search that goes on, answer these.
    const left = [/batches\/\{id\}\//, /\/(veto|pin|cancel)$/, /openapi/];
    expect(all.filter((one) => !met.has(one) && !left.some((pattern) => pattern.test(one)))).toEqual([]);
  });
});
