/** `gate-bench judge` over a stored batch and over predictions files, with the simulated judge behind a real endpoint. */
import Database from 'libsql';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JudgedLine, type JudgeSummary } from '../../../benchmarks/judge';
import { openServices } from '../../../src/app/services';
import type { AnswerRecord } from '../../../src/domain';
import { createRunStore } from '../../../src/record/run-store';
import { judge as simulatedJudge } from '../../../simulated-model/roles/judge';
import { readRequest } from '../../../simulated-model/request';
import { startModelEndpoint, type ChatBody, type ModelEndpoint } from '../../helpers/model-endpoint';
import { record } from '../report/fixture';
import { answerLine, summaryText } from '../../helpers/answers';
import { testProcess } from '../cli/test-io';

let model: ModelEndpoint;
let onAsked = (): void => undefined;
beforeAll(async () => {
  model = await startModelEndpoint({
    models: ['judges', 'other'],
    reply: (body: ChatBody) => {
      onAsked();
      const read = readRequest(body as Parameters<typeof readRequest>[0]);
      return JSON.stringify(read.kind === 'asked' ? simulatedJudge(read.asked) : read);
    },
  });
});
afterAll(() => model.close());

interface Case {
  readonly question: object;
  readonly record?: Partial<AnswerRecord> | null;
  readonly execution?: boolean | null;
}

async function judged(cases: Readonly<Record<string, Case>>, ...args: string[]) {
  const process = testProcess({ OPENAI_BASE_URL: model.baseUrl, GATE_MODEL: 'asks', GATE_MODEL_JUDGE: 'judges' });
  const { store } = openServices(process.io);
  const folder = join(process.home, 'out');
  mkdirSync(folder);
  const lines = Object.entries(cases).map(([id, { execution = null }], at) =>
    answerLine(id, {
      ...{ searchId: `q-${at.toString(16).padStart(16, '0')}`, database: 'karts', verdict: 'no-gold', execution },
    }),
  );
  for (const { id, searchId } of lines) {
    const more = cases[id]?.record;
    if (more !== null)
      await createRunStore(store, searchId).put('result', searchId, { ...record, id: searchId, ...more });
  }
  const jsonl = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  writeFileSync(join(folder, 'results.jsonl'), jsonl(lines));
  writeFileSync(join(folder, 'summary.json'), summaryText('questions.jsonl'));
  const questions = Object.entries(cases).map(([id, { question }]) => ({ id, question: `Who is ${id}?`, ...question }));
  writeFileSync(join(process.home, 'questions.jsonl'), jsonl(questions));
  const database = new Database(join(process.home, 'karts.sqlite'));
  database.exec('CREATE TABLE kart (n INTEGER); INSERT INTO kart VALUES (1), (2), (3), (4)');
  database.close();
  const run = async () => {
    const before = model.requests.length;
    const ran = await process.bench('judge', 'out', ...args, '--json');
    return { ...ran, summary: JSON.parse(ran.out || 'null') as JudgeSummary, asked: model.requests.slice(before) };
  };
  const file = () =>
    readFileSync(join(folder, 'judged.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JudgedLine.parse(JSON.parse(line)));
  return { ...process, run, file };
}

const FOUR = { answer: 'There are 4.', columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]] };

test('answers are judged by words, rows and gold queries, and compared with execution; again it pays nothing', async () => {
  const { run, file, bench } = await judged(
    {
      words: { question: { gold_text: 'There are 4' }, record: FOUR, execution: true },
      rows: { question: { gold_answer: [[5]] }, record: FOUR, execution: true },
      query: { question: { gold_sql: 'SELECT count(*) FROM kart', database: 'karts' }, record: FOUR, execution: false },
      declined: { question: { gold_text: '4' }, record: { status: 'abstained', reason: 'contradicted' } },
      unanswerable: { question: { answerable: false }, record: { ...FOUR, answer: 'It is not stored.' } },
      failed: { question: { gold_text: '4' }, record: { status: 'failed', reason: 'no model' } },
      unusable: {
        question: { gold_text: '4' },
        record: { status: 'failed', endedBy: 'unusable', reason: 'no usable action' },
      },
      lost: { question: { gold_text: '4' }, record: null },
      'no-gold': { question: {}, record: FOUR },
      broken: { question: { gold_sql: 'SELECT x FROM nowhere', database: 'karts' }, record: FOUR },
    },
    ...['--db', 'karts=karts.sqlite'],
  );
  const { code, summary, asked, err } = await run();
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('judged.jsonl') as string });
  expect(file().map(({ id, verdict }) => [id, verdict])).toEqual([
    ['words', 'correct'],
    ['rows', 'wrong'],
    ['query', 'correct'],
    ['declined', 'wrong-abstained'],
    ['unanswerable', 'correct-abstained'],
    ['failed', null],
    ['unusable', 'wrong'],
    ['lost', null],
    ['no-gold', 'no-gold'],
    ['broken', 'gold-failed'],
  ]);
  expect(summary).toMatchObject({
    judge: { mode: 'two-pass', model: 'judges', version: 1 },
    judged: 6,
    accuracy: 0.5,
    agreement: { compared: 3, bothRight: 1, judgeRight: 1, executionRight: 1, differ: ['rows', 'query'] },
    notJudged: { 'the search is failed': 1, 'the store has no answer of this search': 1 },
  });
  expect(asked).toHaveLength(7);
  expect(summary.paid.llmCalls).toBe(7);
  expect(asked.every(({ body }) => body.model === 'judges' && body.temperature === 0)).toBe(true);
  const again = await run();
  expect(again.asked).toHaveLength(0);
  expect(again.summary).toMatchObject({ accuracy: 0.5, paid: { llmCalls: 0, costUsd: 0 } });
  const { out } = await bench('judge', 'out', '--db', 'karts=karts.sqlite');
  expect(out).toContain("agrees with execution on 33.3 % of 3 (Cohen's kappa -0.50)");
  expect(out).toContain('nothing was paid');
});

