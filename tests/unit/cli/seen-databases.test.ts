import { createMemoryStore } from '../../../src/adapters/scripted';
import { noteSeen, recognise, seenUnder } from '../../../src/cli/seen-databases';
import { loadConfig } from '../../../src/config';
import { resolveDatabase, type ResolvedDatabase } from '../../../src/config/databases';
import { addAlias } from '../../../src/workers/database-aliases';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const AT = Date.UTC(2026, 0, 5);

function shop(url: string, entry: object = {}): ResolvedDatabase {
  const cwd = mkdtempSync(join(tmpdir(), 'gate-seen-'));
  const databases = { shop: { urlEnv: 'SHOP_URL', ...entry } };
  writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ databases }));
  return resolveDatabase(loadConfig({ cwd, env: { HOME: cwd, SHOP_URL: url } }), 'shop', cwd);
}

const URL_1 = 'postgresql://reader:hunter2@host-1/shop?sslpassword=hunter2';
const first = shop(URL_1);

test.each([
  ['another host', shop('postgresql://reader@host-2/shop'), /was postgresql:.*host-1:5432\/shop and is now .*host-2/],
  ['another login', shop('postgresql://admin@host-1/shop'), /was .*reader@host-1.* and is now .*admin@host-1/],
  ['an id', shop(URL_1, { id: 'prod' }), /\(postgresql:.*host-1.*\) has the id prod now/],
  ['other options', shop(`${URL_1}&options=-csearch_path%3Db`), /has other options in its URL now/],
])('%s under a name that was asked is said in one line with what to do', async (_what, now, said) => {
  const store = createMemoryStore();
  await noteSeen(store, first, 'f', AT);
  const { notice, known } = await recognise(store, now);
  expect(notice).toMatch(said);
  expect(notice).toMatch(/counts as another database .*gate db adopt shop/);
  expect(notice).not.toMatch(/\n|hunter2/);
  expect(known).toBe(now.identity);
});

test('nothing is said of a name that was never asked, that means the same, or that was adopted', async () => {
  const store = createMemoryStore();
  expect((await recognise(store, first)).notice).toBeNull();
  await noteSeen(store, first, 'f', AT);
  expect((await recognise(store, shop('postgres://reader:new@HOST-1:5432/shop'))).notice).toBeNull();
  const moved = shop('postgresql://reader@host-2/shop');
  const adopted = { identity: moved.identity, standsFor: first.identity, name: 'shop', adoptedAt: '2026-01-05' };
  await addAlias(store, adopted);
  expect(await recognise(store, moved)).toEqual({
    chain: [moved.identity, first.identity],
    known: first.identity,
    notice: null,
  });
});

test('an alias is never changed, and a ring of two ends', async () => {
  const store = createMemoryStore();
  const alias = { identity: 'd-1', standsFor: 'd-2', name: 'shop', adoptedAt: '2026-01-05' };
  await addAlias(store, alias);
  await expect(addAlias(store, { ...alias, standsFor: 'd-3' })).rejects.toMatchObject({ code: 'conflict' });
  await addAlias(store, { ...alias, identity: 'd-2', standsFor: 'd-1' });
  expect((await recognise(store, { name: 'shop', identity: 'd-1', addressLabel: 'x' })).chain).toEqual(['d-1', 'd-2']);
});

test('each database of a name is kept once, the one asked last at the end, and no more than twenty', async () => {
  const store = createMemoryStore();
  const other = shop('postgresql://reader@host-2/shop');
  for (const one of [first, other, first]) await noteSeen(store, one, 'f', AT);
  expect((await seenUnder(store, 'shop')).map(({ identity }) => identity)).toEqual([other.identity, first.identity]);
  await noteSeen(store, other, null, AT + 1);
  expect((await seenUnder(store, 'shop')).at(-1)).toMatchObject({ identity: other.identity, fingerprint: 'f' });
  await noteSeen(store, shop('postgresql://reader@unseen/shop'), null, AT);
  expect(await seenUnder(store, 'shop')).toHaveLength(2);
  for (let n = 0; n < 30; n += 1) await noteSeen(store, shop(`postgresql://reader@h${n}/shop`), 'f', AT);
  expect(await seenUnder(store, 'shop')).toHaveLength(20);
});

test('nothing in the store holds a secret of an address', async () => {
  const store = createMemoryStore();
  await noteSeen(store, first, 'f', AT);
  await noteSeen(store, shop('snowflake://ann:hunter2@acc/DB?role=R'), 'f', AT);
  const keys = await store.list('');
  expect(keys).toEqual(['databases/names/shop.json']);
  expect(await store.get(keys[0] ?? '')).not.toContain('hunter2');
});
