/** The script of the pages in Chromium, before a server that shows, tells and replies what a test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { markup, type Html } from '../../src/report/html';
import { searchingBody, type Searching } from '../../src/server/page/searching';
import { button, form, lineOf, mainOf, pageText, type Said, type View } from '../../src/server/page/shell';
import { NO_USAGE } from '../../src/domain/control-view';
import { listenOn } from '../../src/workers/http-server';
import { useChromium } from '../helpers/chromium';

const { closers, newContext } = useChromium();

/** A form that has arrived and waits for its reply. */
interface Sent {
  /** Its path and its fields. */
  readonly says: string;
  readonly shows: (body: Html, said?: Said) => void;
  readonly leadsTo: (path: string) => void;
  /** With an error that has no page; null: with nothing. */
  readonly fails: (message: string | null) => void;
}

interface Shown {
  readonly page: Page;
  /** The page is otherwise: an event says so. */
  readonly tell: (body: Html) => void;
  /** The next form that arrives. */
  readonly sent: () => Promise<Sent>;
  /** All that arrived. */
  readonly all: readonly string[];
  /** Cuts all who listen, and refuses the next one. */
  readonly refuse: () => void;
}

async function openPage(first: Html): Promise<Shown> {
  let body = first;
  const view = (): View => ({ title: 'Test', place: null, live: '/live', body });
  const readers = new Set<ServerResponse>();
  const put = (reader: ServerResponse): void =>
    void reader.write(`event: page\n${mainOf(view()).text.replace(/^/gm, 'data: ')}\n\n`);
  const all: string[] = [];
  let refusals = 0;
  const forms: Sent[] = [];
  const takers: ((one: Sent) => void)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const show = (shown: View): void =>
      void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(pageText(shown));
    if (path === '/live' && refusals > 0) {
      refusals -= 1;
      response.writeHead(503).end();
    } else if (path === '/live') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).once('close', () => readers.delete(response));
      readers.add(response);
      put(response);
    } else if (request.method === 'GET') show(view());
    else {
      const one: Sent = {
        says: `${path} ${await text(request)}`,
        shows: (shown, said) => show({ ...view(), body: shown, said }),
        fails: (message) => {
          if (message === null) response.destroy();
          else response.writeHead(429).end(JSON.stringify({ error: { code: 'too-many', message } }));
        },
        leadsTo: (location) => void response.writeHead(303, { location }).end(),
      };
      all.push(one.says);
      const take = takers.shift();
      if (take === undefined) forms.push(one);
      else take(one);
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  const { url, close } = await listenOn(server, '127.0.0.1', 0);
  closers.push(close);
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(`${url}/page`);
  return {
    ...{ page, all },
    refuse: () => {
      refusals = 1;
      for (const reader of readers) reader.end();
    },
    tell: (next) => {
      body = next;
      readers.forEach(put);
    },
    sent: () => {
      const one = forms.shift();
      return one === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(one);
    },
  };
}

const RUNNING = markup`<h1>Running</h1><p>Words to click on</p>${button('/pause', 'Pause')}`;
const PAUSED = markup`<h1>Paused</h1><p>Words to click on</p>${button('/resume', 'Go on')}`;
const TELLING = form('/hint', lineOf('hint', 'text', 'Words', { says: 'Tell it' }));
const REFUSED: Said = { kind: 'failed', text: 'It was refused.' };

