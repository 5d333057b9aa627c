import { setTimeout as sleep } from 'node:timers/promises';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, type MemoryStore } from '../../../src/adapters/scripted';
import { createLocalStore } from '../../../src/adapters/local/store';
import { planRuns, removeRun, type AskTemporal, type WorkflowState } from '../../../src/cli/gc-runs';
import { sweepCaches, OBJECT_GRACE_MS, sweepObjects, sweepPayloads } from '../../../src/cli/gc-sweep';
import { addToIndex, listSearches, openServices, saveInput, sha256 } from '../../../src/cli/services';
import type { ObjectStore } from '../../../src/ports';
import { createRunStore, writeEnvelope } from '../../../src/steps';
import { externalStorage, payloadFolder } from '../../../src/workers/external-storage';
import { writeBatchManifest, batchResultKey } from '../../../src/activities/batch';
import { record, state, trace } from '../report/fixture';
import { testProcess } from './test-io';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 5, 1);
const MONTH = { nowMs: NOW, olderThanMs: 30 * DAY, keepAnswers: false };

const PROFILE = {
  ...{ table: 't', column: 'c'.repeat(9_000), examined: 1, nulls: 0, distinct: 1, min: null, max: null },
  ...{ top: [], patterns: [], remarks: [] },
};

const PROFILES = { schemaVersion: 1 as const, profiles: [PROFILE] };

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
    await this.store.put(`runs/${id}/input/${id}.json`, writeEnvelope('input', input, sha256), { overwrite: true });
    await addToIndex(this.store, input, this.clock);
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
      await this.store.put(
        batchResultKey(id, n),
        JSON.stringify({ schemaVersion: 1, n, searchId: searches[n], outcome }),
      );
    }
    this.clock = NOW;
  }

  async plan(ask: AskTemporal = this.ask, options = MONTH) {
    const { remove, kept, batches } = await planRuns(this.store, ask, options);
    return {
      remove: remove.map(({ id }) => id).sort(),
      kept: Object.fromEntries(kept.map(({ id, why }) => [id, why])),
      batches: batches.map(({ id }) => id),
    };
  }
}

