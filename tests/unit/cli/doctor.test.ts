/** What `gate doctor` says of files with secrets and of the web: one line each, with what to change. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkWebSearch, readableSecrets } from '../../../src/app/doctor';
import { Secret, type Config } from '../../../src/config';

describe('secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-secrets-'));
  chmodSync(folder, 0o755);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('open'), 'postgresql://u:hunter2@h/d', { mode: 0o644 });
  writeFileSync(at('closed'), 'x', { mode: 0o600 });
  writeFileSync(
    at('gate.config.json'),
    JSON.stringify({
      databases: { a: { urlFile: './open' }, b: { urlFile: 'closed' }, c: { urlFile: 'none' }, d: { path: 'open' } },
      models: { apiKeyFile: 'closed' },
      encryption: { keys: [{ id: 'k', file: 'open' }] },
    }),
  );

  test('a secret that every user may read is a note with what to do, once, and its text is not shown', () => {
    expect(readableSecrets(at('gate.config.json'), 'linux')).toEqual([
      {
        ...{ what: 'secrets', state: 'note', fix: `chmod 600 '${at('open')}'` },
        detail: `every user of this machine may read ${at('open')}`,
      },
    ]);
  });

  test('a closed folder keeps its files, and what cannot be looked at is passed over', () => {
    mkdirSync(at('private'), { mode: 0o700 });
    writeFileSync(at('private/key'), 'x', { mode: 0o644 });
    symlinkSync('loop', at('loop'));
    writeFileSync(
      at('other.json'),
      JSON.stringify({ models: { apiKeyFile: 'private/key' }, web: { apiKeyFile: 'loop' } }),
    );
    expect(readableSecrets(at('other.json'), 'linux')).toEqual([]);
  });

  test('there is nothing to say without a file, and where modes mean nothing', () => {
    expect(readableSecrets(null, 'linux')).toEqual([]);
    expect(readableSecrets(at('gate.config.json'), 'win32')).toEqual([]);
  });
});

describe('the web: nothing is billed unless --call', () => {
  let server: Server;
  let asked: string[] = [];
  let answer: { readonly status: number; readonly body: unknown } = { status: 200, body: { results: [] } };

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    asked = [];
    answer = { status: 200, body: { results: [{ url: 'https://a.example.org/', title: 't', content: 'c' }] } };
  });

  const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const web = (change: Partial<NonNullable<Config['web']>> = {}) => ({
    web: {
      provider: 'tavily' as const,
      baseUrl: baseUrl(),
      apiKey: new Secret('k'),
      lookups: null,
      fix: null,
      ...change,
    },
  });

  test('says nothing where no provider is configured', async () => {
    expect(await checkWebSearch({ web: null }, true)).toEqual([]);
  });

  test('names the key that is missing, and asks nobody', async () => {
    expect(await checkWebSearch(web({ apiKey: null, fix: 'set TAVILY_API_KEY' }), true)).toEqual([
      { what: 'web search', state: 'missing', detail: 'tavily has no key', fix: 'set TAVILY_API_KEY' },
    ]);
    expect(asked).toEqual([]);
  });

  test('without --call a billed provider is not asked', async () => {
    expect(await checkWebSearch(web(), false)).toMatchObject([
      { state: 'ok', detail: 'tavily has a key; --call tries it' },
    ]);
    expect(asked).toEqual([]);
  });

  test('with --call it searches once', async () => {
    expect(await checkWebSearch(web(), true)).toMatchObject([{ state: 'ok', detail: 'tavily answers with 1 result' }]);
    expect(asked).toEqual(['POST /search']);
  });

  test('a key that is refused names the setting', async () => {
    answer = { status: 401, body: {} };
    expect(await checkWebSearch(web(), true)).toMatchObject([
      { state: 'missing', fix: 'check the key that web.apiKeyEnv or web.apiKeyFile names' },
    ]);
  });

  test('your own SearXNG is searched; one without engines is noted', async () => {
    const searxng = web({ provider: 'searxng', apiKey: null });
    expect(await checkWebSearch(searxng, false)).toMatchObject([{ state: 'ok' }]);
    answer = { status: 200, body: { results: [] } };
    expect(await checkWebSearch(searxng, false)).toMatchObject([
      { state: 'note', fix: 'switch on engines in its settings.yml' },
    ]);
  });

  test.each(['searxng', 'brave'] as const)(
    '%s that does not answer is missing, with where to look',
    async (provider) => {
      const [finding] = await checkWebSearch(web({ provider, baseUrl: 'http://127.0.0.1:9' }), true);
      expect(finding).toMatchObject({ state: 'missing', fix: 'start it, or check web.baseUrl and the network' });
      expect(finding?.detail).toContain('ECONNREFUSED');
    },
  );
});
