/** The library as a program meets it: the same use cases as the command line, in this process and in scripts of their own. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { DEMO_QUESTION } from '../../src/app/demo';
import { userFolders } from '../../src/config/folders';
import { Gate, GateError, SearchFailedError, UsageError, type AskEvent, type AskOptions } from '../../src/library';
import { findTemporalBinary } from '../../src/workers/temporal-binary';
import { gateHome } from '../helpers/gate-process';
import { loadTestData, ROOT, SAMPLE_QUESTIONS, sprintSqlite, type TestData } from '../helpers/shared-data';
import { testFolder } from '../helpers/temporal';

const run = promisify(execFile);
const REPLAY = join(ROOT, 'examples', 'sprint', 'recording.jsonl');
const ANSWER = 'In 4 of 18 sprint events the winner beat the runner-up by more than five seconds.';
const QUESTION = 'How many drivers are there?';
const TEAMS = 'List the names of all teams in alphabetical order.';

let data: TestData;
let model: SimulatedModel;
let path: string;
const printed: string[] = [];

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  path = data.address({ engine: 'sqlite', database: 'sprint' });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, apiKey: 'test-key' });
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await model.close();
  expect(printed.splice(0)).toEqual([]);
  data.close();
});

/** A `Gate` of a user of their own, which is closed at the end. */
async function withGate<T>(work: (gate: Gate, folder: string) => Promise<T>, more: NodeJS.ProcessEnv = {}): Promise<T> {
  const { env, folder } = gateHome({ baseUrl: model.baseUrl, env: more });
  const gate = await Gate.open({ config: { databases: { sprint: { path } } }, env, cwd: folder });
  return work(gate, folder).finally(() => gate.close());
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof GateError ? error.code : error),
  );

describe('asking', () => {
  test('events come in order and end; the result is that of the answer; asked again it costs nothing', () =>
    withGate(async (gate) => {
      const asked = gate.ask(DEMO_QUESTION, { replay: REPLAY });
      const events: AskEvent[] = [];
      for await (const event of asked) events.push(event);
      const record = await asked.result();
      expect(record).toMatchObject({ status: 'answered', answer: ANSWER, rows: [[4]], usage: { llmCalls: 2 } });
      // A search as short as this may end before it is looked at.
      expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'progress')).toEqual(['begun', 'answer']);
      expect(events.at(-1)).toMatchObject({ kind: 'answer', record });
      expect(events[0]).toMatchObject({ searchId: record.id });

      const again = await gate.ask(DEMO_QUESTION, { replay: REPLAY }).result();
      expect([again.id, again.usage.llmCalls]).toEqual([record.id, 2]);
      expect(await gate.result('last')).toMatchObject({ id: record.id, status: 'answered', record: { rows: [[4]] } });
    }));

  test('two of them in one process have a store and a model each', () =>
    withGate((one) =>
      withGate(async (other) => {
        const asked = [one.ask(QUESTION), other.ask(TEAMS)];
        const [drivers, teams] = await Promise.all(asked.map((each) => each.result()));
        expect([drivers?.question, teams?.question]).toEqual([QUESTION, TEAMS]);
        await expect(other.result(drivers?.id ?? '')).rejects.toThrow(/^no search/);
        expect(await code(one.ask(QUESTION, { model: 'no-such-model' }).result())).toBe('failed');
        expect((await other.ask(TEAMS).result()).id).toBe(teams?.id);
      }),
    ));

  test('left, it goes on when it is asked again, and pays nothing twice; stopped, it ends with what it has', () =>
    withGate(async (gate) => {
      const release = model.holdAfter(1);
      const leave = new AbortController();
      const left = gate.ask(DEMO_QUESTION, { leave: leave.signal });
      const kinds: string[] = [];
      let id = '';
      for await (const event of left) {
        kinds.push(event.kind);
        if (event.kind === 'begun') id = event.searchId;
        if (event.kind === 'progress') break;
      }
      expect(kinds.slice(-2)).toEqual(['begun', 'progress']);
      await model.billed(1);
      leave.abort();
      expect(await code(left.result())).toBe('cancelled');
      expect(await gate.result(id)).toMatchObject({ id, status: 'running', record: null });
      const waitedFrom = performance.now();
      expect(await gate.result(id, { waitMs: 300 })).toMatchObject({ status: 'running' });
      // A timer counts whole milliseconds, and may be one early.
      expect(performance.now() - waitedFrom).toBeGreaterThan(290);

      const again = gate.ask(DEMO_QUESTION);
      release();
      const record = await again.result();
      expect(record).toMatchObject({ id, status: 'answered', rows: [[4]] });
      expect(record.usage.llmCalls).toBeLessThanOrEqual(model.ledger().totals.billed);

      const stop = new AbortController();
      const hold = model.holdAfter(model.ledger().totals.billed);
      const stopped = gate.ask(DEMO_QUESTION, { fresh: true, stop: stop.signal });
      const ending: string[] = [];
      for await (const event of stopped) {
        ending.push(event.kind);
        if (event.kind === 'begun') stop.abort();
      }
      hold();
      expect(ending).toContain('stopping');
      expect(await stopped.result()).toMatchObject({ status: 'cancelled', sql: null });
    }));

  test('a running search takes a hint, a pause and a stop; closing leaves it', async () => {
    const release = model.holdAfter(0);
    const left = await withGate(async (gate) => {
      const asked = gate.ask(DEMO_QUESTION);
      let id = '';
      for await (const event of asked)
        if (event.kind === 'begun') {
          id = event.searchId;
          break;
        }
      expect(await gate.steer(id, { kind: 'hint', text: 'gaps are in seconds', author: 'ada' })).toMatchObject({
        ...{ id, kind: 'hint', author: 'ada', remarkId: 'h1' },
      });
      expect(await gate.steer(id, { kind: 'pause' })).toMatchObject({ id, kind: 'pause' });
      expect(await gate.result(id)).toMatchObject({ status: 'paused' });
      await gate.steer(id, { kind: 'resume' });
      return asked;
    });
    expect(await code(left.result())).toBe('cancelled');
    release();
  });
});

