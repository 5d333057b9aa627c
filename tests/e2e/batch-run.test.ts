import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../../src/report/run';
import { callsOf, linesIn, runIn } from '../helpers/run-results';
import { startSimulatedModel, type SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import { violations } from '../helpers/json-schema';
import { startModelEndpoint } from '../helpers/model-endpoint';
import { sharedPostgres, type TestPostgres } from '../helpers/postgres';
import { loadTestData, type TestData } from '../helpers/shared-data';

let postgres: TestPostgres;
let data: TestData;

beforeEach(async () => {
  postgres = await sharedPostgres();
  data = await loadTestData(postgres, { sample: true });
});
afterEach(() => data.close());

async function withModel<T>(
  latencyMs: number,
  work: (model: SimulatedModel, home: GateHome) => Promise<T>,
): Promise<T> {
  const model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases, latencyMs });
  try {
    return await work(model, gateHome({ baseUrl: model.baseUrl }));
  } finally {
    await model.close();
  }
}

const batch = (...more: string[]): string[] => {
  const databases = data.databases.flatMap((spec) => ['--db', spec]);
  return ['batch', 'run', data.questionFiles[0] ?? '', ...databases, '--out', 'out', ...more];
};
const resultsOf = (home: GateHome) => linesIn(home.folder);
/** Its only method. */
const figuresOf = (run: Run) => run.sets[0]!.figures[0]!;