test('the single pass asks once; another mode or model is another judgement', async () => {
  const { run, bench } = await judged(
    { words: { question: { gold_text: 'There are 4' }, record: FOUR } },
    '--judge',
    'single',
  );
  expect((await run()).asked).toHaveLength(1);
  const before = model.requests.length;
  expect((await bench('judge', 'out', '--judge', 'single', '--model', 'other')).out).toContain('other)');
  expect(model.requests.length - before).toBe(1);
});

test('at the limit of cost nothing more is judged; a higher one goes on', async () => {
  const ids = Array.from(
    { length: 20 },
    (_, at) => [`k${at}`, { question: { gold_text: '4' }, record: FOUR }] as const,
  );
  const { run, home, bench } = await judged(Object.fromEntries(ids), '--judge', 'single', '--max-cost', '0.5');
  const prices = { judges: { inputPerMillion: 10_000, outputPerMillion: 10_000 } };
  writeFileSync(join(home, 'gate.config.json'), JSON.stringify({ prices }));
  const { summary, asked } = await run();
  expect(asked.length).toBeLessThan(20);
  expect(summary).toMatchObject({
    judged: asked.length,
    notJudged: { 'the limit of cost was reached (--max-cost)': 20 - asked.length },
  });
  const before = model.requests.length;
  expect((await bench('judge', 'out', '--judge', 'single', '--max-cost', 'none')).out).toContain('20 correct');
  expect(model.requests.length - before).toBe(20 - asked.length);
});

test('what cannot be judged is told before anything is asked', async () => {
  const { bench, home } = await judged({ words: { question: { gold_text: '4' }, record: FOUR } });
  const before = model.requests.length;
  expect(await bench('judge', 'nowhere')).toMatchObject({
    code: 2,
    err: 'gate-bench: nowhere has no results.jsonl: give the --out folder of gate batch run\n',
  });
  expect((await bench('judge', 'out', '--judge', 'thrice')).err).toContain('two-pass, single');
  writeFileSync(join(home, 'other.jsonl'), '{"id":"x","question":"Who?"}\n');
  expect(await bench('judge', 'out', '--questions', 'other.jsonl')).toMatchObject({
    code: 2,
    err: 'gate-bench: --questions other.jsonl: it has no question words, which out has\n',
  });
  writeFileSync(join(home, 'out', 'results.jsonl'), '{"id":1}\n');
  expect((await bench('judge', 'out')).err).toContain('out/results.jsonl, line 1: no result of a question');
  expect(model.requests.length).toBe(before);
});

test('a judge without a model, and one without an endpoint, are one line each', async () => {
  const { io, home } = await judged({ words: { question: { gold_text: '4' }, record: FOUR } });
  const without = (env: Record<string, string>) => {
    const other = testProcess();
    Object.assign(other.io, { cwd: home, env: { ...io.env, ...env } });
    return other.bench('judge', 'out');
  };
  expect(await without({ GATE_MODEL: '', GATE_MODEL_JUDGE: '' })).toMatchObject({
    code: 2,
    err: 'gate-bench: the judge has no model: give --model NAME, or set GATE_MODEL_JUDGE\n',
  });
  const { code, err } = await without({ OPENAI_BASE_URL: '', OLLAMA_HOST: '127.0.0.1:1' });
  expect(code).toBe(1);
  expect(err).toMatch(/^gate-bench: no model to ask: set OPENAI_API_KEY.*\n$/);
});

