/** `gate score --judge` with the simulated judge behind a real endpoint. */
import Database from 'libsql';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ScoreReport } from '../../../src/cli/score-report';
import { judge as simulatedJudge } from '../../../simulated-model/roles/judge';
import { readRequest } from '../../../simulated-model/request';
import { startModelEndpoint, type ChatBody, type ModelEndpoint } from '../../helpers/model-endpoint';
import { testProcess } from './test-io';

let model: ModelEndpoint;
let onAsked = (): void => undefined;
beforeAll(async () => {
  model = await startModelEndpoint({
    models: ['judges'],
    reply: (body: ChatBody) => {
      onAsked();
      const read = readRequest(body as Parameters<typeof readRequest>[0]);
      return JSON.stringify(read.kind === 'asked' ? simulatedJudge(read.asked) : read);
    },
  });
});
afterAll(() => model.close());

function home(env: Record<string, string> = {}) {
  const process = testProcess({ OPENAI_BASE_URL: model.baseUrl, GATE_MODEL_JUDGE: 'judges', ...env });
  const put = (name: string, ...values: readonly object[]): void =>
    writeFileSync(join(process.home, name), values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const database = new Database(join(process.home, 'karts.sqlite'));
  database.exec('CREATE TABLE kart (n INTEGER); INSERT INTO kart VALUES (1), (2), (3), (4)');
  database.close();
  const score = async (...flags: string[]) => {
    const before = model.requests.length;
    const own = ['--benchmark', 'questions', '--data', 'questions.jsonl', '--predictions', 'predictions.jsonl'];
    const ran = await process.gate('score', ...own, ...flags);
    return { ...ran, asked: model.requests.length - before };
  };
  return { ...process, put, score };
}

const asks = (id: string, more: object) => ({ id, question: `How many ${id}?`, database: 'karts', ...more });
const COUNT = 'SELECT count(*) FROM kart';

test('answers in words and rows of SQL are judged beside the official figures; again it costs nothing', async () => {
  const { put, score } = home();
  put(
    'questions.jsonl',
    asks('words', { gold_text: 'There are 4' }),
    asks('query', { gold_sql: COUNT }),
    asks('rows', { gold_answer: [[5]] }),
    asks('both', { gold_text: 'There are 4', gold_sql: COUNT }),
    asks('weather', { answerable: false }),
    ...['abstained', 'missing', 'broken'].map((id) => asks(id, { gold_sql: COUNT })),
    asks('unknown', {}),
  );
  put(
    'predictions.jsonl',
    { id: 'words', answer: 'There are 4 of them.' },
    { id: 'query', sql: COUNT },
    { id: 'rows', columns: ['n'], rows: [[4]] },
    // Its rows are right and its words are not: the judge reads both.
    { id: 'both', sql: COUNT, answer: 'There are 3.' },
    { id: 'weather', answer: 'It is not stored.' },
    { id: 'abstained', sql: null },
    { id: 'broken', sql: 'SELECT n FROM nowhere' },
    { id: 'unknown', sql: 'SELECT 1' },
  );
  const { code, out, err, asked } = await score('--judge', 'two-pass', '--json');
  expect({ code, err: err.replace(/^note: .*lacks "missing".*\n/, '') }).toEqual({ code: 0, err: '' });
  const report = z.strictObject(ScoreReport.shape).parse(JSON.parse(out));
  expect(report.scores.map(({ id, verdict, judged }) => [id, verdict, judged?.verdict])).toEqual([
    ['words', 'undecided', 'correct'],
    ['query', 'correct', 'correct'],
    ['rows', 'wrong', 'wrong'],
    ['both', 'correct', 'wrong'],
    ['weather', 'undecided', 'correct-abstained'],
    ['abstained', 'wrong-abstained', 'wrong-abstained'],
    ['missing', 'wrong', 'wrong'],
    ['broken', 'wrong', 'wrong'],
    ['unknown', 'no-gold', 'no-gold'],
  ]);
  expect(report.judged).toMatchObject({
    judge: { mode: 'two-pass', model: 'judges', version: 1 },
    ...{ judged: 8, accuracy: 3 / 8, paid: { llmCalls: asked }, unpricedModels: ['judges'] },
    agreement: { compared: 5, bothRight: 1, bothWrong: 3, executionRight: 1, differ: ['both'] },
  });
  // Two passes each, but one where it abstains; what abstains, is missing or does not run needs no judge.
  expect(asked).toBe(9);
  const again = await score('--judge', 'two-pass');
  expect([again.code, again.asked]).toEqual([0, 0]);
  expect(again.out).toContain('correct 37.5 % of 8 judged questions (two-pass judge, version 1, judges)');
  expect(again.out).toContain('nothing was paid: every judgement is from before');
});

test('at the limit of cost nothing more is judged, and this is said', async () => {
  const { put, score, home: folder } = home();
  const prices = { judges: { inputPerMillion: 10_000, outputPerMillion: 10_000 } };
  writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ prices }));
  const ids = Array.from({ length: 20 }, (_, at) => `k${at}`);
  put('questions.jsonl', ...ids.map((id) => asks(id, { gold_text: '4' })));
  put('predictions.jsonl', ...ids.map((id) => ({ id, answer: '4' })));
  const { code, out, asked } = await score('--judge', 'single', '--max-cost', '0.5');
  expect([code, asked < 20]).toEqual([0, true]);
  expect(out).toContain(`not judged (${20 - asked}): the limit of cost was reached (--max-cost)`);
  expect(out).toMatch(new RegExp(`^${asked} model calls, .*\\$`, 'm'));
});

