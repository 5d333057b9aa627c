import fc from '../../helpers/property';
import { SearchState, type Settings } from '../../../src/domain';
import { runAgent } from '../../../src/methods/agent/loop';
import type { SearchHooks } from '../../../src/search/run';
import { settingsFor } from '../../../src/config/presets';
import { NO_USAGE } from '../../../src/domain/control-view';
import { addUsage } from '../../../src/search/budgets';
import type { AnswerSummary, ModelOutcome } from '../../../src/domain/ports/step-parts';
import { MODEL_COST, SQL_COST, testHooks, toEnd } from '../../helpers/fake-steps';
import { Draw } from '../../helpers/random-world';
import type { Acted, AgentSteps, FinishInput, WebInput, Given, Gives } from '../../../src/domain/ports/steps';

type Action = Acted | { readonly invalid: string };
interface Agent {
  act(input: Given<'react' | 'redel'>): Action;
  final?(input: Given<'final'>): Partial<Gives<'final'>>;
  gate?(step: string, number: number): void;
}

/** The agent's steps in memory; what they return depends on their input alone. */
class FakeReact implements AgentSteps {
  readonly log: string[] = [];
  readonly acts: Given<'react' | 'redel'>[] = [];
  finished: FinishInput | null = null;
  charged = NO_USAGE;

  constructor(private readonly agent: Agent) {}

  async react(input: Given<'react' | 'redel'>): Promise<ModelOutcome<Acted>> {
    this.enter('act');
    this.acts.push(input);
    const action = this.agent.act(input);
    this.charged = addUsage(this.charged, MODEL_COST);
    return 'invalid' in action
      ? { kind: 'invalid', error: action.invalid, usage: MODEL_COST }
      : { kind: 'ok', value: action, usage: MODEL_COST };
  }
  redel = (input: Given<'react' | 'redel'>) => this.react(input);
  async tool(input: Given<'tool'>) {
    this.enter('tool');
    this.charged = addUsage(this.charged, SQL_COST);
    return { observationId: `${input.position}.observation`, outcome: 'rows' as const, usage: SQL_COST };
  }
  async web(input: WebInput) {
    this.enter('web');
    return { observationId: `${input.position}.observation`, outcome: 'found' as const, usage: {} };
  }
  async final(input: Given<'final'>): Promise<Gives<'final'>> {
    this.enter('final');
    this.charged = addUsage(this.charged, SQL_COST);
    const usual = { outcome: 'rows' as const, rowCount: 1, trivial: false, control: null, equalTo: null, error: null };
    return { ...usual, usage: SQL_COST, ...this.agent.final?.(input) };
  }
  async prepare() {
    this.enter('prepare');
    this.charged = addUsage(this.charged, SQL_COST);
    return { knownUpdates: [], usage: SQL_COST };
  }
  checkpoint(state: SearchState): void {
    this.enter('checkpoint');
    SearchState.parse(state);
  }
  async finish(input: FinishInput): Promise<AnswerSummary> {
    this.log.push('finish');
    this.finished = input;
    const { searchId: id, status, endedBy, reason, state } = input;
    return { id, status, endedBy, answer: null, sql: null, reason, usage: state.usage };
  }
  private enter(step: string): void {
    this.log.push(step);
    this.agent.gate?.(step, this.log.length);
  }
}

const settings = (overrides: Partial<Settings> = {}) =>
  settingsFor({ method: 'react', models: { default: 'model' }, overrides });
const tool = (input: Given<'react' | 'redel'>): Acted => ({
  kind: 'tool',
  actionId: `${input.position}#${input.tryNumber}`,
});
const end = (input: Given<'react' | 'redel'>): Acted => ({
  kind: 'end',
  actionId: `${input.position}#${input.tryNumber}`,
});
const after = (calls: number) => (input: Given<'react' | 'redel'>) =>
  input.turns.length < calls ? tool(input) : end(input);

async function ask(agent: Agent, given = settings(), hooks = testHooks()) {
  const steps = new FakeReact(agent);
  await toEnd(runAgent({ searchId: 's', settings: given, state: null }, steps, hooks));
  return { steps, end: steps.finished! };
}

