import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchmarkItem } from '../../../../src/questions';
import { createMemoryStore } from '../../../helpers/scripted';
import { questionDatabases } from '../../../../src/app/run/question-databases';
import { planBatch, selectItems, type AskedWith } from '../../../../src/app/run/batch-plan';
import { ResultFile, withResultFolder } from '../../../../src/app/run/results';
import type { ResultLine } from '../../../../src/questions';
import { answerLine } from '../../../helpers/answers';
import { parseMethodSpec } from '../../../../src/config/method-specs';
import { loadConfig } from '../../../../src/config';
import { testProcess } from '../../cli/test-io';

const here = testProcess({ GATE_MODEL: 'm' });
const config = loadConfig(here.io);
for (const name of ['a', 'b', 'c']) writeFileSync(join(here.home, `${name}.sqlite`), '');

const item = (id: string, more: Partial<BenchmarkItem> = {}): BenchmarkItem => ({
  ...{
    id,
    question: `How many ${id}?`,
    context: null,
    instructions: null,
    engine: 'sqlite',
    database: 'a',
    gold: null,
  },
  ...more,
});
const flags: AskedWith = { method: parseMethodSpec('fast'), output: 'sql' };

describe('databases of a batch', () => {
  const resolve = (specs: string[], selected: BenchmarkItem[], others: BenchmarkItem[] = []) =>
    questionDatabases(config, specs, { selected, others }, here.home);

  test('NAME= wins over a template, and a template serves questions of its engine', () => {
    const questions = [item('1'), item('2', { database: 'b' }), item('3', { database: 'p', engine: 'postgresql' })];
    const found = resolve(['a=./c.sqlite', './{database}.sqlite', 'postgresql://u:pw@h/x_{database}'], questions);
    const addresses = questions.map((question) => found.of(question)).map(({ address }) => address);
    expect(addresses[0]).toMatchObject({ path: expect.stringMatching(/c\.sqlite$/) as string });
    expect(addresses[1]).toMatchObject({ path: expect.stringMatching(/b\.sqlite$/) as string });
    expect(addresses[2]?.kind === 'url' && addresses[2].url.reveal()).toBe('postgresql://u:pw@h/x_p');
    expect(JSON.stringify(found.all)).not.toContain('pw');
  });

  test('all missing databases are named at once, with how many questions need them', () => {
    const questions = [
      item('1', { database: 'x' }),
      item('2', { database: 'x' }),
      item('3', { database: 'y' }),
      item('4'),
    ];
    expect(() => resolve(['a=./a.sqlite'], questions)).toThrow(
      /^no database is given for x \(2 questions\), y \(1 question\): add --db 'NAME=…' for each$/,
    );
  });

  test('all unusable addresses are named at once', () => {
    const questions = [item('1', { database: 'x' }), item('2', { database: 'y' })];
    expect(() => resolve(['x=./no-x.sqlite', 'y=./no-y.sqlite'], questions)).toThrow(/no-x\.sqlite.*\n.*no-y\.sqlite/);
  });

  test.each<[string, string[], RegExp]>([
    ['an address without a name', ['./a.sqlite'], /write NAME=… for one database/],
    ['a name given twice', ['a=./a.sqlite', 'a=./b.sqlite'], /--db a is given twice/],
    ['two templates for one engine', ['./{database}.sqlite', './x/{database}.db'], /two templates for sqlite/],
  ])('%s is refused', (_claim, specs, line) => {
    expect(() => resolve(specs, [item('1')])).toThrow(line);
  });

  test('a name that leads out of the folder of a template is refused', () => {
    expect(() => resolve(['./{database}.sqlite'], [item('1', { database: '../a' })])).toThrow(
      /cannot be put into a template/,
    );
  });

  test('a file that names no database takes a plain address', () => {
    const question = item('1', { database: null, engine: null });
    expect(resolve(['./a.sqlite'], [question]).of(question).name).toMatch(/^a-/);
    expect(() => resolve([], [question])).toThrow(/names no database/);
  });

  test('a configured name serves the questions of that database, and those that name none', () => {
    const at = (name: string) => ({
      ...config.databases['shop'],
      address: { kind: 'path', path: join(here.home, name) },
    });
    const both = { ...config, databases: { shop: at('a.sqlite'), depot: at('b.sqlite') } } as unknown as typeof config;
    const [shop, depot, none] = [
      item('1', { database: 'shop' }),
      item('2', { database: 'depot' }),
      item('3', { database: null }),
    ];
    const resolveIn = (specs: string[], selected: BenchmarkItem[]) =>
      questionDatabases(both, specs, { selected, others: [] }, here.home);
    const one = resolveIn(['shop'], [shop, none]);
    expect([shop, none].map((question) => one.of(question).name)).toEqual(['shop', 'shop']);
    const two = resolveIn(['shop', 'depot'], [shop, depot]);
    expect([shop, depot].map((question) => two.of(question).name)).toEqual(['shop', 'depot']);
    expect(() => resolveIn(['shop', 'depot'], [shop, none])).toThrow(/database/);
    expect(() => resolveIn(['shop'], [item('4', { database: 'absent' })])).toThrow(/no database is given for absent/);
  });

  test('what is not selected needs no database', () => {
    expect(resolve(['a=./a.sqlite'], [item('1')], [item('2', { database: 'zz' })]).all).toHaveLength(1);
  });
});

