/** The semantic layer as a user meets it: asked questions and a lesson, through Temporal, with calls counted at the endpoint. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { AnswerRecord } from '../../src/domain';
import type { Layer } from '../../src/layer/state';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint, type Fault } from '../helpers/model-endpoint';
import { GAP_PLAN } from '../helpers/gap-search';
import { groundReply, text } from '../unit/roles/fixtures';

/** Device B stores milliseconds. */
const LAPS = `
CREATE TABLE lap (car INTEGER, device TEXT, gap REAL, behind_s REAL);
${Array.from({ length: 24 }, (_, at) => {
  const seconds = (at + 1) / 4;
  return `INSERT INTO lap VALUES (${at % 5}, '${at % 2 === 0 ? 'A' : 'B'}', ${at % 2 === 0 ? seconds : seconds * 1000}, ${seconds});`;
}).join('\n')}
`;
const SECONDS = "CASE WHEN device = 'B' THEN gap / 1000 ELSE gap END";
const CHECK = `SELECT count(*), sum(abs(${SECONDS} - behind_s) < 0.001), sum(abs(gap - behind_s) < 0.001) FROM lap`;
const STATEMENT = 'lap.gap is in milliseconds where lap.device is B, else in seconds.';
const commit = (car: number, more: object): object => ({
  action: 'commit',
  operators: [
    { name: 'op_gap', intent: 'gaps in seconds', sql: `SELECT car, ${SECONDS} AS s FROM lap` },
    { name: 'op_answer', intent: 'the mean', sql: `SELECT avg(s) AS gap FROM op_gap WHERE car = ${car}` },
  ],
  ...more,
});
const CLAIM = {
  ...{ operator: 'op_gap', statement: STATEMENT, rows: 'laps', check: CHECK },
  rivals: [{ reading: 'all seconds', instead: null }],
};
const KEEP = {
  claims: [{ claim: 1, keep: true, statement: STATEMENT, scope: null, restsOn: [], replaces: [], contradicts: [] }],
};
const LESSON = { notes: [], queries: [], open: ['Which clock?'], done: false };

function reply(user: string): object {
  if (user.includes('<rules>\nYou read what a database')) return KEEP;
  if (user.includes('<rules>\nYou learn an undocumented'))
    return user.includes('proved in this lesson')
      ? { ...LESSON, done: true }
      : { ...LESSON, claims: [{ statement: STATEMENT, rows: 'laps', check: CHECK, rivals: ['all seconds'] }] };
  if (user.includes('<rules>\nYou turn the question into a plan')) return GAP_PLAN;
  if (user.includes('<rules>\nYou judge what the database said')) return groundReply({ facts: [] });
  if (user.includes('k1: ')) return commit(1, { known: ['k1'] });
  return commit(3, { claims: [CLAIM] });
}

const isSecondTurn = (user: string): boolean =>
  user.includes('<rules>\nYou learn an undocumented') && user.includes('proved in this lesson');
const isReading = (user: string): boolean => user.includes('<rules>\nYou read what a database');

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((model) => model.close())));

/** The first request of the kind `stuck` meets the fault; unless another is given, it is never answered. */
async function home({
  stuck,
  fault = { fault: 'hang' },
}: { readonly stuck?: (user: string) => boolean; readonly fault?: Fault } = {}) {
  let isStuck = stuck !== undefined;
  const model = await startModelEndpoint({
    reply: ({ messages }) => {
      const user = messages[1]?.content ?? '';
      if (!isStuck || stuck?.(user) !== true) return text(reply(user));
      isStuck = false;
      return fault;
    },
  });
  opened.push(model);
  const made = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'test-model', GATE_MEMORY: 'on' } });
  const path = join(made.folder, 'laps.sqlite');
  const write = (sql: string): void => {
    const database = new Database(path);
    database.exec(sql);
    database.close();
  };
  write(LAPS);
  return { ...made, model, path, write };
}

test('what one question proved, the next one relies on; what the rows no longer show is withheld', async () => {
  const { ask, here, model, path, write } = await home();
  const one = await ask(['How far behind is car 3?', '--db', path]);
  expect(one).toMatchObject({ status: 'answered' });
  // It is kept after the answer was stored.
  const stored = JSON.parse((await here(['show', one.id, '--json'])).out) as AnswerRecord;
  expect(stored).toMatchObject({ usage: { llmCalls: 2 }, layer: { shown: 0, kept: [{ statement: STATEMENT }] } });
  expect(model.requests).toHaveLength(2);
  const two = await ask(['How far behind is car 1?', '--db', path]);
  expect(two).toMatchObject({ status: 'answered', layer: { shown: 1, kept: [] } });
  expect(two.claims).toEqual([
    expect.objectContaining({
      state: 'proved',
      examined: 24,
      entry: expect.objectContaining({ searchId: one.id }) as unknown,
    }),
  ]);
  expect(model.requests).toHaveLength(3);
  // The same question asked again is refreshed, with the entry's check.
  expect(await ask(['How far behind is car 1?', '--db', path])).toMatchObject({ id: two.id });
  expect(model.requests).toHaveLength(3);

  write("UPDATE lap SET gap = gap / 1000 WHERE device = 'B'");
  expect(await here(['layer', 'verify', '--db', path])).toMatchObject({ code: 1 });
  const three = await ask(['How far behind is car 2?', '--db', path]);
  expect(three.layer?.shown ?? 0).toBe(0);
});

