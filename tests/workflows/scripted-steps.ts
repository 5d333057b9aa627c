/**
 * Steps that follow a script, without model, database or state: a plan is a chain of operators, every probe decides.
 * Ids carry what later steps need, so that a step works in whatever process it runs. `onStep` sees every call and may
 * delay it or throw.
 */
import { createMemoryStore } from '../helpers/scripted';
import type { MethodName, SearchState, Settings, UpdateView, Usage } from '../../src/domain';
import { settingsFor } from '../../src/config/presets';
import { withoutLooking } from '../helpers/without-looking';
import type { AnswerSummary, MemoryRef, ModelOutcome, PlanRef } from '../../src/domain/ports/step-parts';
import { connectClient, startQuestion, type GateClient, type StartQuestion } from '../../src/workers/client';
import { createGateWorkers, type WorkersOptions, type WorkerSteps } from '../../src/workers/run-worker';
import { questionQueues } from '../../src/workers/task-queues';
import { quietLogger, testTemporal, unique } from '../helpers/temporal';
import type { Gives } from '../../src/domain/ports/steps';

export interface StepCall {
  readonly searchId: string;
  /** That of the step: `plan`, `probe`, …; `remark` of `keepRemark`. */
  readonly name: string;
  readonly position: string;
  readonly signal: AbortSignal | undefined;
}

export interface Script {
  /** Operators of each plan. */
  readonly operators?: number;
  /** For `react`: queries before it ends. */
  readonly queries?: number;
  /** For `react`: its first calls are of the web. For `gate`: looked up, one by one, before the first plan. */
  readonly lookups?: number;
  /**
   * For a search that looks first: its turns. `commit` holds, `returned` goes back with its figures, `decline` ends, and
   * `unusable` is a reply without format. After the last, every turn is a commit that holds.
   */
  readonly conversation?: readonly Turn[];
  readonly onStep?: (call: StepCall) => void | Promise<void>;
  /** Adds this many characters to what control reads from a plan, to test sizes. */
  readonly padding?: number;
  readonly onFinish?: (summary: AnswerSummary, state: SearchState) => void | Promise<void>;
}

export type Turn = 'look' | 'commit' | 'returned' | 'decline' | 'unusable';

const CALL = { llmCalls: 1, promptTokens: 100, completionTokens: 10 };
const QUERY = { sqlExecutions: 1, sqlMs: 1 };

type Overrides = Partial<Omit<Settings, 'method' | 'spec' | 'models'>>;

/** Of the search proper: without the conversation with which `fast` begins. */
export function scriptedSettings(overrides: Overrides = {}, method: MethodName = 'fast'): Settings {
  const settings = withoutLooking(settingsFor({ method, models: { default: 'scripted' } }));
  return { ...settings, breadth: 1, followOn: false, planCarriesTests: false, ...overrides };
}

/** Of the default: the search begins with the conversation. */
export function lookingSettings(overrides: Overrides = {}): Settings {
  const inTurn = { breadth: 1, followOn: false, planCarriesTests: false };
  return settingsFor({
    ...{ method: 'fast', models: { default: 'scripted' } },
    overrides: { ...inTurn, ...overrides },
  });
}

export type OnStep = NonNullable<Script['onStep']>;

export interface Run {
  readonly gate: GateClient;
  readonly searchId: string;
  readonly database: string;
}

export interface ScriptedWorker {
  /** What the worker serves. */
  readonly database: string;
  /** Starts a question whose steps follow the script, or are these. */
  ask<T>(script: Script | WorkerSteps, work: (run: Run) => Promise<T>, more?: Partial<StartQuestion>): Promise<T>;
}

type Given = Partial<Pick<WorkersOptions, 'dataConverter' | 'namespace'>>;

/**
 * One worker for all tests of a file, or of a `describe`: a step follows the script of the question that it is for. Questions of a
 * batch, whose manifest is in `noBatch.store`, follow the usual one.
 */
export function scriptedWorker(usual: Partial<StartQuestion> = {}, given: Given = {}): ScriptedWorker {
  const database = unique('db');
  let worker: Awaited<ReturnType<typeof startScriptedWorker>>;
  beforeAll(async () => {
    worker = await startScriptedWorker(usual, given, database);
  });
  afterAll(() => worker.end());
  return { database, ask: (...asked) => worker.ask(...asked) };
}