describe('bad input', () => {
  const asking =
    (options: AskOptions, text = QUESTION) =>
    (gate: Gate) =>
      gate.ask(text, options).result();
  interface Mistake {
    readonly what: string;
    readonly with: (gate: Gate, folder: string) => Promise<unknown>;
    readonly env?: NodeJS.ProcessEnv;
    readonly is?: typeof GateError | typeof UsageError;
    readonly code?: GateError['code'];
    readonly says: RegExp;
  }
  const mistakes: readonly Mistake[] = [
    { what: 'an empty question', with: asking({}, ' '), is: UsageError, says: /^the question is empty/ },
    { what: 'an unknown database', with: asking({ db: 'nowhere' }), is: UsageError, says: /nowhere.*sprint/ },
    {
      what: 'an unknown option',
      with: asking({ databse: 'sprint' } as AskOptions),
      is: UsageError,
      says: /^options: databse: unknown setting; allowed: db, context/,
    },
    { what: 'an unknown method', with: asking({ method: 'fastest' }), is: UsageError, says: /fastest.*fast/ },
    {
      what: 'a limit that is none',
      with: asking({ budgets: { costUsd: -1 } }),
      is: UsageError,
      says: /budgets\.costUsd/,
    },
    { what: 'a wrong key', with: asking({}), env: { OPENAI_API_KEY: 'other' }, says: /OPENAI_API_KEY/ },
    { what: 'an unknown model', with: asking({ model: 'no-such-model' }), says: /no-such-model/ },
    {
      what: 'a file that is no database',
      with: (gate, folder) => {
        writeFileSync(join(folder, 'notes.sqlite'), 'hello, this is text');
        return gate.ask(QUESTION, { db: './notes.sqlite' }).result();
      },
      is: UsageError,
      says: /neither an SQLite nor a DuckDB database/,
    },
    {
      what: 'an unknown search',
      with: (gate) => gate.result('q-0123456789abcdef'),
      code: 'not-found',
      says: /^no search q-0123456789abcdef/,
    },
    {
      what: 'a wait that is none',
      with: (gate) => gate.result('last', { waitMs: -1 }),
      is: UsageError,
      says: /waitMs/,
    },
    {
      what: 'an unknown command',
      with: (gate) => gate.steer('last', { kind: 'shout' } as never),
      is: UsageError,
      says: /^steer: kind/,
    },
    {
      what: 'a command to nothing',
      with: (gate) => gate.steer('last', { kind: 'stop' }),
      says: /no question was asked/,
    },
    {
      what: 'an unknown entry',
      with: (gate) => gate.layer.confirm('e0000000000000001'),
      code: 'not-found',
      says: /no entry e0/,
    },
    { what: 'an unknown batch', with: (gate) => gate.batch.status('b-00'), code: 'not-found', says: /b-00/ },
    {
      what: 'a plan without questions',
      with: (gate) => gate.batch.run({ name: 'none' } as never).result(),
      is: UsageError,
      says: /^the plan, line 1: questions: is missing/,
    },
    {
      what: 'a worker in the background that cannot read the configuration',
      with: (gate) => gate.start(QUESTION),
      is: UsageError,
      says: /configuration from a file/,
    },
  ];

  test.each(mistakes)(
    '$what is one line with a code',
    ({ with: work, env, is = GateError, code: wanted = is === UsageError ? 'usage' : 'failed', says }) =>
      withGate(async (gate, folder) => {
        const error: unknown = await work(gate, folder).then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(is);
        const { code: found, message } = error as GateError;
        expect([found, message]).toEqual([wanted, expect.stringMatching(says)]);
        expect(message).not.toMatch(/\n/);
      }, env),
  );

  test('a configuration with mistakes is refused at once, one line each, and a closed Gate by every method', async () => {
    const config = { databases: { 'no name!': {} }, modles: {} } as never;
    await expect(Gate.open({ config, env: {} })).rejects.toMatchObject({
      ...{ name: 'UsageError', code: 'usage' },
      message: expect.stringMatching(/^configuration: .*no name!.*\nconfiguration: modles: unknown setting/) as string,
    });
    await expect(Gate.open({ config: 'none.json', env: {} })).rejects.toThrow(/no file .*none\.json/);
    await expect(Gate.open({ conf: 'none.json' } as never)).rejects.toThrow('Gate.open: conf: unknown setting');
    const gate = await withGate((one) => Promise.resolve(one));
    const late = [gate.ask(QUESTION).result(), gate.result('last'), gate.layer.list(), gate.databases.list()];
    for (const one of late) await expect(one).rejects.toThrow('this Gate is closed');
  });

  test('a search that fails has its record', () =>
    withGate(async (gate) => {
      const failed = gate.ask('How many teams are there?', { replay: REPLAY });
      await expect(failed.result()).rejects.toBeInstanceOf(SearchFailedError);
      await expect(failed.result()).rejects.toMatchObject({ code: 'failed', record: { status: 'failed' } });
      await expect(failed[Symbol.asyncIterator]().return?.()).resolves.toMatchObject({ done: true });
    }));
});

