import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import type { UpdateAudit } from '../../benchmarks/update-audit';
import type { BatchStatus } from '../../src/app/run/batch-status';
import type { Run } from '../../src/report/run';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { callsOf, linesIn, runIn } from '../helpers/run-results';
import { violations } from '../helpers/json-schema';
import { startModelEndpoint } from '../helpers/model-endpoint';
import { loadTestData, type TestData } from '../helpers/shared-data';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, latencyMs: 10 });
});
afterEach(async () => {
  await model.close();
  data.close();
});

/** Three questions as a file, and all of them as the benchmark of anyone's own questions. */
function config(home: GateHome, more = ''): string {
  const lines = data.questions.map((question) => JSON.stringify({ ...question, difficulty: 'easy' }));
  writeFileSync(join(home.folder, 'three.jsonl'), `${lines.slice(0, 3).join('\n')}\n`);
  writeFileSync(join(home.folder, 'more.jsonl'), `${lines.slice(0, 5).join('\n')}\n`);
  const databases = data.databases.map((spec) => `  - ${spec}`).join('\n');
  writeFileSync(
    join(home.folder, 'run.yaml'),
    `name: two sets
methods: [fast, react]
seeds: 2
concurrency: 6
databases:
${databases}
questions:
  - file: three.jsonl
    note: made up
  - { benchmark: questions, data: more.jsonl, limit: 2 }
${more}`,
  );
  return 'run.yaml';
}

