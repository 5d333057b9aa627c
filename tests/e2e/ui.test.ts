/** `gate ui` as a person meets it: the real server, worker and Temporal, a recorded model, and Chromium. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { DEMO_QUESTION } from '../../src/app/demo';
import { News } from '../../src/app/waiting';
import { useChromium } from '../helpers/chromium';
import { gateHome, type GateHome, type GateProcess } from '../helpers/gate-process';
import { doubted, startRecordedModel, type RecordedModel } from '../helpers/recorded-model';
import { ROOT, sprintSqlite } from '../helpers/shared-data';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RECORDING = join(ROOT, 'examples', 'sprint', 'recording.jsonl');
const ANSWER = 'In 4 of 18 sprint events the winner beat the runner-up by more than five seconds.';
const HOSTILE = '<img src=x onerror="document.title=1">';

const { closers, newContext } = useChromium();

interface Ui {
  readonly home: GateHome;
  readonly model: RecordedModel;
  readonly url: string;
  readonly address: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained about. */
  readonly wrong: string[];
  readonly process: GateProcess;
}

/** A user with one database and an open page. `change`: of the recorded replies. */
async function openUi({
  change,
  path,
}: { change?: (texts: string[]) => string[]; path?: (folder: string) => string } = {}): Promise<Ui> {
  const model = await startRecordedModel(RECORDING, { change });
  const home = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'recorded' } });
  closers.push(() => model.close());
  const databases = { sprint: { path: (path ?? sprintSqlite)(home.folder) } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases, models: { outageMs: 60_000 } }));
  const process = home.start(['ui', '--no-open']);
  closers.push(async () => {
    process.child.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
    await home.run(['dev', '--stop']);
  });
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: process.child.stdout! }).once('line', resolve);
    process.said(/opens once/).catch(reject);
  });
  const context = await newContext({ viewport: { width: 1280, height: 900 } });
  const wrong: string[] = [];
  context.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  context.on('weberror', (error) => wrong.push(error.error().message));
  context.on('request', (request) => {
    if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith('data:'))
      wrong.push(`loads ${request.url()}`);
  });
  const page = await context.newPage();
  await page.goto(address);
  return { home, model, url: new URL(address).origin, address, context, page, wrong, process };
}