test('a file that was replaced at its path keeps its layer; entries are counted again before they are used', async () => {
  const { ask, here, model, path } = await home();
  const replaceBy = (sql: string): void => {
    const database = new Database(`${path}.new`);
    database.exec(sql);
    database.close();
    renameSync(`${path}.new`, path);
  };
  const one = await ask(['How far behind is car 3?', '--db', path]);
  const stored = JSON.parse((await here(['show', one.id, '--json'])).out) as AnswerRecord;
  expect(stored).toMatchObject({ layer: { kept: [{ statement: STATEMENT }] } });
  replaceBy(LAPS);
  expect(await ask(['How far behind is car 1?', '--db', path])).toMatchObject({ layer: { shown: 1 } });
  expect(await ask(['How far behind is car 3?', '--db', path])).toMatchObject({ id: one.id });
  replaceBy(`${LAPS} UPDATE lap SET gap = gap / 1000 WHERE device = 'B'`);
  const before = model.requests.length;
  const three = await ask(['How far behind is car 2?', '--db', path]);
  expect(three.layer).toMatchObject({ shown: 0, withheld: [{ statement: STATEMENT }] });
  expect((await ask(['How far behind is car 3?', '--db', path])).id).not.toBe(one.id);
  expect(model.requests.length).toBeGreaterThan(before);
  expect(await here(['layer', 'verify', '--db', path])).toMatchObject({ code: 1 });
});

test('an answer that rests on an entry which a person rejected is searched anew, without the entry', async () => {
  const { ask, here, model, path } = await home();
  const [one, two] = [
    await ask(['How far behind is car 3?', '--db', path]),
    await ask(['How far behind is car 1?', '--db', path]),
  ];
  const stored = JSON.parse((await here(['show', one.id, '--json'])).out) as AnswerRecord;
  const [entry] = stored.layer?.kept ?? [];
  const id = entry?.entryId ?? '';
  expect(two.claims).toEqual([expect.objectContaining({ entry: expect.objectContaining({ entryId: id }) as unknown })]);
  expect(await here(['layer', 'reject', id, '--db', path, '--author', 'ann'])).toMatchObject({ code: 0 });

  const before = model.requests.length;
  const { out, err } = await here(['ask', 'How far behind is car 1?', '--db', path, '--json']);
  const anew = JSON.parse(out) as AnswerRecord;
  expect(err).toContain(
    `(${two.id}) no longer holds: it rests on ${id.slice(0, 9)} "${STATEMENT}", which was rejected by ann; ` +
      `${anew.id} takes its place`,
  );
  expect(JSON.stringify(model.requests[before]?.body.messages)).toContain('car 1?');
  expect(JSON.stringify(model.requests[before]?.body.messages)).not.toContain('k1: ');
  expect(anew.claims).toEqual([expect.not.objectContaining({ entry: expect.anything() as unknown })]);
  const paid = model.requests.length;
  expect(await ask(['How far behind is car 1?', '--db', path])).toMatchObject({ id: anew.id });
  expect(model.requests).toHaveLength(paid);
});

test('the answer is printed although the reading of what was proved hangs, which goes on with the next question', async () => {
  const { here, ask, path } = await home({ stuck: isReading });
  const asked = await here(['ask', 'How far behind is car 3?', '--db', path, '--json']);
  expect(asked).toMatchObject({ code: 0 });
  expect(JSON.parse(asked.out)).toMatchObject({ status: 'answered', usage: { llmCalls: 1 } });
  expect(asked.err).toContain('not kept yet; it goes on when this database is asked next');
  const { id } = JSON.parse(asked.out) as AnswerRecord;
  // Each next process takes it up; its retry may be due only after a short one has ended.
  let stored: AnswerRecord | null = null;
  const until = Date.now() + 240_000;
  for (let next = 0; Date.now() < until && (stored?.layer?.kept.length ?? 0) === 0; next += 1) {
    await ask([`How far behind is car ${next}?`, '--db', path]);
    stored = JSON.parse((await here(['show', id, '--json'])).out) as AnswerRecord;
  }
  expect(stored).toMatchObject({ layer: { kept: [{ statement: STATEMENT }] } });
});