describe('what a batch is', () => {
  const store = createMemoryStore();
  const planOf = (items: BenchmarkItem[], more: Partial<AskedWith> = {}, name = 'n') => {
    const databases = questionDatabases(config, ['./{database}.sqlite'], { selected: items, others: [] }, here.home);
    const settings = { ...flags, ...more };
    return planBatch({ config, store, asked: settings, name, items, databases, models: { default: 'm' }, cwd: '.' });
  };

  test('with the web, its questions have the tools, gate a limit of lookups, and it is another batch', async () => {
    const plain = await planOf([item('1')]);
    const gate = await planOf([item('1')], { web: true });
    const react = await planOf([item('1')], { web: true, method: parseMethodSpec('react') });
    for (const { searches } of [gate, react])
      expect(searches[0]?.question.tools).toEqual(['execute_sql', 'web_search', 'fetch_url']);
    expect([plain, gate, react].map(({ settings }) => settings.lookups)).toEqual([undefined, 8, undefined]);
    expect(plain.settings).not.toHaveProperty('lookups');
    expect(gate.batchId).not.toBe(plain.batchId);
  });

  test('the same command is the same batch; other questions, settings or another name are not', async () => {
    const items = [item('1'), item('2')];
    const { batchId } = await planOf(items);
    expect((await planOf(items)).batchId).toBe(batchId);
    const others = [
      planOf([item('1')]),
      planOf(items, { seed: 1 }),
      planOf(items, { method: parseMethodSpec('react') }),
      planOf(items, {}, 'o'),
    ];
    for (const other of await Promise.all(others)) expect(other.batchId).not.toBe(batchId);
  });

  test('the first questions of a file are not paid again by all of it', async () => {
    const [few, all] = [await planOf([item('1')]), await planOf([item('1'), item('2')])];
    expect(all.searches[0]?.searchId).toBe(few.searches[0]?.searchId);
  });

  test('context and instructions are passed on; gold, category and id are not', async () => {
    const gold = {
      sql: ['SELECT 42'],
      answer: null,
      answerable: true,
      abstainText: null,
      text: null,
      category: 'secret',
      difficulty: null,
    };
    const { searches, settings } = await planOf([
      item('id-1', { question: 'Q?', context: 'c', instructions: 'i', gold }),
    ]);
    expect(searches[0]?.question).toMatchObject({ text: 'Q?', context: 'c', instructions: 'i' });
    expect(JSON.stringify(searches)).not.toMatch(/secret|SELECT 42|id-1/);
    expect(settings.layer).toBeUndefined();
  });

  test('questions that ask the same are one search', async () => {
    const { searches, questions } = await planOf([item('1', { question: 'Q?' }), item('2', { question: 'Q?' })]);
    expect([searches.length, questions.length]).toEqual([1, 2]);
  });

  test('--fresh begins anew, and later runs go on with the new one', async () => {
    const items = [item('f')];
    const before = await planOf(items, {}, 'fresh');
    const fresh = await planOf(items, { fresh: true }, 'fresh');
    expect(fresh.batchId).not.toBe(before.batchId);
    expect((await planOf(items, {}, 'fresh')).batchId).toBe(fresh.batchId);
    await planOf(items, { fresh: true, dryRun: true }, 'fresh');
    expect((await planOf(items, {}, 'fresh')).batchId).toBe(fresh.batchId);
  });

  test('--ids and --limit select in the order of the file, and unknown ids are named', () => {
    const items = ['1', '2', '3'].map((id) => item(id));
    expect(selectItems(items, { ids: ['3', '1'], limit: 2 }).map(({ id }) => id)).toEqual(['1', '3']);
    expect(() => selectItems(items, { ids: ['9', '1', '8'] })).toThrow(/not in the file: 9, 8/);
  });

  test('a question comes after the one that it follows, whose id is part of its own and whose context binds it', async () => {
    const items = [
      item('3', { after: '2' }),
      item('2', { after: '1', instructions: 'i' }),
      item('1', { context: 'c' }),
      item('4'),
    ];
    const { searches, questions } = await planOf(items);
    expect(searches.map(({ question }) => question.text)).toEqual([1, 4, 2, 3].map((id) => `How many ${id}?`));
    expect(questions.map(({ item: { id } }) => id)).toEqual(['3', '2', '1', '4']);
    const [one, four, two, three] = searches.map(({ searchId, question }) => ({ searchId, ...question }));
    expect([one?.after, four?.after]).toEqual([undefined, undefined]);
    expect(two).toMatchObject({ after: one?.searchId, context: 'c', instructions: 'i' });
    expect(three).toMatchObject({ after: two?.searchId, context: 'c', instructions: 'i' });
    const other = await planOf(items.map((each) => (each.id === '1' ? { ...each, context: 'd' } : each)));
    expect(other.searches[3]?.searchId).not.toBe(three?.searchId);
  });

  test('the same follow-up of the same question is one search, of another question another', async () => {
    const same = { question: 'and by car?' };
    const { searches } = await planOf([
      ...[item('1'), item('2'), item('3', { ...same, after: '1' }), item('4', { ...same, after: '1' })],
      item('5', { ...same, after: '2' }),
    ]);
    expect(searches).toHaveLength(4);
  });

  test('a follow-up without the question that it follows is refused, and where the method or the database is another', async () => {
    const items = [item('1'), item('2', { after: '1' }), item('3', { after: 'q-0123456789abcdef' })];
    expect(selectItems(items, { ids: ['1', '2'] })).toHaveLength(2);
    expect(() => selectItems(items, { ids: ['2'] })).toThrow(/^2 follows 1, which is not selected: select both/);
    expect(() => selectItems([items[1]!, items[0]!], { limit: 1 })).toThrow(/2 follows 1, which is not selected/);
    await expect(planOf(items)).rejects.toThrow('no search q-0123456789abcdef in the store');
    const two = items.slice(0, 2);
    await expect(planOf(two, { method: parseMethodSpec('react') })).rejects.toThrow(/^only the method fast, without/);
    await expect(planOf([item('1'), item('2', { after: '1', database: 'b' })])).rejects.toThrow(
      /^2 asks b-\S+, but 1, which it follows, asked another database \(a-/,
    );
  });
});

describe('results.jsonl', () => {
  const folder = join(here.home, 'results');
  const read = (): string[] =>
    readFileSync(join(folder, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as ResultLine).id);

  test('what is known is written in the order of the file, new lines are appended, and there are no doubles', () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'results.jsonl'), 'left by an earlier run\n');
    const results = new ResultFile(folder);
    const [one, two, three] = ['1', '2', '3'].map((id) => answerLine(id)) as [ResultLine, ResultLine, ResultLine];
    results.add(two);
    expect(readFileSync(join(folder, 'results.jsonl'), 'utf8')).toBe('left by an earlier run\n');
    results.rewrite([two]);
    results.add(three);
    results.add(one);
    results.add(answerLine('2', { verdict: 'wrong' }));
    expect(read()).toEqual(['2', '3', '1']);
    results.rewrite([one, two, three]);
    expect(read()).toEqual(['1', '2', '3']);
  });

  test('a folder that another process writes is refused, and one that cannot be made', async () => {
    await withResultFolder(folder, async () => undefined);
    await withResultFolder(folder, async () => {
      const second = withResultFolder(folder, async () => undefined);
      await expect(second).rejects.toThrow(/another process is writing there/);
    });
    writeFileSync(join(here.home, 'file'), '');
    for (const bad of ['file', 'file/x']) {
      await expect(withResultFolder(join(here.home, bad), async () => undefined)).rejects.toThrow(
        /a file is in the way/,
      );
    }
  });
});

