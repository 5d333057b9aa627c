import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import {
  collectGarbage,
  OBJECT_GRACE_MS,
  UNREACHABLE,
  type AskTemporal,
  type GcOptions,
  type WorkflowState,
} from '../../../src/app/gc';
import type { ReadyArm } from '../../../src/app/run/arms';
import { saveQuestions } from '../../../src/app/run/ask-batch';
import { openServices, saveAsked } from '../../../src/app/services';
import type { ObjectStore } from '../../../src/domain/ports';
import { createRunStore } from '../../../src/record/run-store';
import { writeBatchManifest, batchResultKey } from '../../../src/activities/batch';
import { writeEnvelope } from '../../../src/record/envelope';
import { newestSearches } from '../../../src/record/search-index';
import { record, state, trace } from '../report/fixture';
import { testProcess } from './test-io';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 5, 1);
const MONTH: GcOptions = { nowMs: NOW, olderThanMs: 30 * DAY, dryRun: false };
const DRY = { ...MONTH, dryRun: true };

const PROFILE = { table: 'c'.repeat(9_000), read: 1, whole: true, pieces: [], doubts: [], flags: [] };

const PROFILES = { tables: [PROFILE] };

/** A store whose clock the test owns. */
class World {
  clock = NOW;
  readonly store: MemoryStore = createMemoryStore(() => this.clock);
  readonly states = new Map<string, WorkflowState>();
  readonly ask: AskTemporal = async (id) => this.states.get(id) ?? 'gone';

  async search(
    id: string,
    ageMs: number,
    { finished = true, parent = '', childOf = '', after = '', large = false } = {},
  ): Promise<void> {
    this.clock = NOW - ageMs;
    const input = {
      ...trace.input!,
      searchId: id,
      ...(childOf === '' ? {} : { childOf }),
      ...(after === '' ? {} : { question: { ...trace.input!.question, after } }),
      ...(parent === '' ? {} : { parent: { searchId: parent, iteration: 2, usage: {} } }),
    };
    await saveAsked(this.store, input, this.clock);
    const run = createRunStore({ ...this.store }, id);
    await run.put('checkpoint', 'i3', state);
    if (large) await run.put('profile', 'p', PROFILES);
    if (finished) await run.put('result', id, { ...record, id });
    this.clock = NOW;
  }

  async batch(id: string, searches: readonly string[], done: number, ageMs: number): Promise<void> {
    this.clock = NOW - ageMs;
    const queues = { workflow: 'w' };
    await writeBatchManifest(
      this.store,
      id,
      searches.map((searchId, n) => ({ n, searchId, label: 'x', taskQueues: queues })),
      2,
    );
    for (let n = 0; n < searches.length; n += 1) {
      const outcome = n < done ? { kind: 'answer', status: 'answered' } : null;
      await this.store.put(batchResultKey(id, n), JSON.stringify({ n, searchId: searches[n], outcome }));
    }
    this.clock = NOW;
  }

  collect(options: GcOptions = MONTH, ask: AskTemporal = this.ask, store: ObjectStore = this.store) {
    return collectGarbage(store, ask, options);
  }

  /** What would go, and why something old enough does not. */
  async plan(ask: AskTemporal = this.ask, options: GcOptions = DRY) {
    const { searches, kept, batches } = await this.collect(options, ask);
    return { remove: [...searches].sort(), kept: Object.fromEntries(kept.map(({ id, why }) => [id, why])), batches };
  }
}