describe('gate batch run', () => {
  test('the other method answers a file over both engines; its usage is what was billed; again it asks no model', async () => {
    const method = 'react';
    await withModel(0, async (model, home) => {
      const { code, out } = await home.here(batch('--methods', method, '--rows', '--json'));
      const summary = JSON.parse(out) as Run;
      const figures = figuresOf(summary);
      expect(code).toBe(0);
      expect(violations('run', summary)).toEqual([]);
      expect([summary.complete, figures.method, figures.verdicts['infrastructure']]).toEqual([true, method, undefined]);
      expect(new Set(summary.sets[0]?.databases.map(({ dialect }) => dialect))).toEqual(
        new Set(['sqlite', 'postgresql']),
      );
      const before = resultsOf(home);
      expect(callsOf(before)).toBe(model.ledger().totals.billed);
      expect(figures.metrics).toHaveProperty(['RS(0)']);
      expect(before.flatMap((line) => violations('results', line))).toEqual([]);
      expect(new Set(before.map(({ id }) => id)).size).toBe(summary.sets[0]?.comparison.questions);
      const asked = new Map(data.questions.map(({ id, question }) => [id, question]));
      expect(before.every(({ id, question }) => question === asked.get(id))).toBe(true);
      const answered = before.filter(({ status }) => status === 'answered');
      expect(answered.every(({ columns, rows }) => rows?.every((row) => row.length === columns?.length))).toBe(true);
      model.reset();
      const again = await home.here(batch('--methods', method, '--rows'));
      expect([again.code, model.ledger().totals.asked]).toEqual([0, 0]);
      expect(again.out).toMatch(/^react +\d+\.\d +\d+\.\d % \[/m);
      expect(resultsOf(home)).toEqual(before);
    });
  });

  test('killed and run again it goes on where it was and pays only what was in flight twice', async () => {
    await withModel(200, async (model, home) => {
      const first = home.start(batch('--concurrency', '4'));
      await model.billed(20);
      first.child.kill('SIGKILL');
      await first.ended;
      const second = await home.here(batch('--concurrency', '4'));
      expect([second.code, second.code === 0 ? '' : second.err]).toEqual([0, '']);
      expect(
        resultsOf(home)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(data.questions.map(({ id }) => id).sort());
      expect(model.ledger().totals.billed - callsOf(resultsOf(home))).toBeLessThanOrEqual(4);
    });
  });

  test('an interrupt pauses with exit 3, cancels nothing, and the same command goes on with all that was paid', async () => {
    await withModel(100, async (model, home) => {
      const first = home.start(batch('--concurrency', '2'));
      await first.said(/\n2\/\d+ /);
      first.child.kill('SIGINT');
      const { code, err } = await first.ended;
      expect(code).toBe(3);
      expect(err).toMatch(
        /paused with \d+ questions open; run the same command again to continue; nothing is paid twice/,
      );
      expect(resultsOf(home).every(({ status }) => status !== 'cancelled')).toBe(true);
      // What runs is told another concurrency.
      expect((await home.here(batch('--concurrency', '3'))).code).toBe(0);
      expect(callsOf(resultsOf(home))).toBe(model.ledger().totals.billed);
      expect(resultsOf(home).every(({ usage }) => usage?.possiblyBilledCalls === 0)).toBe(true);
    });
  });

  test('--max-total-cost starts no more questions, and a higher one goes on', async () => {
    await withModel(0, async (_model, home) => {
      const prices = { simulated: { inputPerMillion: 100, outputPerMillion: 100 } };
      writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ prices, budgets: { costUsd: null } }));
      const { code, err } = await home.here(batch('--concurrency', '1', '--max-total-cost', '0.01'));
      expect(code).toBe(3);
      expect(err).toMatch(/questions not asked: raise --max-total-cost and run the same command again to continue/);
      expect(runIn(home.folder).complete).toBe(false);
      expect((await home.here(batch('--max-total-cost', '1000'))).code).toBe(0);
      expect(runIn(home.folder).complete).toBe(true);
    });
  });

  test('infrastructure failures are apart, end with exit 1, and are asked again', async () => {
    // Listed, and gone when it is asked: what cannot be known before the start.
    const gone = { fault: 'status', status: 404, error: { message: 'gone', code: 'model_not_found' } } as const;
    const endpoint = await startModelEndpoint({ models: ['gone'], reply: () => gone });
    try {
      const home = gateHome({ baseUrl: endpoint.baseUrl });
      const ids = ['--ids', 'sprint-drivers-count,sprint-teams-names'];
      const failed = await home.here(batch(...ids, '--model', 'gone', '--name', 'x'));
      expect(failed.code).toBe(1);
      expect(figuresOf(runIn(home.folder))).toMatchObject({ accuracy: null, verdicts: { infrastructure: 2 } });
      expect(resultsOf(home).map(({ verdict }) => verdict)).toEqual(['infrastructure', 'infrastructure']);
      const again = await home.here(batch(...ids, '--model', 'gone', '--name', 'x'));
      expect(again.err).toMatch(/2 infrastructure failures: the same command asks them again/);
    } finally {
      await endpoint.close();
    }
  });

  test('replies whose SQL cannot run are wrong answers, and are not asked again until one fits', async () => {
    const operators = [{ name: 'op_answer', intent: 'the answer', sql: 'SELEC 1' }];
    const endpoint = await startModelEndpoint({
      models: ['m'],
      reply: () => JSON.stringify({ action: 'commit', operators }),
    });
    try {
      const home = gateHome({ baseUrl: endpoint.baseUrl });
      const ids = ['--ids', 'sprint-drivers-count,sprint-teams-names', '--model', 'm'];
      const { code, err } = await home.here(batch(...ids));
      expect([code, err]).toEqual([0, expect.not.stringContaining('infrastructure')]);
      expect(figuresOf(runIn(home.folder))).toMatchObject({ accuracy: { mean: 0 }, verdicts: { wrong: 2 } });
      expect(resultsOf(home)).toMatchObject([
        { verdict: 'wrong', error: null },
        { verdict: 'wrong', error: null },
      ]);
      const calls = endpoint.requests.length;
      expect((await home.here(batch(...ids))).code).toBe(0);
      expect(endpoint.requests).toHaveLength(calls);
      expect((await home.here(['batch', 'retry', 'last'])).err).toMatch(/no question of b-\w+ is to be asked again/);
      expect(endpoint.requests).toHaveLength(calls);
    } finally {
      await endpoint.close();
    }
  });

  test('--dry-run checks the databases, estimates, and asks nothing', async () => {
    await withModel(0, async (model, home) => {
      const { code, out } = await home.here(batch('--dry-run'));
      expect(code).toBe(0);
      expect(out).toMatch(/24 of 24 questions to ask: 24 to 96 model calls/);
      expect(out).toMatch(/Assumed: 1 to 4 calls a question \(method fast\)/);
      expect(model.ledger().totals.asked).toBe(0);
    });
  });
});
