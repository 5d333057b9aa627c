/** `gate serve` as a process: what it prints, how it ends, and what a hundred readers of events cost it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { loadConfig } from '../../src/config';
import { stopBackground } from '../../src/app/background';
import { localTokenOf } from '../../src/server/http/access';
import { sha256 } from '../../src/sha256';
import { runningServer } from '../../src/server/start';
import { freePort } from '../helpers/free-port';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { unique } from '../helpers/temporal';

const QUESTIONS = [
  'How many drivers are there?',
  'List the names of all teams in alphabetical order.',
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?',
];
const READERS = 100;
const MOST_MB = 300;

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, apiKey: 'test-key' });
});
afterEach(async () => {
  await model.close();
  data.close();
});

function user(server: object = {}): { readonly home: GateHome; readonly db: string } {
  const home = gateHome({ baseUrl: model.baseUrl });
  const db = unique('sprint');
  const databases = { [db]: { path: data.address({ engine: 'sqlite', database: 'sprint' }) } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases, server }));
  return { home, db };
}

it('refuses in one line what it cannot do', async () => {
  const { home } = user();
  const open = await home.here(['serve', '--host', '0.0.0.0', '--port', '0']);
  expect([open.code, open.out]).toEqual([2, '']);
  expect(open.err).toMatch(/^gate: --host 0\.0\.0\.0: anybody who reaches it could ask; set "server\.tokens"/);
  expect((await home.here(['serve', '--port', 'x'])).code).toBe(2);
  const wrong = user({ tokens: { a: { sha256: 'abc' }, b: { sha256: sha256('b'), databases: ['none'] } } });
  const { code, err } = await wrong.home.here(['serve']);
  expect(code).toBe(2);
  expect(err).toMatch(/server\.tokens\.a\.sha256: give the SHA-256 of the token/);
});

it('makes tokens that its configuration knows by their hash', async () => {
  const { home } = user();
  const { out, code } = await home.here(['serve', '--new-token', '--json']);
  const { token, entry } = JSON.parse(out) as { token: string; entry: { sha256: string } };
  expect([code, entry.sha256]).toEqual([0, sha256(token)]);
  expect((await home.here(['serve', '--new-token', '--json'])).out).not.toContain(token);
});

it(`a hundred readers of events cost at most ${MOST_MB} MB; stopped, it ends their streams and leaves the searches`, async () => {
  const { home, db } = user();
  const config = loadConfig({ env: home.env, cwd: home.folder });
  const served = home.start(['serve', '--port', String(await freePort())]);
  await served.said(/Ctrl-C stops/);
  const { child } = served;
  const url = runningServer(config) ?? '';
  const token = localTokenOf(config.folders.state);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const release = model.holdAfter(0);
  const ids = await Promise.all(
    QUESTIONS.map(async (question) => {
      const answer = await fetch(`${url}/v1/questions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ question, db }),
      });
      expect(answer.status).toBe(202);
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  const heard = Array.from({ length: READERS }, () => '');
  const readings = heard.map(async (_, at) => {
    const answer = await fetch(`${url}/v1/questions/${ids[at % ids.length] ?? ''}/events`, { headers });
    expect(answer.status).toBe(200);
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>)
      heard[at] = `${heard[at] ?? ''}${Buffer.from(piece).toString()}`;
  });
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await until(() => heard.every((text) => text.includes('event: progress')));
  const megabytes = peakMegabytes(child.pid ?? 0);
  console.log(`gate serve with ${READERS} readers: ${megabytes} MB at most`);
  expect(megabytes).toBeLessThanOrEqual(MOST_MB);
  child.kill('SIGTERM');
  const { code } = await served.ended;
  await Promise.all(readings);
  expect([code, heard.some((text) => text.includes('event: ended'))]).toEqual([0, false]);
  release();
  // The searches are answered without it.
  const shown = await home.here(['show', ids[0] ?? '', '--wait', '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ id: ids[0], status: 'answered' });
  await stopBackground(config);
});

/** What the kernel counted: the largest resident set so far. */
function peakMegabytes(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
