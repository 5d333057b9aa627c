/** ReFoRCE over its real steps and a small database; the model is scripted, each vote by its seed. */
import type { ReforceSettings, Settings } from '../../../src/domain';
import type { ModelRequest } from '../../../src/domain/ports';
import { settingsFor, type Figures } from '../../../src/config/presets';
import { runReforce } from '../../../src/methods/reforce/loop';
import { createRunStore } from '../../../src/record/run-store';
import { testHooks, toEnd } from '../../helpers/fake-steps';
import { bench, SEARCH, text } from '../roles/fixtures';

/** Calls of one role and vote get one reply after the other; the last one stays. `v`: the vote, from 1. */
type Script = Readonly<Partial<Record<string, (vote: number, call: number) => unknown>>>;

const sql = (query: string) => ({ note: 'n', sql: query });
const looks = (...queries: string[]) => ({ note: 'n', queries: queries.map((query) => ({ why: 'w', sql: query })) });
const ONE = sql('SELECT 1 AS n');
const EMPTY = sql('SELECT mark FROM entry WHERE place = 99');
const BROKEN = sql('SELECT wage FROM entry');
const LOOKS = looks('SELECT mark FROM entry', 'SELECT place FROM entry', 'SELECT name FROM event');
const USUAL: Script = {
  'reforce-format': () => ({ header: 'n:number\nsecond line' }),
  'reforce-explore': () => LOOKS,
  'reforce-generate': () => ONE,
  'reforce-choose': () => ({ note: 'n', choice: 2 }),
  'reforce-answer': () => ({ answer: 'It is {n}.' }),
};

async function ask(
  figures: Figures,
  script: Script,
  reforce: Partial<ReforceSettings> = {},
  overrides: Partial<Settings> = {},
  hooks = testHooks(),
) {
  const settings = settingsFor({
    ...{ method: 'reforce', models: { default: 'test-model' } },
    overrides: { ...overrides, figures, reforce },
  });
  const calls = new Map<string, number>();
  const reply = ({ role, seed }: ModelRequest) => {
    const key = `${role} ${seed}`;
    const call = calls.get(key) ?? 0;
    calls.set(key, call + 1);
    return text((script[role] ?? USUAL[role])?.(seed + 1, call));
  };
  const made = await bench(reply, { settings });
  const start = { searchId: SEARCH, settings: made.input.settings, state: null };
  await toEnd(runReforce(start, made.steps, hooks));
  const run = createRunStore(made.deps.store, SEARCH);
  const record = await run.get('result', SEARCH);
  const { requests } = made.model;
  const told = (role: string, vote = 1) =>
    requests.filter((request) => request.role === role && request.seed === vote - 1);
  const count = (role: string) => requests.filter((request) => request.role === role).length;
  return { record, requests, told, count, engine: made.engine, run };
}

const official = (script: Script, reforce: Partial<ReforceSettings> = {}, overrides: Partial<Settings> = {}) =>
  ask('official', script, reforce, overrides);
const single = (script: Script, reforce: Partial<ReforceSettings> = {}) =>
  official(script, { votes: 1, explore: 'never', ...reforce });
/** The n-th reply to the n-th call. */
const inTurn =
  (...replies: unknown[]) =>
  (_: number, call: number) =>
    replies[Math.min(call, replies.length - 1)];
const byVote =
  (...replies: unknown[]) =>
  (vote: number) =>
    replies[vote - 1];
const value = (n: number | string) => sql(`SELECT ${n} AS n`);

