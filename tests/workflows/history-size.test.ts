import type { OperatorView, Settings, UpdateView, Usage } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { withoutLooking } from '../helpers/without-looking';
import { sha256 } from '../../src/sha256';
import { awaitQuestion } from '../../src/workers/client';
import type { WorkerSteps } from '../../src/workers/run-worker';
import type { Serving } from '../../src/workers/serving';
import { questionWorkflowId } from '../../src/workflows/ids';
import { scriptedSettings, scriptedSteps, scriptedWorker, type Script, type Turn } from './scripted-steps';
import type { CandidateInput, CandidateRun, Planned } from '../../src/domain/ports/steps';

/** Bytes of history that a model call may cost (design D3). */
const A_CALL = 8 * 1024;

const worker = scriptedWorker();

test('a search of 40 model calls keeps its history small', async () => {
  let calls = 0;
  // Three plans of six operators, one operator an iteration: the longest way there is.
  const script: Script = { operators: 6, padding: 120, onFinish: ({ usage }) => void (calls = usage.llmCalls) };
  await worker.ask(
    script,
    async ({ gate, searchId }) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed' });
      const description = await gate.client.workflow.getHandle(questionWorkflowId(searchId)).describe();
      expect(calls).toBeGreaterThanOrEqual(35);
      expect((description.historySize ?? 0) / calls).toBeLessThan(A_CALL);
      expect(description.historyLength / calls).toBeLessThan(15);
    },
    { settings: scriptedSettings({ iterations: 14, cMin: 3 }) },
  );
});

const QUESTION = 'How many sprint events were held in each season, from the earliest season on?';
const FAST = settingsFor({ method: 'fast', models: { default: 'gpt-4.1-mini' } });
const WITHOUT_LOOKING = withoutLooking(FAST);

/** A search as `gate ask` starts it: the size of its history for each of its calls, in bytes, and its events. */
async function historyOf(settings: Settings, stepsFor: (onFinish: (usage: Usage) => void) => WorkerSteps) {
  let calls = 0;
  return worker.ask(
    stepsFor((usage) => (calls = usage.llmCalls)),
    async ({ gate, searchId }) => {
      expect(await awaitQuestion(gate, searchId)).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
      const { historySize = 0, historyLength } = await gate.client.workflow
        .getHandle(questionWorkflowId(searchId))
        .describe();
      return { calls, perCall: historySize / calls, events: historyLength };
    },
    { modelTimeoutMs: 300_000, label: `${worker.database}: ${QUESTION}`, serving: SERVING, settings },
  );
}

test.each([
  { calls: 2, doubtful: false },
  { calls: 3, doubtful: true },
])('a search of $calls model calls keeps its history small', async ({ calls, doubtful }) => {
  const found = await historyOf(WITHOUT_LOOKING, (onFinish) => shortSteps(QUESTION, doubtful, onFinish));
  expect(found.calls).toBe(calls);
  expect(found.perCall).toBeLessThan(A_CALL);
  expect(found.events).toBeLessThan(14 * calls);
});

test.each<{ readonly conversation: readonly Turn[] }>([
  { conversation: ['commit'] },
  { conversation: ['look', 'commit'] },
  { conversation: ['look', 'look', 'returned', 'returned', 'commit'] },
])('a conversation keeps its history small: $conversation', async ({ conversation }) => {
  const found = await historyOf(FAST, (onFinish) => talkingSteps(conversation, onFinish));
  expect(found.calls).toBe(conversation.length);
  expect(found.perCall).toBeLessThan(A_CALL);
  expect(found.events).toBeLessThan(14 * found.calls + 6);
});

/** A conversation whose commits are as long as in life: three operators, two claims of which one proves its operator. */
function talkingSteps(conversation: readonly Turn[], onFinish: (usage: Usage) => void): WorkerSteps {
  const steps = scriptedSteps({ conversation });
  const short = shortSteps(QUESTION, false, onFinish);
  const usage = { llmCalls: 1, possiblyBilledCalls: 0, promptTokens: 6671, completionTokens: 902, costUsd: 0.004112 };
  const queries = { sqlExecutions: 14, sqlMs: 56.1, sqlRows: 7 };
  const id = (key: string): string => sha256(key).slice(0, 16);
  return {
    ...steps,
    finish: short.finish,
    look: async (input, options) => {
      const outcome = await steps.look(input, options);
      return { ...outcome, usage };
    },
    queries: async (input, options) => ({ ...(await steps.queries(input, options)), usage: queries }),
    commit: async (input, options) => {
      const committed = await steps.commit(input, options);
      if (committed.kind !== 'answer') return { ...committed, usage: queries };
      const { position } = input;
      const view = (name: string, intent: string, more: Partial<OperatorView> = {}): OperatorView => ({
        ...{ name, state: 'assumed', bodyId: `b${id(`${position} ${name}`)}`, updateId: null, shape: `s${id(name)}` },
        ...{ intent, inputs: [], readsBase: true, risk: 0.1, assumptions: 1, immaterial: null, barren: 0, ...more },
      });
      const intent = `the rows that answer: ${QUESTION}`;
      const bodyId = `b${id(`${position} op_rows`)}`;
      const update: UpdateView = {
        ...{ id: `${position}.op_rows`, shape: `s${id('op_rows')}`, intent, inputs: [], bodyId },
        ...{ status: 'active', dependsOn: [], reuses: 0 },
      };
      const operators = [
        view('op_base', 'the number of records in events'),
        view('op_rows', intent, { state: 'grounded', bodyId, updateId: update.id, risk: 0, assumptions: 0 }),
        view('op_answer', 'the columns asked for, unchanged', { inputs: ['op_rows', 'op_base'], readsBase: false }),
      ];
      const learned = 'Every sprint event has one winner and one season, and none is stored twice.';
      const plan = { ...committed.plan, operators };
      return { ...committed, plan, updates: [update], learned, usage: queries };
    },
  };
}

