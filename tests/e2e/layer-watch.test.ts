/** `gate layer watch` as a user meets it: a schedule of a real Temporal and a worker. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { resolveDatabase } from '../../src/config/databases';
import { openServices } from '../../src/app/services';
import { appendToLayer, readLayer } from '../../src/record/layer-store';
import { identityKey } from '../../src/record/search-id';
import { gateHome } from '../helpers/gate-process';
import { AT, entryOf } from '../helpers/kept-layer';
import { eventually } from '../helpers/engine';
import { historyText, unique, withClient } from '../helpers/temporal';
import { startReceiver, WEBHOOK_SECRET } from '../helpers/webhook-receiver';

const CENTS = entryOf({});
const IDS = entryOf({
  ...{ statement: 'orders.id is positive.', columns: ['orders.id'] },
  check: 'SELECT count(*), sum(id > 0), sum(id > 20) FROM orders',
});
const BREAK = 'UPDATE orders SET total = paid';
const MEND = 'UPDATE orders SET total = 100 * paid';

async function home(webhooks: readonly object[] = []) {
  // No model is asked.
  const made = gateHome({ baseUrl: 'http://127.0.0.1:9/v1', env: { HOOK_SECRET: WEBHOOK_SECRET } });
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
  writeFileSync(
    join(made.folder, 'gate.config.json'),
    JSON.stringify({ databases: { [name]: { path: file, id: name } }, webhooks }),
  );
  const { config, store } = openServices({ env: made.env, cwd: made.folder, platform: process.platform });
  const { identity } = resolveDatabase(config, name, made.folder);
  const place = { store, database: identityKey(identity) };
  await appendToLayer(
    place,
    [CENTS, IDS].map((entry) => ({ kind: 'proved', at: AT, entry })),
  );
  return {
    ...{ ...made, name, write, events: () => readLayer(place) },
    gate: (...args: string[]) => made.here(['layer', 'watch', '--db', name, ...args]),
    scheduleId: `layer-watch-${name}`,
  };
}

interface Listed {
  readonly watches: readonly { readonly every: string; readonly runs: readonly { readonly workflowId: string }[] }[];
}

test('a schedule runs the checks, keeps their verdicts in the layer, and the list shows them until it is stopped', async () => {
  const receiver = await startReceiver();
  const shop = await home([{ url: receiver.url, secretEnv: 'HOOK_SECRET', allowPrivate: true }]);
  const { gate, name, scheduleId } = shop;
  const worker = shop.start(['ops', 'worker']);
  try {
    await worker.said(/Ctrl-C stops/);
    const made = await gate('--every', '1h');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain(`'${name}' is watched: every 1h; next check `);
    expect((await gate('--list')).out).toContain('no check yet');
    expect((await gate('--every', '2d')).out).toContain(`'${name}' is watched: every 2d; next check `);

    await withClient(async (gateClient) => {
      const schedule = gateClient.client.schedule.getHandle(scheduleId);
      const run = async (shown: string): Promise<void> => {
        await schedule.trigger();
        await eventually(async () => ((await gate('--list')).out.split('\n')[2] ?? '').includes(shown));
      };
      await run('2 entries checked, all hold');
      const quiet = (await shop.events()).length;
      shop.write(BREAK);
      await run('2 entries checked, 1 no longer holds (1 new)');
      expect((await shop.events()).filter(({ kind }) => kind === 'broken')).toHaveLength(1);
      expect((await shop.events()).length).toBeGreaterThan(quiet);
      const broken = (await shop.events()).length;
      // A run that changes nothing is written once a day.
      await run('2 entries checked, 1 no longer holds');
      expect(await shop.events()).toHaveLength(broken);
      shop.write(MEND);
      await run('2 entries checked, all hold, 1 holds again');
      expect((await schedule.describe()).policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
      const { watches } = JSON.parse((await gate('--list', '--json')).out) as Listed;
      expect(watches).toMatchObject([{ every: '2d' }]);
      expect(watches[0]!.runs).toHaveLength(3);
      // What a check reads stays out of histories.
      for (const { workflowId } of watches[0]!.runs) {
        const history = await historyText(gateClient, workflowId);
        expect(history).toContain(name);
        expect(history).not.toContain('orders');
      }
      // Of the runs that broke something, receivers are told once.
      expect(receiver.posted.map(({ body }) => [body.type, body.database, body.summary])).toEqual([
        ['layer.drift', name, 'Conventions of the database: 1 no longer holds.'],
      ]);
    });

    expect((await gate('--stop')).out).toContain('no longer watched');
    const again = await gate('--stop');
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is not watched; begin') as string });
    expect((await gate('--list')).err).toContain('nothing is watched');
  } finally {
    receiver.close();
    worker.child.kill('SIGKILL');
    await worker.ended;
  }
});

describe('bad input is one line', () => {
  let shop: Awaited<ReturnType<typeof home>>;
  beforeAll(async () => {
    shop = await home();
  });

  test.each([
    [[], 2, 'say how often the checks run, such as --every 1h'],
    [['--every', '0h'], 2, 'give whole minutes, hours, days or weeks up to a year'],
    [['--every', '10s'], 2, 'give whole minutes'],
    [['--every', '1h', '--list'], 2, 'one of them'],
    [['--every', '1h', '--db', 'none'], 2, "'none' is neither a configured database"],
  ])('%j', async (args, code, line) => {
    const { out, err, ...ended } = await shop.gate(...args);
    expect(ended.code).toBe(code);
    expect(out).toBe('');
    expect(err).toContain(line);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});
