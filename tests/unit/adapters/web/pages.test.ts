/** Fetching pages from real servers on this machine: redirects, rebinding, limits, robots, types and readable text. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createWeb } from '../../../../src/adapters/web';
import { freePort } from '../../../helpers/free-port';

const servers: Server[] = [];
const seen: string[] = [];

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    seen.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    listener(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

beforeEach(() => void seen.splice(0));
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

type Pages = { readonly [path: string]: RequestListener | string | undefined };

/** A site: a text is an HTML page; without an entry for it there is no robots.txt. */
const site =
  (pages: Pages): RequestListener =>
  (request, response) => {
    const page = pages[request.url ?? ''];
    if (page === undefined) response.writeHead(404).end();
    else if (typeof page === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    else page(request, response);
  };

const redirect =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

const typed =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': type, ...headers }).end(body);

interface Setting {
  readonly ports: readonly number[];
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly limits?: { maxBytes?: number; maxChars?: number; timeoutMs?: number };
  readonly now?: () => number;
}

const provider = { provider: 'searxng', baseUrl: null, apiKey: null } as const;
const never = new AbortController().signal;

function webFor({ ports, resolve = () => Promise.resolve(['127.0.0.1']), limits = {}, now }: Setting) {
  const rest = now === undefined ? {} : { now };
  return createWeb(provider, { loopback: { ports: new Set(ports) }, resolve, limits, ...rest });
}

async function fetchFrom(pages: Pages, path = '/page', setting: Partial<Setting> = {}) {
  const port = await serve(site(pages));
  return webFor({ ports: [port], ...setting }).fetch(`http://shop.example.com:${port}${path}`, { signal: never });
}

describe('what is read', () => {
  test('a page gives its title, its main text and a few links, not its menus', async () => {
    const filler = 'The warehouse opens at eight and closes at five. '.repeat(6);
    const page = await fetchFrom({
      '/page': `<html><head><title>Opening &amp; closing</title><style>p{}</style></head><body>
        <nav><a href="/a">Menu</a></nav><script>alert(1)</script>
        <main><h1>Hours</h1><p>${filler}</p><p>See <a href="/more#x">more</a> and <a href="javascript:x()">this</a>.</p></main>
        <footer>Imprint</footer></body></html>`,
    });
    expect(page).toMatchObject({ title: 'Opening & closing', contentType: 'text/html', truncated: false });
    expect(page.text).toContain('Hours');
    expect(page.text).toMatch(/See more \[http:\/\/shop\.example\.com:\d+\/more\] and this\./);
    expect(page.text).not.toMatch(/Menu|Imprint|alert|javascript|p\{\}/);
  });

  test('a packed page is unpacked', async () => {
    const packed = typed('text/plain', gzipSync('hello'), { 'content-encoding': 'gzip' });
    expect((await fetchFrom({ '/page': packed })).text).toBe('hello');
  });

  test('deeply nested HTML is survived', async () => {
    const page = await fetchFrom({ '/page': `<body>top${'<div>'.repeat(50_000)}deep` });
    expect(page.text).toContain('top');
  });

  test.each([
    ['columns', '<table><tr><td colspan="100000000">one</td><td>two</td></tr></table>'],
    ['rows', '<table><tr><td rowspan="100000000">one</td><td>two</td></tr></table>'],
    ['numbers', '<ol type="I" start="99999999999"><li>one</li></ol><p>two</p>'],
  ])('a table or list that claims a hundred million %s costs nothing', async (_claim, html) => {
    expect((await fetchFrom({ '/page': `<body>${html}` })).text).toMatch(/one[^]*two/);
  });

  test.each([
    [404, 'not-found'],
    [403, 'not-found'],
    [500, 'server-error'],
    [429, 'rate-limited'],
  ])('an answer of %i is the error %s', async (status, code) => {
    const answer: RequestListener = (_request, response) => void response.writeHead(status).end();
    await expect(fetchFrom({ '/page': answer })).rejects.toMatchObject({ code });
  });
});

describe('redirects', () => {
  test('five are followed, and the page says where it came from', async () => {
    const hops = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`/${n}`, redirect(`/${n + 1}`, 307)]));
    const page = await fetchFrom({ ...hops, '/6': 'arrived' }, '/1');
    expect(page).toMatchObject({ text: 'arrived', url: expect.stringMatching(/\/6$/) as string });
  });

  test('a sixth is refused, and so is a loop', async () => {
    await expect(fetchFrom({ '/page': redirect('/page') })).rejects.toMatchObject({ code: 'refused' });
    expect(seen.filter((each) => each.endsWith('/page'))).toHaveLength(6);
  });

  test.each([
    'http://127.0.0.1:1/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://0x7f.1/',
    'http://user:pass@example.com/',
    'http://localhost/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'http:\\\\10.0.0.1\\',
    '//10.0.0.1/',
    '///10.0.0.1/',
    '/\\10.0.0.1/',
    'https:10.0.0.1',
    '\thttp://10.0.0.1/',
    'http://[::ffff:7f00:1]/',
    'http://2130706433/',
    '//user@example.com/',
    'https://example.com:8443/',
    'javascript:alert(1)',
    'about:blank',
  ])('a redirect to %j is refused', async (target) => {
    await expect(fetchFrom({ '/page': redirect(target, 301) })).rejects.toMatchObject({ code: 'refused' });
  });

  test.each([301, 302, 303, 307, 308])('a %i is followed, and its target is checked', async (status) => {
    expect(await fetchFrom({ '/page': redirect('next', status), '/next': 'arrived' })).toMatchObject({
      text: 'arrived',
    });
    await expect(fetchFrom({ '/page': redirect('http://10.0.0.1/', status) })).rejects.toMatchObject({
      code: 'refused',
    });
  });

  test.each([300, 304, 305, 306])('a %i goes nowhere', async (status) => {
    const moved = redirect('http://10.0.0.1/', status);
    await expect(fetchFrom({ '/page': moved })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('a redirect to a name with a private address is refused, and that address gets no request', async () => {
    const inside = await serve(site({ '/secret': 'secret' }));
    const outside = await serve(site({ '/page': redirect(`http://inner.example.com:${inside}/secret`) }));
    const web = webFor({
      ports: [outside],
      resolve: (host) => Promise.resolve([host.startsWith('inner') ? '10.0.0.1' : '127.0.0.1']),
    });
    await expect(web.fetch(`http://shop.example.com:${outside}/page`, { signal: never })).rejects.toMatchObject({
      code: 'refused',
    });
    expect(seen.filter((each) => each.includes('secret'))).toEqual([]);
  });
});

describe('a resolver that changes its mind', () => {
  test('the second, private answer is never used: each exchange connects to what was checked', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const page = await fetchFrom({ '/page': 'fine' }, '/page', {
      resolve: () => Promise.resolve(answers[asked++] ?? ['10.0.0.1']),
    });
    expect(page.text).toBe('fine');
    // Once for robots.txt, once for the page: connecting asks nobody.
    expect(asked).toBe(2);
  });

  test('a name that turns private between robots.txt and the page is refused', async () => {
    let asked = 0;
    await expect(
      fetchFrom({ '/page': 'secret' }, '/page', {
        resolve: () => Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['192.168.0.1']),
      }),
    ).rejects.toMatchObject({ code: 'refused' });
    expect(seen.filter((each) => each.endsWith('/page'))).toEqual([]);
  });

  test('a name that turns private on the way of a redirect is refused', async () => {
    let asked = 0;
    await expect(
      fetchFrom({ '/page': redirect('/next'), '/next': 'secret' }, '/page', {
        resolve: () => Promise.resolve(asked++ < 2 ? ['127.0.0.1'] : ['127.0.0.1', '10.0.0.1']),
      }),
    ).rejects.toMatchObject({ code: 'refused' });
    expect(seen.filter((each) => each.endsWith('/next'))).toEqual([]);
  });
});