describe('which searches go', () => {
  test.each<
    [string, number, { options?: GcOptions; running?: boolean; ask?: AskTemporal; finished?: boolean }, RegExp | null]
  >([
    ['goes, written to longer ago than given', 31 * DAY, {}, null],
    ['stays, written to since', 29 * DAY, {}, /^$/],
    [
      'stays, written to within the hour, whatever is asked for',
      HOUR / 2,
      { options: { ...DRY, olderThanMs: 0 } },
      /^$/,
    ],
    ['goes, two hours old, where all may go', 2 * HOUR, { options: { ...DRY, olderThanMs: 0 } }, null],
    [
      'stays while Temporal runs it, however long it is silent',
      90 * DAY,
      { running: true, finished: false },
      /^it is running$/,
    ],
    ['goes without a final record where Temporal does not run it', 90 * DAY, { finished: false }, null],
    ['goes with its final record where Temporal cannot be asked', 90 * DAY, { ask: UNREACHABLE }, null],
    [
      'stays without one there',
      90 * DAY,
      { ask: UNREACHABLE, finished: false },
      /no final record, and Temporal cannot be asked/,
    ],
  ])('a search %s', async (_, ageMs, { options = DRY, running = false, ask, finished = true }, why) => {
    const world = new World();
    await world.search('q-1', ageMs, { finished });
    if (running) world.states.set('question-q-1', 'running');
    const { remove, kept } = await world.plan(ask ?? world.ask, options);
    expect(remove).toEqual(why === null ? ['q-1'] : []);
    if (why !== null) expect(kept['q-1'] ?? '').toMatch(why);
  });

  test('what a search was forked from goes: the fork has its own copy', async () => {
    const world = new World();
    await world.search('q-parent', 60 * DAY);
    await world.search('q-child', DAY, { parent: 'q-parent' });
    expect((await world.plan()).remove).toEqual(['q-parent']);
  });

  test('what a search started stays and goes with it', async () => {
    const world = new World();
    await world.search('q-a-part', 90 * DAY, { childOf: 'q-asked' });
    await world.search('q-a-part-of-it', 90 * DAY, { childOf: 'q-a-part' });
    await world.search('q-asked', DAY);
    await world.search('q-gone-part', 60 * DAY, { childOf: 'q-gone' });
    await world.search('q-gone', 60 * DAY);
    await world.search('q-orphan', 60 * DAY, { childOf: 'q-forgotten' });
    expect(await world.plan()).toMatchObject({
      remove: ['q-gone', 'q-gone-part', 'q-orphan'],
      kept: { 'q-a-part': 'it is a part of q-asked', 'q-a-part-of-it': 'it is a part of q-asked' },
    });
  });

  test('a search whose proofs other questions may use stays', async () => {
    const world = new World();
    await world.search('q-teacher', 60 * DAY);
    await world.store.put('layer/shop/20260101T000000000Z-0123456789abcdef01234567.q-teacher.json', '{}');
    expect((await world.plan()).kept).toEqual({ 'q-teacher': 'its proofs are in the layer of a database' });
  });

  test('a batch goes with its searches, finished or not, where it is old and known not to run', async () => {
    const world = new World();
    for (const id of ['q-1', 'q-2']) await world.search(id, 60 * DAY);
    const stays = { remove: [], batches: [], kept: { 'q-1': 'batch b-1 is in use' } };
    await world.batch('b-1', ['q-1', 'q-2'], 1, 60 * DAY);
    expect(await world.plan(UNREACHABLE)).toMatchObject(stays);
    expect(await world.plan()).toMatchObject({ remove: ['q-1', 'q-2'], batches: ['b-1'] });
    world.states.set('batch-b-1', 'running');
    expect(await world.plan()).toMatchObject(stays);
    world.states.clear();
    await world.batch('b-1', ['q-1', 'q-2'], 1, 29.5 * DAY);
    expect(await world.plan()).toMatchObject(stays);
    await world.batch('b-1', ['q-1', 'q-2'], 1, 60 * DAY);
    expect((await world.plan()).batches).toEqual(['b-1']);
    // Asked again, with an answer to all of its questions.
    await world.store.put('batches/asked/b-1.json', '{}');
    expect(await world.plan()).toMatchObject(stays);
    await world.store.delete('batches/asked/b-1.json');
    // It goes on.
    await world.store.put(batchResultKey('b-1', 1), '{}', { overwrite: true });
    expect(await world.plan()).toMatchObject(stays);
  });

  test('a batch that was started lately keeps all its searches, also those that were answered long before', async () => {
    const world = new World();
    for (const id of ['q-1', 'q-2', 'q-3']) await world.search(id, 60 * DAY);
    world.clock = NOW - 5 * DAY;
    const searches = ['q-1', 'q-2'].map((searchId) => ({ ...trace.input!, searchId }));
    const run = { services: { store: world.store }, surroundings: { now: () => world.clock } };
    await saveQuestions({ run, arm: { batch: { searches } } } as unknown as ReadyArm, new Set([1]));
    await world.batch('b-1', ['q-1', 'q-2'], 1, 5 * DAY);
    expect((await world.plan()).remove).toEqual(['q-3']);
    const listed = await newestSearches(world.store, 1);
    expect(listed.map(({ id }) => id)).toEqual(['q-2']);
  });

  test('a batch that died before it was started goes whole, as one that was started does', async () => {
    const world = new World();
    world.clock = NOW - 60 * DAY;
    await world.store.put('batches/asked/b-1.json', '{}');
    await world.store.put('batches/b-1/manifest-00000.json', '[]');
    await world.store.put('batches/asked/b-2.json', '{}');
    await world.batch('b-2', ['q-1'], 1, 60 * DAY);
    expect((await world.collect()).batches).toEqual(['b-2', 'b-1']);
    expect(await world.store.list('')).toEqual([]);
  });
});

