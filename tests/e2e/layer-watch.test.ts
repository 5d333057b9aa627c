/** `gate layer watch` as a user meets it: a schedule of a real Temporal, a worker, a webhook on this machine, and a file. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { resolveDatabase } from '../../src/config/databases';
import { openServices, sha256 } from '../../src/cli/services';
import { appendToLayer, readLayer } from '../../src/record/layer-store';
import { identityKey } from '../../src/record/search-id';
import { gateHome, type GateProcess } from '../helpers/gate-process';
import { AT, entryOf } from '../helpers/kept-layer';
import { testTemporal, unique, withClient } from '../helpers/temporal';

const TOKEN = 'token-that-nobody-else-may-read';

interface Receiver {
  readonly bodies: string[];
  /** The statuses of the next answers; then 204. */
  readonly answers: number[];
  readonly port: number;
  close(): void;
}

async function receiver(): Promise<Receiver> {
  const bodies: string[] = [];
  const answers: number[] = [];
  const read = async (request: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  };
  const server: Server = createServer((request, response) => {
    void read(request).then((body) => {
      const status = answers.shift() ?? 204;
      if (status === 204 && request.url === `/${TOKEN}`) bodies.push(body);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { bodies, answers, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const CENTS = entryOf({});
const IDS = entryOf({
  ...{ statement: 'orders.id is positive.', columns: ['orders.id'] },
  check: 'SELECT count(*), sum(id > 0), sum(id > 20) FROM orders',
});

async function home() {
  const hook = await receiver();
  const url = `http://127.0.0.1:${hook.port}/${TOKEN}`;
  // No model is asked.
  const made = gateHome({ baseUrl: 'http://127.0.0.1:9/v1', env: { GATE_WEBHOOK: url } });
  const file = join(made.folder, 'shop.sqlite');
  const write = (sql: string): void => {
    const open = new Database(file);
    open.exec(sql);
    open.close();
  };
  write('CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, paid REAL)');
  const rows = Array.from({ length: 40 }, (_, at) => `(${at + 1}, ${100 * (at + 1)}, ${at + 1})`);
  write(`INSERT INTO orders VALUES ${rows.join(', ')}`);
  const name = unique('shop');
  const watch = { privateHosts: [`127.0.0.1:${hook.port}`] };
  const configure = (more: object): void =>
    writeFileSync(
      join(made.folder, 'gate.config.json'),
      JSON.stringify({ databases: { [name]: { path: file, id: name } }, ...more }),
    );
  configure({ watch });
  const { config, store } = openServices({ env: made.env, cwd: made.folder, platform: process.platform });
  const identity = resolveDatabase(config, name, made.folder).identity;
  const place = { store, hash: sha256, database: identityKey(identity) };
  await appendToLayer(
    place,
    [CENTS, IDS].map((entry) => ({ kind: 'proved', at: AT, entry })),
  );
  let worker: GateProcess | null = null;
  const serve = async (env: NodeJS.ProcessEnv = {}): Promise<void> => {
    worker = made.start(['ops', 'worker'], env);
    await worker.said(/Ctrl-C stops/);
  };
  const stopWorker = async (): Promise<void> => {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    worker = null;
  };
  return {
    ...{ ...made, hook, name, write, configure, serve, stopWorker, watch, events: () => readLayer(place) },
    gate: (...args: string[]) => made.here(['layer', 'watch', '--db', name, ...args]),
    close: async () => {
      await made.here(['layer', 'watch', '--db', name, '--stop']);
      await stopWorker();
      hook.close();
    },
  };
}

const BREAK = 'UPDATE orders SET total = paid';
const MEND = 'UPDATE orders SET total = 100 * paid';

test('what broke and what holds again is told to the webhook and the file, once each, without the URL in any history', async () => {
  const shop = await home();
  const { gate, hook, folder, name } = shop;
  const log = join(folder, 'drift.jsonl');
  try {
    await shop.serve();
    const made = await gate('--every', '1h', '--webhook', 'GATE_WEBHOOK', '--file', 'drift.jsonl');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain(`'${name}' is watched: every 1h, drift is told to GATE_WEBHOOK and ${log}; next check `);

    expect(await gate('--now')).toMatchObject({ code: 0, out: '2 entries checked, all hold\n' });
    expect([hook.bodies, existsSync(log)]).toEqual([[], false]);
    const quiet = (await shop.events()).length;
    expect(await gate('--now')).toMatchObject({ code: 0 });
    // A run that changes nothing is written once a day.
    expect(await shop.events()).toHaveLength(quiet);

    shop.write(BREAK);
    hook.answers.push(503);
    const broke = await gate('--now');
    expect(broke.code).toBe(1);
    expect(broke.out).toContain(
      `${CENTS.entryId.slice(0, 9)} no longer holds: orders.total is in cents. (it holds for 0`,
    );
    expect(broke.out).toContain('2 entries checked, 1 no longer holds (1 new)');
    const told = { kind: 'gate-layer-drift', database: name, checked: 2, broken: 1, heldAgain: [], left: 0 };
    const entry = { entryId: CENTS.entryId, statement: CENTS.statement, counts: { matching: 0, examined: 40 } };
    expect(hook.bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([{ ...told, broke: [entry] }]);
    expect(readFileSync(log, 'utf8')).toBe(`${hook.bodies[0]!}\n`);

    // What is broken still is told once.
    expect(await gate('--now')).toMatchObject({ code: 1, out: '2 entries checked, 1 no longer holds\n' });
    expect(hook.bodies).toHaveLength(1);

    shop.write(MEND);
    expect((await gate('--now')).out).toContain('holds again: orders.total is in cents. (broken since ');
    const [first] = hook.bodies.map((body) => JSON.parse(body) as { at: string });
    expect(JSON.parse(hook.bodies[1]!)).toMatchObject({
      broke: [],
      heldAgain: [{ ...{ why: null }, brokenSince: first!.at }],
    });
    expect(readFileSync(log, 'utf8').split('\n')).toHaveLength(3);

    shop.write(`${BREAK} WHERE id = 1`);
    const fell = await gate('--now');
    expect(fell).toMatchObject({ code: 1 });
    expect(fell.out).toContain('holds for fewer rows: orders.total is in cents. (39 of 40, kept as 40 of 40)');
    expect(fell.out).toContain('2 entries checked, 1 holds for fewer rows (1 new)');
    expect(JSON.parse(hook.bodies[2]!)).toMatchObject({ broke: [], fell: [{ counts: { matching: 39 } }] });

    const listed = await gate('--list');
    expect(listed.out).toContain(name);
    expect(listed.out).toContain('2 entries checked, all hold, 1 holds again');
    const { watches } = JSON.parse((await gate('--list', '--json')).out) as {
      watches: { runs: { workflowId: string }[] }[];
    };
    expect(watches[0]!.runs).toHaveLength(6);
    await withClient(async ({ client }) => {
      for (const { workflowId } of watches[0]!.runs)
        expect(JSON.stringify(await client.workflow.getHandle(workflowId).fetchHistory())).not.toContain(TOKEN);
      const described = await client.schedule.getHandle(`layer-watch-${name}`).describe();
      expect(JSON.stringify(described.raw)).not.toContain(TOKEN);
      expect(described.policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
    });
  } finally {
    await shop.close();
  }
});

test('an entry that could not be checked is no success', async () => {
  const shop = await home();
  const { gate, folder, name } = shop;
  try {
    const hidden = { path: join(folder, 'shop.sqlite'), id: name, access: { deny: ['orders.paid'] } };
    shop.configure({ watch: shop.watch, databases: { [name]: hidden } });
    await shop.serve();
    await gate('--every', '1h');
    expect(await gate('--now')).toMatchObject({ code: 1, out: '1 entry checked, all hold, 1 could not be checked\n' });
  } finally {
    await shop.close();
  }
});

test('a drift that cannot be told waits: a killed worker and one without the variable lose nothing', async () => {
  const shop = await home();
  const { gate, hook } = shop;
  try {
    await shop.serve({ GATE_WEBHOOK: '' });
    await gate('--every', '1d', '--webhook', 'GATE_WEBHOOK');
    shop.write(BREAK);
    const now = gate('--now');
    await until(async () => (await gate('--list')).out.includes('GATE_WEBHOOK is not set where this'));
    expect((await shop.events()).filter(({ kind }) => kind === 'broken')).toHaveLength(1);
    await shop.stopWorker();
    await shop.serve();
    expect(await now).toMatchObject({ code: 1 });
    expect(hook.bodies).toHaveLength(1);
    expect((await shop.events()).filter(({ kind }) => kind === 'broken')).toHaveLength(1);
  } finally {
    await shop.close();
  }
});

test('the same again changes what there is, and says what', async () => {
  const shop = await home();
  const { gate, name } = shop;
  try {
    await shop.serve();
    const first = await gate('--every', '1h', '--file', 'a.jsonl');
    expect(first.code).toBe(0);
    const told = ['--every', '1h', '--file', 'a.jsonl'];
    expect((await gate(...told)).out).toContain(`'${name}' was watched like this before: every 1h`);
    expect((await gate('--every', '2d', '--webhook', 'GATE_WEBHOOK', '--timeout', '5')).out).toBe(
      `the watch of '${name}' is changed: every 1h -> 2d; webhook none -> GATE_WEBHOOK; file ${join(shop.folder, 'a.jsonl')} -> none; timeout 25 s -> 5 s\n`,
    );
    const silent = await gate('--every', '90m');
    expect(silent.err).toContain('drift is only kept in the layer: give --webhook or --file');
    expect(await gate('--stop')).toMatchObject({
      code: 0,
      out: expect.stringContaining('no longer watched') as string,
    });
    for (const flag of ['--stop', '--now'])
      expect(await gate(flag)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is not watched; begin') as string,
      });
    expect((await gate('--list')).err).toContain('nothing is watched');
  } finally {
    await shop.close();
  }
});

test('a check that fails is told by --list, and the run by --now', async () => {
  const shop = await home();
  const { gate, hook } = shop;
  try {
    await shop.serve();
    await gate('--every', '1h', '--webhook', 'GATE_WEBHOOK');
    shop.write(BREAK);
    hook.answers.push(404);
    const refused = await gate('--now');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain('GATE_WEBHOOK: 127.0.0.1 answered 404: check the URL in GATE_WEBHOOK');
    expect((await gate('--list')).out).toContain('failed: GATE_WEBHOOK');
  } finally {
    await shop.close();
  }
});

describe('bad input is one line', () => {
  let shop: Awaited<ReturnType<typeof home>>;
  beforeAll(async () => {
    shop = await home();
  });
  afterAll(() => shop.hook.close());

  test.each([
    [[], 2, 'say how often, such as --every 1h'],
    [['--every', '0h'], 2, 'give whole minutes, hours, days or weeks up to a year'],
    [['--every', '10s'], 2, 'give whole minutes'],
    [['--every', '99999w'], 2, 'give whole minutes'],
    [['--every', '1h', '--now'], 2, 'give one of them'],
    [['--now', '--file', 'a.jsonl'], 2, 'give them with --every'],
    [['--every', '1h', '--file', '.bashrc'], 2, 'give a name that ends in .jsonl'],
    [['--every', '1h', '--webhook', `https://hooks.example.com/${TOKEN}`], 2, 'a URL may hold a token'],
    [['--every', '1h', '--webhook', 'GATE_WEBHOOK_OTHER'], 2, 'the variable is not set'],
    [['--every', '1h', '--db', 'none'], 2, "'none' is neither a configured database"],
  ])('%j', async (args, code, line) => {
    const { out, err, ...ended } = await shop.gate(...args);
    expect(ended.code).toBe(code);
    expect(out).toBe('');
    expect(err).toContain(line);
    expect(err).not.toContain(TOKEN);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('a private address is refused unless the configuration names its host', async () => {
    shop.configure({});
    const { code, err } = await shop.gate('--every', '1h', '--webhook', 'GATE_WEBHOOK');
    expect(code).toBe(2);
    expect(err).toContain('GATE_WEBHOOK: 127.0.0.1 is no public address; if it is yours, add "127.0.0.1');
    expect(err).not.toContain(TOKEN);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds());)
    if (Date.now() > end) throw new Error(`it did not happen within a minute; Temporal at ${testTemporal().address}`);
}