const SERVING: Serving = {
  fingerprint: '0bc402540bcf',
  parts: {
    'model endpoint': 'https://api.openai.com/v1',
    'key of the model endpoint': '#55423',
    'request timeout': '300000 ms',
    store: '/home/ada/.local/share/gate/store',
    database: '/home/ada/data/sprint.sqlite #f47f3491',
  },
};

/** Two derivations that agree. Where the first one is doubtful, it comes with its test. What is said is as long as in life. */
function shortSteps(question: string, doubtful: boolean, onFinish: (usage: Usage) => void): WorkerSteps {
  const steps = scriptedSteps();
  const usage = { llmCalls: 1, possiblyBilledCalls: 0, promptTokens: 2671, completionTokens: 402, costUsd: 0.001712 };
  const queries = { sqlExecutions: 5, sqlMs: 56.1, sqlRows: 7 };
  const ran = ({ against }: CandidateInput): CandidateRun => ({
    ...{ outcome: 'rows', rowCount: 3, trivial: false, control: 18, equalTo: against[0] ?? null, usage: queries },
  });
  const id = (key: string): string => sha256(key).slice(0, 16);
  return {
    ...steps,
    plan: ({ position, otherPlans }) => {
      const later = otherPlans.length > 0;
      const view = (name: string, intent: string, more: Partial<OperatorView>): OperatorView => ({
        ...{
          name: later ? `${name}_2` : name,
          state: 'assumed',
          bodyId: `b${id(`${position} ${name}`)}`,
          updateId: null,
        },
        ...{ shape: `s${id(name)}`, intent, inputs: [], readsBase: true, risk: 0, assumptions: 0 },
        ...{ immaterial: null, barren: 0, ...more },
      });
      const open: Partial<OperatorView> = doubtful
        ? { state: 'unresolved', bodyId: null }
        : { risk: 0.1, assumptions: 1 };
      const rows = view('op_rows', `the rows that answer: ${question}`, open);
      const base = view('op_base', 'the number of records in events', {});
      const last = { inputs: [rows.name, ...(later ? [] : [base.name])], readsBase: false };
      const answer = view('op_answer', 'the columns asked for, unchanged', last);
      const tests = doubtful && !later;
      const plan = { planId: position, ordered: true, operators: [...(later ? [] : [base]), rows, answer] };
      const value: Planned = {
        ...{ kind: 'plan', plan, potential: 1, bottleneck: doubtful ? rows.name : null },
        ...{ proposalId: tests ? `${position}.tests#op_rows` : null, proposed: tests ? [rows.name] : [] },
      };
      return Promise.resolve({ kind: 'ok', value, usage });
    },
    ground: async (input, options) => {
      const outcome = await steps.ground(input, options);
      if (outcome.kind === 'invalid') return outcome;
      const learned = 'Matching records count once; rivals contradict the counts.';
      const facts = [{ id: `${input.position}.fact1`, status: 'active' as const, dependsOn: [] }];
      return { ...outcome, value: { ...outcome.value, learned, facts }, usage };
    },
    check: () => Promise.resolve({ failures: [], usage: queries }),
    settle: ({ position, groundingId, plan }) => {
      const [operator = ''] = (groundingId.split('#')[1] ?? '').split('+');
      const bodyId = `b${id(`${plan.planId} settled`)}`;
      const update: UpdateView = {
        ...{ id: `${position}.${operator}`, shape: `s${id('op_rows')}`, intent: `the rows that answer: ${question}` },
        ...{ inputs: [], bodyId, status: 'active', dependsOn: [], reuses: 0 },
      };
      const results = [{ operator, bodyId, update, assumed: false, error: null }];
      return Promise.resolve({ results, usage: queries });
    },
    candidate: (input) => Promise.resolve(ran(input)),
    finish: async (input, options) => {
      const summary = await steps.finish(input, options);
      onFinish(summary.usage);
      return {
        ...summary,
        answer:
          'The answer is a list of 3 rows; unchecked: 0 of 3 steps proved, 3 assumed.\nFirst season 2021, events 6; last season 2023, events 6.',
        sql: 'WITH op_base AS (\nSELECT count(*) AS examined FROM events AS t0\n),\nop_rows AS (\nSELECT season, count(*) AS events FROM events GROUP BY season ORDER BY season\n)\nSELECT season, events FROM op_rows WHERE (SELECT examined FROM op_base) >= 0',
        proof: ['op_rows assumed: a matching record counts once'],
      };
    },
  };
}