test('databases are listed, described and checked; a layer takes what a person says', () =>
  withGate(async (gate) => {
    expect(await gate.databases.list()).toMatchObject([{ name: 'sprint', engine: 'sqlite' }]);
    expect((await gate.databases.describe('sprint', { table: ['drivers'] })).text).toMatch(/drivers/);
    expect(await gate.databases.check('sprint')).toMatchObject({ readOnly: true, problems: [] });
    const { held } = await gate.layer.add('drivers.name is the name on the licence.', { author: 'ada' });
    expect(await gate.layer.list()).toMatchObject({ database: 'sprint', rules: [{ entry: { author: 'ada' } }] });
    const { entryId } = held.entry;
    expect(await gate.layer.reject(entryId, { author: 'bob', note: 'no' })).toMatchObject({ status: 'rejected' });
    expect(await gate.layer.list()).toMatchObject({ rules: [] });
    expect((await gate.layer.show(entryId)).history).toMatchObject([{ kind: 'said' }, { kind: 'rejected' }]);
    expect(await gate.layer.verify()).toMatchObject({ checked: 0, broken: [] });
  }));

test('a batch tells what it does, writes its results and has a status', () =>
  withGate(async (gate, folder) => {
    const plan = { name: 'sprint', questions: [{ file: SAMPLE_QUESTIONS, limit: 3 }] };
    const running = gate.batch.run(plan, { out: 'out' });
    const kinds = new Set<string>();
    for await (const event of running) if (event.kind !== 'note') kinds.add(event.kind);
    const { run: figures, lines, files, open } = await running.result();
    expect([...kinds].slice(0, 2)).toEqual(['planned', 'started']);
    expect([lines.length, open, figures.complete, files[0]]).toEqual([3, 0, true, 'results.jsonl']);
    expect(await gate.batch.status('last')).toMatchObject({ status: 'ended', done: 3, out: join(folder, 'out') });
    expect(await gate.batch.list()).toMatchObject([{ total: 3, done: 3 }]);
  }));

