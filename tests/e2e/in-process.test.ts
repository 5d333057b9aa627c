import { executionMatch } from '../../src/questions';
import type { PresetName } from '../../src/domain';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { extent } from '../helpers/extent';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';
import { askInProcess, type AskInProcess, openDatabase, type Opened } from './in-process';

let postgres: TestPostgres;
let data: TestData;
const opened = new Map<string, Opened>();

beforeAll(async () => {
  postgres = await sharedPostgres();
  data = await loadTestData(postgres, { only: ['bird_superhero', 'defog_postgres', 'defog_idk'] });
});
afterAll(async () => {
  for (const { engine } of opened.values()) await engine.close();
  data.close();
});

const QUESTIONS = extent({ usual: 8, full: 30 });

/** So many questions of both engines, one of which cannot be answered. */
function someQuestions(): TestData['questions'] {
  const step = Math.max(1, Math.floor(data.questions.length / QUESTIONS));
  const some = data.questions.filter((_, at) => at % step === 0).slice(0, QUESTIONS);
  return [...new Set([...some, ...data.questions.filter(({ answerable }) => !answerable).slice(0, 1)])];
}

async function callsOf(
  model: SimulatedModel,
  method: PresetName,
  overrides?: AskInProcess['overrides'],
): Promise<number[]> {
  const calls: number[] = [];
  for (const question of someQuestions()) {
    const address = data.address(question);
    const database = opened.get(address) ?? (await openDatabase(address, question.engine));
    opened.set(address, database);
    const { record } = await askInProcess({ question, database, baseUrl: model.baseUrl, method, overrides });
    const said = { id: question.id, status: record.status };
    expect(said).toEqual({ id: question.id, status: question.answerable ? 'answered' : 'unanswerable' });
    if (question.answerable) {
      const options = { timeoutMs: 30_000, maxRows: 10_000, signal: new AbortController().signal, tag: 'test' };
      const [found, gold] = (await database.engine.run([record.sql!, question.gold_sql[0]!], options)).results;
      expect({ ...said, ...executionMatch(found!, [gold!]) }).toMatchObject({ ...said, kind: 'match' });
    }
    calls.push(record.usage.llmCalls);
  }
  return calls.sort((a, b) => a - b);
}

const sure = { doubt: 0, wrong: 0, inconclusive: 0, immaterial: 0 };

/** Asks the questions of a model of their own; what is claimed of the calls, in ascending order, and of the model. */
async function asking(
  {
    method,
    overrides,
    ...made
  }: Partial<Parameters<typeof startSimulatedModel>[0]> &
    Pick<AskInProcess, 'overrides'> & {
      readonly method: PresetName;
    },
  claim: (calls: readonly number[], model: SimulatedModel) => void,
): Promise<void> {
  const model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, ...made });
  try {
    claim(await callsOf(model, method, overrides), model);
  } finally {
    await model.close();
  }
}

it.each([
  // Two replies that a question cannot be answered; a plan without doubt needs no second one.
  ['thorough', [1, 2]],
  // The paper's selector is asked even about a single candidate.
  ['paper', [3]],
] as const)('method %s answers easy questions in %j model calls', (method, expected) =>
  asking({ method, rates: sure }, (calls) => expect([...new Set(calls)]).toEqual(expected)),
);

it('method fast answers easy questions in a look or two and a commit', () =>
  asking({ method: 'fast', rates: sure }, (calls, model) => {
    expect(calls.at(-1)).toBeLessThanOrEqual(5);
    expect(Object.keys(model.ledger().roles)).toEqual(['look']);
  }));

it('doubtful questions earn their probes: at most 6 calls each for nine in ten with method thorough', () =>
  asking({ method: 'thorough', rates: { ...sure, doubt: 1 } }, (calls, model) => {
    expect(calls[Math.floor(calls.length * 0.9)]).toBeLessThanOrEqual(6);
    expect(model.ledger().roles['ground']?.billed).toBeGreaterThan(0);
  }));

it('broken JSON, failing SQL and wrong readings cost calls, not the answer', () =>
  asking(
    {
      ...{ method: 'thorough', seed: 7, rates: { wrong: 0.3, inconclusive: 0.2 } },
      faults: { 'broken-json': 0.15, 'failing-sql': 0.1 },
      // A second derivation is what tells a wrong plan that nobody doubted.
      overrides: { secondDerivation: 'always' },
    },
    (calls, model) => expect(calls.reduce((sum, each) => sum + each, 0)).toBe(model.ledger().totals.billed),
  ));
