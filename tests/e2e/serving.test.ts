/**
 * The endpoint that a command names is the one that receives rows: two model endpoints that count, workers of one
 * configuration that are up, and commands of another.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome, type GateProcess } from '../helpers/gate-process';
import { startModelEndpoint } from '../helpers/model-endpoint';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { unique } from '../helpers/temporal';

const [FIRST, SECOND, THIRD] = [
  'How many points did each team score in sprints in total, best team first?',
  'In how many sprint events did the winner beat the runner-up by more than five seconds (a dominant victory)?',
  'How many drivers are there?',
] as const;

let data: TestData;
/** What the worker that is up is configured for; slow, so that it can be met in the middle. */
let theirs: SimulatedModel;
/** What the command announces. */
let named: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  const common = { questions: data.questionFiles, databases: data.databases };
  theirs = await startSimulatedModel({ ...common, latencyMs: 300 });
  named = await startSimulatedModel(common);
});
afterEach(async () => {
  await theirs.close();
  await named.close();
  data.close();
});

/** A user whose configuration names the database, and the environment that names the other endpoint. */
function user(): {
  readonly home: GateHome;
  readonly db: string;
  readonly other: { readonly OPENAI_BASE_URL: string };
} {
  const db = unique('sprint');
  const home = gateHome({ baseUrl: theirs.baseUrl });
  configure(home, 'gate.config.json', db);
  return { home, db, other: { OPENAI_BASE_URL: named.baseUrl } };
}

function configure(home: GateHome, file: string, db: string, more: object = {}): string {
  const path = data.databases[0]?.split('=')[1];
  const target = join(home.folder, file);
  writeFileSync(target, JSON.stringify({ databases: { [db]: { path, ...more } } }));
  return target;
}

const asked = (model: SimulatedModel): number => model.ledger().totals.asked;

async function stopped(process: GateProcess): Promise<void> {
  process.child.kill('SIGTERM');
  await process.ended;
}

async function killed(process: GateProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  process.child.kill(signal);
  await process.ended;
}

/** `gate` with these arguments waits for an endpoint that never replies. */
async function whileWaiting(home: GateHome, args: readonly string[], work: (baseUrl: string) => Promise<void>) {
  const endpoint = await startModelEndpoint({ models: ['simulated'], reply: () => ({ fault: 'hang' }) });
  const waiting = home.start(args, { OPENAI_BASE_URL: endpoint.baseUrl });
  try {
    await endpoint.arrived(1);
    await work(endpoint.baseUrl);
  } finally {
    await killed(waiting);
    await endpoint.close();
  }
}

describe('a worker that is up with another model endpoint', () => {
  it('gate dev answers no question of a command that names another one', async () => {
    const { home, db, other } = user();
    const up = home.start(['dev']);
    try {
      await up.said(/Ctrl-C stops/);
      const record = await home.ask([SECOND, '--db', db], other);
      expect(record).toMatchObject({ code: 0, status: 'answered' });
      expect([asked(theirs), asked(named)]).toEqual([0, record.usage.llmCalls]);
      // A question of its own configuration may be answered by either process: at the endpoint that both name.
      expect(await home.ask([THIRD, '--db', db])).toMatchObject({ code: 0 });
      expect(asked(named)).toBe(record.usage.llmCalls);
    } finally {
      await stopped(up);
    }
  });

  it('--detach starts another one beside it, uses each for its own, and gate dev --stop ends them all', async () => {
    const { home, db, other } = user();
    const detached = async (question: string, env?: NodeJS.ProcessEnv): Promise<void> => {
      const { out, err } = await home.run(['ask', question, '--db', db, '--detach', '--json'], env);
      const { id } = JSON.parse(out || `{"err":${JSON.stringify(err)}}`) as { id: string };
      expect(await home.here(['show', id, '--wait'], env)).toMatchObject({ code: 0 });
    };
    try {
      await detached(FIRST);
      const before = asked(theirs);
      expect([before > 0, asked(named)]).toEqual([true, 0]);
      await detached(SECOND, other);
      expect([asked(theirs), asked(named) > 0]).toEqual([before, true]);
      const atNamed = asked(named);
      await detached(THIRD);
      expect(asked(named)).toBe(atNamed);
    } finally {
      expect((await home.here(['dev', '--stop'])).out).toContain('2 background workers stopped');
    }
  });

  it('gets nothing of a fork that names another one', async () => {
    const { home, db, other } = user();
    const { id } = await home.ask([FIRST, '--db', db]);
    const up = home.start(['ops', 'worker']);
    try {
      await up.said(/Ctrl-C stops/);
      theirs.reset();
      const { code, err } = await home.here(['fork', id, '--at', '1', '--seed', '5'], other);
      expect([code, asked(theirs), asked(named) > 0]).toEqual([0, 0, true]);
      expect(err).toContain(`sent to ${new URL(named.baseUrl).host}`);
    } finally {
      await stopped(up);
    }
  });
});