describe('the ReAct agent', () => {
  test('looks with its tool, then ends with SQL that is executed before it counts', async () => {
    const { steps, end: ended } = await ask({ act: after(2) });
    expect(steps.log).toEqual([
      'prepare',
      ...['act', 'tool', 'checkpoint'],
      ...['act', 'tool', 'checkpoint'],
      ...['act', 'final', 'finish'],
    ]);
    expect(steps.acts.map(({ turns, callsUsed }) => [turns.length, callsUsed])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    expect(ended).toMatchObject({ status: 'answered', endedBy: 'finished', chosen: 'c1' });
  });

  test('gets the error of its final SQL back and may mend it', async () => {
    const { steps, end: ended } = await ask({
      act: end,
      final: ({ position }) =>
        position.endsWith('final0') ? { outcome: 'sql-error', error: 'no such column: wage' } : {},
    });
    expect(steps.acts.map(({ tryNumber, executionError }) => [tryNumber, executionError])).toEqual([
      [0, undefined],
      [1, 'no such column: wage'],
    ]);
    expect(ended).toMatchObject({ status: 'answered', chosen: 'c1' });
  });

  test('whose SQL never runs abstains and says so', async () => {
    const { end: ended } = await ask({ act: end, final: () => ({ outcome: 'sql-error', error: 'no such table' }) });
    expect(ended).toMatchObject({
      status: 'abstained',
      chosen: null,
      reason: 'its final SQL did not run: no such table',
    });
  });

  test('never runs more tool calls than its budget, and is told to end', async () => {
    const { steps, end: ended } = await ask({ act: tool }, settings({ rounds: 3, parseRetries: 1 }));
    expect(steps.log.filter((step) => step === 'tool')).toHaveLength(3);
    expect(steps.acts.at(-1)?.executionError).toMatch(/all 3 tool calls are used/);
    expect(ended).toMatchObject({ status: 'abstained', endedBy: 'iterations', reason: 'the agent gave no answer' });
  });

  test('may say that the database cannot answer', async () => {
    const { end: ended } = await ask({ act: () => ({ kind: 'unanswerable', reason: 'wages are not stored' }) });
    expect(ended).toMatchObject({ status: 'unanswerable', reason: 'wages are not stored', endedBy: 'finished' });
  });

  test('that gives no usable action has failed: recorded, charged, and with its cause', async () => {
    const { steps, end: ended } = await ask({ act: () => ({ invalid: 'prose' }) });
    expect(steps.acts).toHaveLength(4);
    expect(ended).toMatchObject({
      ...{ status: 'failed', endedBy: 'unusable', reason: 'the model gave no usable action in 4 tries: prose' },
    });
    expect(ended.state.usage).toEqual(steps.charged);
    expect(ended.state.events).toMatchObject([{ kind: 'step-failed', subject: 'i1.react' }]);
  });
});

describe('a hint to it', () => {
  /** Told during the first call that ends it. */
  async function hinted(agent: Agent) {
    let tell: () => void = () => undefined;
    const act = (input: Given<'react' | 'redel'>): Action => {
      const action = agent.act(input);
      if (!('invalid' in action) && action.kind === 'end') tell();
      return action;
    };
    const attach: SearchHooks['attach'] = (desk) => {
      tell = () => {
        tell = () => undefined;
        desk.steer({ steering: { kind: 'hint', author: 'ada', text: 'gaps are seconds' }, remarkId: 'h1' });
      };
    };
    return ask({ ...agent, act }, settings(), testHooks({ attach }));
  }

  test('that comes during its last call gets one more turn, whose SQL replaces the one before', async () => {
    const { steps, end: ended } = await hinted({ act: after(1) });
    expect(steps.acts.map(({ position, memory }) => [position, memory.remarks])).toEqual([
      ['i1.react', undefined],
      ['i2.react', undefined],
      ['i3.react', ['h1']],
    ]);
    expect(steps.log.slice(-5)).toEqual(['act', 'final', 'act', 'final', 'finish']);
    expect(ended).toMatchObject({ status: 'answered', chosen: 'c2' });
    expect(ended.state.steered?.unheard).toEqual([]);
  });

  test('leaves the answer as it was where the turn for it gives none', async () => {
    const { end: ended } = await hinted({
      act: (input) => (input.position === 'i1.react' ? end(input) : { invalid: 'prose' }),
    });
    expect(ended).toMatchObject({ status: 'answered', chosen: 'c1' });
  });
});

describe('its budgets and endings (D6)', () => {
  const limited = (llmCalls: number) => settings({ budgets: { ...settings().budgets, llmCalls } });

  test('SQL that the last call paid for is still executed', async () => {
    const { end: ended } = await ask({ act: end }, limited(1));
    expect(ended).toMatchObject({ status: 'answered', chosen: 'c1' });
  });

  test('no tool call follows a used-up budget, since nobody would read its result', async () => {
    const { steps, end: ended } = await ask({ act: tool }, limited(2));
    expect(steps.log.filter((step) => step === 'tool' || step === 'act')).toEqual(['act', 'tool', 'act']);
    expect(ended.endedBy).toBe('budget:llmCalls');
  });

  test('a failure of infrastructure is thrown on, with everything before it charged', async () => {
    const agent: Agent = {
      act: (input) => (input.tryNumber === 0 ? { invalid: 'prose' } : tool(input)),
      gate: (step, number) => {
        if (step === 'act' && number === 3) throw new Error('connection lost');
      },
    };
    const steps = new FakeReact(agent);
    const running = runAgent({ searchId: 's', settings: settings(), state: null }, steps, testHooks());
    await expect(running).rejects.toThrow('connection lost');
    expect(steps.finished).toMatchObject({ status: 'failed', endedBy: 'error', reason: 'connection lost' });
    expect(steps.finished?.state.usage).toEqual(steps.charged);
  });

  test('random agents always end, within their budget, and pay once for each reply, cancelled or not', async () => {
    const cases = fc.record({
      seed: fc.integer(),
      rounds: fc.integer({ min: 1, max: 6 }),
      cancelAt: fc.integer({ min: 1, max: 40 }),
      throws: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ seed, rounds, cancelAt, throws }) => {
        let cancelled = false;
        let callsAtCancel = 0;
        const agent: Agent = {
          act: (input) => {
            const random = new Draw(`${seed} ${input.position} ${input.tryNumber}`);
            if (random.chance(0.2)) return { invalid: 'prose' };
            return random.chance(0.7) ? tool(input) : end(input);
          },
          final: ({ position }) =>
            new Draw(`${seed} ${position}`).chance(0.5) ? { outcome: 'sql-error', error: 'no' } : {},
          gate: (_step, number) => {
            if (number < cancelAt || cancelled) return;
            cancelled = true;
            callsAtCancel = number;
            if (throws) throw new Error('Activity cancelled');
          },
        };
        const hooks = testHooks({ stopRequested: () => (cancelled ? 'cancel' : null) });
        const { steps, end: ended } = await ask(agent, settings({ rounds }), hooks);
        expect(steps.log.filter((step) => step === 'tool').length).toBeLessThanOrEqual(rounds);
        expect(ended.state.usage).toEqual(steps.charged);
        if (callsAtCancel === 0) return;
        const later = steps.log.slice(callsAtCancel);
        expect(later.filter((step) => step === 'act' || step === 'tool' || step === 'final')).toEqual([]);
        expect(ended.status).toBe('cancelled');
      }),
      { numRuns: 300 },
    );
  });

  test('continued from its state it does what it would have done', async () => {
    const whole = await ask({ act: after(4) });
    const steps = new FakeReact({ act: after(4) });
    const hooks = testHooks({ afterIteration: () => 'continue-as-new' });
    let outcome = await runAgent({ searchId: 's', settings: settings(), state: null }, steps, hooks);
    while (outcome.kind === 'continue') {
      const state = JSON.parse(JSON.stringify(outcome.state)) as SearchState;
      outcome = await runAgent({ searchId: 's', settings: settings(), state }, steps, hooks);
    }
    expect(steps.log).toEqual(whole.steps.log);
    expect(steps.finished).toEqual(whole.end);
  });
});
