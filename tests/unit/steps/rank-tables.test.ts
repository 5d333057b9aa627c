/** A schema of 1,000 tables, one of which says in other words what the question asks for. */
import type { DatabaseDescription } from '../../../src/domain';
import { ModelError, type Embedder } from '../../../src/ports';
import { NO_USAGE } from '../../../src/domain/control-view';
import { schemaContext, SCHEMA_CHARS } from '../../../src/schema/context';
import { createRunStore, createSteps, storeInput, type StepDeps } from '../../../src/steps';
import { state } from '../report/fixture';
import { refused, testEmbedder, type TestEmbedder } from './embedder';
import { bench, containing, hash, sqliteEngine } from './fixtures';

const QUESTION = 'How many employees resigned in each branch?';
const NEAR = 'wfm_terminations_2';

function wide(count = 1_000): DatabaseDescription {
  const column = (name: string) => ({ name, type: 'text', nullable: true, comment: null, samples: [] });
  const table = (name: string, columns: readonly string[]) => ({
    ...{
      name,
      kind: 'table' as const,
      comment: null,
      rowEstimate: 10,
      primaryKey: [],
      uniqueKeys: [],
      foreignKeys: [],
    },
    columns: columns.map(column),
  });
  const fillers = Array.from({ length: count - 1 }, (_, at) =>
    table(`ledger_${at % 2 === 0 ? 'branch' : 'site'}_${at}`, ['id', 'posted_on', 'amount', 'currency', 'status', 'note', 'batch', 'source', 'period', 'flag']),
  ); // prettier-ignore
  fillers.splice(
    700,
    0,
    table(NEAR, [
      'worker_ref',
      'exit_day',
      'separation_reason',
      'unit_ref',
      'notice_given_on',
      'interview_held',
      'rehire_allowed',
      'last_day_on_site',
      'recorded_by',
      'recorded_at',
    ]),
  );
  return { dialect: 'sqlite', version: 'SQLite', tables: fillers, fingerprint: 'wide1' };
}

async function world(embedder: TestEmbedder | null, description = wide()) {
  const made = await bench({}, { engine: { ...sqliteEngine(), describe: async () => description } });
  const open = (): Promise<Embedder> => Promise.resolve(embedder!);
  const deps: StepDeps = {
    ...made.deps,
    ...(embedder === null ? {} : { embedder: { model: embedder.model, open } }),
  };
  await storeInput(deps, { ...made.input, question: { ...made.input.question, text: QUESTION } });
  const run = createRunStore(deps.store, made.searchId, hash);
  const prepare = (using = deps) =>
    createSteps(using).prepare({ purpose: 'prepare', searchId: made.searchId, position: 'prepare' });
  const finish = () =>
    createSteps(deps).finish({
      ...{ searchId: made.searchId, status: 'abstained', endedBy: 'exhausted', chosen: null, reason: null },
      state: { ...state, searchId: made.searchId, candidates: [], updates: [], usage: NO_USAGE },
    });
  return { ...made, deps, run, prepare, finish };
}

test('a table that shares no word with the question is shown because it means the same', async () => {
  expect(schemaContext(wide(), { maxChars: SCHEMA_CHARS, question: QUESTION }).shown).not.toContain(NEAR);
  const { prepare, run } = await world(testEmbedder());
  await prepare();
  const { text, shown, description } = await run.get('schema', 'schema');
  expect(shown).toContain(NEAR);
  expect(text).toContain('separation_reason text');
  expect(text.length).toBeLessThanOrEqual(SCHEMA_CHARS);
  expect(description.tables.filter(({ name }) => !text.includes(name))).toEqual([]);
  const ranking = await run.get('ranking', 'schema');
  expect(ranking).toMatchObject({ by: 'words-and-meaning', model: 'test-embedding', tables: 1_000, warning: null });
  expect(ranking.shown.find(({ table }) => table === NEAR)).toEqual({ table: NEAR, byWords: null, byMeaning: 1 });
});

test('without an embedding model nothing changes: the text, the usage and what is stored', async () => {
  const { prepare, run, deps, finish, searchId } = await world(null);
  expect((await prepare()).usage).toEqual({});
  const { text, shown } = await run.get('schema', 'schema');
  expect({ text, shown }).toMatchObject({
    text: schemaContext(wide(), { maxChars: SCHEMA_CHARS, question: QUESTION }).text,
  });
  await finish();
  expect(Object.keys(await run.get('result', searchId))).not.toContain('tableRanking');
  const kinds = (await deps.store.list(`runs/${searchId}/`)).map((key) => key.split('/')[2]);
  expect(new Set(kinds)).toEqual(new Set(['checkpoint', 'input', 'result', 'schema', 'step']));
  expect(await deps.store.list('embeddings/')).toEqual([]);
});

test('a schema that fits asks nothing of the embedding model', async () => {
  const embedder = testEmbedder();
  const { prepare, run } = await world(embedder, wide(20));
  await prepare();
  expect(embedder.requests).toEqual([]);
  expect(await run.find('ranking', 'schema')).toBeNull();
});