describe('the spec of a method', () => {
  const settingsOf = async (spec: string | null, more: Partial<AskedWith> = {}, configured = 'fast') => {
    const databases = questionDatabases(
      config,
      ['./{database}.sqlite'],
      { selected: [item('1')], others: [] },
      here.home,
    );
    const { method: _, ...rest } = flags;
    const given = { ...rest, ...(spec !== null && { method: parseMethodSpec(spec) }), ...more };
    const plan = {
      store: createMemoryStore(),
      name: 's',
      items: [item('1')],
      databases,
      models: { default: 'm' },
      cwd: '.',
    };
    const own = { ...config, method: parseMethodSpec(configured) };
    return (await planBatch({ config: own, asked: given, ...plan })).settings;
  };

  test('is that of the flag, else of the configuration', async () => {
    expect(await settingsOf(null)).toMatchObject({ method: 'fast', spec: 'fast' });
    expect(await settingsOf(null, {}, 'react:queries=5')).toMatchObject({
      ...{ method: 'react', spec: 'react:queries=5', queriesPerAction: 5 },
    });
    expect(await settingsOf('react', {}, 'react:queries=5')).not.toHaveProperty('queriesPerAction');
    await expect(settingsOf('paper', { memory: 'on' })).rejects.toThrow('--memory on: method paper has no memory');
  });

  test('a setting of ReDel changes only itself; its helpers upstream run the calls of a round together', async () => {
    const seed = { depth: 1, children: 2, childCalls: 5, allCalls: 30 };
    expect(await settingsOf('redel:seed,children=2')).toMatchObject({ rounds: 20, redel: seed });
    expect(await settingsOf('redel:depth=1')).toMatchObject({
      ...{ rounds: 20, queriesPerAction: 8, redel: { depth: 1, children: 8, childCalls: 5 } },
    });
  });

  test('react:schema-only is react without profiles', async () => {
    const { profiles, spec, ...rest } = await settingsOf('react:schema-only');
    expect({ ...rest, profiles: true, spec: 'react' }).toEqual(await settingsOf('react'));
    expect([profiles, spec]).toEqual([false, 'react:schema-only']);
  });

  test('votes of ReFoRCE are drawn at temperature 1, unless the configuration says otherwise', async () => {
    expect(await settingsOf('reforce')).toMatchObject({ temperature: 1, reforce: { votes: 8 } });
    expect(await settingsOf('reforce:seed')).toMatchObject({ temperature: 0.2, reforce: { votes: 1, format: true } });
  });
});