describe('a worker that is up with the same endpoint', () => {
  it('does not answer what was asked under a stricter access list, and no denied column is sent', async () => {
    // Its calls are looked at, not answered.
    const endpoint = await startModelEndpoint({
      models: ['simulated'],
      reply: () => ({ fault: 'status', status: 401 }),
    });
    const { home, db } = user();
    const open = { OPENAI_BASE_URL: endpoint.baseUrl };
    const strict = configure(home, 'strict.json', db, { access: { deny: ['sprint_results.performance'] } });
    try {
      const detach = ['--db', db, '--detach', '--json'];
      await home.run(['ask', SECOND, ...detach], open);
      await endpoint.arrived(1);
      const sent = (): string => JSON.stringify(endpoint.requests.at(-1)?.body.messages);
      expect(sent()).toContain('performance');
      await home.run(['ask', FIRST, ...detach], { ...open, GATE_CONFIG: strict });
      await endpoint.arrived(2);
      expect(sent()).not.toContain('performance');
    } finally {
      await home.here(['dev', '--stop']);
      await endpoint.close();
    }
  });

  it('does not answer into its store what was asked with another one', async () => {
    const { home, db } = user();
    const up = home.start(['ops', 'worker']);
    try {
      await up.said(/Ctrl-C stops/);
      const env = { GATE_STORE: join(home.folder, 'second-store') };
      expect(await home.ask([SECOND, '--db', db], env)).toMatchObject({ code: 0, status: 'answered' });
      expect((await home.here(['list'], env)).out).toContain('In how many sprint events');
      expect((await home.here(['list'])).out).not.toContain('In how many sprint events');
    } finally {
      await stopped(up);
    }
  });
});

describe('a search that runs, asked again with another endpoint', () => {
  it('is not joined while a process works on it: one line names the difference, and nothing is sent', async () => {
    const { home, db, other } = user();
    await whileWaiting(home, ['ask', FIRST, '--db', db], async (baseUrl) => {
      const { code, err } = await home.here(['ask', FIRST, '--db', db], other);
      expect(code).toBe(1);
      expect(err).toMatch(
        new RegExp(
          `q-[0-9a-f]{16} runs with model endpoint ${baseUrl} on [^;]+; this configuration names ${named.baseUrl} on .+: ` +
            'cancel it with gate cancel q-[0-9a-f]{16}, or ask with --fresh\n',
        ),
      );
      expect(asked(named)).toBe(0);
    });
  });

  it.each([
    ['one interrupt', 'SIGINT'],
    ['a kill', 'SIGKILL'],
  ] as const)('after %s it goes on wholly there, and nothing is paid twice', async (_what, signal) => {
    const { home, db, other } = user();
    const asks = ['ask', FIRST, '--db', db, '--method', 'thorough'];
    const first = home.start(asks);
    await theirs.billed(2);
    await killed(first, signal);
    const before = asked(theirs);
    const record = await home.ask(asks.slice(1), other);
    expect(record).toMatchObject({ code: 0, status: 'answered' });
    expect(asked(theirs)).toBe(before);
    // The first call was journalled before the second was made.
    expect(asked(named)).toBeLessThan(record.usage.llmCalls);
  });
});

describe('a batch', () => {
  const args = (db: string, out: string): string[] => [
    ...['batch', 'run', data.questionFiles[0] ?? '', '--db', `sprint=${db}`],
    ...['--ids', 'sprint-points-per-team,sprint-drivers-count', '--concurrency', '2', '--out', out],
  ];

  it('that was killed goes on wholly with the endpoint that the next run names', async () => {
    const { home, db, other } = user();
    const first = home.start(args(db, 'out'));
    await theirs.billed(1);
    await killed(first);
    const before = asked(theirs);
    const again = await home.here(args(db, 'out'), other);
    expect(again).toMatchObject({ code: 0 });
    expect([asked(theirs), asked(named) > 0]).toEqual([before, true]);
  });

  it('that another process runs with another endpoint is not joined', async () => {
    const { home, db, other } = user();
    await whileWaiting(home, args(db, 'out'), async (baseUrl) => {
      const { code, err } = await home.here(args(db, 'other'), other);
      expect(code).toBe(1);
      expect(err).toMatch(
        new RegExp(
          `b-[0-9a-f]{16} runs with model endpoint ${baseUrl} .+; this configuration names .+: interrupt it there`,
        ),
      );
      expect(asked(named)).toBe(0);
    });
  });
});