function predictions(env: Record<string, string> = {}) {
  const process = testProcess({ OPENAI_BASE_URL: model.baseUrl, GATE_MODEL_JUDGE: 'judges', ...env });
  const put = (name: string, ...values: readonly object[]): void =>
    writeFileSync(join(process.home, name), values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const database = new Database(join(process.home, 'karts.sqlite'));
  database.exec('CREATE TABLE kart (n INTEGER); INSERT INTO kart VALUES (1), (2), (3), (4)');
  database.close();
  const judge = async (...flags: string[]) => {
    const before = model.requests.length;
    const own = ['predictions.jsonl', '--benchmark', 'questions', '--data', 'questions.jsonl'];
    const ran = await process.bench('judge', ...own, ...flags);
    return { ...ran, asked: model.requests.length - before };
  };
  const lines = () =>
    readFileSync(join(process.home, 'predictions.jsonl.judged.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JudgedLine.parse(JSON.parse(line)));
  return { ...process, put, judge, lines };
}

const asks = (id: string, more: object) => ({ id, question: `How many ${id}?`, database: 'karts', ...more });
const COUNT = 'SELECT count(*) FROM kart';

test('a predictions file is judged by its words and the rows of its SQL, and held against the official verdicts', async () => {
  const { put, judge, lines } = predictions();
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
  const { code, out, err, asked } = await judge('--json');
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/predictions\.jsonl\.judged\.jsonl\n$/) as string,
  });
  expect(lines().map(({ id, execution, verdict }) => [id, execution, verdict])).toEqual([
    ['words', null, 'correct'],
    ['query', true, 'correct'],
    ['rows', false, 'wrong'],
    ['both', true, 'wrong'],
    ['weather', null, 'correct-abstained'],
    ['abstained', null, 'wrong-abstained'],
    ['missing', false, 'wrong'],
    ['broken', false, 'wrong'],
    ['unknown', null, 'no-gold'],
  ]);
  expect(JSON.parse(out)).toMatchObject({
    judge: { mode: 'two-pass', model: 'judges', version: 1 },
    ...{ judged: 8, accuracy: 3 / 8, paid: { llmCalls: asked }, unpricedModels: ['judges'] },
    agreement: { compared: 5, bothRight: 1, bothWrong: 3, executionRight: 1, differ: ['both'] },
  });
  // Two passes each, but one where it abstains; what abstains, is missing or does not run needs no judge.
  expect(asked).toBe(9);
  const again = await judge();
  expect([again.code, again.asked]).toEqual([0, 0]);
  expect(again.out).toContain('correct 37.5 % of 8 judged questions (two-pass judge, version 1, judges)');
  expect(again.out).toContain('nothing was paid: every judgement is from before');
});

test('interrupted it tells what was judged, and leaves the rest', async () => {
  const { put, judge, io } = predictions();
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
  const { code, out, asked } = await judge('--judge', 'single');
  expect([code, asked < 20]).toEqual([3, true]);
  expect(out).toContain(`not judged (${20 - asked}): interrupted`);
});

test('what a database does not answer is not judged, and is no wrong answer', async () => {
  const { put, judge } = predictions();
  put('questions.jsonl', asks('a', { gold_text: '4' }), asks('b', { gold_text: '4', database: 'other' }));
  put('predictions.jsonl', { id: 'a', answer: '4' }, { id: 'b', answer: '4' });
  // Nothing is read from a database, so none has to be named.
  expect(await judge('--judge', 'single', '--json')).toMatchObject({ code: 0, asked: 2 });
  put('questions.jsonl', asks('a', { gold_text: '4' }), asks('b', { gold_sql: 'SELECT 4', database: 'other' }));
  expect(await judge('--judge', 'single', '--db', 'karts=karts.sqlite')).toMatchObject({
    ...{ code: 2, asked: 0 },
    err: expect.stringContaining('no database is given for other') as string,
  });
});

test.each([
  ['no model', ['--judge', 'single'], { GATE_MODEL_JUDGE: '' }, 'the judge has no model: give --model NAME'],
  ['an unknown model', ['--model', 'nobody'], {}, 'has no model nobody (it lists: judges, other)'],
  ['no folder', ['--data', 'nowhere'], {}, 'nowhere holds neither questions.jsonl nor questions.csv'],
])('predictions: %s is one line before anything is judged', async (_, flags, env, line) => {
  const { put, judge } = predictions(env);
  put('questions.jsonl', asks('a', { gold_text: '4' }));
  put('predictions.jsonl', { id: 'a', answer: '4' });
  const { code, out, err, asked } = await judge(...flags);
  expect([code === 0, out, asked]).toEqual([false, '', 0]);
  expect(err).toContain(line);
  expect(err.trimEnd()).not.toContain('\n');
});

test('questions without any correct answer, and a file of nobody, cannot be judged', async () => {
  const { put, judge, bench } = predictions();
  put('questions.jsonl', asks('a', {}));
  put('predictions.jsonl', { id: 'a', sql: 'SELECT 4' });
  expect(await judge('--db', 'karts=karts.sqlite')).toMatchObject({
    ...{ code: 2, asked: 0 },
    err: 'gate-bench: no question of questions has a correct answer here (words, rows or SQL)\n',
  });
  expect((await bench('judge', 'predictions.jsonl')).err).toContain('say with --benchmark whose predictions these are');
  expect(
    (
      await bench(
        'score',
        '--benchmark',
        'questions',
        '--data',
        'questions.jsonl',
        '--predictions',
        'predictions.jsonl',
        '--db',
        'karts=karts.sqlite',
      )
    ).code,
  ).toBe(0);
});
