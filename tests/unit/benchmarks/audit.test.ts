/** `gate-bench audit` over searches of method `paper` that the simulated model answered, with a judge behind a real endpoint. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadQuestions, startSimulatedModel } from '../../../simulated-model';
import { writeBatchManifest } from '../../../src/activities/batch';
import { openServices } from '../../../src/app/services';
import { UpdateAudit } from '../../../benchmarks/update-audit';
import { askInProcess, openDatabase } from '../../e2e/in-process';
import { startModelEndpoint, type ModelEndpoint } from '../../helpers/model-endpoint';
import { SAMPLE_QUESTIONS, sprintSqlite } from '../../helpers/shared-data';
import { answerLine } from '../../helpers/answers';
import { testProcess, type TestProcess } from '../cli/test-io';

const BATCH = 'b-0123456789abcdef';
let judge: ModelEndpoint;
let at: TestProcess;
let searches: readonly string[];

/** Calls the first pair that it is asked about a contradiction, and no other one. */
const verdicts = new Map<string, boolean>();

beforeAll(async () => {
  judge = await startModelEndpoint({
    reply: ({ messages }) => {
      const asked = messages[1]?.content ?? '';
      if (!verdicts.has(asked)) verdicts.set(asked, verdicts.size === 0);
      return JSON.stringify({ reason: 'both name the row', contradictory: verdicts.get(asked) ? 'yes' : 'no' });
    },
  });
  at = testProcess({ OPENAI_BASE_URL: judge.baseUrl, GATE_MODEL: 'judges', USER: 'ann' });
  const { store } = openServices(at.io);
  const path = sprintSqlite(at.home);
  const rates = { doubt: 1, wrong: 1, inconclusive: 0.3, immaterial: 0 };
  const model = await startSimulatedModel({ questions: [SAMPLE_QUESTIONS], databases: [`sprint=${path}`], rates });
  const database = await openDatabase(path, 'sqlite');
  const questions = loadQuestions(SAMPLE_QUESTIONS).filter(
    ({ engine, answerable }) => engine === 'sqlite' && answerable,
  );
  const asked: string[] = [];
  for (const id of ['sprint-teams-names', 'sprint-drivers-per-team', 'sprint-wins-per-driver']) {
    const question = questions.find((one) => one.id === id)!;
    const { searchId } = await askInProcess({
      question,
      database,
      baseUrl: model.baseUrl,
      ...{ method: 'paper' as const, store, overrides: { seed: 1 } },
    });
    asked.push(searchId);
  }
  const react = { question: questions[0]!, database, baseUrl: model.baseUrl, method: 'react' as const, store };
  asked.push((await askInProcess(react)).searchId);
  searches = asked;
  const entries = searches.map((searchId, n) => ({ n, searchId, label: '', taskQueues: { workflow: 'q' } }));
  await writeBatchManifest(store, BATCH, entries, 2);
  await database.engine.close();
  await model.close();
});
afterAll(() => judge.close());

const auditOf = async (...args: string[]): Promise<UpdateAudit> => {
  const { code, out, err } = await at.bench('audit', 'updates', ...args, '--json');
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return UpdateAudit.parse(JSON.parse(out));
};

test('updates, reuse and pairs of a batch are counted without a model', async () => {
  const audit = await auditOf('b-0123');
  expect(audit).toMatchObject({
    ...{ searches: 4, withoutUpdates: 1, updates: 6, withdrawn: 0, updatesPerSearch: 1.5 },
    ...{
      reused: 3,
      reusedShare: 0.5,
      reuses: 3,
      possiblePairs: 3,
      pairs: 3,
      pairsShare: 1,
      judge: null,
      flagged: [],
    },
  });
  expect(audit.bySearch.map(({ searchId, pairs }) => [searchId, pairs])).toEqual([
    [searches[0], 1],
    [searches[1], 1],
    [searches[2], 1],
    [searches[3], 0],
  ]);
  expect(judge.requests).toHaveLength(0);
  const folder = join(at.home, 'out');
  mkdirSync(folder);
  const line = answerLine('x', { searchId: searches[0]!, verdict: 'no-gold' });
  writeFileSync(join(folder, 'results.jsonl'), `${JSON.stringify(line)}\n`);
  // The same search twice is one.
  expect(await auditOf('out', searches[0]!)).toMatchObject({ searches: 1, updates: 2 });
});

