/** A question that follows another, as a user meets it: `gate ask --after`, with calls counted at the endpoint. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { AnswerRecord } from '../../src/domain';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint, type Fault } from '../helpers/model-endpoint';
import { linesIn } from '../helpers/run-results';
import { text } from '../unit/roles/fixtures';

/** Device B stores milliseconds. */
const LAPS = `
CREATE TABLE lap (car INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 24 }, (_, at) => {
  const seconds = (at + 1) / 4;
  return `INSERT INTO lap VALUES (${at % 5}, '${at % 2 === 0 ? 'A' : 'B'}', ${at % 2 === 0 ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
`;
const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
const STATEMENT = 'gap is in milliseconds where device is B, else in seconds';
const CLAIM = {
  ...{ operator: 'op_gap', statement: STATEMENT, rows: 'laps' },
  check: `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001) FROM lap`,
  rivals: [{ reading: 'all seconds', instead: null }],
};
const commit = (answer: string, more: object): object => ({
  action: 'commit',
  operators: [
    { name: 'op_gap', intent: 'gaps in seconds', sql: `SELECT car, ${SECONDS} AS s FROM lap` },
    { name: 'op_answer', intent: 'the answer', sql: answer },
  ],
  ...more,
});
const ALL = commit('SELECT avg(s) AS gap FROM op_gap', { claims: [CLAIM] });
const BY_CAR = 'SELECT car, avg(s) AS gap FROM op_gap GROUP BY car';
const UNDERSTOOD = 'What is the mean gap in seconds, by car?';

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((model) => model.close())));

function execute(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

/** `instead`: of the reply, by the number of the call and its prompt. */
async function home(instead: (call: number, prompt: string) => Fault | null = () => null) {
  const prompts: string[] = [];
  const model = await startModelEndpoint({
    reply: ({ messages }) => {
      const user = messages[1]?.content ?? '';
      prompts.push(user);
      const fault = instead(prompts.length, user);
      if (fault !== null) return fault;
      if (!user.includes('<data name="earlier questions">')) return text(ALL);
      const more = user.includes('c1: ')
        ? { known: ['c1'] }
        : messages.length > 2
          ? { assumed: [{ operator: 'op_gap', statement: STATEMENT, risk: 0.5 }] }
          : { claims: [CLAIM] };
      return text(commit(BY_CAR, { ...more, understoodAs: UNDERSTOOD }));
    },
  });
  opened.push(model);
  const made = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'test-model', GATE_MEMORY: 'off' } });
  const path = join(made.folder, 'laps.sqlite');
  const write = (sql: string): void => execute(path, sql);
  write(LAPS);
  const promptOf = (call: number): string => prompts[call] ?? '';
  return { ...made, model, path, write, promptOf };
}

test('a follow-up costs one call and rests on the claims of the question before it, counted again', async () => {
  const { ask, here, model, path, promptOf, write } = await home();
  const one = await ask(['What is the mean gap?', '--db', path, '--context', 'gaps are told in seconds']);
  expect(one.claims).toMatchObject([{ state: 'proved', examined: 24 }]);
  expect(promptOf(0)).not.toMatch(/earlier questions|understoodAs/);
  write("INSERT INTO lap VALUES (9, 'A', 2.5, 2.5)");
  const calls = model.requests.length;
  const two = await ask(['and by car?', '--db', path, '--after', 'last']);
  expect(model.requests.length - calls).toBe(1);
  expect(two).toMatchObject({ status: 'answered', question: 'and by car?', after: one.id, understoodAs: UNDERSTOOD });
  expect(two.rows).toHaveLength(6);
  expect(two.claims).toMatchObject([
    { statement: STATEMENT, state: 'proved', examined: 25, entry: { searchId: one.id } },
  ]);
  for (const shown of [
    '1. What is the mean gap?',
    'rests on: c1',
    `c1: ${STATEMENT} [25 of 25 laps`,
    'told in seconds',
  ])
    expect(promptOf(calls)).toContain(shown);

  // Asked again it is refreshed; after another question the same words are another search; the chain has all of it.
  expect(await ask(['and by car?', '--db', path, '--after', one.id])).toMatchObject({ id: two.id });
  const three = await ask(['and by car?', '--db', path, '--after', two.id]);
  expect(three).toMatchObject({ after: two.id, claims: [{ entry: { searchId: one.id } }] });
  expect(promptOf(calls + 1)).toContain(`2. and by car?\nunderstood as: ${UNDERSTOOD}`);
  expect(model.requests.length - calls).toBe(2);
  const listed = JSON.parse((await here(['list', '--json'])).out) as { id: string; after?: string }[];
  expect(listed.find(({ id }) => id === two.id)).toMatchObject({ after: one.id });
  expect((await here(['list'])).out).toContain(`(after ${one.id.slice(0, 8)}) and by car?`);
  expect((await here(['show', two.id])).out).toContain(`${one.id}, understood as: ${UNDERSTOOD}`);
});

test('a batch asks what follows another question after it', async () => {
  const { run, model, path, promptOf, folder } = await home();
  const lines = [
    { id: 'third', question: 'and of car 3 alone?', after: 'second' },
    { id: 'second', question: 'and by car?', after: 'first' },
    { id: 'first', question: 'What is the mean gap?' },
  ];
  writeFileSync(join(folder, 'chain.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
  const { code, err } = await run(['batch', 'run', 'chain.jsonl', '--db', path, '--output', 'answer', '--out', 'out']);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  expect(model.requests).toHaveLength(3);
  expect(promptOf(0)).not.toContain('earlier questions');
  expect(promptOf(1)).toContain('1. What is the mean gap?');
  expect(promptOf(2)).toContain('2. and by car?');
});

test('a claim that the rows no longer show is told and not carried', async () => {
  const { ask, model, path, promptOf, write } = await home();
  await ask(['What is the mean gap?', '--db', path]);
  write("UPDATE lap SET gap = gap * 60 WHERE device = 'A'");
  const calls = model.requests.length;
  const two = (await ask(['and by car?', '--db', path, '--after', 'last'])) as Partial<AnswerRecord>;
  expect(promptOf(calls)).toContain(`no longer shown by the rows: ${STATEMENT} (`);
  expect(promptOf(calls)).not.toContain('c1: ');
  expect((two.claims ?? []).filter(({ state, entry }) => state === 'proved' || entry !== undefined)).toEqual([]);
});

test('what cannot be followed is one line', async () => {
  const { ask, here, path } = await home();
  const one = await ask(['What is the mean gap?', '--db', path]);
  const other = `${path}.other.sqlite`;
  execute(other, 'CREATE TABLE t (a)');
  const refused = async (...more: string[]) => {
    const { code, err } = await here(['ask', 'and by car?', ...more]);
    expect(code).not.toBe(0);
    return err.trim();
  };
  expect(await refused('--db', path, '--after', 'q-0000000000000000')).toContain('no search q-0000000000000000');
  expect(await refused('--db', path, '--after', 'first')).toContain("'first' is not a search id");
  expect(await refused('--after', one.id)).toContain('add --db with the file or URL');
  expect(await refused('--db', other, '--after', one.id)).toContain('is another database: what follows it needs');
  expect(await refused('--db', path, '--after', one.id, '--method', 'react')).toContain(
    'only the method fast, without --web, answers a question that follows another (--after)',
  );
});

describe('a batch', () => {
  const CHAIN = [
    { id: 'three', question: 'and in all?', after: 'two' },
    { id: 'one', question: 'What is the mean gap?' },
    { id: 'two', question: 'and by car?', after: 'one' },
  ];
  const written = (folder: string, questions: readonly object[]): string => {
    const file = join(folder, 'questions.jsonl');
    writeFileSync(file, questions.map((each) => JSON.stringify(each)).join('\n'));
    return file;
  };

  test('asks a chain in its order, killed in the middle it goes on there, and nothing is asked twice', async () => {
    const { folder, here, model, path, promptOf, start } = await home((call) =>
      call === 2 ? { fault: 'hang' } : null,
    );
    const args = ['batch', 'run', written(folder, CHAIN), '--db', path, '--out', 'out', '--methods', 'fast'];
    const first = start(args);
    await model.arrived(2);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await here(args)).toMatchObject({ code: 0 });
    expect(model.requests).toHaveLength(4);
    expect(promptOf(2)).toContain('1. What is the mean gap?');
    expect(promptOf(3)).toContain('2. and by car?');
    const lines = linesIn(folder);
    expect(lines.map(({ id, status }) => [id, status])).toEqual(CHAIN.map(({ id }) => [id, 'answered']));
    const [three, one, two] = lines.map(({ searchId }) => searchId);
    const shown = async (id = ''): Promise<Partial<AnswerRecord>> =>
      JSON.parse((await here(['show', id, '--json'])).out) as AnswerRecord;
    expect(await shown(three)).toMatchObject({ after: two });
    expect(await shown(two)).toMatchObject({ after: one, claims: [{ state: 'proved', entry: { searchId: one } }] });
  });

  test('a question that follows one without an answer fails with a clear line and costs no call', async () => {
    const refused = { fault: 'status', status: 400, error: { message: 'no' } } as const;
    const { folder, here, model, path } = await home(() => refused);
    const file = written(folder, CHAIN.slice(1));
    expect(await here(['batch', 'run', file, '--db', path, '--out', 'out', '--methods', 'fast'])).toMatchObject({
      code: 1,
    });
    const [one, two] = linesIn(folder);
    expect([one?.verdict, two?.verdict]).toEqual(['infrastructure', 'infrastructure']);
    expect(two?.error).toBe(`${one?.searchId}, which this question follows, has no answer: ask that one first`);
    expect(model.requests).toHaveLength(1);
  });

  test('follows a stored search on the same database, by the method fast', async () => {
    const { ask, folder, here, model, path } = await home();
    const { id } = await ask(['What is the mean gap?', '--db', path]);
    const file = written(folder, [{ question: 'and by car?', after: id }]);
    const run = (db: string, ...more: string[]) => here(['batch', 'run', file, '--db', db, '--out', 'out', ...more]);
    const calls = model.requests.length;
    const other = `${path}.other.sqlite`;
    execute(other, 'CREATE TABLE t (a)');
    expect((await run(other)).err).toContain(`but ${id}, which it follows, asked another database (`);
    expect((await run(path, '--methods', 'react')).err).toContain('react knows no earlier ones');
    expect(model.requests).toHaveLength(calls);
    expect(await run(path)).toMatchObject({ code: 0 });
    expect(model.requests).toHaveLength(calls + 1);
    const [line] = linesIn(folder);
    const shown = (await here(['show', line?.searchId ?? '', '--json'])).out;
    expect(JSON.parse(shown)).toMatchObject({ after: id, understoodAs: UNDERSTOOD });
  });
});
