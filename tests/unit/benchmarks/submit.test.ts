/** `gate-bench submit` over stored batches. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBuffer, type Entry } from 'yauzl';
import { openServices, saveAsked } from '../../../src/app/services';
import { settingsFor } from '../../../src/config/presets';
import type { AnswerRecord, SearchInput } from '../../../src/domain';
import { createRunStore } from '../../../src/record/run-store';
import { violations } from '../../helpers/json-schema';
import { record } from '../report/fixture';
import { answerLine, summaryText } from '../../helpers/answers';
import { testProcess } from '../cli/test-io';

const settings = settingsFor({ method: 'fast', models: { default: 'scripted' } });
const BARE = { evidence: [], claims: [], candidates: [], columns: [], rows: [] };
const idOf = (at: number): string => `q-${at.toString(16).padStart(16, '0')}`;

/** A batch with these answers, as an --out folder and in the store; an id asks `ID?`. */
async function batch(answers: Readonly<Record<string, Partial<AnswerRecord> | null>>, database = 'shop') {
  const process = testProcess();
  const { store } = openServices(process.io);
  const entries = Object.entries(answers);
  for (const [at, [id, answer]] of entries.entries()) {
    const question = { text: `${id}?`, database, outputMode: 'sql' as const };
    const input: SearchInput = {
      ...{ searchId: idOf(at), namespace: 'batch x', identity: database, settings },
      question: { ...question, tools: ['execute_sql'], context: null, instructions: null, documents: [] },
    };
    await saveAsked(store, input, 0);
    if (answer !== null)
      await createRunStore(store, idOf(at)).put('result', idOf(at), {
        ...{ ...record, ...BARE, id: idOf(at), question: `${id}?`, status: 'answered', ...answer },
      });
  }
  const line = (id: string, at: number) =>
    answerLine(id, { searchId: idOf(at), question: `${id}?`, database, verdict: 'no-gold' });
  const put = (path: string, text: string): void => writeFileSync(join(process.home, path), text);
  mkdirSync(join(process.home, 'out'));
  put('out/results.jsonl', entries.map(([id], at) => `${JSON.stringify(line(id, at))}\n`).join(''));
  put('out/summary.json', summaryText('questions.jsonl', 'b-0000000000000001'));
  put('questions.jsonl', entries.map(([id]) => `${JSON.stringify({ id, question: `${id}?`, database })}\n`).join(''));
  const json = (path: string): unknown => JSON.parse(readFileSync(join(process.home, path), 'utf8'));
  return { ...process, put, json };
}

const FOUR = {
  '0': { sql: 'SELECT count(*) FROM t' },
  '1': { status: 'abstained' as const, sql: null },
  '2': { status: 'failed' as const, sql: null },
  '3': null,
};

