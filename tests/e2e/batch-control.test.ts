/** `gate batch status`, `pause`, `resume`, `cancel` and `retry` of a batch that another command runs, and a file that grew. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { isPaused } from '../../src/workers/workflow-views';
import { eventually } from '../helpers/engine';
import { gateHome, type Ended, type GateHome, type GateProcess } from '../helpers/gate-process';
import { callsOf, linesIn, runIn } from '../helpers/run-results';
import { violations } from '../helpers/json-schema';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { withClient } from '../helpers/temporal';

let data: TestData;
let model: SimulatedModel;
let failing: { readonly server: Server; question: string | null; readonly bodies: string[] };
let home: GateHome;

/** In front of the model: gone for one question. */
async function startFailing(): Promise<typeof failing> {
  const told = { server: createServer(), question: null as string | null, bodies: [] as string[] };
  told.server.on('request', (request, response) => {
    // Whoever leaves it leaves the model, too: a reply that nobody takes would be paid for.
    const left = new AbortController();
    response.once('close', () => left.abort());
    const answer = async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      told.bodies.push(body);
      if (told.question !== null && body.includes(JSON.stringify(told.question).slice(1, -1))) {
        response.writeHead(404, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ error: { message: 'gone', code: 'model_not_found' } }));
      }
      const { method = 'GET', url = '/' } = request;
      const headers = { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' };
      const asked = { method, headers, signal: left.signal, ...(body === '' ? {} : { body }) };
      const said = await fetch(new URL(url, model.baseUrl), asked);
      response.writeHead(said.status, { 'content-type': said.headers.get('content-type') ?? 'application/json' });
      return response.end(await said.text());
    };
    answer().catch((error: unknown) => {
      if (!left.signal.aborted) throw error;
    });
  });
  await new Promise<void>((resolve) => told.server.listen(0, '127.0.0.1', resolve));
  return told;
}

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  failing = await startFailing();
  const { port } = failing.server.address() as AddressInfo;
  home = gateHome({ baseUrl: `http://127.0.0.1:${String(port)}/v1` });
  writeQuestions(6);
});
afterEach(async () => {
  failing.server.closeAllConnections();
  failing.server.close();
  await model.close();
  data.close();
});

const questions = () => data.questions.filter(({ engine }) => engine === 'sqlite');

function writeQuestions(count: number): void {
  const lines = questions()
    .slice(0, count)
    .map(({ id, question, database, gold_sql: gold }) => JSON.stringify({ id, question, database, gold_sql: gold }));
  writeFileSync(join(home.folder, 'q.jsonl'), lines.join('\n'));
}

const run = (...more: readonly string[]): string[] => {
  const database = data.databases.flatMap((spec) => ['--db', spec]);
  return ['batch', 'run', 'q.jsonl', ...database, '--out', 'out', '--concurrency', '2', ...more];
};
const lines = () => linesIn(home.folder);
const isJudged = ({ verdict }: { readonly verdict: string }): boolean => /^(correct|wrong)/.test(verdict);

interface Status extends Record<string, unknown> {
  readonly id: string;
  readonly status: string;
  readonly done: number;
  readonly inFlight: readonly { readonly searchId: string }[];
}

async function statusOf(id = 'last'): Promise<Status> {
  const { code, out, err } = await home.here(['batch', 'status', id, '--json']);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Status;
}