describe('removing', () => {
  test('leaves nothing of a search, and all of the others', async () => {
    const world = new World();
    await world.search('q-young', DAY);
    const before = await world.store.list('');
    await world.search('q-old', 60 * DAY);
    expect((await world.collect()).searches).toEqual(['q-old']);
    expect(await world.store.list('')).toEqual(before);
  });

  test.each<[string, (world: World) => Promise<unknown>]>([
    ['somebody comes back to', (world) => saveAsked(world.store, { ...trace.input!, searchId: 'q-old' }, NOW)],
    ['Temporal has begun again', async (world) => world.states.set('question-q-old', 'running')],
  ])('a search that %s meanwhile stays whole', async (_, meanwhile) => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    let looks = 0;
    const store: ObjectStore = {
      ...world.store,
      async entries(prefix) {
        if (prefix === 'runs/q-old/' && (looks += 1) === 2) await meanwhile(world);
        return world.store.entries(prefix);
      },
    };
    expect(await world.collect(MONTH, world.ask, store)).toMatchObject({
      searches: [],
      kept: [{ id: 'q-old', why: 'it was used again meanwhile' }],
    });
    expect(await world.store.list('runs/q-old/')).toHaveLength(3);
  });

  test('the final record goes last: killed half-way, the answer is still there', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    const deleted: string[] = [];
    const store: ObjectStore = {
      ...world.store,
      delete: async (key) => {
        deleted.push(key);
        await world.store.delete(key);
      },
    };
    await world.collect(MONTH, world.ask, store);
    expect(deleted).toEqual([
      ...['runs/q-old/steps/checkpoint.i3.json', 'runs/q-old/input/q-old.json', 'runs/q-old/result/q-old.json'],
      expect.stringMatching(/^index\/asked\/\d{5}\/\d{8}-q-old\.json$/),
    ]);
  });

  test('what is written to a search while it is removed stays in the index, and goes when it is old', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    const store: ObjectStore = {
      ...world.store,
      delete: async (key, options) => {
        await world.store.delete(key, options);
        if (key === 'runs/q-old/result/q-old.json') await world.store.put('runs/q-old/remark/h1.json', '{}');
      },
    };
    await world.collect(MONTH, world.ask, store);
    expect(await world.store.list('runs/')).toEqual(['runs/q-old/remark/h1.json']);
    expect((await world.collect({ ...MONTH, nowMs: NOW + 40 * DAY })).searches).toEqual(['q-old']);
    expect(await world.store.list('')).toEqual([]);
  });

  test.each([
    ['before its first object', []],
    ['after a step', ['runs/q-old/steps/prepare.0.json']],
  ])('what a search left that died %s goes', async (_, keys) => {
    const world = new World();
    world.clock = NOW - 60 * DAY;
    const store: ObjectStore = {
      ...world.store,
      put: (key, ...rest) =>
        key.startsWith('runs/') ? Promise.reject(new Error('died')) : world.store.put(key, ...rest),
    };
    await expect(saveAsked(store, { ...trace.input!, searchId: 'q-old' }, world.clock)).rejects.toThrow('died');
    for (const key of keys) await world.store.put(key, '{}');
    world.clock = NOW;
    expect((await world.collect()).searches).toEqual(keys.length === 0 ? [] : ['q-old']);
    expect(await world.store.list('')).toEqual([]);
  });

  test('work is that of the old searches, however many young ones and batches of them are stored', async () => {
    const counted = async (young: number): Promise<unknown> => {
      const world = new World();
      for (let n = 0; n < 3; n += 1) await world.search(`q-old-${n}`, 60 * DAY, { large: true });
      for (let n = 0; n < young; n += 1) await world.search(`q-young-${n}`, n * HOUR, { large: n % 2 === 0 });
      for (let n = 0; n < young; n += 5) await world.batch(`b-${n}`, [`q-young-${n}`, `q-young-${n + 1}`], 2, n * HOUR);
      const calls = { get: 0, list: 0, entries: 0, listed: 0 };
      const store: ObjectStore = {
        ...world.store,
        get: (key) => ((calls.get += 1), world.store.get(key)),
        list: async (...given) => {
          const keys = await world.store.list(...given);
          calls.list += 1;
          calls.listed += keys.length;
          return keys;
        },
        entries: async (prefix) => {
          calls.entries += 1;
          const found = await world.store.entries(prefix);
          // A batch has one object in the list of batches.
          if (!prefix.startsWith('batches/started/')) calls.listed += found.length;
          return found;
        },
      };
      expect((await world.collect(MONTH, world.ask, store)).searches).toHaveLength(3);
      return calls;
    };
    expect(await counted(100)).toEqual(await counted(10));
  });
});

