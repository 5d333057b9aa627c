/** Embeddings over real HTTP: what is sent, what is understood, what an error says; and the whole way from a configuration. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createOpenAiEmbedder, type OpenAiEmbedderConfig } from '../../src/adapters/openai-embeddings/embedder';
import { loadConfig } from '../../src/config';
import type { SearchInput } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { sha256 } from '../../src/sha256';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { createRunStore, storeInput } from '../../src/steps';
import { compose } from '../../src/workers/composition';
import { transportLimitsOf } from '../helpers/transport-limits';
import { testProcess } from '../unit/cli/test-io';

const never = new AbortController().signal;

interface Asked {
  readonly body: { readonly model: string; readonly input: string[]; readonly encoding_format: string; readonly dimensions?: number };
  readonly headers: IncomingHttpHeaders;
} // prettier-ignore
type Answer = { status?: number; body: unknown; headers?: Record<string, string> } | 'hang' | 'close';

/** An endpoint that answers as it is told. */
async function endpoint(answer: (asked: Asked, index: number) => Answer) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { body: JSON.parse(Buffer.concat(chunks).toString()) as Asked['body'], headers: request.headers };
      const given = answer(one, asked.push(one) - 1);
      if (given === 'hang') return;
      if (given === 'close') {
        response.destroy();
        return;
      }
      response.writeHead(given.status ?? 200, { 'content-type': 'application/json', ...given.headers });
      response.end(typeof given.body === 'string' ? given.body : JSON.stringify(given.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const embedder = (baseUrl: string, more: Partial<OpenAiEmbedderConfig> = {}) =>
  createOpenAiEmbedder({ model: 'text-embedding-3-small', apiKey: 'sk-secret-123456', baseUrl, timeoutMs: 5_000, batchSize: 8, ...more }); // prettier-ignore
const base64 = (...numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const list = (...embeddings: unknown[]) => ({
  object: 'list',
  data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  usage: { prompt_tokens: 1_000_000, total_tokens: 1_000_000 },
});

describe('what is sent and understood', () => {
  test('texts go in one request, vectors come as base64, tokens are counted and priced', async () => {
    const { baseUrl, asked } = await endpoint(() => ({ body: list(base64(1, 2), base64(3, -0.5)) }));
    const reply = await embedder(baseUrl, { dimensions: 2 }).embed(['one', 'two'], { signal: never });
    expect(reply).toEqual({ vectors: [[1, 2], [3, -0.5]], tokens: 1_000_000, costUsd: 0.02 }); // prettier-ignore
    expect(asked[0]?.body).toEqual({ model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 2, encoding_format: 'base64' }); // prettier-ignore
    expect(asked[0]?.headers.authorization).toBe('Bearer sk-secret-123456');
  });

  test('an endpoint that sends numbers, in another order and without usage is understood', async () => {
    const data = [{ index: 1, embedding: [3, 4] }, { index: 0, embedding: [1, 2] }]; // prettier-ignore
    const { baseUrl, asked } = await endpoint(() => ({ body: { data } }));
    const reply = await embedder(baseUrl, { apiKey: null }).embed(['abcd', 'efgh'], { signal: never });
    expect(reply).toEqual({ vectors: [[1, 2], [3, 4]], tokens: 2, costUsd: expect.closeTo(4e-8) as number }); // prettier-ignore
    expect(asked[0]?.headers.authorization).toBeUndefined();
  });

  test('an endpoint that refuses base64 is asked for numbers, and only so from then on', async () => {
    const { baseUrl, asked } = await endpoint(({ body }) =>
      body.encoding_format === 'base64'
        ? { status: 422, body: { error: { message: 'encoding_format: base64 is not supported' } } }
        : { body: list([1, 2]) },
    );
    const one = embedder(baseUrl);
    for (let time = 0; time < 2; time += 1) await one.embed(['x'], { signal: never });
    expect(asked.map(({ body }) => body.encoding_format)).toEqual(['base64', 'float', 'float']);
  });

  test('configured prices win, and an unpriced model costs nothing', async () => {
    const { baseUrl } = await endpoint(() => ({ body: list([1]) }));
    const prices = { 'text-embedding-3-small': { inputPerMillion: 7, outputPerMillion: 0 } };
    expect((await embedder(baseUrl, { prices }).embed(['x'], { signal: never })).costUsd).toBe(7);
    expect((await embedder(baseUrl, { model: 'mine' }).embed(['x'], { signal: never })).costUsd).toBe(0);
  });
});

describe('an error is one line that names the setting', () => {
  const SETTINGS = { key: 'EMBED_KEY', url: 'schema.embeddings.baseUrl' };
  test.each<[string, Answer, string, RegExp]>([
    ['a wrong key', { status: 401, body: { error: { message: 'Incorrect API key sk-secret-123456' } } }, 'authentication', /^127\.0\.0\.1:\d+ rejected the key: check EMBED_KEY \(401\)$/],
    ['an unknown model', { status: 404, body: { error: { message: 'The model does not exist', code: 'model_not_found' } } }, 'unknown-model', /has no model "text-embedding-3-small" for this key: set schema\.embeddings\.model to one/],
    ['a wrong address', { status: 404, body: 'not here' }, 'unknown-model', /check schema\.embeddings\.model, and that schema\.embeddings\.baseUrl ends where \/embeddings follows/],
    ['a batch that is too large', { status: 413, body: { error: { message: 'batch size 8 > maximum 4' } } }, 'bad-request', /answered 413: batch size 8 > maximum 4$/],
    ['a 429', { status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '7' } }, 'rate-limited', /slow down/],
    ['an outage', { status: 503, body: 'down' }, 'server-error', /answered 503/],
    ['a failure inside a 200', { body: { error: { code: 429, message: 'no capacity' } } }, 'rate-limited', /no capacity/],
    ['too few vectors', { body: list([1, 2]) }, 'server-error', /answered with 1 vectors of 2 numbers for 2 texts/],
    ['vectors of two lengths', { body: list([1, 2], [1]) }, 'server-error', /for 2 texts/],
    ['no vectors at all', { body: { choices: [] } }, 'server-error', /something else than vectors: \{"choices":\[\]\}/],
    ['a torn body', { body: '{"data": [' }, 'server-error', /malformed JSON/],
    ['a closed connection', 'close', 'connection', /127\.0\.0\.1/],
  ])('%s', async (_, answer, code, line) => {
    const { baseUrl, asked } = await endpoint(() => answer);
    const failed = embedder(baseUrl, { settings: SETTINGS }).embed(['a', 'b'], { signal: never });
    await expect(failed).rejects.toMatchObject({ name: 'ModelError', code, message: expect.stringMatching(line) as string }); // prettier-ignore
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringMatching(/secret|\n/) as string });
    expect(asked).toHaveLength(1);
  }); // prettier-ignore

  test('a 429 says how long to wait', async () => {
    const { baseUrl } = await endpoint(() => ({ status: 429, body: {}, headers: { 'retry-after': '7' } }));
    const failed = embedder(baseUrl).embed(['a'], { signal: never });
    await expect(failed).rejects.toMatchObject({ options: { retryAfterMs: 7_000 } });
  });

  test('a configured time limit above five minutes is not cut by the limits of the HTTP client', async () => {
    const timeoutMs = 20 * 60_000;
    const { baseUrl } = await endpoint(() => ({ body: { data: [{ index: 0, embedding: [1] }] } }));
    const [limits] = await transportLimitsOf(() => embedder(baseUrl, { timeoutMs }).embed(['a'], { signal: never }));
    expect(limits?.headersTimeout).toBeGreaterThan(timeoutMs);
    expect(limits?.bodyTimeout).toBeGreaterThan(timeoutMs);
  });

  test('a request that hangs ends at its time limit, and one that is given up at once', async () => {
    const { baseUrl } = await endpoint(() => 'hang');
    await expect(embedder(baseUrl, { timeoutMs: 50 }).embed(['a'], { signal: never })).rejects.toMatchObject({ code: 'timeout' }); // prettier-ignore
    const signal = AbortSignal.timeout(30);
    await expect(embedder(baseUrl).embed(['a'], { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('from a configuration to the record, with a simulated model', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-embed-'));
  const QUESTION = 'How many employees resigned in each branch?';
  const NEAR = 'wfm_terminations';
  let model: SimulatedModel;

  beforeAll(() => {
    const database = new Database(join(folder, 'wide.sqlite'));
    const columns = ['posted_on', 'amount', 'currency', 'status', 'note', 'batch', 'source', 'period', 'flag'];
    const filler = (at: number): string =>
      `CREATE TABLE ledger_${at % 2 === 0 ? 'branch' : 'site'}_${at} (id integer PRIMARY KEY, ${columns.map((name) => `${name} text`).join(', ')})`;
    const near = `CREATE TABLE ${NEAR} (worker_ref integer, exit_day text, separation_reason text, unit_ref text, notice_given_on text, interview_held text, rehire_allowed text, last_day_on_site text, recorded_by text)`;
    database.exec(`BEGIN; ${Array.from({ length: 399 }, (_, at) => filler(at)).join('; ')}; ${near}; COMMIT`);
    database.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    model = await startSimulatedModel({ questions: [], databases: [], apiKey: 'sk-right' });
    closers.push(() => model.close());
  });

  let searches = 0;
  /** All in one store, which keeps the description of the database. */
  async function prepare(embeddings: object | null, env: Record<string, string> = {}) {
    const schema = embeddings === null ? {} : { schema: { embeddings } };
    const databases = { wide: { path: 'wide.sqlite' } };
    const prices = { 'simulated-embedding': { inputPerMillion: 1, outputPerMillion: 0 } };
    writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ databases, prices, store: { directory: 'store' }, ...schema })); // prettier-ignore
    const config = loadConfig({
      env: { HOME: folder, OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-right', ...env },
      cwd: folder,
      platform: 'linux',
    });
    const composition = await compose(config);
    searches += 1;
    const input: SearchInput = {
      ...{ schemaVersion: 1, searchId: `s${searches}`, namespace: 'test' },
      settings: settingsFor({ method: 'gate', preset: 'fast', models: { default: 'simulated' }, overrides: { profiles: false } }),
      question: { schemaVersion: 1, text: QUESTION, database: 'wide', outputMode: 'sql', tools: ['execute_sql'], context: null, instructions: null, documents: [] },
    }; // prettier-ignore
    await storeInput({ store: composition.store, hash: sha256 }, input);
    const prepared = await composition.steps.prepare({ purpose: 'prepare', searchId: input.searchId, position: 'prepare' });
    const run = createRunStore(composition.store, input.searchId, sha256);
    const [content, ranking] = await Promise.all([run.get('schema', 'schema'), run.find('ranking', 'schema')]);
    await composition.close();
    return { prepared, content, ranking };
  } // prettier-ignore

  test('the table that means the same is shown, the vectors are paid once, and the ledger agrees with the usage', async () => {
    expect((await prepare(null)).content.shown).not.toContain(NEAR);
    const { content, ranking, prepared } = await prepare({ model: 'simulated-embedding' });
    expect(content.shown).toContain(NEAR);
    expect(content.description.tables.filter(({ name }) => !content.text.includes(name))).toEqual([]);
    expect(ranking).toMatchObject({ by: 'words-and-meaning', embeddedTables: 400, warning: null });
    const { totals, roles } = model.ledger();
    expect(roles['embedding']).toMatchObject({ asked: 6, billed: 6 });
    expect(prepared.usage.promptTokens).toBe(totals.promptTokens);
    expect(prepared.usage.costUsd).toBeCloseTo(totals.promptTokens / 1e6);
    const again = await prepare({ model: 'simulated-embedding' });
    expect(again.content.text).toBe(content.text);
    expect(again.ranking).toMatchObject({ embeddedTables: 0 });
    expect(model.ledger().roles['embedding']).toMatchObject({ billed: 7 });
  });

  test('gate db describe --question ranks as a search does, keeps what it paid for, and says why it could not', async () => {
    const database = join(folder, 'wide.sqlite');
    const { home, gate } = testProcess({ OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-right' });
    const configure = (name: string): void =>
      writeFileSync(join(home, 'gate.config.json'), JSON.stringify({ schema: { embeddings: { model: name } } }));
    configure('simulated-embedding');
    const described = await gate('db', 'describe', database, '--question', QUESTION);
    expect(described).toMatchObject({ code: 0, out: expect.stringContaining('separation_reason text') as string });
    await gate('db', 'describe', database, '--question', QUESTION);
    expect(model.ledger().roles['embedding']).toMatchObject({ billed: 7 });
    await gate('db', 'describe', database);
    expect(model.ledger().roles['embedding']).toMatchObject({ billed: 7 });
    configure('nosuch');
    const failed = await gate('db', 'describe', database, '--question', QUESTION);
    expect(failed).toMatchObject({ code: 0, err: expect.stringMatching(/note: tables are ranked by the question's words alone: .*"nosuch"/) as string }); // prettier-ignore
  });

  test('an endpoint of its own does not get the key of the models', async () => {
    const { baseUrl, asked } = await endpoint(({ body }) => ({ body: list(...body.input.map(() => [1, 0])) }));
    await prepare({ model: 'mine', baseUrl });
    expect(asked[0]?.headers.authorization).toBeUndefined();
    await prepare({ model: 'mine', baseUrl, apiKeyEnv: 'EMBED_KEY' }, { EMBED_KEY: 'sk-own' });
    expect(asked.at(-1)?.headers.authorization).toBe('Bearer sk-own');
    expect(model.ledger().totals.asked).toBe(0);
  });

  test.each<[string, object, Record<string, string>, RegExp]>([
    ['an unknown model', { model: 'nosuch' }, {}, /has no model "nosuch" for this key: set schema\.embeddings\.model/],
    ['a wrong key', { model: 'simulated-embedding' }, { OPENAI_API_KEY: 'sk-wrong' }, /rejected the key: check OPENAI_API_KEY/],
    ['a closed port', { model: 'x', baseUrl: 'http://127.0.0.1:1/v1' }, {}, /cannot be reached \([^)]+\): check schema\.embeddings\.baseUrl/],
  ])('%s: the search goes on by words and says why in one line', async (_, embeddings, env, line) => {
    const { content, ranking } = await prepare(embeddings, env);
    expect(content.shown?.length).toBeGreaterThan(100);
    expect(ranking).toMatchObject({ by: 'words', warning: expect.stringMatching(line) as string });
    expect(ranking?.warning).not.toContain('\n');
  }); // prettier-ignore
});