test('a page changes although somebody has clicked on its words', async () => {
  const { page, tell } = await openPage(RUNNING);
  await page.getByText('Words to click on').click();
  tell(PAUSED);
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('a button that was clicked gets the name of what it does now', async () => {
  const { page, sent } = await openPage(RUNNING);
  await page.getByRole('button', { name: 'Pause' }).click();
  (await sent()).shows(PAUSED);
  await page.getByRole('button', { name: 'Go on' }).click();
  expect((await sent()).says).toBe('/resume ');
});

test('refused words stay where they were typed, and the same refusal is said anew', async () => {
  const { page, sent } = await openPage(TELLING);
  await page.getByLabel('Words').fill('half right');
  for (const _ of ['first', 'second']) {
    await page.getByRole('button', { name: 'Tell it' }).click();
    (await sent()).shows(TELLING, REFUSED);
    // No other one: this is marked.
    const refusal = page.locator('[role=alert]:not([data-seen])', { hasText: REFUSED.text });
    await refusal.waitFor();
    await page.evaluate("document.getElementById('said').dataset.seen = ''");
    await page.locator('form[aria-busy]').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Words').inputValue()).toBe('half right');
  }
});

test('a button that has become another one while its reply is awaited is heard', async () => {
  const { page, tell, sent } = await openPage(RUNNING);
  await page.getByRole('button', { name: 'Pause' }).click();
  const pause = await sent();
  tell(PAUSED);
  await page.getByRole('button', { name: 'Go on' }).click();
  pause.shows(PAUSED);
  expect((await sent()).says).toBe('/resume ');
});

test('what one form sends arrives in its order, a double click once, and each refusal is seen', async () => {
  const { page, all, tell, sent } = await openPage(TELLING);
  const words = page.getByLabel('Words');
  const tellIt = page.getByRole('button', { name: 'Tell it' });
  await words.fill('first');
  await tellIt.dblclick();
  const first = await sent();
  tell(markup`<p>Otherwise</p>${TELLING}`);
  await page.getByText('Otherwise').waitFor();
  expect(await page.locator('form[aria-busy]').count()).toBe(1);
  for (const each of ['second', 'first']) {
    await words.fill(each);
    await tellIt.click();
  }
  first.shows(TELLING, REFUSED);
  await page.getByRole('alert').filter({ hasText: REFUSED.text }).waitFor();
  expect(await words.inputValue()).toBe('first');
  (await sent()).shows(TELLING);
  (await sent()).shows(TELLING, { kind: 'done', text: 'Kept.' });
  await page.getByRole('status').filter({ hasText: 'Kept.' }).waitFor();
  await page.locator('form[aria-busy]').waitFor({ state: 'detached' });
  expect(all).toEqual(['/hint text=first', '/hint text=second', '/hint text=first']);
});

test('a form whose reply leads elsewhere is busy until the page has left, so that nothing is sent twice', async () => {
  const { page, sent } = await openPage(TELLING);
  // Before the page's own.
  await page.addInitScript("addEventListener('pagehide', () => (sessionStorage.busy = document.forms[0]?.ariaBusy))");
  await page.reload();
  await page.getByLabel('Words').fill('once');
  await page.getByRole('button', { name: 'Tell it' }).click();
  (await sent()).leadsTo('/elsewhere');
  await page.waitForURL('**/elsewhere');
  expect(await page.evaluate('sessionStorage.busy')).toBe('true');
});

test('a reply that comes after a newer event does not keep the page back', async () => {
  const { page, tell, sent } = await openPage(RUNNING);
  await page.getByRole('button', { name: 'Pause' }).click();
  const pause = await sent();
  tell(markup`<h1>Ended</h1>`);
  await page.getByRole('heading', { name: 'Ended' }).waitFor();
  pause.shows(PAUSED, { kind: 'done', text: 'It pauses.' });
  await page.getByText('It pauses.').waitFor();
  await page.getByRole('heading', { name: 'Ended' }).waitFor();
});

test('a server that refuses events for a moment is listened to again', async () => {
  const { page, tell, refuse } = await openPage(RUNNING);
  await page.getByText('Words to click on').waitFor();
  refuse();
  await page.locator('#lost').waitFor();
  await page.locator('#lost').waitFor({ state: 'hidden' });
  tell(PAUSED);
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('many tabs leave a connection to the one that is seen, and a tab that is seen again is as the page is now', async () => {
  const { page, tell } = await openPage(RUNNING);
  const see = (one: Page, isHidden: boolean): Promise<unknown> =>
    one.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await see(page, true);
  for (let tab = 0; tab < 6; tab += 1) {
    const other = await page.context().newPage();
    await other.goto(page.url());
    await see(other, true);
  }
  tell(PAUSED);
  await see(page, false);
  await page.getByRole('heading', { name: 'Paused' }).waitFor();
});

test('a reason that is typed beside one kept reading stays beside it when another is withdrawn', async () => {
  const proved = ['first', 'second'].map((id) => ({ id, says: `The ${id} reading`, status: 'active' }));
  const search = (kept: Searching['proved']): Html =>
    searchingBody({
      ...{ id: 'q-1', status: 'running', input: null, progress: null, outages: [], proved: kept, remarks: [] },
      ...{ usage: NO_USAGE, asked: [], ceilingUsd: null, ui: null, askable: false },
      trace: { observations: {}, state: null } as unknown as Searching['trace'],
    });
  const { page, tell, sent } = await openPage(search(proved));
  const second = page.locator('article', { hasText: 'The second reading' });
  await second.getByText('Reject it').click();
  await second.getByLabel('Why it is wrong').fill('because');
  tell(search(proved.slice(1)));
  await page.getByText('The first reading').waitFor({ state: 'detached' });
  expect(await second.getByLabel('Why it is wrong').inputValue()).toBe('because');
  await second.getByRole('button', { name: 'Reject' }).click();
  expect((await sent()).says).toBe('/q/q-1/veto update=second&reason=because');
});

test('a form without an answer says so until the next one has come, and its words stay', async () => {
  const { page, tell, sent } = await openPage(TELLING);
  await page.getByLabel('Words').fill('still here');
  for (const [message, says] of [
    [null, 'The server did not answer.'],
    ['at most 600 a minute', 'at most 600 a minute'],
  ] as const) {
    await page.getByRole('button', { name: 'Tell it' }).click();
    (await sent()).fails(message);
    await page.getByRole('alert').filter({ hasText: says }).waitFor();
  }
  tell(markup`<p>Otherwise</p>${TELLING}`);
  await page.getByText('Otherwise').waitFor();
  expect(await page.getByRole('alert').textContent()).toBe('at most 600 a minute');
  expect(await page.getByLabel('Words').inputValue()).toBe('still here');
  await page.getByRole('button', { name: 'Tell it' }).click();
  (await sent()).shows(TELLING);
  await page.locator('#said').waitFor({ state: 'detached' });
});

test('what one check found stays when another has run', async () => {
  const checks = (found: Html | null, other: Html | null): Html =>
    markup`<article id="claim-1">${found} <div class="acts">${button('/one', 'One')}</div></article><article id="claim-2">${other} <div class="acts">${button('/two', 'Two')}</div></article>`;
  const found = (number: number): Html => markup`<p id="again-${number}" class="said again">Found ${number}</p>`;
  const { page, sent } = await openPage(checks(null, null));
  await page.getByRole('button', { name: 'One' }).click();
  const one = await sent();
  await page.getByRole('button', { name: 'Two' }).click();
  (await sent()).shows(checks(null, found(2)));
  await page.locator('#claim-2').getByText('Found 2').waitFor();
  one.shows(checks(found(1), null));
  await page.locator('#claim-1').getByText('Found 1').waitFor();
  await page.locator('#claim-2').getByText('Found 2').waitFor();
});

test('a button that copies gets its name back, however often it is clicked', async () => {
  const copying = markup`<pre id="text">SELECT 1</pre><button data-copy="text" hidden>Copy</button>`;
  const { page } = await openPage(copying);
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(3_600_000);
  // The browser's own answers in its own time, and the second one has no mark to wait for.
  await page.evaluate('void (navigator.clipboard.writeText = async () => {})');
  const copy = page.locator('button[data-copy]');
  for (const _ of ['first', 'second']) {
    await copy.click();
    expect(await copy.textContent()).toBe('Copied');
  }
  await page.clock.runFor(2_000);
  expect(await copy.textContent()).toBe('Copy');
});