test('BIRD: every question has its place, and the manifest says which were not answered', async () => {
  const { bench, json } = await batch(FOUR);
  const { code, err } = await bench('submit', 'out', '--format', 'bird', '--out', 'predict.json');
  expect([code, err]).toEqual([0, '4 questions: 1 answered, 1 abstained, 1 failed, 1 without an answer\n']);
  expect(json('predict.json')).toEqual({
    '0': 'SELECT count(*) FROM t\t----- bird -----\tshop',
    '1': ' \t----- bird -----\tshop',
    '2': ' \t----- bird -----\tshop',
    '3': ' \t----- bird -----\tshop',
  });
  expect(violations('submission', json('predict.json.manifest.json'))).toEqual([]);
  expect(json('predict.json.manifest.json')).toMatchObject({
    ...{ benchmark: 'bird', batch: 'b-0000000000000001', method: 'fast', models: { default: 'scripted' } },
    ...{ questions: 4, answered: 1, abstained: ['1'], failed: ['2'], notAnswered: ['3'] },
    candidates: { most: 0, selfConsistency: 'none', perQuestion: { '0': 0, '1': 0, '2': 0 } },
    files: [{ file: 'predict.json', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
    prompts: { 'roles/plan/prompt': expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  });
});

test('EHRSQL: all ids of the folder, zipped alone, of questions that have other ids there', async () => {
  const { bench, json, put, home } = await batch({
    a: { sql: 'SELECT 1 + count(*) FROM t' },
    b: { status: 'abstained' },
  });
  mkdirSync(join(home, 'ehrsql', 'test'), { recursive: true });
  const data = ['a', 'b', 'c'].map((id) => ({ id: `id-${id}`, question: `${id}?` }));
  put('ehrsql/test/data.json', JSON.stringify({ data }));
  put('ehrsql/test/label.json', JSON.stringify({ 'id-a': 'SELECT 1', 'id-b': 'null', 'id-c': 'null' }));
  const flags = ['--format', 'ehrsql2024', '--data', 'ehrsql', '--split', 'test', '--out', 'prediction.json'];
  const { code, err } = await bench('submit', 'out', ...flags);
  expect([code, err]).toEqual([0, '3 questions: 1 answered, 1 abstained, 0 failed, 1 without an answer\n']);
  expect(json('prediction.json')).toEqual({ 'id-a': 'SELECT 1 + count(*) FROM t', 'id-b': 'null', 'id-c': 'null' });
  expect(await filesIn(join(home, 'predictions.zip'))).toEqual(['prediction.json']);
});

test('Spider 2.0: a folder of results on request, which a truncated result cannot be', async () => {
  const rows = { columns: [{ name: 'n', kind: 'number' as const }], rows: [[4]], truncated: false };
  const { bench, home } = await batch({ local001: { sql: 'SELECT 4', ...rows } });
  const { code, err } = await bench('submit', 'out', '--format', 'spider2-lite', '--out', 'lite', '--rows');
  expect([code, err]).toEqual([0, '1 question: 1 answered, 0 abstained, 0 failed, 0 without an answer\n']);
  expect(readFileSync(join(home, 'lite', 'local001.csv'), 'utf8')).toBe('n\n4\n');
  const cut = await batch({ local001: { sql: 'SELECT n FROM t', ...rows, truncated: true } });
  const refused = await cut.bench('submit', 'out', '--format', 'spider2-lite', '--out', 'lite', '--rows');
  expect(refused.err).toContain('question local001: only the first rows of its result are stored');
});

test('an answer that stands in the SQL is refused with its question, until a person has looked', async () => {
  const { bench, home, json } = await batch({
    '0': { sql: 'SELECT 57' },
    '1': { sql: "SELECT a FROM t WHERE b = 'Ann'" },
  });
  const flags = ['submit', 'out', '--format', 'bird', '--out', 'predict.json'];
  const refused = await bench(...flags);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('question 0: 57 in its SQL comes from neither the question nor a probe\n');
  expect(refused.err).toContain("question 1: 'Ann' in its SQL comes from neither the question nor a probe\n");
  expect(refused.err).toContain('nothing was written; look at these, then say --allow-literals 0,1\n');
  expect(existsSync(join(home, 'predict.json'))).toBe(false);
  expect((await bench(...flags, '--allow-literals', '0,1')).code).toBe(0);
  expect(json('predict.json.manifest.json')).toMatchObject({
    literals: [
      { id: '0', literals: ['57'] },
      { id: '1', literals: ["'Ann'"] },
    ],
  });
});

const LINES = ['a', 'b'].map((id) =>
  JSON.stringify({
    ...{ instance_id: id, selected_database: 'shop', query: `${id}?` },
    sol_sql: [],
    preprocess_sql: [],
  }),
);

test.each([
  ['livesqlbench-base-lite', 'predictions.jsonl', ['--data', 'livesqlbench']],
  ['questions', 'predictions.jsonl', []],
  ['bird', 'predict.json', []],
  ['ehrsql2024', 'prediction.json', []],
])('%s without --out: %s in a folder of its own, with its manifest', async (format, file, flags) => {
  const { bench, put, home, json } = await batch({ a: { sql: 'SELECT count(*) FROM t' }, b: { status: 'abstained' } });
  mkdirSync(join(home, 'livesqlbench'));
  put('livesqlbench/livesqlbench_data.jsonl', LINES.join('\n'));
  const { code, err } = await bench('submit', 'out', '--format', format, ...flags);
  expect([code, err]).toEqual([0, '2 questions: 1 answered, 1 abstained, 0 failed, 0 without an answer\n']);
  const folder = `submission-${format}`;
  expect(readFileSync(join(home, folder, file), 'utf8')).toContain('SELECT count(*) FROM t');
  expect(json(`${folder}/${file}.manifest.json`)).toMatchObject({ benchmark: format });
});

test('comments are left out: where the official scorer drops line breaks, they would hide what follows', async () => {
  const { bench, json } = await batch({ a: { sql: "SELECT count(*) -- all, it's said\nFROM t /* of them */" } });
  expect((await bench('submit', 'out', '--format', 'ehrsql2024', '--out', 'prediction.json')).code).toBe(0);
  expect(json('prediction.json')).toEqual({ a: 'SELECT count(*)\nFROM t' });
});

test('the manifest counts what stands in the file; literals of results are not looked through, which it says', async () => {
  const { bench, json } = await batch({ a: { sql: null }, b: { sql: 'SELECT 57', rows: [[57]] } });
  const flags = ['submit', 'out', '--format', 'spider2-lite', '--out', 'lite'];
  await bench(...flags, '--allow-literals', 'b');
  expect(json('lite.manifest.json')).toMatchObject({ answered: 1, failed: ['a'], literals: [{ id: 'b' }] });
  await bench('submit', 'out', '--format', 'spider2-lite', '--out', 'rows', '--rows');
  expect(json('rows.manifest.json')).toMatchObject({ literals: null });
});

test('SQL of another engine than the one that scores it is refused', async () => {
  const { bench, put, home } = await batch({ a: { sql: 'SELECT count(*) FROM t' } });
  const { store } = openServices({ env: { HOME: home, PATH: '' }, cwd: home, platform: 'linux' });
  const description = { dialect: 'postgresql' as const, version: '16', fingerprint: 'f', tables: [] };
  const content = { description, text: '', shown: [] };
  await createRunStore(store, idOf(0)).put('schema', 'schema', content);
  put('questions.jsonl', `${JSON.stringify({ id: 'a', question: 'a?', database: 'shop', engine: 'sqlite' })}\n`);
  const { code, err } = await bench('submit', 'out', '--format', 'ehrsql2024', '--out', 'prediction.json');
  expect([code, err]).toEqual([2, 'gate-bench: "a": asked of postgresql, and ehrsql2024 runs sqlite there\n']);
  expect(existsSync(join(home, 'prediction.json'))).toBe(false);
});

test('bad input is one line', async () => {
  const { bench, put, home } = await batch({ '0': { sql: 'SELECT count(*) FROM t' } });
  put('other.jsonl', `${JSON.stringify({ id: 'x', question: 'Another?' })}\n`);
  const lines = async (...args: string[]) => {
    const { code, err } = await bench('submit', ...args);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    return [code, err];
  };
  expect(await lines('nowhere', '--format', 'bird')).toEqual([
    2,
    expect.stringContaining("'nowhere' is no folder") as string,
  ]);
  expect(await lines('last', '--format', 'bird')).toEqual([1, expect.stringContaining('no batch last') as string]);
  const elsewhere = await batch({});
  elsewhere.put('out/results.jsonl', readFileSync(join(home, 'out', 'results.jsonl'), 'utf8'));
  const { err } = await elsewhere.bench('submit', 'out', '--format', 'questions', '--data', join(home, 'other.jsonl'));
  expect(err).toBe('gate-bench: the store has none of the searches of out: use the store that it was run with\n');
  expect(await lines('out', '--format', 'none')).toEqual([2, expect.stringContaining("'none' is invalid") as string]);
  expect(await lines('out', '--format', 'bird', '--allow-literals', '9')).toEqual([
    2,
    expect.stringContaining('no question 9') as string,
  ]);
  expect(await lines('out', '--format', 'ls-hard')).toEqual([2, expect.stringContaining('with --data') as string]);
  expect(await lines('out', '--format', 'bird', '--split', 'dev')).toEqual([
    2,
    expect.stringContaining('give it with --data') as string,
  ]);
  const led = await batch({ '../a': { sql: 'SELECT count(*) FROM t' } });
  expect(await led.bench('submit', 'out', '--format', 'spider2-lite', '--out', 'lite')).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('"../a" cannot be the name of a file') as string },
  });
  expect(await lines('out', '--format', 'questions', '--data', 'other.jsonl')).toEqual([
    2,
    expect.stringContaining('none of the questions') as string,
  ]);
});

function filesIn(path: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(readFileSync(path), (error, zip) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const names: string[] = [];
      zip.on('entry', (entry: Entry) => void names.push(entry.fileName));
      zip.on('end', () => resolve(names));
    });
  });
}