describe('which searches go', () => {
  test('those that nobody wrote to for longer than given', async () => {
    const world = new World();
    await world.search('q-old', 31 * DAY);
    await world.search('q-young', 29 * DAY);
    expect(await world.plan()).toEqual({ remove: ['q-old'], kept: {}, batches: [] });
  });

  test('never one that was written to within the hour, whatever is asked for', async () => {
    const world = new World();
    await world.search('q-now', HOUR / 2);
    await world.search('q-then', 2 * HOUR);
    expect((await world.plan(world.ask, { ...MONTH, olderThanMs: 0 })).remove).toEqual(['q-then']);
  });

  test('never one that Temporal runs, however long it has been silent', async () => {
    const world = new World();
    await world.search('q-paused', 90 * DAY, { finished: false });
    world.states.set('question-q-paused', 'running');
    expect(await world.plan()).toMatchObject({ remove: [], kept: { 'q-paused': 'it is running' } });
  });

  test('one without a final record goes when Temporal says that it does not run', async () => {
    const world = new World();
    await world.search('q-lost', 90 * DAY, { finished: false });
    expect((await world.plan()).remove).toEqual(['q-lost']);
  });

  test('where Temporal cannot be asked, one without a final record stays and the reason is told', async () => {
    const world = new World();
    await world.search('q-lost', 90 * DAY, { finished: false });
    await world.search('q-done', 90 * DAY);
    const plan = await world.plan(null);
    expect(plan.remove).toEqual(['q-done']);
    expect(plan.kept['q-lost']).toMatch(/no final record, and Temporal cannot be asked/);
  });

  test('what a remaining search was forked from stays, however far back', async () => {
    const world = new World();
    await world.search('q-grandparent', 90 * DAY);
    await world.search('q-parent', 60 * DAY, { parent: 'q-grandparent' });
    await world.search('q-child', DAY, { parent: 'q-parent' });
    await world.search('q-childless', 60 * DAY, { parent: 'q-grandparent' });
    expect(await world.plan()).toMatchObject({
      remove: ['q-childless'],
      kept: { 'q-parent': 'q-child was forked from it', 'q-grandparent': 'q-parent was forked from it' },
    });
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
      kept: { 'q-a-part': 'it is a part of q-asked', 'q-a-part-of-it': 'it is a part of q-a-part' },
    });
  });

  test('a search whose proofs other questions may use stays', async () => {
    const world = new World();
    await world.search('q-teacher', 60 * DAY);
    await world.store.put('layer/shop/20260101T000000000Z-0123456789abcdef01234567.q-teacher.json', '{}');
    expect((await world.plan()).kept).toEqual({ 'q-teacher': 'its proofs are in the layer of a database' });
  });

  test('searches of a batch that is not finished stay, and so does the batch', async () => {
    const world = new World();
    for (const id of ['q-1', 'q-2', 'q-3']) await world.search(id, 60 * DAY);
    await world.batch('b-1', ['q-1', 'q-2', 'q-3'], 2, 5 * DAY);
    const options = { ...MONTH, olderThanMs: DAY };
    expect(await world.plan(world.ask, options)).toMatchObject({ remove: [], batches: [] });
    expect((await world.plan(world.ask, options)).kept['q-1']).toBe('batch b-1 is not finished');
  });

  test('a batch left unfinished goes after a week without anybody going on with it, a running one never', async () => {
    const world = new World();
    await world.search('q-1', 60 * DAY);
    await world.batch('b-1', ['q-1', 'q-2'], 1, 60 * DAY);
    expect(await world.plan()).toMatchObject({ remove: ['q-1'], batches: ['b-1'] });
    world.states.set('batch-b-1', 'running');
    expect(await world.plan()).toMatchObject({ remove: [], batches: [] });
    expect(await world.plan(null)).toMatchObject({ remove: [], batches: [] });
  });

  test('a finished batch goes with its searches', async () => {
    const world = new World();
    await world.search('q-1', 60 * DAY);
    await world.batch('b-1', ['q-1'], 1, 60 * DAY);
    expect(await world.plan(null)).toMatchObject({ remove: ['q-1'], batches: ['b-1'] });
  });
});

describe('removing', () => {
  const remove = async (world: World, options = MONTH, ask = world.ask) => {
    const { remove: runs } = await planRuns(world.store, world.ask, options);
    return Promise.all(runs.map((run) => removeRun(world.store, ask, run, options)));
  };

  test('leaves nothing of a search, and all of the others', async () => {
    const world = new World();
    await world.search('q-young', DAY);
    const before = await world.store.list('');
    await world.search('q-old', 60 * DAY);
    expect(await remove(world)).toEqual([true]);
    expect(await world.store.list('')).toEqual(before);
  });

  test('with --keep-answers leaves what was asked and answered, and finds nothing to do the next time', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    const options = { ...MONTH, keepAnswers: true };
    expect(await remove(world, options)).toEqual([true]);
    expect(await world.store.list('runs/')).toEqual(['runs/q-old/input/q-old.json', 'runs/q-old/result/q-old.json']);
    expect((await listSearches(world.store)).map(({ id }) => id)).toEqual(['q-old']);
    expect((await world.plan(world.ask, options)).remove).toEqual([]);
  });

  test('a search that somebody comes back to in the meantime stays whole', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    const { remove: runs } = await planRuns(world.store, world.ask, MONTH);
    await saveInput(world.store, { ...trace.input!, searchId: 'q-old' });
    const before = await world.store.list('');
    expect(await removeRun(world.store, world.ask, runs[0]!, MONTH)).toBe(false);
    expect(await world.store.list('')).toEqual(before);
  });

  test('a search that Temporal has begun again in the meantime stays whole', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    expect(await remove(world, MONTH, async () => 'running')).toEqual([false]);
    expect(await world.store.list('runs/q-old/')).toHaveLength(3);
  });

  test('the final record goes last: killed half-way, the answer is still there', async () => {
    const world = new World();
    await world.search('q-old', 60 * DAY);
    const { remove: runs } = await planRuns(world.store, world.ask, MONTH);
    const deleted: string[] = [];
    const store: ObjectStore = { ...world.store, delete: async (key) => void deleted.push(key) };
    await removeRun(store, world.ask, runs[0]!, MONTH);
    expect(deleted).toEqual([
      ...['runs/q-old/checkpoint/i3.json', 'runs/q-old/input/q-old.json', 'runs/q-old/result/q-old.json'],
      ...['index/q-old.json', 'asked/q-old.json'],
    ]);
  });
});

