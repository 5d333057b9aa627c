/**
 * `SearchSteps` in memory. What a step returns is a pure function of its input (a script, or a world made from a seed), never
 * of the order of calls, so that a test may resolve concurrent steps in any order and expect the same search.
 *
 * 1. `log` holds every call in the order it was made, with what it returned.
 * 2. Every model reply costs one call, every SQL step one execution: `charged` sums what was returned.
 */
import type {
  CandidateView,
  OperatorView,
  PlanView,
  PresetName,
  SearchState,
  Settings,
  Trajectory,
  UpdateView,
  Usage,
} from '../../src/domain';
import type { Expansion } from '../../src/search/findings';
import { rootTrajectory } from '../../src/search/remember';
import { NO_USAGE } from '../../src/domain/control-view';
import { addUsage } from '../../src/search/budgets';
import { BrokenModelError } from '../../src/search/select-answer';
import type { SearchHooks, SearchOutcome } from '../../src/search/run';
import { settingsFor } from '../../src/config/presets';
import { withoutLooking } from './without-looking';
import type { AnswerSummary, ModelOutcome, UsageDelta } from '../../src/domain/ports/step-parts';
import type {
  AmendInput,
  CandidateRun,
  FinishInput,
  KeepSteps,
  KeptAfter,
  SearchSteps,
  WebInput,
  WebRun,
  Given,
  Gives,
} from '../../src/domain/ports/steps';

/** Contents of the replies; what is left out has a plain default. `{ invalid }` is an unusable reply. */
export interface Script {
  evaluate?(input: Given<'evaluate'>): Reply<Gives<'evaluate'>>;
  plan?(input: Given<'plan'>): Reply<Gives<'plan'>>;
  propose?(input: Given<'propose'>): Reply<Gives<'propose'>>;
  ground?(input: Given<'ground'>): Reply<Gives<'ground'>>;
  select?(input: Given<'select'>): Reply<Gives<'select'>>;
  keep?(input: Given<'keep'>): Reply<Gives<'keep'>>;
  restate?(input: Given<'restate'>): Pick<Gives<'restate'>, 'proved'>;
  prepare?(input: Given<'prepare'>): Partial<Gives<'prepare'>>;
  check?(input: Given<'check'>): Gives<'check'>['failures'];
  probe?(input: Given<'probe'>): Gives<'probe'>['tests'];
  settle?(input: Given<'settle'>): Gives<'settle'>['results'];
  candidate?(input: Given<'candidate'>): Partial<CandidateRun>;
  web?(input: WebInput): WebRun['outcome'];
}
export type Reply<T> = T | { readonly invalid: string };

export type StepName = keyof (SearchSteps & KeepSteps);
export interface Call {
  readonly step: StepName;
  readonly input: unknown;
  output?: unknown;
}

export const MODEL_STEPS: readonly StepName[] = ['evaluate', 'plan', 'propose', 'ground', 'select', 'keep'];
export const MODEL_COST: UsageDelta = { llmCalls: 1, promptTokens: 100, completionTokens: 10, costUsd: 2 ** -10 };
export const SQL_COST: UsageDelta = { sqlExecutions: 1, sqlMs: 4 };

/** Called when a step starts; what it awaits or throws holds the step up or makes it fail. */
export type Gate = (call: Call, number: number) => Promise<void>;

export class FakeSteps implements SearchSteps, KeepSteps {
  readonly log: Call[] = [];
  readonly states: SearchState[] = [];
  finished: FinishInput | null = null;
  amended: AmendInput | null = null;
  charged: Usage = NO_USAGE;

  constructor(
    private readonly script: Script,
    private readonly gate: Gate = () => Promise.resolve(),
    /** Runs the `next` of a check or a settling along with it, as the real steps do. */
  ) {}

  count(...steps: readonly StepName[]): number {
    return this.log.filter((call) => steps.includes(call.step)).length;
  }

  get modelCalls(): number {
    return this.count(...MODEL_STEPS);
  }

  // The caller names the step, and with it the type of its inputs.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
  inputs<T>(step: StepName): readonly T[] {
    return this.log.filter((call) => call.step === step).map((call) => call.input as T);
  }

