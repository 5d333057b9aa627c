/** `gate batch run --detach`: a worker in the background works on a batch over two databases, and the command without it collects. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { callsOf, linesIn, runIn } from '../helpers/run-results';
import { loadTestData, type TestData } from '../helpers/shared-data';

let data: TestData;
let model: SimulatedModel;
let home: GateHome;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  home = gateHome({ baseUrl: model.baseUrl });
  const path = data.databases[0]?.split('=')[1] ?? '';
  copyFileSync(path, join(home.folder, 'other.sqlite'));
  const lines = data.questions.slice(0, 6).map(({ id, question, database, gold_sql: gold }, n) => {
    return JSON.stringify({ id, question, database: n % 2 === 0 ? database : 'other', gold_sql: gold });
  });
  writeFileSync(join(home.folder, 'q.jsonl'), lines.join('\n'));
});
afterEach(async () => {
  await home.here(['dev', '--stop']);
  await model.close();
  data.close();
});

const batch = (...more: readonly string[]): string[] => {
  const databases = ['--db', data.databases[0] ?? '', '--db', 'other=./other.sqlite'];
  return ['batch', 'run', 'q.jsonl', ...databases, '--concurrency', '2', ...more];
};
const COLLECT = ['--out', 'out'];

/** The collected batch: all is scored, and all that was billed was used. */
function expectCollected(): void {
  const lines = linesIn(home.folder);
  expect([runIn(home.folder).complete, lines.length]).toEqual([true, 6]);
  expect(lines.every(({ verdict }) => /^(correct|wrong)/.test(verdict))).toBe(true);
  const { billed, billedAgain } = model.ledger().totals;
  expect([callsOf(lines), billedAgain]).toEqual([billed, 0]);
}

test('it returns while the batch runs; detached again it runs once; who follows may stop; the last one collects', async () => {
  const release = model.holdAfter(1);
  const first = await home.run(batch('--detach', '--json'));
  expect(first.code).toBe(0);
  const { id, ...told } = JSON.parse(first.out) as { id: string };
  expect(told).toEqual({ status: 'running', ui: null, questions: 6 });
  expect(first.err).toMatch(/6 questions to ask; the same command without --detach follows them .*\n.*gate dev --stop/);
  await model.billed(1);
  const again = await home.here(batch('--detach'));
  expect(again).toMatchObject({ code: 0, out: `${id}\n`, err: expect.stringContaining('It runs already') as string });

  const follower = home.start(batch(...COLLECT));
  await follower.said(/runs detached: an interrupt ends this command alone/);
  await follower.said(/continuing b-/);
  follower.child.kill('SIGINT');
  expect(await follower.ended).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /6 questions open, which others work on; run the same command again to follow/,
    ) as string,
  });
  release();
  expect(await home.here(batch(...COLLECT))).toMatchObject({ code: 0 });
  expectCollected();
  expect(await home.here(batch('--detach'))).toMatchObject({
    code: 0,
    out: `${id}\n`,
    err: expect.stringContaining('All of it is answered') as string,
  });
});

test('whose worker is gone goes on in the command, and whose command was interrupted goes on detached', async () => {
  let release = model.holdAfter(2);
  await home.run(batch('--detach'));
  await model.billed(2);
  await home.here(['dev', '--stop']);
  release();
  release = model.holdAfter(4);
  const attended = home.start(batch(...COLLECT));
  await attended.said(/ran detached\. No process works on it any more, so it goes on here/);
  await model.billed(4);
  const refused = await home.here(batch('--detach'));
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/runs in a process of its own: interrupt it there, then run this again\n$/),
  ]);
  attended.child.kill('SIGINT');
  release();
  expect((await attended.ended).code).toBe(3);
  const { code, err } = await home.run(batch('--detach'));
  expect([code, err]).toEqual([0, expect.stringMatching(/ran in a process of its own\. No process works on it/)]);
  expect(await home.here(batch(...COLLECT))).toMatchObject({ code: 0 });
  expectCollected();
});

test('gate cancel ends a detached batch, and the same command goes on with it', async () => {
  const release = model.holdAfter(1);
  const { id } = JSON.parse((await home.run(batch('--detach', '--json'))).out) as { id: string };
  await model.billed(1);
  expect(await home.here(['cancel', id])).toMatchObject({ code: 0, out: `${id}: is being cancelled\n` });
  release();
  expect(await home.here(batch(...COLLECT))).toMatchObject({ code: 0 });
  expect([runIn(home.folder).complete, linesIn(home.folder).length]).toEqual([true, 6]);
  expect(await home.here(['cancel', id])).toMatchObject({ code: 1, err: `gate: ${id} is not running\n` });
});