describe('what is paid', () => {
  test('is in the usage of the search: the question, and the tables for whoever comes first', async () => {
    const { prepare, finish, run, searchId } = await world(testEmbedder());
    const { usage } = await prepare();
    expect(usage).toEqual({ promptTokens: 10_010, costUsd: expect.closeTo(1.001) as number });
    await finish();
    expect((await run.get('result', searchId)).tableRanking).toMatchObject({
      ...{ by: 'words-and-meaning', tables: 1_000, embeddedTables: 1_000, tokens: 10_010, warning: null },
    });
  });

  test('the question is paid once, also when the step dies right after it and runs again', async () => {
    const embedder = testEmbedder();
    const { prepare, deps, run, searchId } = await world(embedder);
    let died = false;
    const dying = {
      ...deps,
      store: {
        ...deps.store,
        put: (async (key, ...rest) => {
          if (key.includes('/schema/') && !died) {
            died = true;
            throw new Error('killed');
          }
          return deps.store.put(key, ...rest);
        }) as typeof deps.store.put,
      },
    };
    await expect(prepare(dying)).rejects.toThrow('killed');
    // What the tables cost was paid by the try that died, and is the search's all the same.
    expect((await prepare()).usage).toEqual({ promptTokens: 10_010, costUsd: expect.closeTo(1.001) as number });
    expect(await run.get('ranking', 'schema')).toMatchObject({ embeddedTables: 1_000, tokens: 10_010 });
    expect(embedder.requests.filter(([text]) => text === QUESTION)).toHaveLength(1);
    expect(embedder.requests.flat()).toHaveLength(1_001);
    await prepare();
    expect(embedder.requests.flat()).toHaveLength(1_001);
    expect(await deps.store.list(`runs/${searchId}/embedding/`)).toHaveLength(1);
  });

  test('a step that runs out of time leaves the request running, and its next try joins it', async () => {
    const embedder = testEmbedder();
    const { deps, searchId } = await world(embedder);
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    embedder.gate = () => opened;
    const controller = new AbortController();
    const step = { purpose: 'prepare' as const, searchId, position: 'prepare' };
    const first = createSteps(deps).prepare(step, { signal: controller.signal });
    while (embedder.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('too slow'));
    await expect(first).rejects.toThrow('too slow');
    const second = createSteps(deps).prepare(step);
    await new Promise((resolve) => setImmediate(resolve));
    open();
    expect((await second).usage).toEqual({ promptTokens: 10_010, costUsd: expect.closeTo(1.001) as number });
    expect(embedder.requests.filter(([text]) => text === QUESTION)).toHaveLength(1);
  });

  test('a request whose reply never came is counted as possibly billed', async () => {
    const embedder = testEmbedder();
    const { prepare, deps } = await world(embedder);
    embedder.failures.push(new Error('killed'));
    await expect(prepare(deps)).rejects.toThrow('killed');
    expect((await prepare()).usage).toMatchObject({ possiblyBilledCalls: 1, promptTokens: 10_010 });
  });
});

describe('when the embedding model fails', () => {
  test.each<[string, Error[], object]>([
    ['a wrong key', [refused()], {}],
    ['an unknown model', [new ModelError('unknown-model', 'test has no model "x": set schema.embeddings.model')], {}],
    ['a request that hangs', [new ModelError('timeout', 'test gave no complete reply')], { possiblyBilledCalls: 1 }],
  ])('%s: the search goes on by words, and its record says so', async (_, failures, usage) => {
    const embedder = testEmbedder();
    embedder.failures.push(...failures);
    const { prepare, finish, run, searchId } = await world(embedder);
    expect((await prepare()).usage).toEqual(usage);
    const { text } = await run.get('schema', 'schema');
    expect(text).toBe(schemaContext(wide(), { maxChars: SCHEMA_CHARS, question: QUESTION }).text);
    await finish();
    expect((await run.get('result', searchId)).tableRanking).toMatchObject({
      by: 'words',
      warning: `tables were ranked by the question's words alone: ${failures[0]!.message}`,
    });
  });

  test('an endpoint that is not configured is said, too', async () => {
    const { deps, prepare, run } = await world(testEmbedder());
    const open = (): Promise<Embedder> => Promise.reject(new ModelError('not-configured', 'no endpoint to ask'));
    await prepare({ ...deps, embedder: { model: 'm', open } });
    expect(await run.get('ranking', 'schema')).toMatchObject({ warning: containing('no endpoint to ask') });
  });

  test('a failure of the tables after the question was paid keeps the question in the usage', async () => {
    const embedder = testEmbedder({ batchSize: 1_000 });
    embedder.failures.push(null, refused());
    const { prepare, run } = await world(embedder);
    expect((await prepare()).usage).toMatchObject({ promptTokens: 10 });
    expect(await run.get('ranking', 'schema')).toMatchObject({ by: 'words', tokens: 10 });
  });

  test('requests for tables that hang are counted as possibly billed', async () => {
    const embedder = testEmbedder({ batchSize: 1_000 });
    embedder.failures.push(null, new ModelError('timeout', 'test gave no complete reply'));
    const { prepare } = await world(embedder);
    expect((await prepare()).usage).toEqual({ promptTokens: 10, costUsd: 0.001, possiblyBilledCalls: 1 });
  });

  test('a cancelled search is cancelled and not ranked by words', async () => {
    const embedder = testEmbedder();
    const { deps, searchId, run } = await world(embedder);
    const controller = new AbortController();
    embedder.gate = async () => controller.abort(new Error('cancelled'));
    const step = { purpose: 'prepare' as const, searchId, position: 'prepare' };
    await expect(createSteps(deps).prepare(step, { signal: controller.signal })).rejects.toThrow('cancelled');
    expect(await run.find('schema', 'schema')).toBeNull();
  });
});