test('a batch stays until what its last question proved is read, also where that has to be tried again', async () => {
  const { here, model, path, folder } = await home({ stuck: isReading, fault: { fault: 'status', status: 503 } });
  writeFileSync(join(folder, 'q.jsonl'), '{"id":"a","question":"How far behind is car 3?"}\n');
  const ran = await here(['batch', 'run', 'q.jsonl', '--db', path, '--memory', 'on', '--out', 'out']);
  expect(ran).toMatchObject({
    code: 0,
    err: expect.stringContaining('reading what the last questions proved') as unknown,
  });
  const { entries } = JSON.parse((await here(['layer', 'list', '--db', path, '--json'])).out) as Layer;
  expect(entries.map(({ statement }) => statement)).toEqual([STATEMENT]);
  expect(model.requests).toHaveLength(3);
});

test('what the probe of a thorough search proved, a later question relies on', async () => {
  const { ask, here, model, path } = await home();
  const one = await ask(['How far behind is car 3?', '--db', path, '--method', 'thorough']);
  expect(one).toMatchObject({ status: 'answered' });
  // Plan, judgement and reading.
  expect(model.requests).toHaveLength(3);
  expect((await here(['layer', 'list', '--db', path])).out).toContain('24 of 24');
  expect(await here(['layer', 'verify', '--db', path])).toMatchObject({ code: 0 });
  const two = await ask(['How far behind is car 1?', '--db', path]);
  expect(two).toMatchObject({ status: 'answered', layer: { shown: 1, kept: [] } });
  expect(two.claims).toEqual([
    expect.objectContaining({ state: 'proved', entry: expect.objectContaining({ searchId: one.id }) as unknown }),
  ]);
  expect(model.requests).toHaveLength(4);
});

test('a lesson proves without a question, and the next one begins with what is kept', async () => {
  const { ask, here, model, path } = await home();
  const { code, out } = await here(['learn', '--db', path, '--turns', '4', '--json']);
  const lesson = JSON.parse(out) as AnswerRecord;
  expect([code, lesson.status, lesson.answer]).toEqual([0, 'answered', '1 convention proved and kept']);
  // Two turns and one reading.
  expect(model.requests).toHaveLength(3);
  const listed = await here(['layer', 'list', '--db', path]);
  expect(listed.out).toContain('24 of 24');
  expect(listed.err).toContain('To be decided by a person\n  Which clock?');
  const [open] = lesson.layer?.open ?? [];
  expect((await here(['show', lesson.id])).out).toContain(
    `To be decided by a person\n  Which clock?\n    gate layer answer ${open!.questionId.slice(0, 7)} "…" --db `,
  );
  await here(['layer', 'answer', open!.questionId, 'That of the car.', '--db', path, '--author', 'ann']);
  const asked = await ask(['How far behind is car 1?', '--db', path]);
  expect(asked.claims).toEqual([
    expect.objectContaining({ entry: expect.objectContaining({ searchId: lesson.id }) as unknown }),
  ]);
  const told = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(told).toMatch(/ann said on [0-9-]+: Which clock\? That of the car\./);
  const rule = (JSON.parse((await here(['layer', 'list', '--db', path, '--json'])).out) as Layer).rules[0]!.entry;
  await here(['layer', 'reject', rule.entryId, '--db', path, '--author', 'ann']);
  // What was answered with a rule in view is searched anew without it.
  const anew = await ask(['How far behind is car 1?', '--db', path]);
  expect(anew.id).not.toBe(asked.id);
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain('That of the car.');
});

test.each([
  ['stopped', 'stop'],
  ['cancelled', 'cancel'],
  ['killed', null],
] as const)(
  'a lesson that is %s goes on without paying its first turn again, and keeps what that proved',
  async (_how, command) => {
    const { here, start, model, path } = await home({ stuck: isSecondTurn });
    const args = ['learn', '--db', path, '--turns', '4', '--json'];
    const lesson = start(args);
    await model.arrived(2);
    if (command === null) lesson.child.kill('SIGKILL');
    else expect(await here([command, 'last'])).toMatchObject({ code: 0 });
    const { out } = await lesson.ended;
    if (command !== null)
      expect(JSON.parse(out)).toMatchObject({
        answer: '1 convention proved but not read yet; not done: the same command goes on',
        lesson: { left: ['lap'] },
      });
    if (command === 'stop')
      expect((await here(['layer', 'list', '--db', path])).err).toContain(
        `1 table not learned yet: "lap"; gate learn --db ${path} goes on`,
      );

    const on = JSON.parse((await here(args)).out) as AnswerRecord;
    expect(on).toMatchObject({ status: 'answered', endedBy: 'finished', answer: '1 convention proved and kept' });
    expect(on.usage.llmCalls).toBe(3);
    expect((await here(['layer', 'list', '--db', path])).out).toContain('24 of 24');
    // The first turn, the second one twice, and the reading.
    expect(model.requests).toHaveLength(4);
    expect(model.billed()).toBe(3);
  },
);
