/**
 * The page: from Enter to the first one, from what happens in a search to the event that shows it, and lists of 10,000 searches.
 * The server is a process of its own with a worker, the embedded Temporal and a recorded model.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalStore } from '../src/adapters/local/store';
import { buildSprintDatabase, DEMO_QUESTION, demoFiles } from '../src/app/demo';
import { inputOf } from '../src/app/services';
import { userFolders } from '../src/config/folders';
import { writeIndex } from '../src/record/search-index';
import { sha256 } from '../src/sha256';
import { builtFile } from '../src/workers/package-folder';
import { startRecordedModel } from '../tests/helpers/recorded-model';
import { bench, give, median, SHORT, type Figure } from './figure';

const SEARCHES = 10_000;
const RUNS = SHORT ? 3 : 7;

interface Opened {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly firstPageMs: number;
  readonly close: () => Promise<void>;
}

/** A `gate ui` of its own, as a browser meets it. */
async function open(folder: string, env: NodeJS.ProcessEnv, port: number): Promise<Opened> {
  const startedAt = performance.now();
  const args = [builtFile('program/gate.js'), 'ui', '--no-open', '--port', String(port)];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim())),
  );
  const login = await fetch(address, { redirect: 'manual' });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { origin: url } = new URL(address);
  const headers = { cookie, origin: url };
  await (await fetch(`${url}/`, { headers })).text();
  const firstPageMs = performance.now() - startedAt;
  const close = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    await ended;
  };
  return { url, headers, firstPageMs, close };
}

/** From the file of a reply to the event with the page that shows it. */
async function eventDelay(
  { url, headers }: Opened,
  store: string,
  hold: () => Promise<void>,
  go: () => void,
): Promise<number> {
  const waits = hold();
  const body = new URLSearchParams({ text: DEMO_QUESTION, db: 'sprint', fresh: 'yes' });
  const asked = await fetch(`${url}/ask`, { method: 'POST', headers, body, redirect: 'manual' });
  const path = asked.headers.get('location') ?? '';
  await waits;
  const leave = new AbortController();
  const stream = await fetch(`${url}${path}/live`, { headers, signal: leave.signal });
  const reader = (stream.body ?? new ReadableStream<Uint8Array>()).getReader();
  let text = '';
  let released = false;
  for (;;) {
    const piece = (await reader.read()) as { readonly done: boolean; readonly value?: Uint8Array };
    if (piece.done) throw new Error(`the stream of ${path} ended before it showed a turn`);
    text += Buffer.from(piece.value ?? []).toString();
    if (/Look(s|ed) at the data/.test(text)) break;
    if (released) continue;
    released = true;
    go();
  }
  const shownAt = Date.now();
  leave.abort();
  // The first reply of the model, with the turn that the page shows.
  const replies = join(store, 'runs', path.slice('/q/'.length), 'reply');
  return shownAt - Math.min(...readdirSync(replies).map((name) => statSync(join(replies, name)).mtimeMs));
}

async function fill(store: string): Promise<void> {
  const objects = createLocalStore(store);
  const [id = ''] = readdirSync(join(store, 'runs'));
  const input = await inputOf(objects, id);
  if (input === null) throw new Error(`no input of ${id}`);
  for (let at = 0; at < SEARCHES; at += 1) {
    const searchId = `q-${sha256(String(at)).slice(0, 16)}`;
    const askedAt = new Date(Date.now() - 60_000 * at).toISOString();
    const ended = { status: 'answered', answer: 'In 4 of 18 events.', costUsd: 0.01 } as const;
    await writeIndex(objects, { ...input, searchId, askedAt }, ended);
  }
}

/** Every page of the list, each as long as it took. */
async function pages({ url, headers }: Opened): Promise<readonly number[]> {
  const took: number[] = [];
  for (let at: string | undefined = '/answers'; at !== undefined;) {
    const startedAt = performance.now();
    const html: string = await (await fetch(url + at, { headers })).text();
    took.push(performance.now() - startedAt);
    at = /href="(\/answers\?after=[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return took;
}

bench(async (): Promise<readonly Figure[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-page-'));
  const { sql, recording } = demoFiles();
  const model = await startRecordedModel(recording);
  const [home, store] = [join(folder, 'home'), join(folder, 'store')];
  mkdirSync(home);
  buildSprintDatabase(sql, join(folder, 'sprint.sqlite'));
  writeFileSync(join(folder, 'gate.config.json'), '{"databases":{"sprint":{"path":"./sprint.sqlite"}}}');
  const keys = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'any', GATE_MODEL: 'recorded', GATE_MEMORY: 'off' };
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    GATE_STORE: store,
    XDG_CACHE_HOME: dirname(userFolders(process.env).cache),
    ...keys,
  };
  const ui = await open(folder, env, 8791);
  try {
    const first: number[] = [];
    const delays: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const answered = model.answered();
      delays.push(
        await eventDelay(
          ui,
          store,
          () => model.holdAfter(answered),
          () => model.release(),
        ),
      );
      await sleep(1_500);
      const another = await open(folder, env, 8792);
      first.push(another.firstPageMs);
      await another.close();
    }
    give(
      {
        name: 'page: from Enter to the first one',
        value: median(first),
        unit: 'ms',
        atMost: 1_500,
        how: `gate ui, Temporal up, median of ${RUNS}`,
      },
      {
        name: 'page: event after it happened',
        value: median(delays),
        unit: 'ms',
        atMost: 300,
        how: `from the file of a reply to its event, median of ${RUNS}`,
      },
      {
        name: 'page: event after it happened, slowest',
        value: Math.max(...delays),
        unit: 'ms',
        atMost: 300,
        how: `the same, slowest of ${RUNS}`,
      },
    );
    await fill(store);
    const took = await pages(ui);
    const how = `${SEARCHES} searches, ${took.length} pages of 50`;
    return [
      { name: 'page: list of searches', value: median(took), unit: 'ms', atMost: 200, how },
      { name: 'page: list of searches, slowest page', value: Math.max(...took), unit: 'ms', atMost: 200, how },
      {
        name: 'page: scripts',
        value: statSync(builtFile('program/page.js')).size / 1_000,
        unit: 'KB',
        atMost: 40,
        how: 'all of them, with idiomorph, not compressed',
      },
    ];
  } finally {
    await ui.close();
    await new Promise((resolve) =>
      spawn(process.execPath, [builtFile('program/gate.js'), 'dev', '--stop'], { cwd: folder, env }).once(
        'close',
        resolve,
      ),
    );
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