async function until(holds: (status: Status) => boolean) {
  for (;;) {
    const status = await statusOf();
    if (holds(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test('a batch that runs is paused and resumed from elsewhere; its status says so', async () => {
  const release = model.holdAfter(2);
  const running: Promise<Ended> = home.here(run());
  await model.billed(2);
  const { id } = await until(({ status }) => status === 'running');
  const questionsListed = JSON.parse((await home.here(['list', '--json'])).out) as { id: string; status: string }[];
  const waiting = questionsListed.filter(({ status }) => status === 'waiting');
  expect(questionsListed.map(({ status }) => status)).not.toContain('interrupted');
  expect(waiting.length).toBeGreaterThanOrEqual(2);
  expect((await home.here(['show', waiting[0]?.id ?? ''])).out).toMatch(/^q-\w+ {2}waiting {2}[^\n]*\n[^\n]*$/);
  expect(await home.here(['pause', id.slice(0, 8), '--author', 'ann'])).toMatchObject({
    code: 0,
    out: `${id}: starts no further question until gate resume; those in flight finish\n`,
  });
  release();
  const paused = await until(({ status, running: inFlight }) => status === 'paused' && inFlight === 0);
  expect(paused).toMatchObject({
    ...{ name: 'q', questions: 'q', method: 'fast', seed: 0 },
    total: 6,
    failed: 0,
    next: `gate resume ${id}`,
    secondsLeft: null,
  });
  expect(violations('batch-status', paused)).toEqual([]);
  expect(paused.done).toBeLessThan(6);
  expect((await home.here(['resume', id])).out).toBe(`${id}: goes on\n`);
  expect((await running).code).toBe(0);
  const { calls, correct, judged, ...ended } = await statusOf(id);
  expect(ended).toMatchObject({ status: 'ended', done: 6, running: 0, next: null });
  expect([calls, judged]).toEqual([model.ledger().totals.billed, lines().filter(isJudged).length]);
  expect(correct).toBe(lines().filter(({ verdict }) => verdict.startsWith('correct')).length);
  const listed = await home.here(['batch', 'status']);
  expect(listed.out).toMatch(new RegExp(`^${id} +ended +\\S+ \\S+ UTC +q: fast · seed 0 +6 +6 +0$`, 'm'));
  expect(await home.here(['pause', id])).toMatchObject({ code: 1, err: `gate: ${id} is not running\n` });
  expect(await home.here(['batch', 'retry', id])).toMatchObject({
    code: 0,
    err: `no question of ${id} is to be asked again\n`,
  });
});

test('a retry asks the failures of a batch alone, and not what was cancelled or never asked', async () => {
  failing.question = questions()[1]?.question ?? '';
  const release = model.holdAfter(1);
  const running = home.here(run());
  await model.billed(1);
  const { id } = await until(({ failed }) => failed === 1);
  expect(await home.here(['batch', 'retry', id])).toMatchObject({
    ...{ code: 1, err: `gate: ${id} has not ended: retry its failures once it has (gate batch status ${id})\n` },
  });
  expect(await home.here(['cancel', id])).toMatchObject({ code: 0, out: `${id}: is being cancelled\n` });
  expect((await running).code).toBe(3);
  // A reply on its way to a call that is cut off would be paid for, and asked for again.
  await eventually(() => model.ledger().totals.inFlight === 0);
  release();
  const before = await statusOf(id);
  expect(before).toMatchObject({ status: 'cancelled', failed: 1 });
  expect(Object.values(before['failures'] as object)).toEqual([1]);
  failing.question = null;
  failing.bodies.length = 0;
  const retried = await home.here(['batch', 'retry', id]);
  expect([retried.code, retried.err]).toEqual([0, expect.stringContaining('results.jsonl')]);
  const isAsked = ({ question }: { readonly question: string }): boolean =>
    failing.bodies.some((body) => body.includes(JSON.stringify(question).slice(1, -1)));
  expect(questions().filter(isAsked)).toEqual([questions()[1]]);
  expect(await statusOf(id)).toMatchObject({ failed: 0, done: before.done });
  expect((await home.here(run())).code).toBe(0);
  expect(runIn(home.folder).complete).toBe(true);
  expect(lines().map(({ verdict }) => verdict)).not.toContain('infrastructure');
  expect(model.ledger().totals.billedAgain).toBe(0);
});

test('an interrupted batch is not retried, and an interrupted retry is taken up by the next one', async () => {
  writeQuestions(3);
  failing.question = questions()[1]?.question ?? '';
  let release = model.holdAfter(3);
  const first = home.start(run());
  await model.billed(1);
  const { id } = await until(({ failed }) => failed === 1);
  await killed(first);
  expect(await home.here(['batch', 'retry', id])).toMatchObject({
    ...{ code: 1, err: `gate: ${id} was interrupted: run the same command again, which asks its failures, too\n` },
  });
  release();
  // A process of its own: the server remembers for a minute who polled.
  expect((await home.run(run())).code).toBe(1);
  expect(await statusOf(id)).toMatchObject({ status: 'ended', failed: 1, next: `gate batch retry ${id}` });
  failing.question = null;
  release = model.holdAfter(0);
  failing.bodies.length = 0;
  const retry = home.start(['batch', 'retry', id]);
  await asked(1);
  await killed(retry);
  expect(await statusOf(id)).toMatchObject({ failed: 0, done: 2 });
  release();
  const { code, err } = await home.here(['batch', 'retry', id]);
  expect([code, err]).toEqual([0, expect.stringContaining('results.jsonl') as string]);
  expect(await statusOf(id)).toMatchObject({ status: 'ended', failed: 0, done: 3, next: null });
});

/** Until the model was asked so often. */
async function asked(count: number): Promise<void> {
  while (failing.bodies.filter((body) => body !== '').length < count)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

async function killed({ child, ended }: GateProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

test('at the ceiling of the batch a question that was paused with it finishes, and the status knows it', async () => {
  const prices = { simulated: { inputPerMillion: 100, outputPerMillion: 100 } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ prices, budgets: { costUsd: null } }));
  const release = model.holdAfter(0);
  // Of three calls, and of one.
  const both = ['--ids', 'sprint-drivers-per-team,sprint-events-per-season'];
  const running = home.here(run(...both, '--max-total-cost', '0.01'));
  await asked(2);
  const { id, inFlight } = await until((status) => status.inFlight.length === 2);
  await home.here(['pause', id, '--now']);
  await withClient(async (gate) => {
    for (const { searchId } of inFlight)
      while (!(await isPaused(gate, searchId))) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  release();
  expect(await running).toMatchObject({
    code: 3,
    err: expect.stringContaining('no further question starts, 1 in flight may finish') as string,
  });
  expect(await statusOf(id)).toMatchObject({ done: 2, failed: 0 });
});

test('a question that is cancelled by itself cancels no batch; a batch whose questions are all cancelled was', async () => {
  writeQuestions(2);
  let release = model.holdAfter(0);
  let running = home.here(run());
  await asked(2);
  const { id, inFlight } = await until((status) => status.inFlight.length === 2);
  expect((await home.here(['cancel', inFlight[0]?.searchId ?? ''])).code).toBe(0);
  release();
  await running;
  expect(await statusOf(id)).toMatchObject({ status: 'ended', done: 2, next: `gate batch retry ${id} --undecided` });
  release = model.holdAfter(0);
  running = home.here(run('--fresh'));
  const again = await until((status) => status.id !== id && status.inFlight.length === 2);
  expect((await home.here(['cancel', again.id])).code).toBe(0);
  release();
  expect((await running).code).toBe(3);
  expect(await statusOf(again.id)).toMatchObject({
    status: 'cancelled',
    done: 2,
    next: 'run the same command again to continue',
  });
  expect(await home.here(['batch', 'retry', 'last'])).toMatchObject({
    code: 0,
    err: `no question of ${again.id} failed: run the same command again, which asks all that is open\n`,
  });
});

test('a worker that is too busy to answer is not taken for one that is gone', async () => {
  writeQuestions(2);
  const release = model.holdAfter(1);
  const running = home.start(run());
  await model.billed(1);
  await until(({ status }) => status === 'running');
  running.child.kill('SIGSTOP');
  expect(await statusOf()).toMatchObject({ status: 'running', running: null, next: null });
  running.child.kill('SIGCONT');
  release();
  const done = await running.ended;
  expect([done.code, done.code === 0 ? '' : done.err]).toEqual([0, '']);
});

test('questions of a batch that runs elsewhere are not asked again; those of one that was killed go on here', async () => {
  writeQuestions(2);
  const release = model.holdAfter(1);
  const first = home.start(run());
  await model.billed(1);
  const { id } = await until(({ inFlight }) => inFlight.length > 0);
  writeQuestions(3);
  const refused = await home.run(run('--out', 'other'));
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(new RegExp(`^gate: b-\\w+ runs in the batch ${id}: interrupt it there`, 'm')) as string,
  });
  await killed(first);
  release();
  const all = await home.run(run());
  expect([all.code, all.code === 0 ? '' : all.err]).toEqual([0, '']);
  expect(all.err).toContain(`ran in the batch ${id}. No process works on it any more, so it goes on here`);
  expect(await statusOf()).toMatchObject({ done: 3, failed: 0 });
  expect(model.ledger().totals.billedAgain).toBeLessThanOrEqual(2);
});

test('a file that grew goes on under its name and pays only its new questions', async () => {
  writeQuestions(3);
  expect((await home.here(run())).code).toBe(0);
  const paid = model.ledger().totals.billed;
  const first = callsOf(lines());
  writeQuestions(6);
  const grown = await home.here(run());
  expect([grown.code, grown.err]).toEqual([
    0,
    expect.stringContaining('3 of 6 questions answered before; they cost nothing'),
  ]);
  const { totals } = model.ledger();
  expect(callsOf(lines())).toBe(totals.billed);
  expect([first, totals.billedAgain]).toEqual([paid, 0]);
});

test.each<[string, string[], string]>([
  [
    'an id that is none',
    ['status', 'x'],
    "gate: 'x' is not a batch id; give b-…, its beginning, or last (gate batch status shows them)",
  ],
  [
    'an unknown batch',
    ['status', 'b-0123456789abcdef'],
    'gate: no batch b-0123456789abcdef in the store; gate batch status shows the known ones',
  ],
  [
    'a store without batches',
    ['retry', 'last'],
    'gate: no batch last in the store; gate batch status shows the known ones',
  ],
])('%s is one line', async (_claim, args, line) => {
  const { code, out, err } = await home.here(['batch', ...args]);
  expect([code === 0, out, err]).toEqual([false, '', `${line}\n`]);
});
