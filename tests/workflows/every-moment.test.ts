/**
 * Every command at every moment: each kind of search is held at each of its steps and told each command there, on the real
 * server. It does what the command says, or refuses it with a true reason, and always ends.
 */
import type { SearchState, Steering } from '../../src/domain';
import { temporal } from '@temporalio/proto';
import { isCutShort } from '../../src/domain/control-view';
import { limiter } from '../../src/limiter';
import type { AnswerSummary } from '../../src/domain/ports/step-parts';
import { awaitQuestion, cancelWorkflow, type GateClient } from '../../src/workers/client';
import { steerQuestion, type Steered } from '../../src/workers/steer-question';
import { questionWorkflowId } from '../../src/workflows/ids';
import { extent } from '../helpers/extent';
import { Draw } from '../helpers/random-world';
import { holdAt } from './hold';
import { lookingSettings, scriptedSettings, scriptedWorker, type Run, type Script } from './scripted-steps';

const author = 'ada';
const worker = scriptedWorker({ modelTimeoutMs: 30_000 });
const searchSettings = scriptedSettings({ layer: 'on', iterations: 3, maxPlans: 2 });
/** Short searches, with a step of every kind. */
const KINDS = {
  conversation: { settings: lookingSettings({ layer: 'on' }), script: { conversation: ['look'] } },
  search: { settings: searchSettings, script: { operators: 1 } },
  react: { settings: scriptedSettings({}, 'react'), script: { queries: 1 } },
} satisfies Record<string, { readonly settings: typeof searchSettings; readonly script: Script }>;
type Kind = keyof typeof KINDS;

const UNHANDLED = temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

const COMMANDS = ['pause', 'resume', 'stop', 'cancel', 'budget', 'hint', 'veto', 'pin'] as const;
type Told = (typeof COMMANDS)[number];

/** They hold the workflow's task, so no command is answered before they end. */
const LOCAL = ['prepare', 'queries', 'commit', 'check', 'probe', 'settle', 'candidate', 'tool', 'final'];
const STORED = ['finish', 'remark'];

const ENDING = [/^it is being (stopped|cancelled)$/, /^(its answer is being stored|it has ended)$/];
const TRUE_REASONS: readonly RegExp[] = [
  ...ENDING,
  /^it is (not paused|paused already)$/,
  /^no update none; (nothing is proved yet|known: .+)$/,
  /^update .+ is withdrawn already$/,
  /^no operator or active update .+; (nothing is proved yet|known: .+)$/,
  /^operator op_1 has no SQL yet: give a hint$/,
  /^it was vetoed$/,
  /^the method react has no groundings: give it a hint$/,
];

/** One search, held at `place`. */
class Moment {
  private searchId = '';
  state: SearchState | null = null;
  private readonly hold;

  constructor(
    readonly kind: Kind,
    readonly place: string,
  ) {
    this.hold = holdAt(place);
  }

  run(commands: readonly Told[]): Promise<AnswerSummary> {
    const { settings, script } = KINDS[this.kind];
    const onFinish: Script['onFinish'] = (_summary, state) => void (this.state = state);
    const held = { ...script, onStep: this.hold.onStep, onFinish };
    return worker.ask(held, (run) => this.told(run, commands), { settings });
  }

  private async told({ gate, searchId }: Run, commands: readonly Told[]): Promise<AnswerSummary> {
    this.searchId = searchId;
    const ending = awaitQuestion(gate, this.searchId);
    await Promise.race([this.hold.reached, ending]);
    const name = this.hold.calls.at(-1)?.name ?? '';
    let isPaused = false;
    for (const command of commands) {
      const answering = this.tell(gate, command);
      if (LOCAL.includes(name) || STORED.includes(name)) this.hold.release();
      const answer = await answering;
      if (answer.kind === 'refused') expectOneOf(answer.reason, TRUE_REASONS);
      if (answer.kind !== 'applied') continue;
      if (command === 'pause') isPaused = true;
      if (command === 'resume') isPaused = false;
    }
    this.hold.release();
    if (isPaused) {
      const resumed = await this.tell(gate, 'resume');
      if (resumed.kind === 'refused') expectOneOf(resumed.reason, ENDING);
    }
    const ended = await ending;
    if (ended.kind !== 'completed') throw new Error(`${this.where}: ${ended.message}`);
    expect(await this.callsInSpite(gate)).toEqual([]);
    return ended.value;
  }