describe('shared objects', () => {
  const SWEEP = { nowMs: NOW, dryRun: false, without: new Set<string>() };

  test('one that a search refers to stays, one that none does goes', async () => {
    const world = new World();
    await world.search('q-1', 2 * DAY, { large: true });
    await world.search('q-2', 2 * DAY, { large: true });
    const [object, ...others] = await world.store.list('objects/');
    expect(others).toEqual([]);
    expect((await sweepObjects(world.store, SWEEP)).removed).toEqual([]);
    await world.store.delete('runs/q-1/profile/p.json');
    expect((await sweepObjects(world.store, SWEEP)).removed).toEqual([]);
    await world.store.delete('runs/q-2/profile/p.json');
    expect((await sweepObjects(world.store, { ...SWEEP, dryRun: true })).removed).toHaveLength(1);
    expect(await world.store.get(object!)).not.toBeNull();
    expect((await sweepObjects(world.store, SWEEP)).removed).toHaveLength(1);
    expect(await world.store.list('objects/')).toEqual([]);
  });

  test('one of less than a day stays: its reference may be on its way', async () => {
    const world = new World();
    await world.search('q-1', DAY / 2, { large: true });
    await world.store.delete('runs/q-1/profile/p.json');
    expect(await sweepObjects(world.store, SWEEP)).toMatchObject({ removed: [], young: 1 });
  });

  test('while a reference cannot be read no object goes, and the reason is told', async () => {
    const world = new World();
    await world.search('q-1', 2 * DAY, { large: true });
    await world.store.put('runs/q-1/profile/p.json', '{"half', { overwrite: true });
    expect(await sweepObjects(world.store, SWEEP)).toMatchObject({
      removed: [],
      problem: expect.stringContaining('runs/q-1/profile/p.json is damaged') as string,
    });
  });

  test.each(['entries', 'get', 'delete'] as const)(
    'one that is taken up again right before the sweeper calls %s stays',
    async (call) => {
      const world = new World();
      await world.search('q-1', 2 * DAY, { large: true });
      await world.store.delete('runs/q-1/profile/p.json');
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
      await sweepObjects(takenUp, SWEEP);
      expect(taken).toBe(true);
      expect(await createRunStore({ ...world.store }, 'q-2', sha256).get('profile', 'p')).toEqual(PROFILES);
    },
  );

  describe('of a store that looks at the age and deletes in two requests', () => {
    const later = (days: number) => ({ ...SWEEP, nowMs: NOW + days * DAY });
    const inTwo = (world: World, between?: () => Promise<void>): ObjectStore => ({
      ...world.store,
      deletesInTwoRequests: true,
      async delete(key, { unmodifiedSinceMs = Infinity } = {}) {
        const entry = (await world.store.entries(key)).find((one) => one.key === key);
        if ((entry?.modifiedMs ?? 0) > unmodifiedSinceMs) return;
        await between?.();
        await world.store.delete(key);
      },
    });
    const unneeded = async (): Promise<World> => {
      const world = new World();
      await world.search('q-1', 2 * DAY, { large: true });
      await world.store.delete('runs/q-1/profile/p.json');
      return world;
    };
    const takenUp = async (store: ObjectStore) =>
      createRunStore({ ...store }, 'q-2', sha256).put('profile', 'p', PROFILES);
    const readBy = async (store: ObjectStore) => createRunStore({ ...store }, 'q-2', sha256).get('profile', 'p');

    test('one that is taken up between the two is brought back by whoever reads it', async () => {
      const world = await unneeded();
      const store = inTwo(world, () => takenUp(world.store));
      await sweepObjects(store, SWEEP);
      expect(await world.store.list('objects/')).toEqual([]);
      expect(await readBy(inTwo(world))).toEqual(PROFILES);
      expect(await world.store.list('objects/')).toHaveLength(1);
    });

    test('or by a later sweep, before the copy goes', async () => {
      const world = await unneeded();
      await sweepObjects(
        inTwo(world, () => takenUp(world.store)),
        SWEEP,
      );
      await sweepObjects(inTwo(world), later(0.5));
      expect(await world.store.list('swept/')).toHaveLength(1);
      await sweepObjects(inTwo(world), later(2));
      expect(await world.store.list('swept/')).toEqual([]);
      expect(await readBy(inTwo(world))).toEqual(PROFILES);
    });

    test('a reader that misses it just before that sweep puts it back finds it all the same', async () => {
      const world = await unneeded();
      await sweepObjects(
        inTwo(world, () => takenUp(world.store)),
        SWEEP,
      );
      const store = inTwo(world);
      const reading: ObjectStore = {
        ...store,
        async get(key) {
          if (key.startsWith('swept/')) await sweepObjects(store, later(2));
          return store.get(key);
        },
      };
      expect(await readBy(reading)).toEqual(PROFILES);
    });

    test('one that nobody takes up is gone with its copy after two sweeps', async () => {
      const world = await unneeded();
      expect((await sweepObjects(inTwo(world), { ...SWEEP, dryRun: true })).removed).toHaveLength(1);
      expect(await world.store.list('swept/')).toEqual([]);
      expect((await sweepObjects(inTwo(world), SWEEP)).removed).toHaveLength(1);
      expect(await world.store.list('objects/')).toEqual([]);
      expect((await sweepObjects(inTwo(world), later(2))).removed).toEqual([]);
      expect(await world.store.list('swept/')).toEqual([]);
    });
  });

  test('a writer at work beside it loses nothing, though it takes up objects that are old and unneeded', async () => {
    const { home } = testProcess();
    const store = createLocalStore(home);
    const contents = Array.from({ length: 40 }, (_, n) => ({
      schemaVersion: 1 as const,
      profiles: [{ ...PROFILE, table: `t${n}` }],
    }));
    const put = (search: string, n: number) =>
      createRunStore({ ...store }, search, sha256).put('profile', `p${n}`, contents[n]!);
    for (let n = 0; n < contents.length; n += 1) await put('before', n);
    for (const key of await store.list('runs/before/')) await store.delete(key);
    const anHourAgo = new Date(Date.now() - HOUR);
    for (const key of await store.list('objects/')) utimesSync(join(home, key), anHourAgo, anHourAgo);
    // All objects are unneeded and old; the grace period is far longer than a put takes.
    let begun = (): void => undefined;
    const firstRemoved = new Promise<void>((resolve) => (begun = resolve));
    const watched = { ...store, delete: (key: string) => store.delete(key).finally(begun) };
    const sweeping = async (): Promise<number> =>
      (await sweepObjects(watched, { ...SWEEP, nowMs: Date.now(), graceMs: HOUR / 2 })).removed.length;
    let swept = 0;
    const writing = new AbortController();
    const sweeper = (async () => {
      while (!writing.signal.aborted) swept += await sweeping();
    })();
    // Else the writer may have taken up all of them before the sweep has removed one.
    await firstRemoved;
    for (let round = 0; round < 3; round += 1)
      for (let n = 0; n < contents.length; n += 1) {
        await put(`during${round}`, n);
        // The local store writes in place: a search lets others in between its writes.
        await sleep(1);
      }
    writing.abort();
    await sweeper;
    expect(swept).toBeGreaterThan(0);
    for (let round = 0; round < 3; round += 1)
      for (let n = 0; n < contents.length; n += 1)
        expect(await createRunStore({ ...store }, `during${round}`, sha256).get('profile', `p${n}`)).toEqual(
          contents[n],
        );
  });

  test('the grace period is far above the time for which a writer relies on its own earlier put', async () => {
    const { REWRITE_AFTER_MS } = await import('../../../src/record/objects');
    expect(OBJECT_GRACE_MS).toBeGreaterThan(20 * REWRITE_AFTER_MS);
  });
});