/** A worker of one test's own. */
export async function startScriptedWorker(
  usual: Partial<StartQuestion> = {},
  given: Given = {},
  database = unique('db'),
): Promise<ScriptedWorker & { readonly end: () => Promise<void> }> {
  const scripts = new Map<string, WorkerSteps>();
  const plain = scriptedSteps();
  const to = { ...testTemporal(), ...given };
  quietLogger();
  const gate = await connectClient(to);
  const steps = dispatched((searchId) => scripts.get(searchId.split('.')[0] ?? '') ?? plain);
  const workers = await createGateWorkers({ ...to, graceMs: 200, steps, batch: noBatch, databases: [database] });
  const running = workers.run();
  return {
    database,
    end: async () => {
      workers.stop();
      await running;
      await gate.close();
    },
    ask: async (script, work, more) => {
      const searchId = unique('q');
      scripts.set(searchId, 'finish' in script ? script : scriptedSteps(script));
      await startQuestion(gate, {
        ...{ searchId, database, queues: questionQueues(database), label: `${database}: how many refunds?` },
        ...{ settings: scriptedSettings(), modelTimeoutMs: 5_000, ...usual, ...more },
      });
      return work({ gate, searchId, database });
    },
  };
}

/** Steps of many scripts as those of one worker; the helpers and runs of a search follow its script. */
export function dispatched(stepsOf: (searchId: string) => WorkerSteps): WorkerSteps {
  type Step = (input: string | { readonly searchId: string }, ...more: unknown[]) => Promise<unknown>;
  const step =
    (name: string): Step =>
    (input, ...more) => {
      const searchId = typeof input === 'string' ? input : input.searchId;
      return (stepsOf(searchId) as unknown as Record<string, Step>)[name]!(input, ...more);
    };
  const names = Object.keys(scriptedSteps());
  return Object.fromEntries(names.map((name) => [name, step(name)])) as unknown as WorkerSteps;
}

/** What workers need for batches, where a test runs none. */
export const noBatch = { store: createMemoryStore(), readAnswer: () => Promise.resolve(null) };

/** The steps that reply to an input with a position; the others are told by themselves. */
type Told = Exclude<keyof WorkerSteps, 'openChild' | 'amend' | 'keepRemark' | 'finish'>;
type Replies = { [Name in Told]: (input: Parameters<WorkerSteps[Name]>[0]) => Awaited<ReturnType<WorkerSteps[Name]>> };
interface StepInput {
  readonly searchId: string;
  readonly position: string;
}