it('methods × sets × seeds run at once, each scored by its own rules; done before, the run costs nothing', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const args = ['compare', config(home, '# was on postgresql://reader:hunter2@db.example/sales\n'), '--out', 'out'];
  const first = await home.bench(args);
  expect([first.code, first.code === 0 ? '' : first.err]).toEqual([0, '']);
  const run = runIn(home.folder);
  expect(violations('run', run)).toEqual([]);
  expect(run).toMatchObject({ name: 'two sets', complete: true, models: ['simulated'] });
  expect(run.versions.temporalServer).toMatch(/^\d+\.\d+/);
  expect(run.prompts['roles/look']).toMatch(/^[0-9a-f]{64}$/);
  const [three, questions] = run.sets;
  expect(three).toMatchObject({ name: 'three', note: 'made up', benchmark: null });
  expect(questions).toMatchObject({ benchmark: { name: 'questions' }, comparison: { questions: 2 } });
  for (const { figures, comparison, databases } of run.sets) {
    expect(databases[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
    for (const { accuracy, calls, bySeed, verdicts } of figures) {
      expect([accuracy?.seeds, calls?.seeds, bySeed.length]).toEqual([2, 2, 2]);
      const answers = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
      expect(answers).toBe(comparison.questions * 2);
    }
  }
  expect(Object.keys(questions?.figures[0]?.metrics ?? {}).length).toBeGreaterThan(0);
  // The two sets have names of their own, so their searches are not shared.
  expect(callsOf(linesIn(home.folder))).toBe(model.ledger().totals.billed);
  const listed = await home.here(['batch', 'status']);
  const rows = JSON.parse((await home.here(['batch', 'status', '--json'])).out) as BatchStatus[];
  expect(rows.map(({ name, questions, method, seed }) => [questions, name, method, seed].join(' ')).sort()).toEqual(
    ['questions', 'three'].flatMap((set) =>
      ['fast', 'react'].flatMap((method) => [0, 1].map((seed) => `${set} two sets ${method} ${seed}`)),
    ),
  );
  for (const { id } of rows) {
    const { out } = await home.here(['batch', 'status', id, '--json']);
    expect(violations('batch-status', JSON.parse(out))).toEqual([]);
  }
  expect(listed.out).toMatch(/^b-\w+ +ended +\S+ \S+ UTC +two sets: react · three · seed 1 +3 +3 +0$/m);
  expect(run.config.text).toContain('# was on postgresql://reader:***@db.example/sales');
  for (const file of ['summary.json', 'report.md', 'report.html'])
    expect(readFileSync(join(home.folder, 'out', file), 'utf8')).not.toContain('hunter2');
  const page = readFileSync(join(home.folder, 'out', 'report.html'), 'utf8');
  for (const said of ['Accuracy against model calls', 'made up', 'name: two sets']) expect(page).toContain(said);
  expect(page).not.toMatch(/<script|src=|url\(/);
  expect(readFileSync(join(home.folder, 'out', 'report.md'), 'utf8')).toMatch(
    /^## three\n[^#]*^- No price is known for simulated: its calls count as \$0$/m,
  );
  const paid = model.ledger().totals.asked;
  expect((await home.bench([...args, '--fresh', '--dry-run'])).code).toBe(0);
  // It began no new searches.
  const again = await home.bench(args);
  expect([again.code, model.ledger().totals.asked]).toEqual([0, paid]);
  expect(runIn(home.folder)).toEqual(run);
  // The same batches as of the file alone.
  const databases = data.databases.flatMap((spec) => ['--db', spec]);
  const alone = await home.here([
    'batch',
    'run',
    'three.jsonl',
    ...databases,
    '--methods',
    'react',
    '--out',
    'alone',
    '--seed',
    '1',
  ]);
  expect([alone.code, model.ledger().totals.asked]).toEqual([0, paid]);
});

/** What gate itself runs. */
function filesAlone(home: GateHome): string {
  const path = join(home.folder, config(home));
  writeFileSync(path, readFileSync(path, 'utf8').replace('benchmark: questions, data:', 'name: questions, file:'));
  return 'run.yaml';
}

it('killed in the middle it goes on where it was, and pays only what was in flight again', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const args = ['batch', 'run', filesAlone(home), '--out', 'out', '--concurrency', '2', '--seed', '0'];
  const first = home.start(args);
  await first.said(/2\/3 /);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await home.here(args);
  expect([second.code, second.code === 0 ? '' : second.err]).toEqual([0, '']);
  const run = runIn(home.folder);
  expect(run.complete).toBe(true);
  expect(model.ledger().totals.billed - callsOf(linesIn(home.folder))).toBeLessThanOrEqual(2);
  const verdicts = (of: GateHome) => linesIn(of.folder).map(({ verdict }) => verdict);
  const calm = gateHome({ baseUrl: model.baseUrl });
  expect((await calm.here(['batch', 'run', filesAlone(calm), '--out', 'out', '--seed', '0'])).code).toBe(0);
  expect(verdicts(home)).toEqual(verdicts(calm));
});

it('an outage is no wrong answer: it is told, and the same command asks again what it left', async () => {
  const home = gateHome({ baseUrl: 'http://127.0.0.1:9/v1' });
  const args = ['compare', config(home), '--out', 'out', '--seed', '0'];
  const down = await home.bench(args);
  expect(down.code).not.toBe(0);
  expect(down.err).toContain('does not answer');
  expect((await home.bench(args, { OPENAI_BASE_URL: model.baseUrl })).code).toBe(0);
});

it('what the first batch has no question for is left to the next one, within one concurrency', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const text = readFileSync(join(home.folder, config(home)), 'utf8')
    .replace('[fast, react]', '[react]')
    .replace('concurrency: 6', 'concurrency: 3')
    .replace(/ {2}- \{ benchmark.*\n/, '');
  writeFileSync(join(home.folder, 'run.yaml'), text);
  const last = data.questions[2]?.question ?? '';
  let two = (): void => undefined;
  const twoOfSecond = new Promise<void>((resolve) => (two = resolve));
  let [inFlight, mostInFlight, ofSecond] = [0, 0, 0];
  const relay = await startModelEndpoint({
    models: ['simulated'],
    reply: async (body) => {
      mostInFlight = Math.max(mostInFlight, (inFlight += 1));
      if (body.seed === 1 && (ofSecond += 1) === 2) two();
      // The last question of the first batch waits for two of the second one, which wait for each other.
      if (body.seed === 1 || body.messages.some(({ content }) => content.includes(last))) await twoOfSecond;
      const { choices, usage } = (await (
        await fetch(`${model.baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json()) as {
        readonly choices: readonly [{ readonly message: { readonly content: string } }];
        readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
      };
      inFlight -= 1;
      return { text: choices[0].message.content, usage };
    },
  });
  try {
    const { code, err } = await home.bench(['compare', 'run.yaml', '--out', 'out'], {
      OPENAI_BASE_URL: relay.baseUrl,
    });
    expect([code, code === 0 ? '' : err]).toEqual([0, '']);
    expect(mostInFlight).toBe(3);
  } finally {
    await relay.close();
  }
});

it('after a failure of one batch the report has all that the store has, and the command ends with what failed', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const args = ['compare', config(home), '--out', 'out', '--concurrency', '1'];
  expect((await home.bench([...args, '--seed', '1'])).code).toBe(0);
  // The second of the four batches with seed 0.
  const other = ['batch', 'run', 'three.jsonl', ...data.databases.flatMap((spec) => ['--db', spec])];
  const endpoint = await startModelEndpoint({ models: ['simulated'], reply: () => ({ fault: 'hang' }) });
  const elsewhere = home.start([...other, '--methods', 'react', '--out', 'other'], {
    OPENAI_BASE_URL: endpoint.baseUrl,
  });
  try {
    await endpoint.arrived(1);
    const { code, err } = await home.bench(args);
    expect(code).toBe(1);
    expect(err.trim().split('\n').at(-1)).toMatch(/^gate-bench: b-\w+ runs with model endpoint .+: interrupt it there/);
    const run = runIn(home.folder);
    expect([run.complete, violations('run', run)]).toEqual([false, []]);
    const [three, questions] = run.sets.map(({ comparison }) => comparison.methods.map(({ missing }) => missing));
    expect([three, questions]).toEqual([
      [0, 3],
      [2, 2],
    ]);
  } finally {
    elsewhere.child.kill('SIGKILL');
    await elsewhere.ended;
    await endpoint.close();
  }
});

it('--dry-run asks nothing, and the audit counts the updates that the report tells', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const path = config(home);
  const text = readFileSync(join(home.folder, path), 'utf8')
    .replace('[fast, react]', '[paper]')
    .replace('seeds: 2', 'seeds: [3]');
  writeFileSync(join(home.folder, path), text);
  const estimate = await home.bench(['compare', path, '--dry-run', '--limit', '1']);
  expect([estimate.code, model.ledger().totals.asked]).toEqual([0, 0]);
  const lines = estimate.out.split('\n');
  expect(lines.filter((line) => /^(?:three|questions): paper +1 +1 +8 to 60 +not known$/.test(line))).toHaveLength(2);
  expect(estimate.out).toMatch(
    /^2 of 2 questions to ask: 16 to 120 model calls, [\d,]+ to [\d,]+ tokens, cost not known/m,
  );
  expect(estimate.out.match(/Assumed: |Nothing was asked/g)).toHaveLength(2);
  const { code, out, err } = await home.bench(['compare', path, '--out', 'out', '--limit', '4', '--json']);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  const [set] = (JSON.parse(out) as Run).sets;
  const audit = await home.bench(['audit', 'updates', 'out', '--json']);
  const { updates, reused, reuses } = JSON.parse(audit.out) as UpdateAudit;
  const told = runIn(home.folder).sets.flatMap(({ figures }) => figures[0]?.reuse ?? []);
  const sum = (key: 'updates' | 'reused' | 'reuses') => told.reduce((total, one) => total + one[key], 0);
  expect([updates, reused, reuses]).toEqual([sum('updates'), sum('reused'), sum('reuses')]);
  expect(set?.figures[0]?.bySeed).toMatchObject([{ seed: 3 }]);
});

it('what the folder of a benchmark lacks is said before anything is asked', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  mkdirSync(join(home.folder, 'valid'));
  const put = (file: string, value: unknown): void => writeFileSync(join(home.folder, file), JSON.stringify(value));
  put('valid/data.json', { data: [{ id: 'a', question: 'How many patients are there?' }] });
  put('valid/label.json', { a: 'SELECT COUNT(*) FROM patients' });
  const database = new Database(join(home.folder, 'mimic_iv.sqlite'));
  database.exec('CREATE TABLE patients (subject_id int)');
  database.close();
  const run = 'name: a\nmethods: [react]\nquestions: [{ benchmark: ehrsql2024, data: ., split: paper-100 }]\n';
  writeFileSync(join(home.folder, 'run.yaml'), run);
  const { code, err } = await home.bench(['compare', 'run.yaml', '--dry-run']);
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('note: ehrsql2024 paper-100: paper-100 is drawn from 1 of the 1163 questions of valid'),
  ]);
  const gold = { gold_sql: 'SELECT COUNT(*) FROM patients' };
  const lines = [{ id: 'a', ...gold }, { id: 'b' }].map((one) =>
    JSON.stringify({ ...one, question: `How many patients has ${one.id}?`, database: 'mimic_iv', answerable: true }),
  );
  writeFileSync(join(home.folder, 'q.jsonl'), `${lines.join('\n')}\n`);
  const db = ['--db', 'mimic_iv=./mimic_iv.sqlite', '--dry-run'];
  writeFileSync(join(home.folder, 'run.yaml'), 'name: a\nmethods: [react]\nquestions: [{ file: q.jsonl }]\n');
  const said = '1 question without gold ("b"), in no accuracy\n';
  expect((await home.bench(['compare', 'run.yaml', ...db])).err).toContain(said);
  expect((await home.here(['batch', 'run', 'q.jsonl', ...db])).err).toContain(said);
});

it.each([
  ['methods: [fast]\nquestions: [{ file: q.jsonl }]\n', 'run.yaml, line 1: name: is missing'],
  [
    'name: a\nmethod: [fast]\nmethods: [fast]\nquestions: [{ file: q.jsonl }]\n',
    'run.yaml, line 2: method: unknown key; allowed: databases, ',
  ],
  [
    'name: a\nmethods:\n  - fast\n  - raect\nquestions: [{ file: q.jsonl }]\n',
    'run.yaml, line 4: methods.1: there is no method raect',
  ],
  [
    'name: a\nmethods: [fast]\nquestions:\n  - file: q.jsonl\n    splitt: dev\n',
    'run.yaml, line 5: questions.0.splitt: unknown key; allowed: ',
  ],
  [
    'name: a\nmethods: [fast]\nquestions:\n  - { benchmark: birds, data: . }\n',
    'run.yaml, line 4: questions.0.benchmark: allowed: questions, ',
  ],
  [
    'name: a\nmethods: [fast]\nquestions:\n  - benchmark: ehrsql2024\n',
    'run.yaml, line 4: questions.0: give the folder of ehrsql2024 as data',
  ],
  [
    'name: a\nmethods: [fast, fast]\nquestions: [{ file: q.jsonl }]\n',
    'run.yaml: methods: fast stands twice; leave one out',
  ],
  [
    'name: a\nmethods:\n  - { method: fast, seeds: 0 }\nquestions: [{ file: q.jsonl }]\n',
    'run.yaml, line 3: methods.0.seeds: ',
  ],
  [
    'name: a\nmethods: [fast]\nquestions:\n  - file: q.jsonl\n    seeds: [1, 1]\n',
    'run.yaml: seeds: 1 stands twice; leave one out',
  ],
  [
    'name: a\nmethods: [fast]\nquestions: [{ file: q.jsonl }, { file: x/q.jsonl }]\n',
    'run.yaml: questions: two entries are called q; give one of them another name',
  ],
  ['name: a\nname: b\n', 'run.yaml, line 2: not YAML: Map keys must be unique'],
  ['name: a\nmethods: [fast]\nquestions: [{ file: none.jsonl }]\n', 'none.jsonl cannot be read (it does not exist)'],
  ['name: a\nmethods: [fast]\nquestions: [{ benchmark: ehrsql2024, data: . }]\n', 'is no folder of EHRSQL-2024'],
  ['name: a\nmethods: [fast]\nquestions: [{ file: q.jsonl }]\n', 'no database is given for'],
])('%j is said before anything is asked', async (text, line) => {
  const home = gateHome({ baseUrl: model.baseUrl });
  writeFileSync(join(home.folder, 'run.yaml'), text);
  writeFileSync(join(home.folder, 'q.jsonl'), `${JSON.stringify({ question: 'Why?', database: 'd' })}\n`);
  const { code, out, err } = await home.bench(['compare', 'run.yaml', '--out', 'out']);
  expect([code === 0, out]).toEqual([false, '']);
  expect(err).toContain(line);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(model.ledger().totals.asked).toBe(0);
});

it.each([
  ['questions: [{ benchmark: questions, data: q.jsonl }]', 3, 'questions.0.benchmark'],
  ['questions: [{ file: q.jsonl, judge: single }]', 3, 'questions.0.judge'],
])('gate itself does not run %s, and says who does', async (text, line, key) => {
  const home = gateHome({ baseUrl: model.baseUrl });
  writeFileSync(join(home.folder, 'run.yaml'), `name: a\nmethods: [fast]\n${text}\n`);
  const { code, err } = await home.here(['batch', 'run', 'run.yaml', '--out', 'out']);
  expect([code, err]).toEqual([
    2,
    `gate: run.yaml, line ${line}: ${key}: gate-bench compare runs it, with the same file\n`,
  ]);
});

it('a flag that the file has a key for, and --data without one, are refused', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const method = await home.here(['batch', 'run', config(home), '--out', 'out', '--methods', 'react']);
  expect([method.code, method.err]).toEqual([
    2,
    'gate: --methods: leave it out; the file of a run says what is asked\n',
  ]);
  const detached = await home.here(['batch', 'run', filesAlone(home), '--detach']);
  expect([detached.code, detached.err]).toEqual([
    2,
    'gate: --detach is for one method, file and seed; leave it out, and the run is followed\n',
  ]);
  const folder = await home.bench(['compare', 'three.jsonl', '--out', 'out', '--data', '.']);
  expect([folder.code, folder.err]).toEqual([2, 'gate-bench: --data is for the .yaml of a run; leave it out\n']);
});
