/** `gate ask` asked again, as a user types it: calls are counted at the model's endpoint, and the rows really change. */
import { join } from 'node:path';
import Database from 'libsql';
import type { AnswerRecord } from '../../src/domain';
import { COMMIT, GAPS } from '../helpers/close-events';
import { gateHome } from '../helpers/gate-process';
import { SETUP, groundReply, planReply, text } from '../unit/roles/fixtures';
import { startModelEndpoint } from '../helpers/model-endpoint';

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((model) => model.close())));

async function asking(setup: string, reply: (user: string) => object, flags: readonly string[]) {
  const model = await startModelEndpoint({ reply: ({ messages }) => text(reply(messages[1]?.content ?? '')) });
  opened.push(model);
  const home = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'test-model' } });
  const path = join(home.folder, 'races.sqlite');
  const write = (sql: string): void => {
    const database = new Database(path);
    database.exec(sql);
    database.close();
  };
  write(setup);
  const again = async (): Promise<AnswerRecord & { calls: number }> => {
    const before = model.requests.length;
    const record = await home.ask(['How many close events?', '--db', path, '--max', 'calls=2', ...flags]);
    expect({ status: record.status, reason: record.reason }).toEqual({ status: 'answered', reason: null });
    return { ...record, calls: model.requests.length - before };
  };
  return { model, home, path, write, again };
}

it('costs nothing while the proof holds, and is searched anew under one id where it does not', async () => {
  let fails = false;
  const replies = (user: string): object =>
    fails ? { nothing: 'usable' } : user.includes('<rules>\nYou judge') ? groundReply() : planReply();
  const { home, path, write, again } = await asking(SETUP, replies, ['--method', 'thorough']);
  const first = await again();
  expect(first).toMatchObject({ rows: [[2]] });
  expect(await again()).toMatchObject({ id: first.id, calls: 0 });

  write("INSERT INTO event VALUES (3, 'West'); INSERT INTO entry VALUES (3, 10, 1, '28:00.0'), (3, 11, 2, '+0.7')");
  expect(await again()).toMatchObject({ id: first.id, calls: 0, rows: [[3]] });
  expect((await home.here(['show', first.id])).out).toMatch(/\nAs of {3}\S+ \S+ UTC, searched /);

  write('ALTER TABLE event ADD COLUMN note TEXT');
  fails = true;
  const question = ['How many close events?', '--db', path, '--max', 'calls=2', '--method', 'thorough'];
  const failed = await home.here(['ask', ...question]);
  const [, next = ''] = /no longer holds: the schema changed; (q-\w+) takes its place/.exec(failed.err) ?? [];
  expect({ code: failed.code, isNew: next !== '' && next !== first.id }).toEqual({ code: 1, isNew: true });
  fails = false;
  const anew = await again();
  expect(anew.id).toBe(next);
  expect(anew).toMatchObject({ rows: [[3]] });
  expect(anew.calls).toBeGreaterThan(0);
  expect(await again()).toMatchObject({ id: anew.id, calls: 0 });
  const old = JSON.parse((await home.here(['show', first.id, '--json'])).out) as AnswerRecord;
  expect(old.replacedBy).toEqual({ id: anew.id, reason: 'the schema changed' });
  expect((await home.here(['show', first.id])).out).toContain(
    `No longer holds (the schema changed): ${anew.id} takes its place.`,
  );
});

it('counts its claims again with the rows; one that is no proof any more is searched anew', async () => {
  const { home, write, again } = await asking(GAPS, () => COMMIT, ['--method', 'fast']);
  const first = await again();
  expect(first).toMatchObject({
    rows: [[2]],
    calls: 1,
    answer: '2',
  });

  write("INSERT INTO entry VALUES (6, 2, '+0.7', 0.7)");
  const counted = { matching: 7, examined: 7, rivals: [{ matching: 0, examined: 7, verdict: 'refuted' }] };
  const later = { id: first.id, calls: 0, rows: [[3]] };
  expect(await again()).toMatchObject({
    ...later,
    answer: '3',
    claims: [counted],
  });
  const shown = await home.here(['show', first.id]);
  expect(shown.out).toContain('op_gap  proved: "A mark is the gap to the winner in seconds."');

  // The same replies prove nothing over these rows: the search ends with its last commit, and says so.
  write("INSERT INTO entry VALUES (7, 2, '+0:01.1', 1.1)");
  const anew = await again();
  expect(anew.id).not.toBe(first.id);
  expect(anew.calls).toBeGreaterThan(0);
  expect(anew).toMatchObject({
    told: expect.arrayContaining([
      'NOT shown: "A mark is the gap to the winner in seconds."; it holds for 7 of 8 (87.5 %) only',
    ]) as string[],
  });
  const old = JSON.parse((await home.here(['show', first.id, '--json'])).out) as AnswerRecord;
  expect(old.replacedBy).toEqual({
    id: anew.id,
    reason:
      'what op_gap takes for granted no longer holds as it did: "A mark is the gap to the winner in seconds." (it holds for 7 of 8 (87.5 %) only)',
  });
});

/** One row more than a search fetches. */
const MANY = `CREATE TABLE entry AS
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) SELECT i AS id FROM n;`;
const ALL = { action: 'commit', operators: [{ name: 'op_answer', intent: 'entries', sql: 'SELECT id FROM entry' }] };

it('--csv gives all rows that are asked for, or ends with an error; --output sql gives the SQL alone', async () => {
  const { model, home } = await asking(MANY, () => ALL, []);
  const csv = (...more: string[]) =>
    home.here(['ask', 'Which entries?', '--db', join(home.folder, 'races.sqlite'), '--csv', ...more]);
  const stored = await csv();
  expect({ code: stored.code, lines: stored.out.trim().split('\n').length }).toEqual({ code: 1, lines: 10_001 });
  expect(stored.err).toContain('gate: cut after 10,000 rows: the result has more');

  const calls = model.requests.length;
  const all = await csv('--max-rows', '300000');
  expect({ code: all.code, lines: all.out.trim().split('\n').length }).toEqual({ code: 0, lines: 10_002 });
  const some = await csv('--max-rows', '10000');
  expect({ code: some.code, err: some.err.split('\n').at(-2) }).toEqual({
    code: 1,
    err: 'gate: cut after 10,000 rows; --max-rows raises the limit',
  });
  expect(model.requests.length).toBe(calls);

  const asSql = await home.here([
    'ask',
    'Which entries?',
    '--db',
    join(home.folder, 'races.sqlite'),
    '--output',
    'sql',
  ]);
  expect(asSql).toMatchObject({ code: 0, out: 'SELECT id FROM entry\n' });

  const sql = ['db', 'sql', 'SELECT id FROM entry', '--db', join(home.folder, 'races.sqlite')];
  expect(await home.here([...sql, '--format', 'csv'])).toMatchObject({ code: 1 });
  expect(await home.here([...sql, '--format', 'csv', '--max-rows', '10001'])).toMatchObject({ code: 0, err: '' });
});
