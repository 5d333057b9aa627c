import { createMemoryStore, type MemoryStore } from '../../helpers/scripted';
import {
  collectGarbage,
  OBJECT_GRACE_MS,
  UNREACHABLE,
  type AskTemporal,
  type GcOptions,
  type WorkflowState,
} from '../../../src/app/gc';
import { openServices, saveAsked, sha256 } from '../../../src/app/services';
import type { ObjectStore } from '../../../src/domain/ports';
import { createRunStore } from '../../../src/record/run-store';
import { writeBatchManifest, batchResultKey } from '../../../src/activities/batch';
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
    { finished = true, parent = '', childOf = '', large = false } = {},
  ): Promise<void> {
    this.clock = NOW - ageMs;
    const input = {
      ...trace.input!,
      searchId: id,
      ...(childOf === '' ? {} : { childOf }),
      ...(parent === '' ? {} : { parent: { searchId: parent, iteration: 2, usage: {} } }),
    };
    await saveAsked(this.store, input, this.clock);
    const run = createRunStore({ ...this.store }, id, sha256);
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
    await world.batch('b-2', ['q-1', 'q-2'], 1, 5 * DAY);
    expect(await world.plan()).toMatchObject({ remove: [], kept: { 'q-1': 'batch b-2 is in use' } });
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
    let isLookedAtAgain = false;
    const store: ObjectStore = {
      ...world.store,
      async entries(prefix) {
        if (prefix === 'runs/q-old/' && !isLookedAtAgain) {
          isLookedAtAgain = true;
          await meanwhile(world);
        }
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
    await world.collect(MONTH, world.ask, { ...world.store, delete: async (key) => void deleted.push(key) });
    expect(deleted).toEqual([
      ...['runs/q-old/steps/checkpoint.i3.json', 'runs/q-old/input/q-old.json', 'runs/q-old/result/q-old.json'],
      expect.stringMatching(/^index\/\d{5}\/\d{8}-q-old\.json$/),
    ]);
  });
});

describe('shared objects', () => {
  test('one that a search refers to stays, one that none does goes', async () => {
    const world = new World();
    await world.search('q-1', 2 * DAY, { large: true });
    await world.search('q-2', 2 * DAY, { large: true });
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

  test('while a reference cannot be read no object goes, and the reason is told', async () => {
    const world = new World();
    await world.search('q-1', 2 * DAY, { large: true });
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
      await world.search('q-1', 2 * DAY, { large: true });
      await world.store.delete('runs/q-1/steps/profile.p.refs.json');
      let taken = false;
      const takenUp: ObjectStore = {
        ...world.store,
        [call]: async (key: string, options?: { unmodifiedSinceMs?: number }) => {
          // A search of another process.
          if (!taken) await createRunStore({ ...world.store }, 'q-2', sha256).put('profile', 'p', PROFILES);
          taken = true;
          return world.store[call](key, options as never);
        },
      };
      await world.collect(MONTH, world.ask, takenUp);
      expect(taken).toBe(true);
      expect(await createRunStore({ ...world.store }, 'q-2', sha256).get('profile', 'p')).toEqual(PROFILES);
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
    const run = createRunStore(store, record.id, sha256);
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