test('pairs are judged once; a flagged one is shown side by side, and what a person decides counts', async () => {
  const first = await auditOf(BATCH, '--judge');
  expect(judge.requests).toHaveLength(3);
  expect(first.judge).toEqual({
    ...{ model: 'judges', version: 1, judged: 3, undecided: 0, notJudged: 0, flagged: 1, flaggedShare: 1 / 3 },
    ...{ contradictions: 0, consistent: 0, contradictionRate: null, contradictionRateOfJudged: null },
  });
  const pair = first.flagged[0]!;
  expect(pair).toMatchObject({ reason: 'both name the row', decision: null });
  expect(pair.tables.length).toBeGreaterThan(0);
  for (const { probe, observed, summary } of pair.updates)
    for (const text of [probe, observed, summary]) expect(text).not.toBe('');
  const shown = (await at.bench('audit', 'updates', BATCH, '--judge')).out;
  expect(shown).toContain(`open: gate-bench audit decide ${pair.pairId} contradiction|consistent`);
  expect(shown).toMatch(/^update {4}\S+ \(op_\w+\) +\| \S+ \(op_\w+\)$/m);

  expect(shown).toMatch(/^rows {6}[a-z_,]+ +\| [a-z_,]+\n {10}\d/m);

  const decided = await at.bench('audit', 'decide', pair.pairId.slice(0, 6), 'consistent', '--note', 'other years');
  const [one, other] = pair.updates.map(({ updateId }) => updateId);
  expect(decided.out).toBe(`${pair.pairId} (${one} and ${other} of ${pair.searchId}) is consistent\n`);
  const second = await auditOf(BATCH, '--judge');
  expect(judge.requests).toHaveLength(3);
  expect(second.judge).toMatchObject({ consistent: 1, contradictionRate: 0, contradictionRateOfJudged: 0 });
  expect(second.flagged[0]?.decision).toMatchObject({ decision: 'consistent', note: 'other years', author: 'ann' });

  const anew = await at.bench('audit', 'decide', pair.pairId, 'contradiction', '--author', 'bob', '--json');
  expect(JSON.parse(anew.out)).toMatchObject({ decision: 'contradiction', author: 'bob', note: null });
  expect((await auditOf(BATCH, '--judge')).judge).toMatchObject({ contradictions: 1, contradictionRate: 1 / 3 });
  expect((await at.bench('audit', 'updates', BATCH, '--judge')).out).toContain('contradiction, says bob');
});

test.each([
  [['updates', 'b-ffff'], 1, 'no batch b-ffff in the store; gate batch status shows the known ones'],
  [['updates', 'q-ffffffffffffffff'], 1, 'no search q-ffffffffffffffff in the store; gate list shows the known ones'],
  [
    ['updates', 'nonsense'],
    2,
    "'nonsense' is not a search id; give q-…, its beginning, or last (gate list shows them)",
  ],
  [
    ['decide', 'x1', 'consistent'],
    2,
    "'x1' is not the id of a pair; give p-…, as gate-bench audit updates --judge shows it",
  ],
  [['decide', 'p-ffffff', 'consistent'], 1, 'no flagged pair p-ffffff: gate-bench audit updates … --judge shows them'],
])('bad input is one line: %j', async (args, code, line) => {
  expect(await at.bench('audit', ...args)).toMatchObject({ code, err: `gate-bench: ${line}\n` });
});

test('a decision that is none is refused', async () => {
  const { code, err } = await at.bench('audit', 'decide', 'p-ffffff', 'perhaps');
  expect(code).toBe(2);
  expect(err).toContain('contradiction, consistent');
});