export function scriptedSteps(script: Script = {}): WorkerSteps {
  const { operators = 3, queries = 3, lookups = 0, conversation = [], onStep } = script;
  const on = async (name: string, input: { searchId: string; position: string }, options?: { signal?: AbortSignal }) =>
    onStep?.({ name, searchId: input.searchId, position: input.position, signal: options?.signal });
  const ok = <T>(value: T): ModelOutcome<T> => ({ kind: 'ok', value, usage: CALL });
  const replies: Replies = {
    prepare: () => ({ knownUpdates: [], usage: QUERY }),
    look: (input) => {
      const turn = conversation[input.turns.length] ?? 'commit';
      if (turn === 'unusable')
        return { kind: 'invalid', error: 'no JSON', cause: 'no JSON', reply: 'Hm.', usage: CALL };
      const action = turn === 'look' ? turn : turn === 'decline' ? 'unanswerable' : 'commit';
      return ok({ turnId: encode(input.position, [turn]), action });
    },
    queries: (input) => ({ observationId: input.turnId, usage: QUERY }),
    commit: (input) => {
      const settled = !decode(input.turnId).includes('returned');
      if (decode(input.turnId).includes('decline')) return declined;
      return answered(input.position, operators, settled);
    },
    learn: (input) => ok({ turnId: input.position, done: input.turns.length > 0, groups: 1 }),
    prove: () => ({ proved: 1, open: 0, usage: QUERY }),
    keep: () => ok({ kept: 1, contradicted: [] }),
    'reforce-link': (input) => ok({ linkId: input.position }),
    'reforce-format': (input) => ok({ formatId: input.position }),
    'reforce-explore': (input) => ok({ actionId: input.position, queries: 3 }),
    'reforce-generate': (input) => ok({ actionId: input.position }),
    'reforce-choose': (input) => ok({ candidate: input.candidates[0] ?? '' }),
    'reforce-answer': (input) => ok({ candidateId: input.candidateId }),
    compress: (input) => ({ schemaId: input.position, tables: 0, worded: false, usage: {} }),
    explore: (input) => ({ observationId: input.position, succeeded: input.most, failed: false, usage: QUERY }),
    refine: (input) => {
      const ran = { outcome: 'rows' as const, rowCount: 1, trivial: false, control: null, equalTo: null, usage: QUERY };
      return { ...ran, observationId: input.position, repeats: false, flawed: false };
    },
    agree: (input) => {
      const others = (id: string) => input.candidates.filter((other) => other !== id);
      return { agreeing: Object.fromEntries(input.candidates.map((id) => [id, others(id)])), usage: {} };
    },
    restate: () => ({ proved: 1, usage: QUERY }),
    recount: () => ({ broken: 1, usage: QUERY }),
    plan: (input) => {
      if ((input.lookupsLeft ?? 0) > 0 && (input.memory.web?.length ?? 0) < lookups)
        return ok({ kind: 'lookup', lookups: [{ actionId: input.position, tool: 'fetch_url' }] });
      const names = Array.from({ length: operators }, (_, index) => `op_${String(index + 1)}`);
      const views = names.map((name, index) => ({
        ...{ name, state: 'unresolved' as const, bodyId: null, updateId: null },
        ...{ shape: `${input.position}/${name}`, intent: `${input.position}/${name}`.padEnd(script.padding ?? 0, '.') },
        ...{ inputs: names.slice(Math.max(0, index - 1), index), readsBase: index === 0 },
        ...{ risk: 0, assumptions: 0, immaterial: null, barren: 0 },
      }));
      const plan = { planId: input.position, ordered: false, operators: views };
      return ok({ kind: 'plan', plan, potential: operators, bottleneck: 'op_1', proposalId: null, proposed: [] });
    },
    check: () => ({ failures: [], usage: QUERY }),
    evaluate: (input) => {
      const scores = input.trajectories.map(({ id, depth }) => ({
        ...{ trajectory: id, progress: depth / 10, potential: Math.max(0, operators - depth), bottleneck: null },
      }));
      return ok({ scores });
    },
    propose: (input) =>
      ok({ proposalId: encode(input.position, input.targets), operators: input.targets, done: false }),
    probe: (input) => {
      const tests = decode(input.proposalId).map((operator) => ({
        operator,
        outcome: 'rows' as const,
        immaterial: null,
      }));
      return { observationId: encode(input.position, decode(input.proposalId)), tests, usage: QUERY };
    },
    ground: (input) => {
      const judged = input.observations.flatMap(decode);
      return ok({
        groundingId: encode(input.position, judged),
        operators: judged.map((operator) => ({
          operator,
          winner: 'h1',
          bodyId: bodyId(input.plan, operator),
          decided: true,
        })),
        ...{
          learned: null,
          written: [],
          facts: [],
          delta: -1,
          impossible: null,
          nextProposalId: null,
          nextOperators: [],
        },
      });
    },
    settle: (input) => {
      const results = decode(input.groundingId).map((operator) => ({
        ...{ operator, bodyId: bodyId(input.plan, operator), assumed: false, error: null },
        update: updateOf(input.plan, operator, input.position, input.memory),
      }));
      return { results, usage: QUERY };
    },
    candidate: () => ({ outcome: 'rows', rowCount: 1, trivial: false, control: 18, equalTo: null, usage: QUERY }),
    select: (input) => ok({ candidate: input.candidates[0]?.id ?? null, reason: 'first' }),
    react: (input) => {
      const actionId = input.position;
      if (input.callsUsed < lookups) return ok({ kind: 'web', actionId, tool: 'web_search' });
      return ok(input.callsUsed < queries ? { kind: 'tool', actionId } : { kind: 'end', actionId });
    },
    // The root has two helpers, then ends; a helper queries once, then reports.
    redel: (input) => {
      const actionId = input.position;
      const isHelper = input.searchId.includes('.helper');
      if (input.turns.length > 0) return ok({ kind: isHelper ? 'report' : 'end', actionId });
      return ok(isHelper ? { kind: 'tool', actionId } : { kind: 'delegate', actionId, tasks: ['one', null, 'two'] });
    },
    tool: (input) => ({ observationId: input.position, outcome: 'rows', usage: QUERY }),
    final: () => ({
      outcome: 'rows',
      rowCount: 1,
      trivial: false,
      control: 18,
      equalTo: null,
      error: null,
      usage: QUERY,
    }),
    web: (input) => ({ observationId: input.position, outcome: 'found', usage: {} }),
    adopt: () => ({ outcome: 'rows', rowCount: 1, trivial: false, control: null, equalTo: null, usage: {} }),
  };
  const told = Object.entries<(input: never) => unknown>(replies).map(([name, reply]) => [
    name,
    async (input: StepInput, options?: { signal?: AbortSignal }) => {
      await on(name, input, options);
      return reply(input as never);
    },
  ]);
  return {
    ...(Object.fromEntries(told) as Pick<WorkerSteps, Told>),
    openChild: async (input) => {
      await on('openChild', input);
      const method = input.settings.redel === undefined ? 'react' : 'redel';
      const settings = { ...scriptedSettings({}, method), ...input.settings };
      return { searchId: `${input.searchId}.${input.position}`, settings, ended: null };
    },
    amend: async ({ searchId, notKept }, options) => {
      await on('amend', { searchId, position: 'amend' }, options);
      return { kept: notKept === null ? 1 : 0, notKept };
    },
    keepRemark: async (searchId, { remarkId }) => {
      await on('remark', { searchId, position: remarkId });
    },
    finish: async ({ searchId, state, status, endedBy, chosen, reason }, options) => {
      await on('finish', { searchId, position: 'finish' }, options);
      const usage: Usage = state.usage;
      const summary = {
        id: searchId,
        status,
        endedBy,
        answer: null,
        sql: chosen === null ? null : 'SELECT 1',
        reason,
        usage,
      };
      await script.onFinish?.(summary, state);
      return summary;
    },
  };
}