  evaluate(input: Given<'evaluate'>): Promise<ModelOutcome<Gives<'evaluate'>>> {
    return this.model('evaluate', input, () => this.script.evaluate?.(input) ?? { scores: [] });
  }
  plan(input: Given<'plan'>): Promise<ModelOutcome<Gives<'plan'>>> {
    return this.model('plan', input, () => this.script.plan?.(input) ?? { invalid: 'no plan in the script' });
  }
  propose(input: Given<'propose'>): Promise<ModelOutcome<Gives<'propose'>>> {
    const usual = { proposalId: `${input.position}.proposal`, operators: input.targets, done: true };
    return this.model('propose', input, () => this.script.propose?.(input) ?? usual);
  }
  ground(input: Given<'ground'>): Promise<ModelOutcome<Gives<'ground'>>> {
    return this.model('ground', input, () => this.script.ground?.(input) ?? judged(input, []));
  }
  select(input: Given<'select'>): Promise<ModelOutcome<Gives<'select'>>> {
    const first = { candidate: input.candidates[0]?.id ?? null, reason: 'the first' };
    return this.model('select', input, () => this.script.select?.(input) ?? first);
  }

  keep(input: Given<'keep'>): Promise<ModelOutcome<Gives<'keep'>>> {
    return this.model('keep', input, () => this.script.keep?.(input) ?? { kept: 1, contradicted: [] });
  }
  restate(input: Given<'restate'>): Promise<Gives<'restate'>> {
    return this.sql('restate', input, () => this.script.restate?.(input) ?? { proved: 1 });
  }
  recount(input: Given<'recount'>): Promise<Gives<'recount'>> {
    return this.sql('recount', input, () => ({ broken: input.entries.length }));
  }

  prepare(input: Given<'prepare'>): Promise<Gives<'prepare'>> {
    const usual = { knownUpdates: [] };
    return this.sql('prepare', input, () => ({ ...usual, ...this.script.prepare?.(input) }));
  }
  check(input: Given<'check'>): Promise<Gives<'check'>> {
    return this.sql('check', input, () => ({ failures: this.script.check?.(input) ?? [] }));
  }
  probe(input: Given<'probe'>): Promise<Gives<'probe'>> {
    const observationId = `${input.position}.observation`;
    return this.sql('probe', input, () => ({ observationId, tests: this.script.probe?.(input) ?? [] }));
  }
  settle(input: Given<'settle'>): Promise<Gives<'settle'>> {
    return this.sql('settle', input, () => ({ results: this.script.settle?.(input) ?? [] }));
  }
  candidate(input: Given<'candidate'>): Promise<CandidateRun> {
    const usual = { outcome: 'rows' as const, rowCount: 1, trivial: false, control: null, equalTo: null };
    return this.sql('candidate', input, () => ({ ...usual, ...this.script.candidate?.(input) }));
  }

  async web(input: WebInput): Promise<WebRun> {
    const call = await this.enter('web', input);
    const outcome = this.script.web?.(input) ?? ('found' as const);
    return this.leave(call, { observationId: input.position, outcome, usage: {} }, { lookups: 1 });
  }

  checkpoint(state: SearchState): void {
    this.states.push(JSON.parse(JSON.stringify(state)) as SearchState);
  }

  async finish(input: FinishInput): Promise<AnswerSummary> {
    this.log.push({ step: 'finish', input });
    this.finished = input;
    const { searchId: id, status, endedBy, reason, state } = input;
    return Promise.resolve({ id, status, endedBy, answer: null, sql: null, reason, usage: state.usage });
  }

  amend(input: AmendInput): Promise<KeptAfter> {
    this.log.push({ step: 'amend', input });
    this.amended = input;
    return Promise.resolve({ kept: 1, notKept: input.notKept });
  }

  private async model<T>(step: StepName, input: unknown, reply: () => Reply<T>): Promise<ModelOutcome<T>> {
    const call = await this.enter(step, input);
    const made = reply();
    const usage = MODEL_COST;
    const outcome: ModelOutcome<T> = isInvalid(made)
      ? { kind: 'invalid', error: made.invalid, usage }
      : { kind: 'ok', value: made, usage };
    return this.leave(call, outcome, usage);
  }

  private async sql<T>(step: StepName, input: unknown, run: () => T): Promise<T & { readonly usage: UsageDelta }> {
    const call = await this.enter(step, input);
    return this.leave(call, { ...run(), usage: SQL_COST }, SQL_COST);
  }

  private async enter(step: StepName, input: unknown): Promise<Call> {
    const call: Call = { step, input };
    this.log.push(call);
    await this.gate(call, this.log.length);
    return call;
  }

  private leave<T>(call: Call, output: T, usage: UsageDelta): T {
    call.output = output;
    this.charged = addUsage(this.charged, usage);
    return output;
  }
}

