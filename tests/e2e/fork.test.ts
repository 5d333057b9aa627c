/** Forks of finished searches, and commands to searches that run, through the real command line. */
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { loadTestData, sprintSqlite, type TestData } from '../helpers/shared-data';
import { withClient } from '../helpers/temporal';
import type { AnswerRecord } from '../../src/domain';
import type { SearchDiff } from '../../src/report';

let data: TestData;
let model: SimulatedModel;
let database: string;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startModel(data);
  database = data.address({ engine: 'sqlite', database: 'sprint' });
});
afterEach(async () => {
  await model.close();
  data.close();
});

const startModel = (data: TestData): Promise<SimulatedModel> =>
  startSimulatedModel({
    questions: data.questionFiles,
    databases: data.databases,
    latencyMs: 600,
    // Several iterations, and time to say something in between.
    rates: { doubt: 1, wrong: 1, inconclusive: 0.5, immaterial: 0 },
  });

const QUESTION = 'How many points did each team score in sprints in total, best team first?';

/** As if Temporal had forgotten it, which the embedded server does after a day. */
async function forget(searchId: string): Promise<void> {
  await withClient(async ({ client }) => {
    const workflowExecution = { workflowId: `question-${searchId}` };
    await client.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution });
    for (let tries = 0; tries < 600; tries++) {
      const described = await client.workflow
        .getHandle(`question-${searchId}`)
        .describe()
        .catch(() => null);
      if (described === null) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the workflow is still known');
  });
}

function recordIn(out: string): AnswerRecord {
  return JSON.parse(out) as AnswerRecord;
}

describe('gate fork', () => {
  let home: GateHome;
  let parent: AnswerRecord;
  let asked: TestData;
  let askedModel: SimulatedModel;
  let [db, other] = ['', ''];
  beforeAll(async () => {
    asked = await loadTestData(null, { sample: true });
    askedModel = await startModel(asked);
    home = gateHome({ baseUrl: askedModel.baseUrl });
    db = asked.address({ engine: 'sqlite', database: 'sprint' });
    other = sprintSqlite(home.folder);
    parent = await home.ask([QUESTION, '--db', db, '--method', 'thorough']);
    await forget(parent.id);
  });
  afterAll(async () => {
    await askedModel.close();
    asked.close();
  });
  let tries = 0;

  it('goes on from iteration 1 of a search whose workflow is gone, and pays only what comes after', async () => {
    // Tried again it is another fork: the first one would cost nothing.
    const seed = String(5 + tries++);
    const args = ['fork', parent.id, '--at', '1', '--seed', seed, '--hint', 'ties count for both', '--db', db];
    askedModel.reset();
    const ended = await home.here([...args, '--author', 'ada', '--json']);
    expect(ended).toMatchObject({ code: 0 });
    const fork = recordIn(ended.out);
    expect(fork).toMatchObject({ status: 'answered', rows: parent.rows });
    expect(fork.id).not.toBe(parent.id);
    expect(fork.steering).toMatchObject([{ kind: 'hint', author: 'ada', text: 'ties count for both' }]);
    const { totals } = askedModel.ledger();
    expect(totals.billed).toBe(fork.usage.llmCalls);
    expect(fork.usage.llmCalls).toBeLessThan(parent.usage.llmCalls);

    askedModel.reset();
    const again = await home.here([...args, '--author', 'ada', '--json']);
    expect(recordIn(again.out).id).toBe(fork.id);
    expect(askedModel.ledger().totals.asked).toBe(0);

    const diff = await home.here(['show', parent.id, '--diff', fork.id]);
    expect(diff).toMatchObject({ code: 0 });
    expect(diff.out).toMatch(new RegExp(`seed +0 +${seed}`));
    const { fork: kin, partsAt } = JSON.parse(
      (await home.here(['show', parent.id, '--diff', fork.id, '--json'])).out,
    ) as SearchDiff;
    expect(kin).toEqual({ child: 'b', after: 1 });
    // Null where the fork found the same again.
    expect(partsAt ?? 2).toBeGreaterThan(1);
  });

  it.each<[string, string[], number, RegExp]>([
    [
      'a fork beyond the last checkpoint',
      ['--at', '99'],
      1,
      /no checkpoint after iteration 99; the last is after iteration \d+ \(--at \d+\)/,
    ],
    ['a fork without the file', ['--at', '1'], 2, /its database sprint-[0-9a-f]+ is not configured here: add --db/],
    ['a fork on another database', ['--at', '1', '--db', 'OTHER'], 2, /a fork needs the same one/],
    ['a fork at nothing', ['--at', '0'], 2, /give a whole number above 0/],
  ])('%s is one line', async (_what, args, code, says) => {
    const ended = await home.here([
      'fork',
      parent.id,
      ...args.map((arg) => (arg === 'OTHER' ? other : arg)),
      ...(args.includes('99') ? ['--db', db] : []),
    ]);
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: '' });
    expect(ended.err.trim().split('\n')).toEqual([expect.stringMatching(says)]);
  });
});

