/** What `gate doctor` says of the web: one line, with what to change. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkWebSearch } from '../../../src/app/doctor';
import { Secret, type Config } from '../../../src/config';

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

  test('your own SearXNG is searched; one without engines is noted', async () => {
    const searxng = web({ provider: 'searxng', apiKey: null });
    expect(await checkWebSearch(searxng, false)).toMatchObject([{ state: 'ok' }]);
    answer = { status: 200, body: { results: [] } };
    expect(await checkWebSearch(searxng, false)).toMatchObject([
      { state: 'note', fix: 'switch on engines in its settings.yml' },
    ]);
  });

  test('a provider that refuses the key or does not answer says so', async () => {
    answer = { status: 401, body: {} };
    await expect(checkWebSearch(web(), true)).rejects.toThrow('answered 401');
    await expect(checkWebSearch(web({ provider: 'brave', baseUrl: 'http://127.0.0.1:9' }), true)).rejects.toThrow(
      'ECONNREFUSED',
    );
  });
});