const declined: Gives<'commit'> = { kind: 'decline', settled: true, reason: 'it is not stored', usage: QUERY };

function answered(position: string, operators: number, settled: boolean): Extract<Gives<'commit'>, { kind: 'answer' }> {
  const names = Array.from({ length: operators }, (_, index) => `op_${String(index + 1)}`);
  const views = names.map((name, index) => ({
    ...{ name, state: 'assumed' as const, bodyId: `${position}/${name}`, updateId: null },
    ...{ shape: `${position}/${name}`, intent: name, inputs: names.slice(Math.max(0, index - 1), index) },
    ...{ readsBase: index === 0, risk: settled ? 0.1 : 0.6, assumptions: 1, immaterial: null, barren: 0 },
  }));
  const run = { outcome: 'rows', rowCount: 1, trivial: false, control: 18, equalTo: null, usage: {} } as const;
  return {
    ...{ kind: 'answer', plan: { planId: position, ordered: false, operators: views }, run, updates: [] },
    ...{ evidenceId: position, settled, establishes: settled, declined: null, learned: null, usage: QUERY },
  };
}

const encode = (position: string, operators: readonly string[]): string => `${position}#${operators.join('+')}`;
const decode = (id: string): string[] => (id.split('#')[1] ?? '').split('+');
const bodyId = (plan: PlanRef, operator: string): string => `${plan.planId}/${operator}/body`;

function updateOf(plan: PlanRef, operator: string, position: string, _memory: MemoryRef): UpdateView {
  return {
    ...{ id: `${position}.${operator}`, shape: `${plan.planId}/${operator}`, intent: `${plan.planId}/${operator}` },
    ...{ inputs: [], bodyId: bodyId(plan, operator), status: 'active', dependsOn: [], reuses: 0 },
  };
}