/** A project that has the package as npm installs it. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = testFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'gate-sql'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const SCRIPT = `
const [path, question, replay] = process.argv.slice(2);
const before = JSON.stringify([process.env, process.listenerCount('SIGINT'), process.listenerCount('SIGTERM'), process.exitCode]);
const main = async () => {
  const gate = await Gate.open({ config: { databases: { sprint: { path } } } });
  const code = await gate.ask(question, { model: 'none' }).result().catch((error) => error.code);
  const { answer } = await gate.ask(question, { replay }).result();
  await gate.close();
  const after = JSON.stringify([process.env, process.listenerCount('SIGINT'), process.listenerCount('SIGTERM'), process.exitCode]);
  console.log(JSON.stringify([code, answer, before === after]));
};
main();
`;

test.each([
  ['an ES module', 'ask.mjs', `import { Gate } from 'gate-sql';${SCRIPT}`],
  ['CommonJS', 'ask.cjs', `const { Gate } = require('gate-sql');${SCRIPT}`],
])(
  '%s with an embedded Temporal prints its own line alone, ends by itself and leaves the process as it was',
  async (_, name, text) => {
    const folder = project({ [name]: text });
    const temporal = await findTemporalBinary({ env: process.env, cacheFolder: userFolders(process.env).cache });
    const env = gateHome({
      baseUrl: '',
      env: { TEMPORAL_ADDRESS: '', TEMPORAL_CLI_PATH: temporal, GATE_MODEL: '' },
    }).env;
    const args = [name, sprintSqlite(folder), DEMO_QUESTION, REPLAY];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder, env, timeout: 240_000 });
    expect([stdout, stderr]).toEqual([`${JSON.stringify(['failed', ANSWER, true])}\n`, '']);
  },
);

test('the example asks, and tells a mistake in one line', async () => {
  const example = join(ROOT, 'examples', 'library', 'ask.ts');
  const { env } = gateHome({ baseUrl: model.baseUrl });
  const start = (...args: string[]) =>
    run(process.execPath, [join(ROOT, 'node_modules', '.bin', 'tsx'), example, ...args], { cwd: ROOT, env });
  const { stdout, stderr } = await start(path, DEMO_QUESTION, REPLAY);
  expect([stdout, stderr]).toEqual([expect.stringContaining(`${ANSWER}\n`), '']);
  expect(stdout).toMatch(/\n126 of 126: .*\n$/);
  await expect(start('none.sqlite', DEMO_QUESTION, REPLAY)).rejects.toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^usage: .*none\.sqlite.*\n$/) as string,
  });
});

const USE = `
const use = async (): Promise<void> => {
  const gate: Gate = await Gate.open({ config: { databases: { shop: { path: './shop.sqlite' } }, method: 'fast' } });
  const asked = gate.ask('How many?', { db: 'shop', budgets: { costUsd: null } });
  for await (const event of asked) if (event.kind === 'answer') event.record.rows satisfies readonly unknown[];
  const record: AnswerRecord = await asked.result();
  const matching: number | null | undefined = record.claims?.[0]?.matching;
  // @ts-expect-error: a record has no such field
  record.nothing;
  // @ts-expect-error: an option is no database
  gate.ask('How many?', { databse: 'shop' });
  // @ts-expect-error: a method has a name
  gate.ask('How many?', { method: matching });
  await gate.steer('last', { kind: 'hint', text: 'in cents' });
  // @ts-expect-error: a hint has a text
  await gate.steer('last', { kind: 'hint' });
};
use().catch((error: unknown) => error instanceof GateError && error.code === 'usage');
`;

test('a strict TypeScript project without any other package compiles with the types of the library', async () => {
  const compilerOptions = { strict: true, skipLibCheck: false, noEmit: true, types: [], target: 'es2022' };
  const folder = project({
    'use.mts': `import { Gate, GateError, type AnswerRecord } from 'gate-sql';${USE}`,
    'use.cts': `import { Gate, GateError, type AnswerRecord } from 'gate-sql';${USE}`,
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...compilerOptions, module: 'nodenext' } }),
    'package.json': '{}',
  });
  const compiled = run(process.execPath, [join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', folder]);
  expect((await compiled.catch((error: unknown) => error as { readonly stdout: string })).stdout).toBe('');
});
