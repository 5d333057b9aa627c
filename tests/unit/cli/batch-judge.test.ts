/** `gate batch judge` over a stored batch, with the simulated judge behind a real endpoint. */
import Database from 'libsql';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JudgedLine, type JudgeSummary } from '../../../src/cli/batch-judge';
import { openServices, sha256 } from '../../../src/cli/services';
import type { AnswerRecord } from '../../../src/domain';
import { createRunStore } from '../../../src/steps';
import { judge as simulatedJudge } from '../../../simulated-model/roles/judge';
import { readRequest } from '../../../simulated-model/request';
import { startModelEndpoint, type ChatBody, type ModelEndpoint } from '../../helpers/model-endpoint';
import { record } from '../report/fixture';
import { testProcess } from './test-io';

let model: ModelEndpoint;
beforeAll(async () => {
  model = await startModelEndpoint({
    reply: (body: ChatBody) => {
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
  const lines = Object.entries(cases).map(([id, { execution = null }], at) => ({
    ...{
      id,
      searchId: `q-${at.toString(16).padStart(16, '0')}`,
      database: 'karts',
      status: 'answered',
      endedBy: 'agreement',
    },
    ...{
      question: 'How many?',
      standing: null,
      sql: 'SELECT 4',
      answer: null,
      verdict: 'no-gold',
      verdictReason: '',
      execution,
      official: null,
    },
    ...{ usage: null, wallMs: null, error: null },
  }));
  for (const { id, searchId } of lines) {
    const more = cases[id]?.record;
    if (more !== null)
      await createRunStore(store, searchId, sha256).put('result', searchId, { ...record, id: searchId, ...more });
  }
  const jsonl = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  writeFileSync(join(folder, 'results.jsonl'), jsonl(lines));
  writeFileSync(join(folder, 'summary.json'), JSON.stringify({ file: 'questions.jsonl' }));
  const questions = Object.entries(cases).map(([id, { question }]) => ({ id, question: `Who is ${id}?`, ...question }));
  writeFileSync(join(process.home, 'questions.jsonl'), jsonl(questions));
  const database = new Database(join(process.home, 'karts.sqlite'));
  database.exec('CREATE TABLE kart (n INTEGER); INSERT INTO kart VALUES (1), (2), (3), (4)');
  database.close();
  const run = async () => {
    const before = model.requests.length;
    const ran = await process.gate('batch', 'judge', 'out', ...args, '--json');
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
  const { run, file, gate } = await judged(
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
  const { out } = await gate('batch', 'judge', 'out', '--db', 'karts=karts.sqlite');
  expect(out).toContain("agrees with execution on 33.3 % of 3 (Cohen's kappa -0.50)");
  expect(out).toContain('nothing was paid');
});

test('the single pass asks once; another mode or model is another judgement', async () => {
  const { run, gate } = await judged(
    { words: { question: { gold_text: 'There are 4' }, record: FOUR } },
    '--judge',
    'single',
  );
  expect((await run()).asked).toHaveLength(1);
  const before = model.requests.length;
  expect((await gate('batch', 'judge', 'out', '--judge', 'single', '--model', 'other')).out).toContain('other)');
  expect(model.requests.length - before).toBe(1);
});

test('at the limit of cost nothing more is judged; a higher one goes on', async () => {
  const ids = Array.from(
    { length: 20 },
    (_, at) => [`k${at}`, { question: { gold_text: '4' }, record: FOUR }] as const,
  );
  const { run, home, gate } = await judged(Object.fromEntries(ids), '--judge', 'single', '--max-cost', '0.5');
  const prices = { judges: { inputPerMillion: 10_000, outputPerMillion: 10_000 } };
  writeFileSync(join(home, 'gate.config.json'), JSON.stringify({ prices }));
  const { summary, asked } = await run();
  expect(asked.length).toBeLessThan(20);
  expect(summary).toMatchObject({
    judged: asked.length,
    notJudged: { 'the limit of cost was reached (--max-cost)': 20 - asked.length },
  });
  const before = model.requests.length;
  expect((await gate('batch', 'judge', 'out', '--judge', 'single', '--max-cost', 'none')).out).toContain('20 correct');
  expect(model.requests.length - before).toBe(20 - asked.length);
});

test('what cannot be judged is told before anything is asked', async () => {
  const { gate, home } = await judged({ words: { question: { gold_text: '4' }, record: FOUR } });
  const before = model.requests.length;
  expect(await gate('batch', 'judge', 'nowhere')).toMatchObject({
    code: 2,
    err: 'gate: nowhere has no results.jsonl: give the --out folder of gate batch run\n',
  });
  expect((await gate('batch', 'judge', 'out', '--judge', 'thrice')).err).toContain('two-pass, single');
  writeFileSync(join(home, 'other.jsonl'), '{"id":"x","question":"Who?"}\n');
  expect(await gate('batch', 'judge', 'out', '--questions', 'other.jsonl')).toMatchObject({
    code: 2,
    err: 'gate: --questions other.jsonl: it has no question words, which out has\n',
  });
  writeFileSync(join(home, 'out', 'results.jsonl'), '{"id":1}\n');
  expect((await gate('batch', 'judge', 'out')).err).toContain('out/results.jsonl, line 1: no result of a question');
  expect(model.requests.length).toBe(before);
});

test('a judge without a model, and one without an endpoint, are one line each', async () => {
  const { io, home } = await judged({ words: { question: { gold_text: '4' }, record: FOUR } });
  const without = (env: Record<string, string>) => {
    const other = testProcess();
    Object.assign(other.io, { cwd: home, env: { ...io.env, ...env } });
    return other.gate('batch', 'judge', 'out');
  };
  expect(await without({ GATE_MODEL: '', GATE_MODEL_JUDGE: '' })).toMatchObject({
    code: 2,
    err: 'gate: the judge has no model: give --model NAME, or set GATE_MODEL_JUDGE\n',
  });
  const { code, err } = await without({ OPENAI_BASE_URL: '', OLLAMA_HOST: '127.0.0.1:1' });
  expect(code).toBe(1);
  expect(err).toMatch(/^gate: no model to ask: set OPENAI_API_KEY.*\n$/);
});