describe('gate batch run', () => {
  writeFileSync(join(here.home, 'q.jsonl'), `${JSON.stringify({ question: 'Q?', database: 'a' })}\n`);
  writeFileSync(join(here.home, 'bad.jsonl'), '{"text": "Q?"}\n');
  test.each<[string, string[], RegExp]>([
    ['no file', ['no.jsonl', '--out', 'o'], /no\.jsonl cannot be read \(it does not exist\)/],
    ['a file of something else', ['bad.jsonl', '--out', 'o'], /bad\.jsonl, line 1: question: is missing/],
    ['no folder for the results', ['q.jsonl'], /where do the results go\? add --out FOLDER/],
    [
      'no database',
      ['q.jsonl', '--out', 'o'],
      /no database is given for a \(1 question\): add --db 'NAME=…' for each, or one template/,
    ],
    [
      'a template without its place',
      ['q.jsonl', '--out', 'o', '--db', './a.sqlite'],
      /needs a name: write NAME=… for one database/,
    ],
    ['no concurrency', ['q.jsonl', '--out', 'o', '--concurrency', '0'], /give a whole number above 0/],
    [
      'a ceiling that nobody watches',
      ['q.jsonl', '--detach', '--max-total-cost', '1'],
      /nobody watches what a detached/,
    ],
    ['a detached estimate', ['q.jsonl', '--detach', '--dry-run'], /--dry-run starts nothing: leave --detach out/],
    ['a folder that cannot be made', ['q.jsonl', '--db', 'a=./a.sqlite', '--out', 'q.jsonl'], /a file is in the way/],
  ])('%s ends with 2 and one line', async (_claim, args, expected) => {
    const { code, out, err } = await here.gate('batch', 'run', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(expected);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});