describe('commands to a running search', () => {
  it('are applied while it runs, and its record has what was said', async () => {
    const home = gateHome({ baseUrl: model.baseUrl, env: { USER: 'grace' } });
    const release = model.holdAfter(1);
    const asking = home.here(['ask', QUESTION, '--db', database, '--method', 'thorough', '--json']);
    await model.billed(1);
    const said = async (...args: string[]) => {
      const { code, out, err } = await home.here(args);
      return { code, line: `${out}${err}`.trim() };
    };
    expect(await said('pause', 'last')).toMatchObject({ code: 0 });
    expect(await said('pause', 'last')).toMatchObject({
      code: 1,
      line: expect.stringMatching(/refused pause: it is paused already$/) as string,
    });
    expect((await said('show', 'last')).line).toMatch(/paused/);
    expect((await said('list')).line).toMatch(/paused/);
    expect(await said('hint', 'last', 'points are per sprint')).toMatchObject({ code: 0 });
    expect(await said('hint', 'last', '  ')).toMatchObject({ code: 2 });
    expect(await said('budget', 'last', '--max', 'calls=40', '--max', 'sql-rows=none')).toMatchObject({ code: 0 });
    expect(await said('budget', 'last', '--max', 'calls=-3')).toMatchObject({ code: 2 });
    expect(await said('veto', 'last', 'nothing', '--reason', 'wrong')).toMatchObject({ code: 1 });
    expect((await said('show', 'last', '--plan')).line).toMatch(/Plan of t1|No plan yet/);
    expect(await said('resume', 'last', '--json')).toMatchObject({ code: 0 });
    release();
    const ended = await asking;
    expect(ended.code).toBe(0);
    expect(recordIn(ended.out).steering).toMatchObject([
      { kind: 'hint', author: 'grace', text: 'points are per sprint' },
    ]);
    const late = await said('hint', 'last', 'too late');
    expect(late).toMatchObject({
      code: 1,
      line: expect.stringMatching(/has finished; gate fork starts a new search from it$/) as string,
    });
    expect(await said('cancel', 'q-0000000000000000')).toMatchObject({ code: 1 });
  });

  it('stop answers at once, cancel ends as cancelled', async () => {
    for (const [command, code, endedBy] of [
      ['stop', 0, 'stop'],
      ['cancel', 3, 'cancel'],
    ] as const) {
      const home = gateHome({ baseUrl: model.baseUrl });
      model.reset();
      const release = model.holdAfter(1);
      const asking = home.here(['ask', QUESTION, '--db', database, '--method', 'thorough', '--json']);
      await model.billed(1);
      expect(await home.here([command, 'last'])).toMatchObject({ code: 0, err: '' });
      const ended = await asking;
      release();
      expect(ended.code).toBe(code);
      expect(recordIn(ended.out)).toMatchObject({ endedBy });
    }
  });
});
