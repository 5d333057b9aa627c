/** `gate schedule` and webhooks as a user meets them: a schedule of a real Temporal, a worker, and a receiver that verifies. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { GAPS, COMMIT } from '../helpers/close-events';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint } from '../helpers/model-endpoint';
import { historyText, testTemporal, unique, withClient } from '../helpers/temporal';
import { startReceiver, WEBHOOK_SECRET, type WebhookReceiver } from '../helpers/webhook-receiver';
import { text } from '../unit/roles/fixtures';

const QUESTION = 'How many close events?';
let receiver: WebhookReceiver;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  receiver.close();
  for (const close of closing.splice(0)) await close();
});

async function home(webhooks: readonly object[]) {
  const model = await startModelEndpoint({ reply: () => text(COMMIT) });
  closing.push(() => model.close());
  const made = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'test-model', HOOK_SECRET: WEBHOOK_SECRET } });
  const file = join(made.folder, 'races.sqlite');
  const write = (sql: string): void => {
    const open = new Database(file);
    open.exec(sql);
    open.close();
  };
  write(GAPS);
  const name = unique('races');
  const config = { databases: { [name]: { path: file, id: name } }, webhooks };
  writeFileSync(join(made.folder, 'gate.config.json'), JSON.stringify(config));
  const gate = (...args: string[]) => made.here(['schedule', ...args]);
  const worker = async () => {
    const started = made.start(['ops', 'worker']);
    await started.said(/Ctrl-C stops/);
    const kill = async () => {
      started.child.kill('SIGKILL');
      return started.ended;
    };
    closing.push(kill);
    return { ...started, kill };
  };
  return { ...made, model, name, write, gate, worker };
}

const hook = (more: object = {}) => ({ url: receiver.url, secretEnv: 'HOOK_SECRET', allowPrivate: true, ...more });
const nextPosted = async (count: number) => {
  await until(() => Promise.resolve(receiver.posted.length >= count), `${count} posts`);
  return receiver.posted.slice(0, count);
};

interface Made {
  readonly id: string;
}
interface Listed {
  readonly schedules: readonly {
    readonly id: string;
    readonly when: string;
    readonly runs: readonly {
      readonly workflowId: string;
      readonly outcome: { readonly result?: { readonly kind: string } };
    }[];
  }[];
}

test('an answer is kept up to date, and receivers are told of what changed, signed and with one id', async () => {
  const races = await home([hook()]);
  const { gate, name, model, write } = races;
  let worker = await races.worker();
  const added = await gate('add', QUESTION, '--db', name, '--cron', '0 7 * * 1', '--max', 'calls=2');
  expect({ code: added.code, out: added.out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      new RegExp(`^Answer  2[^]*\\nscheduled q-\\w+ on '${name}': 0 7 \\* \\* 1; next run \\d{4}-.*T07:00Z\\n$`),
    ) as string,
  });
  const again = await gate('add', QUESTION, '--db', name, '--every', '1d', '--max', 'calls=2', '--json');
  const { id } = JSON.parse(again.out) as Made;
  const calls = model.requests.length;

  await withClient(async (gateClient) => {
    const schedule = gateClient.client.schedule.getHandle(`repeat-${id}`);
    expect((await schedule.describe()).policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
    const listed = async () =>
      (JSON.parse((await gate('list', '--db', name, '--json')).out) as Listed).schedules.find((one) => one.id === id);
    const shown = async () => (await gate('list', '--db', name)).out;
    await until(async () => (await listed()) !== undefined, 'a listed schedule');
    expect(await shown()).toContain(`${id}  ${name}: ${QUESTION}\n  every 1d; next run `);
    const run = async (line: string): Promise<void> => {
      await schedule.trigger();
      await until(async () => ((await shown()).split('\n')[2] ?? '').includes(line), line);
    };

    await run('the answer stands');
    expect(receiver.posted).toEqual([]);

    // Twice no receiver: the same id and the same text each time.
    receiver.answersWith(503, 500);
    write("INSERT INTO entry VALUES (6, 2, '+0.7', 0.7)");
    await run(`the rows changed (${id})`);
    const [first, ...others] = await nextPosted(3);
    expect(others.map((post) => [post.id, post.text])).toEqual([0, 1].map(() => [first!.id, first!.text]));
    expect(first!.body).toEqual({
      ...{ schemaVersion: 1, type: 'answer.changed', at: expect.any(String) as string, id: first!.id },
      ...{ database: name, question: QUESTION, summary: 'The same SQL gives other values.' },
      before: { searchId: id, status: 'answered', answer: '2' },
      after: { searchId: id, status: 'answered', answer: '3' },
    });
    expect(model.requests.length).toBe(calls);

    // The worker is killed while nothing serves the queue: what is due then waits for the next one. It has said first that it
    // told the receiver: else the next one tells it again.
    await gateClient.client.workflow.getHandle(`told-${first!.id}`).result();
    await worker.kill();
    write("INSERT INTO entry VALUES (7, 2, '+0:01.1', 1.1)");
    await schedule.trigger();
    worker = await races.worker();
    await until(async () => (await shown()).includes('searched again (q-'), 'a new search');
    expect(model.requests.length).toBeGreaterThan(calls);
    const [failed, changed] = (await nextPosted(5)).slice(3).sort((a, b) => (a.body.type < b.body.type ? 1 : -1));
    expect(failed!.body).toMatchObject({
      ...{ type: 'claim.failed', before: { searchId: id, answer: '3' }, after: null },
      summary: expect.stringContaining('no longer holds as it did: "A mark is the gap to the winner') as string,
    });
    expect(changed!.body).toMatchObject({
      ...{ type: 'answer.changed', summary: 'A new search answered the question.' },
      ...{ before: { searchId: id, answer: '3' }, after: { status: 'answered' } },
    });
    const next = changed!.body.after!.searchId;
    expect(next).not.toBe(id);
    // `gate ask` finds the same search.
    expect(await races.ask([QUESTION, '--db', name, '--max', 'calls=2'])).toMatchObject({ id: next });
    await run('the answer stands');
    expect(receiver.posted).toHaveLength(5);

    // Histories hold no secret and no address of a receiver; and no rows and SQL, but for the result of a search that ran in one.
    const runs = (await listed())!.runs.map(({ workflowId, outcome: { result } }) => ({ workflowId, ...result }));
    const told = receiver.posted.map((post) => ({ workflowId: `told-${post.id}`, kind: 'told' }));
    expect(runs.map(({ kind }) => kind)).toEqual(['unchanged', 'searched', 'changed']);
    for (const { workflowId, kind } of [...runs, ...told]) {
      const history = await historyText(gateClient, workflowId);
      expect(history).toContain(id);
      expect(history).not.toMatch(/hook-token|whsec_/);
      if (kind !== 'searched') expect(history).not.toMatch(/FROM entry|SELECT|gap to the winner|as it did/);
    }
  });

  expect((await gate('remove', id.slice(0, 10))).out).toBe(`${id} is no longer scheduled; its answers stay\n`);
  expect(await gate('remove', id)).toMatchObject({
    code: 2,
    err: expect.stringContaining('no schedule has the id') as string,
  });
});

test('a private address without allowPrivate is refused once, in the log, and without the URL', async () => {
  const url = receiver.url.replace('http:', 'https:').replace(/:\d+/, '');
  const races = await home([hook({ url, allowPrivate: false })]);
  const worker = await races.worker();
  const { id } = JSON.parse(
    (await races.gate('add', QUESTION, '--db', races.name, '--every', '1d', '--max', 'calls=2', '--json')).out,
  ) as Made;
  races.write("INSERT INTO entry VALUES (6, 2, '+0.7', 0.7)");
  await withClient(({ client }) => client.schedule.getHandle(`repeat-${id}`).trigger());
  const log = await worker.said(/not told of answer\.changed/);
  expect(log).toContain('webhooks.0: 127.0.0.1 is no public address; if the host is yours, set its allowPrivate');
  expect(log).not.toContain('hook-token');
  expect(receiver.posted).toEqual([]);
  await races.gate('remove', id);
});

test('a batch tells that it ended', async () => {
  const races = await home([hook({ events: ['batch.ended'] })]);
  writeFileSync(join(races.folder, 'one.jsonl'), `${JSON.stringify({ id: '1', question: QUESTION })}\n`);
  const { code, err } = await races.here([
    'batch',
    'run',
    'one.jsonl',
    '--db',
    races.name,
    '--max',
    'calls=2',
    '--out',
    'out',
  ]);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  const [post] = receiver.posted;
  expect(post!.body).toMatchObject({
    ...{ type: 'batch.ended', database: null, question: null, before: null, after: null },
    summary: expect.stringMatching(/^The batch b-\w+ ended: of 1 question, 1 answered\.$/) as string,
  });
});

describe('bad input is one line', () => {
  let races: Awaited<ReturnType<typeof home>>;
  beforeAll(async () => {
    races = await home([]);
  });

  test.each([
    [['add', QUESTION], 2, 'say when it runs: --cron "0 7 * * 1", or --every 1d'],
    [['add', QUESTION, '--every', '10s'], 2, 'give whole minutes'],
    [['add', QUESTION, '--cron', 'daily'], 2, 'give minute, hour, day, month and weekday'],
    [['add', QUESTION, '--cron', '0 7 * * 1', '--every', '1d'], 2, 'cannot be used'],
    [['remove', 'q-none'], 2, "no schedule has the id 'q-none'"],
  ])('%j', async (args, code, line) => {
    const { out, err, ...ended } = await races.gate(...args);
    expect(ended.code).toBe(code);
    expect(out).toBe('');
    expect(err).toContain(line);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 240_000; !(await holds());) {
    if (Date.now() > end) throw new Error(`no ${what} within four minutes; Temporal at ${testTemporal().address}`);
    await sleep(50);
  }
}