describe('shared objects', () => {
  test('one that a search refers to stays, one that none does goes', async () => {
    const world = new World();
    await world.search('q-1', 32 * DAY, { large: true });
    await world.search('q-2', 32 * DAY, { large: true });
    world.states.set('question-q-1', 'running').set('question-q-2', 'running');
    const [object, ...others] = await world.store.list('objects/');
    expect(others).toEqual([]);
    expect((await world.collect()).objects).toBe(0);
    await world.store.delete('runs/q-1/steps/profile.p.refs.json');
    expect((await world.collect()).objects).toBe(0);
    await world.store.delete('runs/q-2/steps/profile.p.refs.json');
    // Its reference may be on its way.
    expect((await world.collect({ ...DRY, nowMs: NOW - 1.5 * DAY })).objects).toBe(0);
    expect((await world.collect(DRY)).objects).toBe(1);
    expect(await world.store.get(object!)).not.toBeNull();
    expect((await world.collect()).objects).toBe(1);
    expect(await world.store.list('objects/')).toEqual([]);
  });

  test.each<[string, (world: World) => Promise<unknown>]>([
    ['was asked again', (world) => saveAsked(world.store, { ...trace.input!, searchId: 'q-1' }, world.clock)],
    [
      'was asked again twice',
      async (world) => {
        await saveAsked(world.store, { ...trace.input!, searchId: 'q-1' }, world.clock - 35 * DAY);
        await saveAsked(world.store, { ...trace.input!, searchId: 'q-1' }, world.clock);
      },
    ],
    ['was refreshed', (world) => createRunStore(world.store, 'q-1').put('result', 'q-1', { ...record, id: 'q-1' })],
  ])('what a search refers to that %s lately stays, however old it is', async (_, again) => {
    const world = new World();
    await world.search('q-1', 90 * DAY, { large: true });
    await world.search('q-other', 90 * DAY);
    world.clock = NOW - 2 * DAY;
    await again(world);
    expect(await world.collect()).toMatchObject({ searches: ['q-other'], objects: 0 });
    expect(await world.store.list('objects/')).toHaveLength(1);
  });

  test('what a part refers to stays as long as the part', async () => {
    const world = new World();
    await world.search('q-part', 90 * DAY, { childOf: 'q-1', large: true });
    await world.search('q-1', DAY);
    expect((await world.collect()).objects).toBe(0);
    await world.store.put('runs/q-part/remark/h1.json', '{}');
    expect((await world.collect()).objects).toBe(0);
    expect(await world.collect({ ...MONTH, nowMs: NOW + 40 * DAY })).toMatchObject({ objects: 1 });
    expect(await world.store.list('')).toEqual([]);
  });

  test('while a reference cannot be read no object goes, and the reason is told', async () => {
    const world = new World();
    await world.search('q-1', 32 * DAY, { large: true });
    world.states.set('question-q-1', 'running');
    await world.store.put('runs/q-1/steps/profile.p.refs.json', '{"half', { overwrite: true });
    expect(await world.collect()).toMatchObject({
      objects: 0,
      problems: [expect.stringContaining('runs/q-1/steps/profile.p.refs.json is damaged') as string],
    });
  });

  test.each(['entries', 'get', 'delete'] as const)(
    'one that is taken up again right before the sweeper calls %s stays',
    async (call) => {
      const world = new World();
      await world.search('q-1', 32 * DAY, { large: true });
      await world.search('q-kept', 32 * DAY, { large: true });
      world.states.set('question-q-kept', 'running');
      await world.store.put('runs/q-kept/steps/profile.p.refs.json', writeEnvelope('step', {}), {
        overwrite: true,
      });
      let taken = false;
      const takenUp: ObjectStore = {
        ...world.store,
        [call]: async (key: string, options?: { unmodifiedSinceMs?: number }) => {
          // A search of another process.
          if (!taken) await createRunStore({ ...world.store }, 'q-2').put('profile', 'p', PROFILES);
          taken = true;
          return world.store[call](key, options as never);
        },
      };
      await world.collect(MONTH, world.ask, takenUp);
      expect(taken).toBe(true);
      expect(await createRunStore({ ...world.store }, 'q-2').get('profile', 'p')).toEqual(PROFILES);
    },
  );

  test('the grace period is far above the time for which a writer relies on its own earlier put', async () => {
    const { REWRITE_AFTER_MS } = await import('../../../src/record/objects');
    expect(OBJECT_GRACE_MS).toBeGreaterThan(20 * REWRITE_AFTER_MS);
  });
});

