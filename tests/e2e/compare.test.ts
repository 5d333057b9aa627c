import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import type { Run } from '../../src/report/run';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { violations } from '../helpers/json-schema';
import { callsOf, linesIn } from '../helpers/run-results';
import { loadTestData, type TestData } from '../helpers/shared-data';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, latencyMs: 20 });
});
afterEach(async () => {
  await model.close();
  data.close();
});

const QUESTIONS = 4;

/** The first questions of the file, one of them without gold. */
function compare(home: GateHome, methods: string, ...more: string[]): string[] {
  const path = join(home.folder, 'questions.jsonl');
  const lines = data.questions.slice(0, QUESTIONS).map((question, at) => {
    const { gold_sql: _, ...rest } = question as unknown as Record<string, unknown>;
    return JSON.stringify(at === QUESTIONS - 1 ? { ...rest, gold: undefined, answerable: undefined } : question);
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
  const databases = data.databases.flatMap((spec) => ['--db', spec]);
  return ['compare', path, '--methods', methods, ...databases, '--out', 'out', ...more];
}
const asked = (): number => model.ledger().totals.asked;

it('a file by two methods and two seeds is scored, counted and written; done before, it costs nothing', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const args = compare(home, 'fast,react', '--seeds', '2');
  const estimated = await home.bench([...args, '--dry-run', '--json']);
  expect(JSON.parse(estimated.out)).toMatchObject({
    batches: [0, 1].flatMap((seed) => ['fast', 'react'].map((method) => ({ method, seed, toAsk: QUESTIONS }))),
    sum: { questions: 4 * QUESTIONS, toAsk: 4 * QUESTIONS },
  });
  expect([estimated.code, asked()]).toEqual([0, 0]);
  const first = await home.bench([...args, '--json']);
  expect([first.code, first.code === 0 ? '' : first.err]).toEqual([0, '']);
  const run = JSON.parse(first.out) as Run;
  expect(violations('run', run)).toEqual([]);
  const [{ comparison }] = run.sets as [Run['sets'][number]];
  expect(linesIn(home.folder)).toHaveLength(QUESTIONS * 2 * 2);
  for (const { right, wrong, declined, notScored, failed, missing, perQuestion } of comparison.methods) {
    expect({ scored: right + wrong + declined, notScored, failed, missing }).toEqual({
      ...{ scored: 6, notScored: 2, failed: 0, missing: 0 },
    });
    expect(perQuestion.accuracy).toMatchObject({ value: right / 6, questions: 3 });
  }
  expect(callsOf(linesIn(home.folder))).toBe(model.ledger().totals.billed);
  // The file of a run that the flags stand for is kept, and asks the same.
  expect(run.config.text).toContain('  - fast\n  - react\nseeds: 2\n');
  writeFileSync(join(home.folder, 'same.yaml'), run.config.text);
  const paid = asked();
  for (const again of [args, ['compare', 'same.yaml', '--out', 'out']]) {
    const { code, out } = await home.bench(again);
    expect([code, asked()]).toEqual([0, paid]);
    expect(out).toMatch(/^fast +\d/m);
  }
});

it('a recording made once serves the comparison, its methods one by one and in another order, without a model', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const judged = (at: GateHome, methods: string, ...more: string[]): string[] => {
    const args = compare(at, methods);
    const databases = data.databases.map((spec) => `  - ${spec}`).join('\n');
    const set = `questions: [{ file: ${args[1] ?? ''} }]\ndatabases:\n${databases}`;
    const judge = 'judge: { mode: two-pass, model: simulated }';
    writeFileSync(join(at.folder, 'run.yaml'), `name: judged\nmethods: [${methods}]\nseeds: 2\n${judge}\n${set}\n`);
    return ['compare', 'run.yaml', '--out', 'out', '--json', ...more];
  };
  const recorded = await home.bench(judged(home, 'fast, react', '--record', 'r.jsonl'));
  expect([recorded.code, recorded.code === 0 ? '' : recorded.err]).toEqual([0, '']);
  const comparisonIn = (text: string) => (JSON.parse(text) as Run).sets[0]!.comparison;
  const { judge: by, methods: told } = comparisonIn(recorded.out);
  const answers = linesIn(home.folder);
  expect(by).toMatchObject({ mode: 'two-pass', model: 'simulated' });
  // The question without gold is not judged; the simulated judge is milder than execution match.
  for (const { judged: own, right } of told) {
    expect(own).toMatchObject({ apart: 2, agreement: { compared: 6, executionRight: 0, bothRight: right } });
    expect(own!.right + own!.wrong + own!.declined).toBe(6);
  }
  expect(answers.filter(({ judged: own }) => own?.verdict === 'no-gold')).toHaveLength(4);
  const answersOf = (at: GateHome, wanted: string) =>
    linesIn(at.folder)
      .filter(({ method }) => method === wanted)
      .map(({ id, seed, verdict, judged: own, sql, usage }) => {
        const { llmCalls, promptTokens, costUsd } = usage ?? {};
        return { id, seed, verdict, own, sql, llmCalls, promptTokens, costUsd };
      });
  const replay = join(home.folder, 'r.jsonl');
  const lines = readFileSync(replay, 'utf8').split('\n');
  const unjudged = join(home.folder, 'unjudged.jsonl');
  writeFileSync(unjudged, lines.filter((line) => !line.includes('"scope":"judge"')).join('\n'));
  model.reset();
  for (const methods of ['react', 'react, fast']) {
    const fresh = gateHome({ baseUrl: model.baseUrl });
    const replayed = await fresh.bench(judged(fresh, methods, '--replay', replay));
    expect([replayed.code, replayed.code === 0 ? '' : replayed.err]).toEqual([0, '']);
    for (const method of methods.split(', ')) expect(answersOf(fresh, method)).toEqual(answersOf(home, method));
    expect(comparisonIn(replayed.out)).toMatchObject({ replayed: true });
  }
  expect(asked()).toBe(0);
  expect((await home.bench(judged(home, 'fast', '--replay', unjudged))).err).toContain(
    'gate-bench: --replay: unjudged.jsonl holds no judge; add it with --record',
  );
  const third = await home.bench(judged(home, 'fast', '--seed', '2', '--replay', 'r.jsonl'));
  expect([third.code, third.err]).toEqual([
    2,
    'gate-bench: --replay: r.jsonl holds no fast with seed 2; add it with --record\n',
  ]);
});

it.each([
  [['q.jsonl', '--methods', 'fast,fast'], 'q.jsonl: methods: fast stands twice; leave one out'],
  [['q.jsonl', '--replay', 'none.jsonl'], '--replay none.jsonl: no such file; give a recording that --record wrote'],
])('%j is one line that says what to change', async (args, line) => {
  const home = gateHome({ baseUrl: model.baseUrl });
  writeFileSync(join(home.folder, 'x.sqlite'), '');
  expect(await home.bench(['compare', ...args, '--db', 'x.sqlite', '--out', 'out'])).toEqual({
    code: 2,
    out: '',
    err: `gate-bench: ${line}\n`,
  });
});
