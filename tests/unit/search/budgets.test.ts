import fc from '../../helpers/property';
import type { Budgets, Settings } from '../../../src/domain';
import { NO_USAGE } from '../../../src/domain/control-view';
import { addUsage, callsLeft, exhaustedBudget, shareOfBudgets } from '../../../src/search/budgets';
import { runSearch } from '../../../src/search/search';
import {
  FakeSteps,
  MODEL_STEPS,
  operator,
  planned,
  planOf,
  testHooks,
  toEnd,
  testSettings,
  type Gate,
} from '../../helpers/fake-steps';
import { randomWorld } from '../../helpers/random-world';

const NONE: Budgets = {
  llmCalls: null,
  tokens: null,
  costUsd: null,
  wallMs: null,
  sqlExecutions: null,
  sqlMs: null,
  sqlRows: null,
  sqlBytes: null,
};
const seed = fc.integer({ min: 0, max: 1_000_000 });

async function search(world: number, settings: Settings, gate?: Gate, hooks = testHooks()) {
  const steps = new FakeSteps(randomWorld(world), gate);
  const outcome = await toEnd(runSearch({ searchId: 's', settings, state: null }, steps, hooks));
  return { steps, outcome, end: steps.finished! };
}

describe('the ledger', () => {
  test('adds what is there and leaves the rest', () => {
    const usage = addUsage(addUsage(NO_USAGE, { llmCalls: 1, costUsd: 0.5 }), { llmCalls: 1, sqlMs: 3 });
    expect(usage).toEqual({ ...NO_USAGE, llmCalls: 2, costUsd: 0.5, sqlMs: 3 });
  });

  test('tokens from a cache are there once an endpoint told of some', () => {
    const first = addUsage(NO_USAGE, { promptTokens: 90 });
    expect(first).not.toHaveProperty('cachedTokens');
    const second = addUsage(first, { promptTokens: 90, cachedTokens: 64 });
    expect(addUsage(second, { promptTokens: 10 })).toMatchObject({ promptTokens: 190, cachedTokens: 64 });
  });

  test('a limit that is reached is used up; without a limit nothing is', () => {
    const usage = { ...NO_USAGE, llmCalls: 3, promptTokens: 60, completionTokens: 40 };
    expect(exhaustedBudget(usage, 0, NONE)).toBeNull();
    expect(exhaustedBudget(usage, 0, { ...NONE, llmCalls: 4, tokens: 101 })).toBeNull();
    expect(exhaustedBudget(usage, 0, { ...NONE, llmCalls: 3 })).toBe('llmCalls');
    expect(exhaustedBudget(usage, 0, { ...NONE, tokens: 100 })).toBe('tokens');
    expect(exhaustedBudget(usage, 5, { ...NONE, wallMs: 5 })).toBe('wallMs');
    expect(callsLeft(usage, { ...NONE, llmCalls: 2 })).toBe(0);
    expect(callsLeft(usage, NONE)).toBeNull();
  });

  test('SQL goes on when only money is used up, and stops when time or SQL is', () => {
    const usage = { ...NO_USAGE, llmCalls: 9, costUsd: 9, promptTokens: 9, sqlExecutions: 2 };
    expect(exhaustedBudget(usage, 0, { ...NONE, llmCalls: 1, costUsd: 1, tokens: 1 }, 'sql')).toBeNull();
    expect(exhaustedBudget(usage, 0, { ...NONE, sqlExecutions: 2 }, 'sql')).toBe('sqlExecutions');
    expect(exhaustedBudget(usage, 9, { ...NONE, wallMs: 8 }, 'sql')).toBe('wallMs');
    expect(exhaustedBudget(usage, 0, { ...NONE, sqlBytes: 1 }, 'sql')).toBeNull();
    const billed = addUsage(addUsage(usage, { sqlBytes: 3, sqlUsd: 0.1 }), { sqlBytes: 4 });
    expect(exhaustedBudget(billed, 0, { ...NONE, sqlBytes: 8 }, 'sql')).toBeNull();
    expect(exhaustedBudget(billed, 0, { ...NONE, sqlBytes: 7 }, 'sql')).toBe('sqlBytes');
  });

  test('shares of what is left never add up to more than it', () => {
    const limits = fc.record({ llmCalls: fc.integer({ min: 1, max: 50 }), used: fc.integer({ min: 0, max: 60 }) });
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 5 }), ({ llmCalls, used }, of) => {
        const usage = { ...NO_USAGE, llmCalls: used };
        const shares = Array.from(
          { length: of },
          (_, index) => shareOfBudgets({ ...NONE, llmCalls }, usage, index, of).llmCalls! - used,
        );
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(Math.max(0, llmCalls - used));
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('a budget that ends (D6)', () => {
  test('stops model calls exactly at the limit', async () => {
    await fc.assert(
      fc.asyncProperty(seed, fc.integer({ min: 1, max: 25 }), async (world, llmCalls) => {
        const settings = testSettings('fast', { budgets: { ...NONE, llmCalls } });
        const { steps, end } = await search(world, settings);
        expect(steps.modelCalls).toBeLessThanOrEqual(llmCalls);
        expect(end.state.usage).toEqual(steps.charged);
        if (end.endedBy === 'budget:llmCalls') expect(steps.modelCalls).toBe(llmCalls);
      }),
      { numRuns: 80 },
    );
  });

  test('lets no model call follow once SQL executions are used up', async () => {
    await fc.assert(
      fc.asyncProperty(seed, fc.integer({ min: 1, max: 20 }), async (world, sqlExecutions) => {
        const { steps } = await search(world, testSettings('fast', { budgets: { ...NONE, sqlExecutions } }));
        let spent = 0;
        for (const { step } of steps.log) {
          if (MODEL_STEPS.includes(step)) expect(spent).toBeLessThan(sqlExecutions);
          else if (step !== 'finish') spent++;
        }
        expect(spent).toBeLessThanOrEqual(sqlExecutions);
      }),
      { numRuns: 80 },
    );
  });

  test('of time stops everything but the record', async () => {
    let clock = 0;
    const gate: Gate = async () => void (clock += 10);
    const settings = testSettings('fast', { budgets: { ...NONE, wallMs: 45 } });
    const { steps, end } = await search(3, settings, gate, testHooks({ now: () => clock }));
    expect(end.endedBy).toBe('budget:wallMs');
    expect(steps.log.slice(5).every(({ step }) => step === 'finish')).toBe(true);
  });

  test('still runs the plan that the last call paid for, and answers with it', async () => {
    const plan = planOf('p1', [operator('op_a', { bodyId: 'b1' })]);
    const steps = new FakeSteps({ plan: () => planned(plan) });
    const settings = testSettings('fast', { budgets: { ...NONE, llmCalls: 1 } });
    await runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
    expect(steps.log.map(({ step }) => step)).toEqual(['prepare', 'plan', 'check', 'candidate', 'finish']);
    expect(steps.finished).toMatchObject({ status: 'answered', endedBy: 'budget:llmCalls', chosen: 'c1' });
  });

  test('keeps a plan whose failing body could not be mended any more', async () => {
    const plan = planOf('p1', [
      operator('op_a', { bodyId: 'b1' }),
      operator('op_b', { bodyId: 'b2', inputs: ['op_a'] }),
    ]);
    const steps = new FakeSteps({ plan: () => planned(plan), check: () => [{ operator: 'op_b', error: 'no column' }] });
    const settings = testSettings('fast', { budgets: { ...NONE, llmCalls: 1 } });
    await runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
    const kept = steps.finished!.state.trajectories[1]!.plan!;
    expect(kept.operators.map(({ state }) => state)).toEqual(['assumed', 'unresolved']);
    expect(steps.finished).toMatchObject({ status: 'abstained', endedBy: 'budget:llmCalls' });
  });
});

describe('a cancellation (D6)', () => {
  const when = fc.record({ at: fc.integer({ min: 1, max: 60 }), throws: fc.boolean() });

  test('at any step is followed by no other step but the record, and everything returned is charged', async () => {
    await fc.assert(
      fc.asyncProperty(seed, when, async (world, { at, throws }) => {
        const seen: number[] = [];
        const gate: Gate = async (_call, number) => {
          if (number < at) return;
          seen.push(number);
          if (throws) throw new Error('Activity cancelled');
        };
        const hooks = testHooks({ stopRequested: () => (seen.length > 0 ? 'cancel' : null) });
        const { steps, end, outcome } = await search(world, testSettings('fast'), gate, hooks);
        expect(outcome.kind).toBe('finished');
        expect(end.state.usage).toEqual(steps.charged);
        if (seen.length === 0) return;
        expect(end).toMatchObject({ status: 'cancelled', endedBy: 'cancel' });
        const after = steps.log.slice(at).map(({ step }) => step);
        expect(after.filter((step) => step !== 'finish')).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });

  test('keeps what was proved in the iteration that it interrupts', async () => {
    await fc.assert(
      fc.asyncProperty(seed, fc.integer({ min: 2, max: 60 }), async (world, at) => {
        let cancelled = false;
        const gate: Gate = async (_call, number) => {
          cancelled ||= number >= at;
          if (cancelled) throw new Error('Activity cancelled');
        };
        const hooks = testHooks({ stopRequested: () => (cancelled ? 'cancel' : null) });
        const { steps, end } = await search(world, testSettings('fast'), gate, hooks);
        const kept = new Set(end.state.candidates.map(({ id }) => id));
        const ran = steps.log.filter(({ step, output }) => step === 'candidate' && output !== undefined);
        for (const { input } of ran) expect(kept).toContain((input as { candidateId: string }).candidateId);
      }),
      { numRuns: 80 },
    );
  });

  test('before the start makes no step at all', async () => {
    const { steps, end } = await search(1, testSettings(), undefined, testHooks({ stopRequested: () => 'cancel' }));
    expect(steps.log.map(({ step }) => step)).toEqual(['finish']);
    expect(end).toMatchObject({ status: 'cancelled', chosen: null });
  });
});

describe('a failing infrastructure', () => {
  test('ends as failed with its innermost reason, and every reply before it is charged', async () => {
    await fc.assert(
      fc.asyncProperty(seed, fc.integer({ min: 1, max: 60 }), async (world, at) => {
        const gate: Gate = async (_call, number) => {
          if (number === at) throw new Error('Activity failed', { cause: new Error('set OPENAI_API_KEY') });
        };
        const steps = new FakeSteps(randomWorld(world), gate);
        const settings = testSettings('fast');
        const running = runSearch({ searchId: 's', settings, state: null }, steps, testHooks());
        await running.catch(() => undefined);
        expect(steps.finished!.state.usage).toEqual(steps.charged);
        if ((steps.log[at - 1]?.step ?? 'finish') === 'finish') return;
        await expect(running).rejects.toThrow('Activity failed');
        expect(steps.finished).toMatchObject({ status: 'failed', endedBy: 'error', reason: 'set OPENAI_API_KEY' });
      }),
      { numRuns: 80 },
    );
  });
});
