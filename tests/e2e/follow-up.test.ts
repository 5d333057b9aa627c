/** A question that follows another, as a user meets it: `gate ask --after`, with calls counted at the endpoint. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { AnswerRecord } from '../../src/domain';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint } from '../helpers/model-endpoint';
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

async function home() {
  const prompts: string[] = [];
  const model = await startModelEndpoint({
    reply: ({ messages }) => {
      const user = messages[1]?.content ?? '';
      prompts.push(user);
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
  const write = (sql: string): void => {
    const database = new Database(path);
    database.exec(sql);
    database.close();
  };
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
  const database = new Database(other);
  database.exec('CREATE TABLE t (a)');
  database.close();
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
    '--after: only the method fast',
  );
});