describe('what is kept to be fast', () => {
  test('what a judge said goes at the age that is given', async () => {
    const world = new World();
    for (const [id, ageMs] of [
      ['old', 30 * DAY],
      ['young', 29 * DAY],
    ] as const) {
      world.clock = NOW - ageMs;
      await world.store.put(`judgements/reply/${id}.json`, '{}');
    }
    expect((await world.collect()).judgements).toBe(1);
    expect(await world.store.list('judgements/')).toEqual(['judgements/reply/young.json']);
  });
});

describe('gate ops gc', () => {
  async function withOldSearch() {
    const process = testProcess();
    const { store } = openServices(process.io);
    await saveAsked(store, trace.input!, 0);
    const run = createRunStore(store, record.id);
    await run.put('checkpoint', 'i3', state);
    await run.put('result', record.id, record);
    Object.assign(process.io, { now: () => Date.now() + 40 * DAY });
    return { process, store };
  }

  test('says what it would remove, then removes it, then has nothing to do', async () => {
    const { process, store } = await withOldSearch();
    const dry = await process.gate('ops', 'gc', '--older-than', '30d', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringContaining('would remove 1 search, 0 batches, 0 shared objects') as string,
    });
    expect(dry.out).toContain('note: Temporal does not answer');
    expect(await store.list('runs/')).toHaveLength(3);
    const done = JSON.parse((await process.gate('ops', 'gc', '--older-than', '30d', '--json')).out) as object;
    expect(done).toMatchObject({ dryRun: false, searches: [record.id], kept: [] });
    expect(await store.list('')).toEqual([]);
    expect((await process.gate('ops', 'gc', '--older-than', '30d')).out).toContain('removed 0 searches');
  });

  test('the age comes from the configuration where it is not given, and is asked for where neither says it', async () => {
    const { process } = await withOldSearch();
    expect(await process.gate('ops', 'gc')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--older-than 30d, or set "store.retentionDays"') as string,
    });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${process.home}/gate.config.json`, JSON.stringify({ store: { retentionDays: 10 } }));
    expect((await process.gate('ops', 'gc', '--dry-run')).out).toContain('would remove 1 search');
  });

  test.each(['30', '-1d', 'd', '5y', ''])('the age %j is refused with what is allowed', async (age) => {
    expect(await testProcess().gate('ops', 'gc', '--older-than', age)).toMatchObject({
      code: 2,
      err: expect.stringContaining('give whole minutes, hours, days or weeks') as string,
    });
  });
});

test('a search that is kept keeps those before it in its chain; a chain of old ones goes whole', async () => {
  const world = new World();
  const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((n) => `q-${String(n).repeat(16)}`) as [
    string,
    string,
    string,
    string,
    string,
  ];
  await world.search(one, 50 * DAY);
  await world.search(two, 45 * DAY, { after: one });
  await world.search(three, 5 * DAY, { after: two });
  await world.search(four, 50 * DAY);
  await world.search(five, 45 * DAY, { after: four });
  const cleaned = await collectGarbage(world.store, world.ask, MONTH);
  expect(cleaned.kept).toEqual([
    { id: one, why: `${two} follows it` },
    { id: two, why: `${three} follows it` },
  ]);
  expect([...cleaned.searches].sort()).toEqual([four, five]);
  expect((await world.store.list('index/after/')).filter((key) => key.includes(five))).toEqual([]);
});
