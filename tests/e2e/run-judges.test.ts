/** Judges of a run: checked before anything is paid, and counted in its ceiling. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIMULATED_MODEL, startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { linesIn } from '../helpers/run-results';
import { loadTestData, type TestData } from '../helpers/shared-data';

let data: TestData;
let model: SimulatedModel;

beforeEach(async () => {
  data = await loadTestData(null, { sample: true });
  const models = [SIMULATED_MODEL, 'judges'];
  model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, models });
});
afterEach(async () => {
  await model.close();
  data.close();
});

/** Two sets of two questions each. */
function config(home: GateHome, more: string): string {
  const lines = data.questions.map((question) => JSON.stringify(question));
  writeFileSync(join(home.folder, 'one.jsonl'), `${lines.slice(0, 2).join('\n')}\n`);
  writeFileSync(join(home.folder, 'two.jsonl'), `${lines.slice(2, 4).join('\n')}\n`);
  const databases = data.databases.map((spec) => `  - ${spec}`).join('\n');
  const questions = 'questions: [{ file: one.jsonl }, { file: two.jsonl }]';
  writeFileSync(
    join(home.folder, 'run.yaml'),
    `name: judged\nmethods: [paper]\n${questions}\ndatabases:\n${databases}\n${more}\n`,
  );
  return 'run.yaml';
}

it('a judge that the endpoint has not is told before any search is paid', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const path = config(home, 'judge: { mode: single, model: nobody }');
  const { code, err } = await home.bench(['compare', path, '--out', 'out']);
  expect([code, model.ledger().totals.asked]).toEqual([1, 0]);
  expect(err).toContain('has no model nobody');
});

it('what judges cost counts towards max-total-cost: once it is spent, the next set is not judged', async () => {
  const home = gateHome({ baseUrl: model.baseUrl });
  const prices = { judges: { inputPerMillion: 10_000, outputPerMillion: 10_000 } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ prices }));
  const judges = 'judge: { mode: single, model: judges }';
  const path = config(home, `max-total-cost: 0.5\n${judges}`);
  const first = await home.bench(['compare', path, '--out', 'out']);
  expect([first.code, first.code === 0 ? '' : first.err]).toEqual([0, '']);
  const judgedIn = (set: string) => linesIn(home.folder).flatMap((line) => (line.set === set ? [line.judged] : []));
  expect(judgedIn('one').map((judged) => judged?.verdict)).not.toContain(null);
  const limit = { verdict: null, reason: 'the limit of cost was reached (--max-total-cost)' };
  expect(judgedIn('two')).toEqual([limit, limit]);
  const second = await home.bench(['compare', path, '--out', 'out', '--max-total-cost', '1000']);
  expect([second.code, second.code === 0 ? '' : second.err]).toEqual([0, '']);
  expect(linesIn(home.folder).map(({ judged }) => judged?.verdict)).not.toContain(null);
});