test('interrupted it tells what was judged, and leaves the rest', async () => {
  const { put, score, io } = home();
  const ids = Array.from({ length: 20 }, (_, at) => `k${at}`);
  put('questions.jsonl', ...ids.map((id) => asks(id, { gold_text: '4' })));
  put('predictions.jsonl', ...ids.map((id) => ({ id, answer: '4' })));
  const listeners = new Set<() => void>();
  io.onInterrupt = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  onAsked = () => {
    onAsked = () => undefined;
    for (const listener of listeners) listener();
  };
  const { code, out, asked } = await score('--judge', 'single');
  expect([code, asked < 20]).toEqual([3, true]);
  expect(out).toContain(`not judged (${20 - asked}): interrupted`);
});

test.each([
  ['as text', []],
  ['as JSON', ['--json']],
])('where the judge fails for good, the official figures are told all the same, %s', async (_, flags) => {
  const { put, score } = home();
  put('questions.jsonl', asks('a', { gold_sql: COUNT }), asks('b', { gold_sql: COUNT }));
  put('predictions.jsonl', { id: 'a', sql: COUNT }, { id: 'b', sql: 'SELECT 5' });
  model.failNext({ fault: 'status', status: 401 });
  const { code, out, err } = await score('--judge', 'single', ...flags);
  expect(code).toBe(1);
  expect(err).toMatch(/^gate: the judge failed: .*401.*; the official figures are complete, and the same command /m);
  if (flags.length === 0) expect(out).toMatch(/^correct +1\nwrong +1$/m);
  else {
    const report = z.strictObject(ScoreReport.shape).parse(JSON.parse(out));
    expect(report).toMatchObject({ verdicts: { correct: 1, wrong: 1 } });
    expect([report.judged, report.judgeFailed]).toEqual([undefined, expect.stringContaining('the judge failed')]);
  }
  expect(await score('--judge', 'single')).toMatchObject({ code: 0, err: '' });
});

test('what a database does not answer is not judged, and is no wrong answer', async () => {
  const { put, score } = home();
  put('questions.jsonl', asks('a', { gold_text: '4' }), asks('b', { gold_text: '4', database: 'other' }));
  put('predictions.jsonl', { id: 'a', answer: '4' }, { id: 'b', answer: '4' });
  // Nothing is read from a database, so none has to be named.
  expect(await score('--judge', 'single', '--json')).toMatchObject({ code: 0, asked: 2 });
  put('questions.jsonl', asks('a', { gold_text: '4' }), asks('b', { gold_sql: 'SELECT 4', database: 'other' }));
  expect(await score('--judge', 'single', '--db', 'karts=karts.sqlite')).toMatchObject({
    ...{ code: 2, asked: 0 },
    err: expect.stringContaining('no database is given for other') as string,
  });
});

test.each([
  ['no judge', [], {}, 'predictions.jsonl: answered in words alone: "a"; add --judge two-pass, or give the SQL'],
  [
    'a model alone',
    ['--judge-model', 'judges'],
    {},
    '--judge-model: nothing is judged; add --judge two-pass or --judge single',
  ],
  [
    'no model',
    ['--judge', 'single'],
    { GATE_MODEL_JUDGE: '' },
    'the judge has no model: give --judge-model NAME, or set GATE_MODEL_JUDGE',
  ],
  [
    'an unknown model',
    ['--judge', 'single', '--judge-model', 'nobody'],
    {},
    /has no model nobody \(it lists: judges\)/,
  ],
])('%s: one line before anything is judged', async (name, flags, env, line) => {
  const { put, score } = home(env);
  put('questions.jsonl', asks('a', { gold_text: '4' }));
  put('predictions.jsonl', name === 'a model alone' ? { id: 'a', sql: 'SELECT 4' } : { id: 'a', answer: '4' });
  const { code, out, err, asked } = await score(...flags);
  expect([code === 0, out, asked]).toEqual([false, '', 0]);
  expect(err).toMatch(line instanceof RegExp ? line : `gate: ${line}\n`);
  expect(err.trimEnd()).not.toContain('\n');
});

test('questions without any correct answer cannot be judged', async () => {
  const { put, score } = home();
  put('questions.jsonl', asks('a', {}));
  put('predictions.jsonl', { id: 'a', sql: 'SELECT 4' });
  expect(await score('--judge', 'single', '--db', 'karts=karts.sqlite')).toMatchObject({
    ...{ code: 2, asked: 0 },
    err: 'gate: --judge: no question of questions has a correct answer here (words, rows or SQL); leave it out\n',
  });
});
