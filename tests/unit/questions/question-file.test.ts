import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadQuestions, type LoadOptions } from '../../../src/questions';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gate-questions-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const path = () => join(dir, 'questions.jsonl');
const load = async (lines: readonly (object | string)[], options?: LoadOptions) => {
  await writeFile(path(), lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return loadQuestions(path(), options);
};
const one = async (line: object, options?: LoadOptions) => (await load([line], options))[0]!;

const EHR = {
  id: 'e1',
  benchmark: 'EHRSQL-2024',
  split: 'valid',
  engine: 'sqlite',
  database: 'mimic_iv',
  question: 'How is it given?',
  context: 'The current time is 2100-12-31.',
  gold_sql: ['SELECT route FROM prescriptions'],
  gold_answer: "[['iv'], ['po/ng']]",
  answerable: true,
  category: 'What is the intake method of {drug_name}?',
  difficulty: null,
  hidden_knowledge: null,
};

test('an item keeps what a solver may see apart from what only the scorer may', async () => {
  expect(await one(EHR)).toEqual({
    id: 'e1',
    question: 'How is it given?',
    context: 'The current time is 2100-12-31.',
    instructions: null,
    engine: 'sqlite',
    database: 'mimic_iv',
    gold: {
      sql: ['SELECT route FROM prescriptions'],
      answer: [['iv'], ['po/ng']],
      answerable: true,
      abstainText: null,
      text: null,
      category: 'What is the intake method of {drug_name}?',
      difficulty: null,
    },
  });
});

test('no gold-side field is readable outside `gold`', async () => {
  const line = {
    ...EHR,
    category: 'SECRET-1',
    difficulty: 'SECRET-2',
    hidden_knowledge: 'SECRET-3',
    abstain_instruction: "return 'SECRET-4'",
    gold_sql: 'SELECT SECRET-5',
    gold_answer: "[['SECRET-6']]",
    gold_rows: 7,
    source: 'SECRET-8',
  };
  const { gold, ...visible } = await one(line);
  expect(gold).not.toBeNull();
  expect(JSON.stringify(visible)).not.toContain('SECRET');
});

test('hidden knowledge is given only when asked for by name, and the abstain instruction never', async () => {
  const line = {
    ...EHR,
    instructions: 'Round to 2.',
    hidden_knowledge: 'blue means 7',
    abstain_instruction: "Return SELECT 'sorry'",
  };
  expect((await one(line)).instructions).toBe('Round to 2.');
  expect((await one(line, { hiddenKnowledge: true })).instructions).toBe(
    'Round to 2.\n\nKnown about this database: blue means 7',
  );
});

test("the publisher's abstain sentence is kept for the scorer, its doubled quotes undone", async () => {
  const line = {
    ...EHR,
    answerable: false,
    gold_sql: [],
    gold_answer: null,
    abstain_instruction: "use 'SELECT 'I''m sorry.' AS answer;'",
  };
  expect((await one(line)).gold).toMatchObject({ answerable: false, sql: [], abstainText: "I'm sorry." });
});

test.each([
  ['simple', 'simple'],
  [2, '2'],
  [null, null],
])('the difficulty %j is read as %j', async (difficulty, read) => {
  expect((await one({ ...EHR, difficulty })).gold).toMatchObject({ difficulty: read });
});

test('gold_sql may be one text, and a question with gold counts as answerable', async () => {
  expect((await one({ question: 'q', gold_sql: 'SELECT 1' })).gold).toMatchObject({
    sql: ['SELECT 1'],
    answerable: true,
  });
});

test.each([{ gold_sql: 'null' }, { gold_sql: ['null'] }, { answerable: false }])(
  '%j is an unanswerable question',
  async (fields) => {
    expect((await one({ question: 'q', ...fields })).gold).toMatchObject({ sql: [], answerable: false });
  },
);

test('without any gold field there is nothing to score against', async () => {
  expect((await one({ question: 'q' })).gold).toBeNull();
  expect((await one({ question: 'q', gold_sql: [], gold_answer: null })).gold).toBeNull();
});

test('an answer may be a JSON list of rows', async () => {
  expect((await one({ question: 'q', gold_answer: [['a', 1, null]] })).gold?.answer).toEqual([['a', 1, null]]);
});

test.each([
  ['postgres', 'postgresql'],
  ['PostgreSQL', 'postgresql'],
  ['sqlite3', 'sqlite'],
])('engine %s is %s', async (engine, expected) => {
  expect((await one({ question: 'q', engine })).engine).toBe(expected);
});

test('ids default to the line, numbers become text, blank lines and a byte order mark are skipped', async () => {
  const items = await load(['\ufeff{"question":"a","id":7}', '', '{"question":"b"}', '']);
  expect(items.map((item) => item.id)).toEqual(['7', 'line-3']);
});

test('a question follows a later one of the file, or a stored search', async () => {
  const stored = 'q-0123456789abcdef';
  const items = await load([
    { question: 'c', after: 'line-2' },
    { question: 'b', after: 3 },
    { question: 'a', id: 3, after: stored },
  ]);
  expect(items.map(({ after }) => after)).toEqual(['line-2', '3', stored]);
});

test('Windows line ends are read', async () => {
  await writeFile(path(), '{"question":"a"}\r\n{"question":"b"}\r\n');
  expect(await loadQuestions(path())).toHaveLength(2);
});

test.each([
  ['not JSON', ['{"question":"a"}', '{"question":'], /questions\.jsonl, line 2: not a JSON object/],
  ['not an object', ['[1]'], /line 1: not a JSON object/],
  ['no question', ['{"id":"x"}'], /line 1: question: is missing/],
  ['an empty question', ['{"question":"  "}'], /line 1: question: must not be empty/],
  ['a number as a question', ['{"question":5}'], /line 1: question: /],
  [
    'an unknown engine',
    ['{"question":"q","engine":"oracle"}'],
    /line 1: engine: must be one of postgresql, sqlite, snowflake, duckdb, mysql, bigquery/,
  ],
  ['gold that is no SQL', ['{"question":"q","gold_sql":5}'], /line 1: gold_sql: must be a string or a list/],
  [
    'an unreadable answer',
    ['{"question":"q","gold_answer":"[[\'a\'"}'],
    /line 1: gold_answer: not a list of rows, expected/,
  ],
  [
    'a contradiction',
    ['{"question":"q","answerable":false,"gold_sql":"SELECT 1"}'],
    /line 1: answerable: is false although/,
  ],
  [
    'a double id',
    ['{"question":"a","id":"x"}', '{"question":"b","id":"x"}'],
    /line 2: id: "x" is already used on line 1/,
  ],
  [
    'a question that follows an unknown one',
    ['{"question":"a"}', '{"question":"b","after":"line-7"}'],
    /line 2: after: "line-7" is neither a question of the file nor the id of a stored search \(q-…\)/,
  ],
  [
    'a circle',
    [
      '{"question":"a","id":"a","after":"b"}',
      '{"question":"b","id":"b","after":"c"}',
      '{"question":"c","id":"c","after":"b"}',
    ],
    /line 2: after: "b" follows itself, by way of c, b$/,
  ],
  ['one that follows itself', ['{"question":"a","id":"a","after":"a"}'], /line 1: after: "a" follows itself/],
  [
    'a question that follows one on another database',
    ['{"question":"a","id":1,"database":"x"}', '{"question":"b","after":1}'],
    /line 2: after: "1" asks the database x and this question a database without a name: a question follows one on the/,
  ],
  ['nothing at all', [''], /holds no questions/],
])('%s is one clear line', async (_what, lines, message) => {
  const failed = load(lines);
  await expect(failed).rejects.toThrow(message);
  await expect(failed).rejects.toMatchObject({
    name: 'QuestionFileError',
    message: expect.not.stringContaining('\n') as string,
  });
});

test('a missing file and a folder are one clear line', async () => {
  await expect(loadQuestions(join(dir, 'none.jsonl'))).rejects.toThrow(
    /none\.jsonl cannot be read \(it does not exist\)/,
  );
  await expect(loadQuestions(dir)).rejects.toThrow(/it is a folder/);
});