  /** Model calls that were begun while the search was paused, or after it was told to end, as its history has them. */
  private async callsInSpite(gate: GateClient): Promise<string[]> {
    const { events } = await gate.client.workflow.getHandle(questionWorkflowId(this.searchId)).fetchHistory();
    let told: string | null = null;
    return (events ?? []).flatMap((event) => {
      const failed = event.workflowTaskFailedEventAttributes;
      // A command that arrives as the search ends makes the server ask for its last task once more.
      if (failed && failed.cause !== UNHANDLED) return [`${this.where}: ${failed.failure?.message ?? ''}`];
      const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
      if (update === 'pause' && told === null) told = 'paused';
      if (update === 'resume' && told === 'paused') told = null;
      if (update === 'stop' || event.workflowExecutionCancelRequestedEventAttributes) told = 'ending';
      const called = event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel';
      return called && told !== null ? [`${this.where}: a call while ${told}`] : [];
    });
  }

  get where(): string {
    return `${this.kind} at ${this.place}`;
  }

  private async tell(gate: GateClient, command: Told): Promise<Steered> {
    if (command === 'cancel') {
      const isRunning = await cancelWorkflow(gate, questionWorkflowId(this.searchId));
      return isRunning ? { kind: 'applied', remarkId: null } : { kind: 'not-running' };
    }
    return steerQuestion(gate, this.searchId, this.steering(command));
  }

  private steering(kind: Exclude<Told, 'cancel'>): Steering {
    switch (kind) {
      case 'hint':
        return { kind, author, text: 'gaps are seconds' };
      case 'budget':
        return { kind, author, budgets: { llmCalls: null } };
      case 'veto':
        return { kind, author, update: this.proved() ?? 'none', reason: 'wrong' };
      case 'pin':
        return { kind, author, target: this.proved() ?? 'op_1', reason: 'right' };
      default:
        return { kind, author };
    }
  }

  /** The newest update: asking the search for it would wait for the step. */
  private proved(): string | null {
    const settled = this.hold.calls.filter(({ name }) => name === 'settle').at(-1);
    return settled === undefined ? null : `${settled.position}.op_1`;
  }
}

function expectOneOf(reason: string, known: readonly RegExp[]): void {
  expect(known.filter((each) => each.test(reason)).length > 0 ? 'a true reason' : reason).toBe('a true reason');
}

const atOnce = limiter(16);

async function at(kind: Kind, place: string, commands: readonly Told[]) {
  const moment = new Moment(kind, place);
  const summary = await new Promise<AnswerSummary>((resolve, reject) =>
    atOnce.add(() => moment.run(commands).then(resolve, reject)),
  );
  return Object.assign(moment, { summary });
}

/** Positions of its steps, in order. */
async function stepsOf(kind: Kind): Promise<readonly string[]> {
  const positions: string[] = [];
  const { settings, script } = KINDS[kind];
  const onStep: Script['onStep'] = ({ position }) => void positions.push(position);
  await worker.ask({ ...script, onStep }, ({ gate, searchId }) => awaitQuestion(gate, searchId), { settings });
  return positions;
}

const SEEDS = [1, 2, 3].slice(0, extent({ usual: 1, full: 3 }));
/** Of the commands, each step is told every so many in turn. */
const EVERY = extent({ usual: 3, full: 1 });

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  let places: readonly string[];
  beforeAll(async () => {
    places = await stepsOf(kind);
  });

  test('does what each command says, or says why not, at each of its steps, and ends', async () => {
    const told = (step: number) => COMMANDS.filter((_, command) => (command + step) % EVERY === 0);
    await Promise.all(
      places.flatMap((place, step) =>
        told(step).map(async (command) => {
          const { summary, state, where } = await at(kind, place, [command]);
          const seen = { where, command, status: summary.status, endedBy: summary.endedBy };
          const isOver = ['stop', 'cancel'].includes(command);
          if (!isOver && command !== 'veto') expect(seen).toMatchObject({ status: 'answered' });
          if (command === 'hint' && !isCutShort(summary.endedBy))
            expect({ ...seen, unheard: state?.steered?.unheard ?? [] }).toEqual({ ...seen, unheard: [] });
        }),
      ),
    );
  });

  test.each(SEEDS)('ends after any commands in any order (seed %i)', async (seed) => {
    await Promise.all(
      Array.from({ length: 12 }, async (_, run) => {
        const draw = new Draw(`${kind} ${String(seed)} ${String(run)}`);
        const place = places[draw.below(places.length)] ?? '';
        const any = () => COMMANDS[draw.below(COMMANDS.length)] ?? 'hint';
        const { summary } = await at(kind, place, Array.from({ length: 1 + draw.below(4) }, any));
        expect(['answered', 'abstained', 'cancelled']).toContain(summary.status);
      }),
    );
  });
});
