/**
 * Steering as workflow updates, one per command so that the UI and any client can send them, and the queries beside it.
 *
 * 1. A validator refuses a command that cannot be applied and says why. A refused update does not enter the history.
 * 2. Paused time counts for no budget. A pause is carried over continue-as-new.
 * 3. A person's words are stored before any prompt refers to them.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { CandidateView, FactView, PlanView, Steering, SteeringKind, SteeringOf, UpdateView } from '../domain';
import type { SteeredSearch } from '../search/run';
import type { Progress } from '../search/progress';
import { isBare } from '../search/steering';
import type { StoreActivities } from './activities';
import { fromParent } from './children';
import { newsTime } from './clock';

/** The total paused time, and since when the search is paused, if it is. Carried over continue-as-new. */
export interface Pause {
  readonly pausedMs: number;
  readonly since: number | null;
}

/** The argument of an update: the command without its kind, which is the update's name. */
export type SteeringArgs<K extends SteeringKind> = Omit<SteeringOf<K>, 'kind'>;
export interface SteeringReply {
  /** The remark that prompts show from now on, if the command has one. */
  readonly remarkId: string | null;
  /** When a model hears a hint. Left out: the command is none. */
  readonly heard?: Heard;
}

/**
 * `next-call`: the next prompt shows the hint. `call-after`: the model call under way does not; the one after it does, which
 * is made for the hint if there were none. `any-call-after`: the same, but none is made for it.
 */
export type Heard = 'next-call' | 'call-after' | 'any-call-after';

export const progressQuery = defineQuery<Progress | null>('progress');
export const planQuery =
  defineQuery<readonly { readonly trajectory: string; readonly plan: PlanView | null }[]>('plan');
export const memoryQuery = defineQuery<{
  readonly updates: readonly UpdateView[];
  readonly facts: readonly FactView[];
}>('memory');
export const candidatesQuery = defineQuery<readonly CandidateView[]>('candidates');

const DESCRIPTIONS: Readonly<Record<SteeringKind, string>> = {
  hint: 'Tell the search something it cannot see: { author, text }',
  pause: 'Make no further model call until resumed: { author }',
  resume: 'Go on after a pause: { author }',
  budget:
    'New limits: { author, budgets: { llmCalls, tokens, costUsd, wallMs, sqlExecutions, sqlMs, sqlRows, sqlBytes } }',
  veto: 'Withdraw a grounding and all that rests on it: { author, update, reason }',
  pin: 'Keep the reading of an update or of an operator: { author, target, reason }',
  stop: 'Answer now with the best so far: { author }',
};

export interface SteeringOptions {
  readonly searchId: string;
  readonly pause: Pause | undefined;
  /** Why no command is taken any more; null: they are. */
  readonly ending: () => string | null;
  readonly stop: () => void;
  readonly onPause: (isPaused: boolean) => void;
  /** Of a command that concerns the searches which this one started, too. */
  readonly onCommand: (steering: Steering) => void;
  /** Model calls that have been sent and not answered, children that run included. */
  readonly callsUnderWay: () => number;
}

export class SteeringHandlers {
  /** Read when the search continues as new. */
  pause: Pause;
  isStopping = false;
  /** Remarks that are on their way into the store. */
  private storing = 0;
  private readonly store = proxyLocalActivities<StoreActivities>({
    startToCloseTimeout: '30s',
    summary: 'keep a remark',
  });

  constructor(private readonly options: SteeringOptions) {
    this.pause = options.pause ?? { pausedMs: 0, since: null };
  }

  /** The time in milliseconds by which budgets are measured: it stops during a pause. */
  now(): number {
    return newsTime() - this.pausedMs();
  }

  /** Resolves when the search may spend again; null if it may now. A search that is being stopped waits for its end. */
  mayGoOn(): Promise<void> | null {
    const may = (): boolean => this.pause.since === null && !this.isStopping && this.storing === 0;
    return may() ? null : condition(may);
  }