async function ask(page: Page, text: string): Promise<string> {
  await page.getByRole('textbox', { name: 'Question', exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/q/*');
  return new URL(page.url()).pathname;
}

/** Holds the next reply of that path back once it has arrived. */
async function heldBack(page: Page, path: string): Promise<{ arrived: Promise<void>; letPass: () => void }> {
  const [arrival, passing] = [new News(), new News()];
  const arrived = arrival.next;
  const hold = async (route: Route): Promise<void> => {
    const passed = passing.next;
    const response = await route.fetch();
    arrival.tell();
    await passed;
    await route.fulfill({ response });
  };
  await page.route(path, hold, { times: 1 });
  return { arrived, letPass: () => passing.tell() };
}

/** What axe finds; and whether the page is wider than its window. */
async function problems(page: Page): Promise<unknown[]> {
  const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  // Past the page's policy, as a test may be.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const { result } = await session.send('Runtime.evaluate', {
    expression:
      'axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html])))',
    awaitPromise: true,
  });
  await session.detach();
  return [...(JSON.parse(result.value as string) as unknown[]), ...(width === 0 ? [] : [`${String(width)} too wide`])];
}

test('from the question to its answer: reloaded, in two tabs, steered, with its check, its rows, a rule and what follows', async () => {
  const { page, context, model, wrong, url } = await openUi({ change: doubted });
  const waits = model.holdAfter(0);
  const path = await ask(page, DEMO_QUESTION);
  await waits;
  await page.getByText('decides what to look at').waitFor();
  await page.reload();
  await page.getByText('decides what to look at').waitFor();
  expect(await problems(page)).toEqual([]);

  // The second call is a commit with a claim that does not hold, so that there is a third one.
  const third = model.holdAfter(2);
  await third;
  const other = await context.newPage();
  await other.goto(url + path);
  for (const each of [page, other]) {
    await each.getByRole('heading', { name: 'The sentence as it stands' }).waitFor();
    await each.getByText('96 of 126', { exact: true }).first().waitFor();
    await each.getByText('Looked at the data with 3 queries.').waitFor();
  }
  expect(await page.locator('#claim-2').textContent()).toMatch(/not shown.*It holds for 76\.2|96 of 126/s);
  await page.getByText('Winner and runner-up of each event').click();
  expect(await page.locator('#query-1-2 tbody tr').count()).toBeGreaterThan(5);
  expect(await problems(page)).toEqual([]);

  const hint = page.getByLabel('Something that the data does not show');
  await hint.fill('half typed');
  await other.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused: nothing is asked').waitFor();
  // What somebody types stays while the page changes around it, and so does what is open.
  expect(await hint.inputValue()).toBe('half typed');
  expect(await page.locator('#query-1-2').getAttribute('open')).not.toBeNull();
  await page.locator('#now').getByRole('button', { name: 'Go on' }).click();
  await hint.fill('gaps are in seconds');
  await page.getByRole('button', { name: 'Tell it' }).click();
  await other.getByText('gaps are in seconds').waitFor();
  // Its reply has come: none of it erases what is said next.
  await page.locator('form[aria-busy]').waitFor({ state: 'detached' });

  // While one amount is on its way, another is typed and sent.
  const { arrived, letPass } = await heldBack(page, '**/budget');
  const cost = page.getByLabel('May cost $');
  await cost.fill('2.5');
  await page.getByRole('button', { name: 'Change' }).click();
  await arrived;
  await cost.fill('much');
  letPass();
  await page.locator('form[aria-busy]').waitFor({ state: 'detached' });
  expect(await cost.inputValue()).toBe('much');
  await page.getByRole('button', { name: 'Change' }).click();
  const refusal = page.getByRole('alert').filter({ hasText: 'is no amount' });
  await refusal.waitFor();
  // What came of it stays when an event changes the page.
  await other.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused: nothing is asked').waitFor();
  await refusal.waitFor();
  await other.locator('#now').getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('heading', { name: '$0 of at most $2.50' }).waitFor();

  model.release();
  for (const each of [page, other]) await each.getByRole('heading', { name: ANSWER }).waitFor();
  expect(await problems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Run this check again' }).first().click();
  await page.getByText('Counted again: 126 of 126').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download CSV').click()]);
  expect(readFileSync(await download.path(), 'utf8')).toBe('\uFEFFdominant_wins\r\n4\r\n');

  await page.getByText('This is wrong').first().click();
  await page.getByLabel('What is right').first().fill('sprint_results.performance holds times in seconds');
  await page.getByRole('button', { name: 'Keep it as a rule' }).first().click();
  await page.getByRole('status').filter({ hasText: 'Later questions are told it' }).waitFor();
  await page.goto(`${url}/layer`);
  await page.getByRole('heading', { name: 'sprint_results.performance holds times in seconds' }).waitFor();
  expect(await problems(page)).toEqual([]);

  await page.goto(url + path);
  await page.getByLabel('Ask what follows').fill('and in 2021?');
  await page.keyboard.press('Enter');
  await page.waitForURL((to) => to.pathname !== path);
  await page.getByText('an earlier question').or(page.getByText('The question before')).first().waitFor();
  expect(wrong.filter((line) => !line.includes('400'))).toEqual([]);
});

test('a killed worker: whoever watches gets the answer, and no reply is paid twice', async () => {
  const { page, model, home } = await openUi({ change: ([look = '', commit = '']) => [look, commit, commit] });
  const waits = model.holdAfter(1);
  await ask(page, DEMO_QUESTION);
  await waits;
  await page.getByText('Looked at the data with 3 queries.').waitFor();
  const folder = join(home.folder, 'home', '.local', 'state', 'gate', 'workers');
  const workers = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.json'));
  const [worker = ''] = workers();
  process.kill(Number.parseInt(worker, 10), 'SIGKILL');
  model.release();
  await page.getByRole('heading', { name: ANSWER }).waitFor();
  expect(workers()).not.toContain(worker);
  // Only the call in flight may have been asked again.
  expect(model.answered()).toBeLessThanOrEqual(3);
  expect(await page.getByText('2 model calls').count()).toBe(1);
});

test('a cancelled search that is asked again is followed to its answer', async () => {
  const { page, model } = await openUi();
  const waits = model.holdAfter(0);
  await ask(page, DEMO_QUESTION);
  await waits;
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Ask it again' }).click();
  // It shows the search before that runs.
  await page.locator('#now').waitFor();
  model.release();
  await page.getByRole('heading', { name: ANSWER }).waitFor();
});

test('other sites, other names and strangers get nothing; an address opens once', async () => {
  const { url, address, context, process: ui } = await openUi();
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  const own = `${cookie?.name ?? ''}=${cookie?.value ?? ''}`;
  const get = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = httpRequest(url + path, { method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.once('error', reject);
      asked.end(method === 'POST' ? 'text=x&db=sprint' : undefined);
    });
  const form = { cookie: own, 'content-type': 'application/x-www-form-urlencoded' };
  expect(await get('/', { cookie: own })).toBe(200);
  expect(await get('/', {})).toBe(401);
  expect(await get(new URL(address).pathname + new URL(address).search, {})).toBe(401);
  expect(await get('/', { cookie: own, host: 'evil.example' })).toBe(421);
  expect(await get('/', { cookie: own, host: `evil.example:${new URL(url).port}` })).toBe(421);
  for (const origin of ['http://evil.example', 'null', url.replace('127.0.0.1', 'localhost.evil.example')])
    expect(await get('/ask', { ...form, origin }, 'POST')).toBe(403);
  expect(await get('/ask', { ...form, 'sec-fetch-site': 'cross-site' }, 'POST')).toBe(403);
  expect(await get('/live', { cookie: own, 'sec-fetch-site': 'same-site' })).toBe(403);
  // No site and no origin: no browser sends that.
  expect(await get('/ask', form, 'POST')).toBe(403);
  expect(await get('/q/q-0123456789abcdef', { cookie: own })).toBe(404);
  expect(await get('/databases/..%2f..%2fetc%2fpasswd', { cookie: own })).toBe(404);
  expect(await get('/layer/%2Ftmp%2Fx.sqlite', { cookie: own })).toBe(404);
  const response = await fetch(`${url}/`, { headers: { cookie: own } });
  const csp = response.headers.get('content-security-policy') ?? '';
  expect(csp).toMatch(/default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/);
  expect(csp).not.toMatch(/unsafe|\*/);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(ui.child.exitCode).toBeNull();
});

test('names and rows that are HTML stay text, and no cell becomes a formula', async () => {
  const hostile = (folder: string): string => {
    const path = join(folder, 'hostile.sqlite');
    const database = new Database(path);
    database.exec(
      `CREATE TABLE "${HOSTILE.replaceAll('"', '""')}" ("</pre><script>document.title=2</script>" TEXT, n INTEGER)`,
    );
    const insert = database.prepare(`INSERT INTO "${HOSTILE.replaceAll('"', '""')}" VALUES (?, ?)`);
    for (const text of [HOSTILE, '=1+1', '</script><script>document.title=3</script>', '\u202Egnp.exe'])
      insert.run(text, 1);
    database.close();
    return path;
  };
  const change = ([, commit = '{}']: string[]): string[] => {
    const table = `"${HOSTILE.replaceAll('"', '""')}"`;
    const sql = `SELECT "</pre><script>document.title=2</script>" AS "<b>x</b>", n FROM ${table}`;
    const reply = { ...(JSON.parse(commit) as object), operators: [{ name: 'op_answer', intent: HOSTILE, sql }] };
    const look = { action: 'look', queries: [{ why: HOSTILE, sql }] };
    return [look, { ...reply, claims: [], coverage: null, control: null, sentence: null }].map((each) =>
      JSON.stringify(each),
    );
  };
  const { page, url, wrong, model } = await openUi({ change, path: hostile });
  const waits = model.holdAfter(1);
  const path = await ask(page, `What is ${HOSTILE}?`);
  await waits;
  await page.getByText('Looked at the data with 1 query.').waitFor();
  await page.locator('ol.steps summary').first().click();
  await page.locator('ol.steps td', { hasText: 'onerror' }).first().waitFor();
  model.release();
  await page.locator('.answer').waitFor();
  for (const place of [path, '/', '/answers', '/databases', '/databases/sprint', '/layer/sprint']) {
    await page.goto(url + place);
    expect(await page.locator('main img, main script, main b:text-is("x")').count()).toBe(0);
    expect(await page.title()).toMatch(/ · GATE$/);
    expect(await problems(page)).toEqual([]);
  }
  await page.goto(`${url}/databases/sprint`);
  expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(0);
  await page.goto(url + path);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download CSV').click()]);
  expect(readFileSync(await download.path(), 'utf8')).toContain("'=1+1");
  expect(wrong).toEqual([]);
});

test('axe finds nothing on any page, light at 1280 and dark at 390 pixels, and without a script all is there', async () => {
  const { page, url, model, home } = await openUi();
  await ask(page, DEMO_QUESTION);
  await page.getByRole('heading', { name: ANSWER }).waitFor();
  const answer = new URL(page.url()).pathname;
  writeFileSync(
    join(home.folder, 'questions.jsonl'),
    `${JSON.stringify({ id: 'one', question: DEMO_QUESTION, database: 'sprint' })}\n`,
  );
  const { code, err } = await home.run(['batch', 'run', 'questions.jsonl', '--db', 'sprint', '--out', 'results']);
  expect([code, err]).toEqual([0, expect.anything()]);
  await page.goto(`${url}/batches`);
  const batch = new URL((await page.locator('main td a').first().getAttribute('href')) ?? '', url).pathname;
  const all = [
    '/',
    '/answers',
    answer,
    '/layer/sprint',
    '/databases',
    '/databases/sprint',
    '/batches',
    batch,
    '/q/q-00',
  ];
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    for (const path of all) {
      await page.goto(url + path);
      expect([path, width, ...(await problems(page))]).toEqual([path, width]);
    }
  }
  const cookies = await page.context().cookies();
  const plain = await newContext({ javaScriptEnabled: false });
  await plain.addCookies(cookies);
  const still = await plain.newPage();
  await still.goto(`${url}/`);
  await still.getByRole('textbox', { name: 'Question', exact: true }).fill('   ');
  await still.getByRole('button', { name: 'Ask' }).click();
  await still.getByRole('alert').filter({ hasText: 'the question is empty' }).waitFor();
  await still.getByRole('textbox', { name: 'Question', exact: true }).fill(DEMO_QUESTION);
  await still.getByRole('button', { name: 'Ask' }).click();
  await still.getByRole('heading', { name: ANSWER }).waitFor();
  expect(model.answered()).toBeGreaterThanOrEqual(2);
});