describe('what is kept of databases to be fast', () => {
  const sweep = { nowMs: NOW, dryRun: false, olderThanMs: 30 * DAY };

  test('a description goes after a day, whatever age is given, because nobody reads it any more', async () => {
    const world = new World();
    for (const [name, ageMs] of [
      ['old', DAY],
      ['young', DAY - 1],
    ] as const) {
      world.clock = NOW - ageMs;
      await world.store.put(`schemas/${name}/r1.json`, '{}');
    }
    expect((await sweepCaches(world.store, { ...sweep, dryRun: true })).descriptions.removed).toHaveLength(1);
    expect(await world.store.list('schemas/')).toHaveLength(2);
    expect((await sweepCaches(world.store, sweep)).descriptions.removed).toHaveLength(1);
    expect(await world.store.list('schemas/')).toEqual(['schemas/young/r1.json']);
  });

  test('what a judge said goes at the age that is given', async () => {
    const world = new World();
    for (const [id, ageMs] of [
      ['old', 30 * DAY],
      ['young', 29 * DAY],
    ] as const) {
      world.clock = NOW - ageMs;
      await world.store.put(`judgements/reply/${id}.json`, '{}');
    }
    expect((await sweepCaches(world.store, sweep)).judgements.removed).toHaveLength(1);
    expect(await world.store.list('judgements/')).toEqual(['judgements/reply/young.json']);
  });

  test('of the copies of a layer the largest stays', async () => {
    const world = new World();
    world.clock = NOW - DAY;
    for (const name of ['a/00000210-x', 'a/00000400-y', 'b/00000201-z'])
      await world.store.put(`layer-snapshots/${name}.json`, '{}');
    expect((await sweepCaches(world.store, sweep)).layers.removed).toHaveLength(1);
    expect(await world.store.list('layer-snapshots/')).toEqual([
      'layer-snapshots/a/00000400-y.json',
      'layer-snapshots/b/00000201-z.json',
    ]);
  });
});