function isInvalid<T>(reply: Reply<T>): reply is { readonly invalid: string } {
  return typeof reply === 'object' && reply !== null && 'invalid' in reply;
}

/** Lets steps end one at a time, in the order that `pick` chooses among those under way. Turns, not sleeps. */
export function reordering(pick: (waiting: number) => number): Gate {
  const waiting: (() => void)[] = [];
  let turning = false;
  const turn = () => {
    const [resume] = waiting.splice(Math.min(waiting.length - 1, pick(waiting.length)), 1);
    resume?.();
    turning = waiting.length > 0;
    if (turning) setImmediate(turn);
  };
  return () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (!turning) setImmediate(turn);
      turning = true;
    });
}

/** Of the search proper: without the conversation with which `fast` begins. */
export function testSettings(method: PresetName = 'fast', overrides: Partial<Settings> = {}): Settings {
  return { ...withoutLooking(settingsFor({ method, models: { default: 'model' } })), ...overrides };
}

/** A search whose model broke has ended, too: its final record says why. */
export async function toEnd(
  running: Promise<SearchOutcome>,
): Promise<{ readonly kind: 'finished' } | Extract<SearchOutcome, { kind: 'continue' }>> {
  try {
    return await running;
  } catch (error) {
    if (!(error instanceof BrokenModelError)) throw error;
    return { kind: 'finished' };
  }
}

export function testHooks(overrides: Partial<SearchHooks> = {}): SearchHooks {
  return { now: () => 0, stopRequested: () => null, onProgress: () => undefined, ...overrides };
}

export function operator(name: string, more: Partial<OperatorView> = {}): OperatorView {
  const bodyId = more.bodyId ?? null;
  return {
    name,
    state: (more.updateId ?? null) === null ? (bodyId === null ? 'unresolved' : 'assumed') : 'grounded',
    bodyId,
    updateId: null,
    shape: `shape of ${name}`,
    intent: `intent of ${name}`,
    inputs: [],
    readsBase: true,
    risk: bodyId === null ? 1 : 0,
    assumptions: 0,
    immaterial: null,
    barren: 0,
    ...more,
  };
}

export function planOf(planId: string, operators: readonly OperatorView[]): PlanView {
  return { planId, ordered: false, operators: [...operators] };
}

export function candidateView(id: string, more: Partial<CandidateView> = {}): CandidateView {
  return {
    ...{ id, trajectory: 't1', kind: 'rows', outcome: 'rows', rowCount: 1, trivial: false, control: null },
    ...{ resultClass: id, bodies: [], openRisk: 0, status: 'active', ...more },
  };
}

/** A child of the root. */
export function trajectoryOf(id: string, more: Partial<Trajectory> = {}): Trajectory {
  return { ...rootTrajectory(), id, parent: 't0', ...more };
}

export function expansionOf(trajectory: string, plans: readonly PlanView[], more: Partial<Expansion> = {}): Expansion {
  return {
    ...{ trajectory, plans, via: 'ground', bottleneck: null, potential: null, impossible: null, absenceShown: false },
    ...{ updates: [], reused: [], facts: [], attempts: [], lookups: [], distanceDelta: 0, usage: NO_USAGE },
    ...{ events: [], failure: null, ...more },
  };
}

export function planned(plan: PlanView, more: Partial<Extract<Gives<'plan'>, { kind: 'plan' }>> = {}): Gives<'plan'> {
  return { kind: 'plan', plan, potential: 3, bottleneck: null, proposalId: null, proposed: [], ...more };
}

export function judged(
  input: Given<'ground'>,
  operators: Gives<'ground'>['operators'],
  more: Partial<Gives<'ground'>> = {},
): Gives<'ground'> {
  return {
    groundingId: `${input.position}.grounding`,
    operators,
    learned: null,
    written: [],
    facts: [],
    delta: null,
    impossible: null,
    nextProposalId: null,
    nextOperators: [],
    ...more,
  };
}

/** The update that proves `bodyId` for an operator of a plan. */
export function updateFor(
  id: string,
  plan: PlanView,
  name: string,
  bodyId: string,
  more: Partial<UpdateView> = {},
): UpdateView {
  const target = plan.operators.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no operator ${name} in ${plan.planId}`);
  const bodyOf = (input: string) => plan.operators.find((each) => each.name === input)?.bodyId ?? '';
  return {
    id,
    shape: target.shape,
    intent: target.intent,
    inputs: target.inputs.map((local) => ({ local, bodyId: bodyOf(local) })),
    bodyId,
    status: 'active',
    dependsOn: [],
    reuses: 0,
    ...more,
  };
}