describe('limits', () => {
  const endless: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  };

  test('an endless body is cut at the limit', async () => {
    const page = await fetchFrom({ '/page': endless }, '/page', { limits: { maxBytes: 100_000, maxChars: 1_000 } });
    expect(page).toMatchObject({ truncated: true, text: 'x'.repeat(1_000) });
  });

  test('a server that never answers, and a resolver that never does, end with the time limit', async () => {
    const limits = { timeoutMs: 200 };
    await expect(fetchFrom({ '/page': () => undefined }, '/page', { limits })).rejects.toMatchObject({
      code: 'timeout',
    });
    const silent = { limits, resolve: () => new Promise<never>(() => undefined) };
    await expect(fetchFrom({}, '/page', silent)).rejects.toMatchObject({ code: 'timeout' });
  });

  test('the abort of the caller is not taken for a time limit', async () => {
    const port = await serve(site({ '/page': () => undefined }));
    const controller = new AbortController();
    const fetching = webFor({ ports: [port] }).fetch(`http://a.example.com:${port}/page`, {
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(fetching).rejects.toThrow('enough');
  });

  test('a closed port is a connection error, an unknown name is not found', async () => {
    const port = await freePort();
    const web = webFor({ ports: [port] });
    await expect(web.fetch(`http://a.example.com:${port}/`, { signal: never })).rejects.toMatchObject({
      code: 'connection',
    });
    const unknown = Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    const lost = webFor({ ports: [], resolve: () => Promise.reject(unknown) });
    await expect(lost.fetch('http://a.example.com/', { signal: never })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('proxies of the environment are ignored', async () => {
    const proxy = await serve((_request, response) => void response.writeHead(200).end('proxied'));
    const before = { ...process.env };
    for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy']) process.env[name] = `http://127.0.0.1:${proxy}`;
    try {
      expect((await fetchFrom({ '/page': 'direct' })).text).toBe('direct');
    } finally {
      process.env = before;
    }
  });
});

describe('robots.txt', () => {
  const robots = (text: string) => typed('text/plain', text);

  test('what it disallows for all is not fetched', async () => {
    await expect(
      fetchFrom({ '/robots.txt': robots('User-agent: *\nDisallow: /page'), '/page': 'secret' }),
    ).rejects.toMatchObject({ code: 'robots' });
    expect(seen.filter((each) => each.endsWith('/page'))).toEqual([]);
  });

  test('our own name goes before all', async () => {
    const rules = robots('User-agent: *\nDisallow: /\n\nUser-agent: gate-sql\nAllow: /');
    expect((await fetchFrom({ '/robots.txt': rules, '/page': 'open' })).text).toBe('open');
  });

  test('the target of a redirect is asked about as well', async () => {
    await expect(
      fetchFrom({
        '/robots.txt': robots('User-agent: *\nDisallow: /closed'),
        '/page': redirect('/closed'),
        '/closed': 'secret',
      }),
    ).rejects.toMatchObject({ code: 'robots' });
  });

  test('it is read once per site, and again after an hour', async () => {
    const port = await serve(site({ '/robots.txt': robots('User-agent: *\nAllow: /'), '/page': 'x' }));
    let time = 0;
    const web = webFor({ ports: [port], now: () => time });
    const get = () => web.fetch(`http://shop.example.com:${port}/page`, { signal: never });
    await get();
    await get();
    const reads = () => seen.filter((each) => each.endsWith('/robots.txt')).length;
    expect(reads()).toBe(1);
    time = 3_600_001;
    await get();
    expect(reads()).toBe(2);
  });

  test('it may not redirect into a private network either', async () => {
    const robots = redirect('http://10.0.0.1/robots.txt');
    await expect(fetchFrom({ '/robots.txt': robots, '/page': 'x' })).rejects.toMatchObject({ code: 'refused' });
  });

  test.each([
    [503, 'server-error'],
    [429, 'rate-limited'],
  ])('a site whose robots.txt answers %i is left alone for now', async (status, code) => {
    const broken: RequestListener = (_request, response) => void response.writeHead(status).end();
    await expect(fetchFrom({ '/robots.txt': broken, '/page': 'x' })).rejects.toMatchObject({ code });
  });

  test.each([
    ['after a group of others', 'User-agent: a\nDisallow: /b\nSitemap: /s\n\nUser-agent: *\nDisallow: /page'],
    ['for several agents at once', 'User-agent: a\nUser-agent: GATE-SQL/2 # us\nUser-agent: b\nDisallow: /page'],
    [
      'in two groups',
      'User-agent: gate-sql\nAllow: /a\n\nUser-agent: b\nAllow: /\n\nUser-agent: gate-sql\nDisallow: /',
    ],
    ['behind a byte order mark, with old line ends', '\ufeffUser-agent: *\rDisallow: /*?x=\rDisallow: /page$'],
    ['next to a delay', ' USER-AGENT : * \n Crawl-delay: 10\n DISALLOW : /page'],
  ])('a rule %s is heeded', async (_claim, text) => {
    await expect(fetchFrom({ '/robots.txt': robots(text), '/page': 'x' })).rejects.toMatchObject({ code: 'robots' });
  });

  test.each([
    ['of others', 'User-agent: a\nUser-agent: gate\nDisallow: /'],
    ['without a path', 'User-agent: *\nDisallow:'],
    ['that a longer one takes back', 'User-agent: *\nDisallow: /\nAllow: /page'],
    ['in a page that is no robots.txt', '<!doctype html><title>Not found</title>'],
  ])('a rule %s forbids nothing', async (_claim, text) => {
    expect((await fetchFrom({ '/robots.txt': robots(text), '/page': 'open' })).text).toBe('open');
  });

  test('one that names thousands of agents before thousands of rules fills no memory', async () => {
    const agents = Array.from({ length: 3_000 }, (_, n) => `User-agent: bot${n}\n`).join('');
    const before = process.memoryUsage().heapUsed;
    const bomb = robots(`${agents}User-agent: *\n${'Disallow: /q\n'.repeat(3_000)}`);
    expect((await fetchFrom({ '/robots.txt': bomb, '/page': 'open' })).text).toBe('open');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });
});

test('the ports of this machine are open to tests that name them, and to nobody else', async () => {
  const port = await serve(site({ '/page': 'x' }));
  const plain = createWeb(provider, { resolve: () => Promise.resolve(['127.0.0.1']) });
  for (const url of [`http://127.0.0.1:${port}/page`, `http://a.example.com:${port}/page`, 'http://a.example.com/'])
    await expect(plain.fetch(url, { signal: never })).rejects.toMatchObject({ code: 'refused' });
  expect(seen).toEqual([]);
});