describe('payloads', () => {
  async function withPayload(world: World, workflowId: string, ageMs: number): Promise<void> {
    world.clock = NOW - ageMs;
    const [driver] = externalStorage(world.store).drivers;
    await driver!.store({ target: { kind: 'workflow', namespace: 'default', id: workflowId } }, [
      { data: Buffer.from('x') },
    ]);
    world.clock = NOW;
  }
  const options = { nowMs: NOW, dryRun: false, without: new Set<string>() };

  test('only those of workflows that Temporal has forgotten go', async () => {
    const world = new World();
    for (const id of ['question-gone', 'question-closed', 'question-running', 'odd/id'])
      await withPayload(world, id, 2 * DAY);
    await withPayload(world, 'question-new', HOUR);
    world.states.set('question-closed', 'closed').set('question-running', 'running');
    const { removed, young } = await sweepPayloads(world.store, world.ask, 'default', options);
    expect(removed.map(({ key }) => key.split('sha256/')[0]).sort()).toEqual(
      [payloadFolder('default', 'odd/id'), payloadFolder('default', 'question-gone')].sort(),
    );
    expect(young).toBe(1);
    expect(await world.store.list('payloads/')).toHaveLength(3);
  });

  test('nothing goes where Temporal cannot be asked, or is asked for another namespace', async () => {
    const world = new World();
    await withPayload(world, 'question-gone', 2 * DAY);
    await sweepPayloads(world.store, null, 'default', options);
    await sweepPayloads(world.store, world.ask, 'other', options);
    expect(await world.store.list('payloads/')).toHaveLength(1);
  });

  test('in a bucket a copy stays until a later sweep of the same namespace, which puts back what is needed again', async () => {
    const world = new World();
    const bucket: ObjectStore = { ...world.store, deletesInTwoRequests: true };
    for (const id of ['question-gone', 'question-again']) await withPayload(world, id, 2 * DAY);
    expect((await sweepPayloads(bucket, world.ask, 'default', options)).removed).toHaveLength(2);
    expect(await world.store.list('payloads/')).toEqual([]);
    world.states.set('question-again', 'running');
    const later = { ...options, nowMs: NOW + 2 * DAY };
    await sweepPayloads(bucket, world.ask, 'other', later);
    expect(await world.store.list('swept/')).toHaveLength(2);
    await sweepPayloads(bucket, world.ask, 'default', later);
    expect(await world.store.list('swept/')).toEqual([]);
    expect(await world.store.list('payloads/')).toEqual([
      expect.stringContaining(payloadFolder('default', 'question-again')) as string,
    ]);
  });
});