  /** Resolves when the store has all that was said. */
  async stored(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => this.storing === 0));
  }

  /** Registers the updates and queries for a search that begins; an earlier update waits for its handler. */
  attach(search: SteeredSearch): void {
    for (const kind of Object.keys(DESCRIPTIONS) as SteeringKind[]) {
      const update = defineUpdate<SteeringReply, [SteeringArgs<SteeringKind>]>(kind);
      const command = (args: SteeringArgs<SteeringKind>): Steering => ({ ...args, kind }) as Steering;
      setHandler(update, (args: SteeringArgs<SteeringKind>) => this.apply(search, command(args)), {
        description: DESCRIPTIONS[kind],
        validator: (args: SteeringArgs<SteeringKind>) => {
          const reason = this.reasonAgainst(search, command(args));
          if (reason !== null) throw ApplicationFailure.nonRetryable(`${kind} refused: ${reason}`, 'Refused');
        },
      });
    }
    setHandler(
      fromParent,
      async (steering) => {
        if (this.reasonAgainst(search, steering) === null) await this.apply(search, steering);
      },
      { description: 'A command that was given to the search which started this one' },
    );
    const plans = () => search.state().trajectories.map(({ id, plan }) => ({ trajectory: id, plan }));
    setHandler(planQuery, plans, { description: 'The plan of every trajectory' });
    const memory = () => ({ updates: search.state().updates, facts: search.state().facts });
    setHandler(memoryQuery, memory, { description: 'Updates and facts proved so far' });
    setHandler(candidatesQuery, () => search.state().candidates, { description: 'Candidates so far' });
  }

  private pausedMs(): number {
    const { pausedMs, since } = this.pause;
    return pausedMs + (since === null ? 0 : newsTime() - since);
  }

  private reasonAgainst(search: SteeredSearch, steering: Steering): string | null {
    const ending = this.options.ending() ?? (this.isStopping ? 'it is being stopped' : null);
    if (ending !== null) return ending;
    if (steering.kind === 'pause' && this.pause.since !== null) return 'it is paused already';
    if (steering.kind === 'resume' && this.pause.since === null) return 'it is not paused';
    return wrong(steering) ?? search.refusal(steering);
  }

  private async apply(search: SteeredSearch, steering: Steering): Promise<SteeringReply> {
    if (steering.kind === 'pause' || steering.kind === 'resume') {
      const isPause = steering.kind === 'pause';
      this.pause = isPause ? { ...this.pause, since: newsTime() } : { pausedMs: this.pausedMs(), since: null };
      this.options.onPause(isPause);
      this.options.onCommand(steering);
      return { remarkId: null };
    }
    const remark = remarkOf(steering);
    const remarkId = remark === null ? null : `h${String((search.state().steered?.remarks.length ?? 0) + 1)}`;
    // At once, so that a search which ends meanwhile does not end without it.
    search.steer({ steering, remarkId });
    const isSent = this.options.callsUnderWay() > 0;
    if (remark !== null && remarkId !== null) {
      this.storing += 1;
      const kept = { ...remark, remarkId };
      // Also where the search is told to end meanwhile: the command was accepted.
      const save = () => this.store.saveRemark(this.options.searchId, kept);
      await CancellationScope.nonCancellable(save).finally(() => (this.storing -= 1));
    }
    if (steering.kind === 'hint') this.options.onCommand(steering);
    if (steering.kind === 'stop') {
      this.isStopping = true;
      // In a separate workflow task: the reply to an update can get lost if the workflow ends in the same task.
      // Where the workflow is cancelled first, that ends it.
      void sleep(1, { summary: 'stop' }).then(this.options.stop, () => undefined);
    }
    if (steering.kind !== 'hint') return { remarkId };
    return { remarkId, heard: search.hearsOut ? (isSent ? 'call-after' : 'next-call') : 'any-call-after' };
  }
}

/** Checks the arguments by hand, because other clients may send anything and the bundle has no zod. */
function wrong(steering: Steering): string | null {
  const text = (value: unknown) => typeof value === 'string' && value.trim() !== '' && value.length <= 2_000;
  if (!text(steering.author)) return 'it needs an author';
  if (isBare(steering)) return null;
  switch (steering.kind) {
    case 'hint':
      return text(steering.text) ? null : 'it needs a text of at most 2,000 characters';
    case 'veto':
      return text(steering.update) && text(steering.reason) ? null : 'it needs an update and a reason';
    case 'pin':
      return text(steering.target) && text(steering.reason) ? null : 'it needs a target and a reason';
    case 'budget':
      return wrongBudget(steering.budgets);
    default:
      return steering satisfies never;
  }
}

const BUDGETS = ['llmCalls', 'tokens', 'costUsd', 'wallMs', 'sqlExecutions', 'sqlMs', 'sqlRows', 'sqlBytes'];

function wrongBudget(budgets: unknown): string | null {
  if (typeof budgets !== 'object' || budgets === null) return 'it needs budgets';
  for (const [name, limit] of Object.entries(budgets)) {
    if (!BUDGETS.includes(name)) return `no budget ${name}; there are ${BUDGETS.join(', ')}`;
    if (limit !== null && !(typeof limit === 'number' && Number.isFinite(limit) && limit > 0))
      return `${name} must be above 0, or null for no limit`;
  }
  return null;
}

function remarkOf(steering: Exclude<Steering, { kind: 'pause' | 'resume' }>) {
  const { author } = steering;
  switch (steering.kind) {
    case 'hint':
      return { kind: steering.kind, author, target: null, text: steering.text };
    case 'veto': {
      const text = `the reading of ${steering.update} is wrong: ${steering.reason}`;
      return { kind: steering.kind, author, target: steering.update, text };
    }
    case 'pin': {
      const text = `the present reading of ${steering.target} is right: ${steering.reason}`;
      return { kind: steering.kind, author, target: steering.target, text };
    }
    case 'budget':
    case 'stop':
      return null;
    default:
      return steering satisfies never;
  }
}
