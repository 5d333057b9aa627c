import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { loadTestData, type TestData } from '../helpers/shared-data';

let data: TestData;
let model: SimulatedModel;
let database: string;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  database = data.address({ engine: 'sqlite', database: 'sprint' });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, apiKey: 'test-key' });
});
afterEach(async () => {
  await model.close();
  data.close();
});

const QUESTION = 'How many drivers are there?';

interface Mistake {
  readonly what: string;
  readonly args: (folder: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly code: 1 | 2;
  readonly says: RegExp;
}

const mistakes: readonly Mistake[] = [
  {
    what: 'a wrong key',
    args: () => [QUESTION, '--db', database],
    env: { OPENAI_API_KEY: 'other' },
    code: 1,
    says: /OPENAI_API_KEY/,
  },
  {
    what: 'an unknown model',
    args: () => [QUESTION, '--db', database, '--model', 'no-such-model'],
    code: 1,
    says: /no-such-model/,
  },
  {
    what: 'an endpoint that is down',
    args: () => [QUESTION, '--db', database],
    env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    code: 1,
    says: /127\.0\.0\.1:9/,
  },
  {
    what: 'a server that is not there',
    args: () => [QUESTION, '--db', 'postgresql://nobody@127.0.0.1:9/none'],
    code: 1,
    says: /127\.0\.0\.1:9/,
  },
  {
    what: 'a file that is no database',
    args: (folder) => [QUESTION, '--db', written(folder, 'notes.sqlite', 'hello, this is text')],
    code: 2,
    says: /neither an SQLite nor a DuckDB database/,
  },
  {
    what: 'a database without tables',
    args: (folder) => [QUESTION, '--db', written(folder, 'empty.sqlite', '')],
    code: 1,
    says: /no tables/,
  },
  {
    what: 'a follow-up where nothing was asked',
    args: () => [QUESTION, '--db', database, '--after', 'last'],
    code: 1,
    says: /no question was asked yet/,
  },
  {
    what: 'a follow-up of a search that is unknown',
    args: () => [QUESTION, '--db', database, '--after', 'q-0123456789abcdef'],
    code: 1,
    says: /no search q-0123456789abcdef/,
  },
  {
    what: 'a replay file that is missing',
    args: () => [QUESTION, '--db', database, '--replay', 'none.jsonl'],
    code: 2,
    says: /none\.jsonl/,
  },
];

it.each(mistakes)('$what is one line that says what to change, exit $code', async ({ args, env, code, says }) => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const ended = await home.here(['ask', ...args(home.folder)], env);
  // Notices and progress may come before it.
  const lines = ended.err
    .trim()
    .split('\n')
    .filter((line) => /^(gate|error): /.test(line));
  expect({ code: ended.code, lines, out: ended.out }).toEqual({ code, lines: [expect.stringMatching(says)], out: '' });
  expect(ended.err.trim().split('\n').at(-1)).toBe(lines[0]);
  expect(ended.err).not.toMatch(/^\s+at |node:internal|\.js:\d+/m);
});

it('output that a full disk does not take is one line and exit 1, and a reader that has seen enough is none', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const shell = (command: string) =>
    new Promise<{ code: number | null; err: string }>((resolve) => {
      const args = ['-c', command, process.execPath, join(__dirname, '../../dist/program/gate.js')];
      const child = spawn('sh', args, { cwd: home.folder, env: home.env, stdio: ['ignore', 'ignore', 'pipe'] });
      let err = '';
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      child.once('close', (code) => resolve({ code, err }));
    });
  expect(await shell('"$0" "$1" ask --help > /dev/full')).toEqual({
    code: 1,
    err: 'gate: the output cannot be written (ENOSPC); free space, or write it elsewhere\n',
  });
  expect(await shell('"$0" "$1" ask --help | head -1')).toEqual({ code: 0, err: '' });
  expect(await shell('"$0" "$1" ask --help 2> /dev/full')).toEqual({ code: 0, err: '' });
});

it('a replay of another question is one line at the first difference, and no model is asked', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const recorded = await home.here(['ask', QUESTION, '--db', database, '--record', 'calls.jsonl']);
  expect(recorded.code).toBe(0);
  model.reset();
  const replayed = await home.run(['ask', 'How many teams are there?', '--db', database, '--replay', 'calls.jsonl']);
  expect(replayed.code).toBe(1);
  expect(replayed.err.split('\n').filter((line) => line.startsWith('gate: '))).toEqual([
    expect.stringMatching(/recording|replay/i),
  ]);
  expect(replayed.err).not.toMatch(/^\s+at /m);
  expect(model.ledger().totals.asked).toBe(0);
});

it('a replay of the same question gives the same answer', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const first = await home.ask([QUESTION, '--db', database, '--record', 'calls.jsonl']);
  const again = await home.ask([QUESTION, '--db', database, '--replay', 'calls.jsonl'], {
    OPENAI_API_KEY: '',
    OPENAI_BASE_URL: '',
  });
  expect(again).toMatchObject({ code: 0, rows: first.rows, sql: first.sql });
});

function written(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