describe('self-refinement', () => {
  test('an error goes back in the same conversation, and the first rows are the candidate', async () => {
    const { told, record } = await single({ 'reforce-generate': inTurn(BROKEN, ONE) });
    const [first, second] = told('reforce-generate');
    expect(second!.messages.slice(0, first!.messages.length)).toEqual(first!.messages);
    expect(second!.messages.at(-1)!.content).toMatch(/<data name="error">\nSQL error: no such column: wage/);
    expect(record).toMatchObject({ status: 'answered', endedBy: 'finished', sql: 'SELECT 1 AS n' });
  });

  test('four identical empty results end a vote before its last try', async () => {
    const { count, record } = await single({ 'reforce-generate': () => EMPTY });
    expect(count('reforce-generate')).toBe(4);
    expect(record).toMatchObject({ status: 'abstained', reason: 'no vote found SQL that runs and returns rows' });
  });

  test('an error between them begins the count anew, and after five tries the vote has no candidate', async () => {
    const { count, record } = await single({ 'reforce-generate': inTurn(EMPTY, EMPTY, BROKEN, EMPTY, EMPTY, ONE) });
    expect(count('reforce-generate')).toBe(5);
    expect(record).toMatchObject({ status: 'abstained', endedBy: 'exhausted', candidates: [] });
  });

  test('no more than 500 characters of a result are shown', async () => {
    const long = sql("SELECT replace(hex(zeroblob(2000)), '0', 'x') AS n");
    const { told } = await single({ 'reforce-generate': inTurn(long, ONE, ONE) }, { consistency: true });
    expect(told('reforce-generate')[1]!.messages.at(-1)!.content.length).toBeLessThan(900);
  });

  test('with consistency a result counts once another of the conversation repeats it', async () => {
    const { told, record } = await single(
      { 'reforce-generate': inTurn(value(2), value('0'), ONE, value(1.004)) },
      { consistency: true },
    );
    const asked = told('reforce-generate').map(({ messages }) => messages.at(-1)!.content);
    expect(asked[1]).toContain('send the same SQL again');
    expect(asked[2]).toMatch(/columns without any value but zero">\nn\n/);
    expect(record.sql).toBe('SELECT 1.004 AS n');
    expect(await single({ 'reforce-generate': (_, call) => value(call + 1) }, { consistency: true })).toMatchObject({
      record: { status: 'abstained' },
    });
  });

  test('a model whose replies cannot be used has failed', async () => {
    const { record } = await single({ 'reforce-generate': () => 'prose' });
    expect(record).toMatchObject({ status: 'failed', endedBy: 'unusable' });
    expect(record.reason).toMatch(/no usable SQL in 4 tries/);
  });
});

describe('the vote', () => {
  test('the largest group of equal results wins; votes differ by seed alone and none explores', async () => {
    const { record, requests, count } = await official(
      { 'reforce-generate': byVote(value(3), value(1), value(2), value(1.0004), value(3), value(1), BROKEN, EMPTY) },
      { attempts: 1 },
    );
    expect(record).toMatchObject({ status: 'answered', endedBy: 'agreement', sql: 'SELECT 1 AS n' });
    expect(record.candidates.find(({ chosen }) => chosen)).toMatchObject({ id: 'c2', agreesWith: ['c4', 'c6'] });
    const asked = requests.filter(({ role }) => role === 'reforce-generate');
    expect(asked.map(({ seed }) => seed)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Set(asked.map(({ messages }) => JSON.stringify(messages))).size).toBe(1);
    expect(new Set(asked.map(({ temperature }) => temperature))).toEqual(new Set([1]));
    expect([count('reforce-explore'), count('reforce-format')]).toEqual([0, 0]);
  });

  test('two largest groups decide nothing: all vote again and explore first, and the new candidates take their place', async () => {
    const again = byVote(value(1), value(2), value(1), value(2));
    const { record, told, count, run } = await official(
      { 'reforce-generate': (vote, call) => (call === 0 ? again(vote) : value(7)) },
      { votes: 4 },
    );
    expect(count('reforce-explore')).toBe(4);
    expect(told('reforce-generate', 3)[1]!.messages.at(-1)!.content).toContain('<data name="example 3">');
    expect(record).toMatchObject({ endedBy: 'agreement', sql: 'SELECT 7 AS n' });
    expect(record.candidates.map(({ outcome }) => outcome)).toEqual([
      ...Array<string>(4).fill('withdrawn'),
      ...Array<string>(4).fill('rows'),
    ]);
    expect((await run.get('checkpoint', 'i4')).reforce).toMatchObject({ passes: 2 });
  });

  test('one candidate alone, or none that agree, decides nothing', async () => {
    const one = await official({ 'reforce-generate': byVote(ONE, BROKEN) }, { votes: 2, attempts: 1 });
    expect(one.count('reforce-explore')).toBe(2);
    expect(one.record).toMatchObject({ endedBy: 'finished', sql: 'SELECT 1 AS n' });
    const differ = await official({ 'reforce-generate': (vote) => value(vote) }, { votes: 3 });
    expect(differ.record).toMatchObject({ endedBy: 'finished', sql: 'SELECT 1 AS n' });
    expect(differ.record.candidates.find(({ chosen }) => chosen)?.id).toBe('c4');
  });

  test('a result with an empty column counts only after an exploration', async () => {
    const { record, count } = await official({ 'reforce-generate': () => value(0) }, { votes: 2 });
    expect(count('reforce-explore')).toBe(2);
    expect(record).toMatchObject({ endedBy: 'agreement', sql: 'SELECT 0 AS n' });
  });

  test.each([
    ['among the tied', [value(5), value(1), value(2), value(1), value(2)], ['c2', 'c3', 'c4', 'c5'], 'c3'],
    ['among all where none agree', [value(1), value(2), value(3)], ['c1', 'c2', 'c3'], 'c2'],
  ])('where the model chooses, it does so %s', async (_, replies, shown, chosen) => {
    const { record, told } = await official(
      { 'reforce-generate': byVote(...replies) },
      { votes: replies.length, explore: 'never', choose: 'model' },
    );
    const sections = told('reforce-choose')[0]!.messages[1]!.content.match(/<data name="candidate \d+">/g);
    expect(sections).toHaveLength(shown.length);
    expect(record.candidates.find((each) => each.chosen)?.id).toBe(chosen);
  });

  test('the first of the tied is taken where nobody is asked', async () => {
    const replies = [value(5), value(1), value(2), value(1), value(2)];
    const { record, count } = await official(
      { 'reforce-generate': byVote(...replies) },
      { votes: 5, explore: 'never' },
    );
    expect(count('reforce-choose')).toBe(0);
    expect(record.sql).toBe('SELECT 1 AS n');
  });
});

test('the header is fixed once a question, its first line is shown to every vote', async () => {
  const { count, told } = await official({}, { votes: 3, format: true });
  expect(count('reforce-format')).toBe(1);
  for (const vote of [1, 2, 3])
    expect(told('reforce-generate', vote)[0]!.messages[1]!.content).toContain(
      '<data name="answer format">\nn:number\n</data>',
    );
});

test('the result is put into words by one more call, which counts', async () => {
  const { record, count } = await official({}, { votes: 2 });
  expect(count('reforce-answer')).toBe(1);
  expect(record.usage.llmCalls).toBe(3);
  expect(record.answer).toBe('It is 1.');
});

describe('column exploration', () => {
  const seed = (explore: Script[string], more: Script = {}) => ask('seed', { 'reforce-explore': explore, ...more });

  test('of reforce:seed comes first, after the header, at the temperature of the paper', async () => {
    const { requests, record } = await seed(() => LOOKS);
    expect(requests.map(({ role }) => role)).toEqual([
      ...['reforce-format', 'reforce-explore', 'reforce-generate', 'reforce-answer'],
    ]);
    expect(requests[0]!.temperature).toBe(0.2);
    expect(record).toMatchObject({ status: 'answered', endedBy: 'finished', method: 'reforce' });
  });

  test('fewer than three queries are asked for again', async () => {
    const { count, told } = await seed(inTurn(looks('SELECT 1'), LOOKS));
    expect(count('reforce-explore')).toBe(2);
    expect(told('reforce-explore')[1]!.messages.at(-1)!.content).toMatch(/queries: found 1/);
  });

  test('a query that fails is corrected, then those that are left are', async () => {
    const bad = looks('SELECT 1', 'SELECT wage FROM entry', 'SELECT wage FROM event', 'SELECT 4');
    const { told, engine } = await seed(inTurn(bad, looks('SELECT car FROM entry'), looks('SELECT id FROM event')));
    const asked = told('reforce-explore').map(({ messages }) => messages.at(-1)!.content);
    expect(asked[1]).toMatch(/SELECT 1\n\nn?[\s\S]*no such column: wage[\s\S]*The last query failed\. Find out why/);
    expect(asked[2]).toMatch(/The correction ran[\s\S]*<data name="left 1">\nSELECT wage FROM event\n[\s\S]*SELECT 4/);
    expect(engine.runs.flat()).not.toContain('SELECT wage FROM event');
    expect(told('reforce-generate')[0]!.messages[1]!.content.match(/<data name="example/g)).toHaveLength(3);
  });

  test('fewer than half of those that are left are not taken', async () => {
    const bad = looks('SELECT wage FROM entry', 'SELECT 2', 'SELECT 3', 'SELECT 4', 'SELECT 5');
    const { engine } = await seed(inTurn(bad, looks('SELECT 1'), looks('SELECT 6')));
    expect(engine.runs.flat()).toEqual(expect.arrayContaining(['SELECT 2', 'SELECT 3', 'SELECT 4', 'SELECT 5']));
    expect(engine.runs.flat()).not.toContain('SELECT 6');
  });

  test('three corrections in vain end it; an empty result is to be loosened; without any rows the vote is skipped', async () => {
    const empty = looks('SELECT mark FROM entry WHERE place = 99', 'SELECT 2', 'SELECT 3');
    const one = looks('SELECT mark FROM entry WHERE place = 98');
    const { count, told, record } = await seed(inTurn(empty, one));
    expect(count('reforce-explore')).toBe(4);
    expect(told('reforce-explore')[1]!.messages.at(-1)!.content).toContain('drop or loosen');
    expect(count('reforce-generate')).toBe(0);
    expect(record).toMatchObject({ status: 'abstained' });
  });

  test('ends after eleven results', async () => {
    const many = looks(...Array.from({ length: 14 }, (_, at) => `SELECT ${at}`));
    const { engine } = await seed(() => many);
    expect(engine.runs.flat().filter((query) => /^SELECT \d+$/.test(query))).toHaveLength(11);
  });
});

describe('schema linking', () => {
  test('asks about each table, at temperature 0, where the text is longer than the threshold', async () => {
    const { told, count } = await official(
      { 'reforce-link': (_, call) => ({ note: 'n', needed: call === 0 ? 'Y' : 'N', columns: ['place'] }) },
      { votes: 1, linkBytes: 100 },
    );
    expect(count('reforce-link')).toBe(2);
    expect(told('reforce-link').map(({ temperature }) => temperature)).toEqual([0, 0]);
    const shown = told('reforce-generate')[0]!.messages[1]!.content;
    expect(shown).toContain('place INTEGER');
    expect(shown).not.toMatch(/mark TEXT|TABLE event/);
  });

  test('keeps the whole schema where no table is thought needed, and asks nothing below the threshold', async () => {
    const none = () => ({ note: 'n', needed: 'N', columns: [] });
    const { told } = await official({ 'reforce-link': none }, { votes: 1, linkBytes: 100 });
    expect(told('reforce-generate')[0]!.messages[1]!.content).toMatch(/TABLE entry[\s\S]*TABLE event/);
    expect((await official({}, { votes: 1 })).count('reforce-link')).toBe(0);
  });
});

describe('limits', () => {
  const limited = (llmCalls: number) => ({ ...settingsFor(FAST).budgets, llmCalls });
  const FAST = { method: 'fast', models: { default: 'm' } } as const;

  test.each([1, 3, 5, 9, 20])('%s model calls are never exceeded', async (llmCalls) => {
    const { record } = await official(
      { 'reforce-generate': () => BROKEN },
      { votes: 4 },
      { budgets: limited(llmCalls) },
    );
    expect(record.usage.llmCalls).toBeLessThanOrEqual(llmCalls);
    expect(record.status).toBe('abstained');
  });

  test('what was found before a budget was spent is the answer, without a further call', async () => {
    const { record, count } = await official(
      { 'reforce-generate': byVote(BROKEN, ONE, ONE) },
      { votes: 3 },
      { budgets: limited(6) },
    );
    expect(record).toMatchObject({ status: 'answered', sql: 'SELECT 1 AS n' });
    expect(count('reforce-explore')).toBe(0);
  });

  test('stopped while votes are under way, it answers with the first candidate that there is', async () => {
    let stopped: 'stop' | null = null;
    const script: Script = {
      'reforce-generate': (vote, call) => {
        if (call === 2) stopped = 'stop';
        return vote === 2 ? value(2) : BROKEN;
      },
    };
    const hooks = { ...testHooks(), stopRequested: () => stopped };
    const { record, count } = await ask('official', script, { votes: 3 }, {}, hooks);
    expect(record).toMatchObject({ status: 'answered', endedBy: 'stop', sql: 'SELECT 2 AS n' });
    expect(count('reforce-answer')).toBe(0);
  });
});