describe('gate gc', () => {
  async function withOldSearch() {
    const process = testProcess();
    const { store } = openServices(process.io);
    await saveInput(store, trace.input!);
    await addToIndex(store, trace.input!, 0);
    const run = createRunStore(store, record.id, sha256);
    await run.put('checkpoint', 'i3', state);
    await run.put('result', record.id, record);
    Object.assign(process.io, { now: () => Date.now() + 40 * DAY });
    return { process, store };
  }

  test('says what it would remove, then removes it, then has nothing to do', async () => {
    const { process, store } = await withOldSearch();
    const dry = await process.gate('gc', '--older-than', '30d', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringContaining('would remove 1 search, 0 shared objects') as string,
    });
    expect(dry.out).toContain('note: Temporal does not answer');
    expect(await store.list('runs/')).toHaveLength(3);
    const done = JSON.parse((await process.gate('gc', '--older-than', '30d', '--json')).out) as object;
    expect(done).toMatchObject({ dryRun: false, searches: [record.id], kept: [] });
    expect(await store.list('')).toEqual([]);
    expect((await process.gate('gc', '--older-than', '30d')).out).toContain('removed 0 searches');
  });

  test('tells of old descriptions', async () => {
    const { process, store } = await withOldSearch();
    await store.put('schemas/shop/r1.json', '{}');
    const dry = await process.gate('gc', '--older-than', '30d', '--dry-run');
    expect(dry.out).toContain('0 shared objects, 1 old description: ');
    const done = await process.gate('gc', '--older-than', '30d', '--json');
    expect(JSON.parse(done.out)).toMatchObject({ descriptions: 1, objects: 0 });
    expect(await store.list('')).toEqual([]);
  });

  test('--keep-answers leaves what gate result shows', async () => {
    const { process } = await withOldSearch();
    await process.gate('gc', '--older-than', '4w', '--keep-answers');
    expect((await process.gate('result', record.id)).out).toContain(record.answer!);
  });

  test('the age comes from the configuration where it is not given, and is asked for where neither says it', async () => {
    const { process } = await withOldSearch();
    expect(await process.gate('gc')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--older-than 30d, or set "store.retentionDays"') as string,
    });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${process.home}/gate.config.json`, JSON.stringify({ store: { retentionDays: 10 } }));
    expect((await process.gate('gc', '--dry-run')).out).toContain('would remove 1 search');
  });

  test.each(['30', '-1d', 'd', '5y', ''])('the age %j is refused with what is allowed', async (age) => {
    expect(await testProcess().gate('gc', '--older-than', age)).toMatchObject({
      code: 2,
      err: expect.stringContaining('give hours, days or weeks, such as 12h, 30d or 8w') as string,
    });
  });
});
