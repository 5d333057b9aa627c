/**
 * The steering commands: find the search, send the command to its workflow, say what came of it. A command that makes no
 * sense is refused by the search itself; nothing of it is kept.
 */
import { userInfo } from 'node:os';
import { Command } from 'commander';
import type { Steering, SteeringKind, SteeringOf } from '../domain';
import type { Heard } from '../workflows/steering';
import { textProblem } from '../input-limits';
import { type CommandFactory, addLimitOptions, limitsOf, withExamples, type LimitFlags } from './options';
import { GateError, UsageError } from '../app/errors';
import type { Io } from './io';
import type { Services } from '../app/services';
import type { TemporalSession } from '../app/temporal-session';

export interface SteerFlags {
  readonly author?: string;
  readonly json?: boolean;
}

/** In the help, under the commands that ask and show. */
export const STEERING_GROUP = 'Steering a running search:';

interface SteeringCommand<K extends SteeringKind> {
  readonly description: string;
  readonly example: string;
  /** Adds its own argument and options. */
  readonly takes?: (command: Command) => Command;
  /** What the search is told, from its argument and options. */
  readonly tells?: (
    argument: string,
    flags: LimitFlags & { readonly reason: string },
  ) => Omit<SteeringOf<K>, 'kind' | 'author'>;
  /** Printed once the search has accepted it. */
  readonly done: string;
}

/** When a hint is heard, as the search itself says. */
const HEARD: Readonly<Record<Heard, string>> = {
  'next-call': 'noted; the next prompt shows it',
  'call-after':
    'noted; the model call under way was sent without it. The next prompt shows it; one is made for it unless a limit or a stop ends the search first',
  'any-call-after':
    'noted; the prompts of later model calls show it. None is made for it alone; the record says whether one showed it',
};

const STEERING: { readonly [K in SteeringKind]: SteeringCommand<K> } = {
  hint: {
    description: 'tell a running search something that the data does not show',
    example: 'gate hint last "gaps are in seconds, not in milliseconds"',
    takes: (command) => command.argument('<text>', 'in plain language'),
    tells: (text) => ({ text: words(text, 'hint') }),
    done: 'noted',
  },
  pause: {
    description: 'pause a running search: no model call is made until gate resume',
    example: 'gate pause last',
    done: 'paused; no model call is made until gate resume',
  },
  resume: {
    description: 'continue a paused search',
    example: 'gate resume last',
    done: 'continues',
  },
  budget: {
    description: 'change the limits of a running search; limits you do not give are unchanged',
    example: 'gate budget last --max calls=20 --max-cost none',
    takes: addLimitOptions,
    tells: (_, flags) => {
      const budgets = limitsOf(flags);
      if (Object.keys(budgets).length === 0) throw new UsageError('no limit given; see gate budget --help');
      return { budgets };
    },
    done: 'has new limits',
  },
  veto: {
    description: 'withdraw a proved reading and everything that rests on it',
    example: 'gate veto last i1.t1.s1.a1.settle0.op_gap --reason "the unit changed in 2019"',
    takes: (command) =>
      command
        .argument('<update>', 'id of the update (see gate status ID --memory)')
        .requiredOption('--reason <text>', 'why it is wrong; the model sees this'),
    tells: (update, { reason }) => ({ update, reason: words(reason, 'reason') }),
    done: 'withdrawn, with everything that rested on it',
  },
  pin: {
    description: 'keep the reading of an update or an operator, and withdraw its rivals',
    example: 'gate pin last op_gap --reason "the timekeeper confirmed it"',
    takes: (command) =>
      command
        .argument('<target>', 'an update (see gate status ID --memory) or an operator (see gate status ID --plan)')
        .requiredOption('--reason <text>', 'why it is right; the model sees this'),
    tells: (target, { reason }) => ({ target, reason: words(reason, 'reason') }),
    done: 'kept; rival readings are withdrawn',
  },
  stop: {
    description: 'end a running search now, with its best answer so far',
    example: 'gate stop last',
    done: 'ends with the best answer so far',
  },
};

/** `gate cancel` is no command to the search: Temporal cancels its workflow. */
const cancelCommand: CommandFactory = (io) =>
  withExamples(
    namedCommand('cancel', 'cancel a running search or batch; the same command as before continues it')
      .option('--json', 'print JSON')
      .action(async (wanted: string, flags: { readonly json?: boolean }) => {
        const running = BATCH_ID.test(wanted) ? onRunningBatch : onRunning;
        await running(wanted, io, async (session, id) => {
          const cancelled = await (running === onRunning ? session.cancel(id) : session.cancelBatch(id));
          if (cancelled)
            io.out(flags.json ? `${JSON.stringify({ id, kind: 'cancel' })}\n` : `${id}: is being cancelled\n`);
          return cancelled;
        });
      }),
    'gate cancel last',
  );

const BATCH_ID = /^b-[0-9a-f]{16}$/;

export const onRunningBatch: typeof onRunning = async (batchId, io, work) => {
  const { openServices } = await import('../app/services');
  const session = await openSession(openServices(io), batchId, io);
  try {
    if (session === null || !(await work(session, batchId))) throw new GateError(`${batchId} is not running`);
  } finally {
    await session?.close();
  }
};

export const STEERING_COMMANDS: readonly CommandFactory[] = [
  ...(Object.keys(STEERING) as SteeringKind[]).map(steeringCommand),
  cancelCommand,
];

function steeringCommand(kind: SteeringKind): CommandFactory {
  const { description, example, takes, tells } = STEERING[kind];
  return (io) => {
    const named = namedCommand(kind, description);
    const command = addSteerOptions(takes?.(named) ?? named).action(async () => {
      const [wanted = '', argument = ''] = command.args;
      const flags = command.opts<SteerFlags & LimitFlags & { readonly reason: string }>();
      await sendSteering(wanted, kind, tells?.(argument, flags) ?? {}, flags, io);
    });
    return withExamples(command, example);
  };
}

function namedCommand(name: string, description: string): Command {
  return new Command(name)
    .helpGroup(STEERING_GROUP)
    .description(description)
    .argument('<id>', 'search id, its beginning, or last');
}

export function addSteerOptions(command: Command): Command {
  return command.option('--author <name>', 'who says it (default: your user name)').option('--json', 'print JSON');
}

const TEXT_CHARS = 2_000;

/** What a person says; bad words are wrong usage, whatever the search is doing. */
export function words(text: string, what: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new UsageError(`the ${what} is empty; write it in quotes`);
  if (trimmed.length > TEXT_CHARS)
    throw new UsageError(`the ${what} has ${trimmed.length} characters; say it in ${TEXT_CHARS}`);
  const problem = textProblem(what, trimmed);
  if (problem !== null) throw new UsageError(problem);
  return trimmed;
}

async function sendSteering(
  wanted: string,
  kind: SteeringKind,
  args: object,
  flags: SteerFlags,
  io: Io,
): Promise<void> {
  const author = authorOf(flags, io);
  await onRunning(wanted, io, async (session, id) => {
    const { steerQuestion } = await import('../workers/steer-question');
    const told = await inTime(session, id, () =>
      steerQuestion(session.gate, id, { kind, author, ...args } as Steering),
    );
    if (told.kind === 'not-running') return false;
    if (told.kind === 'refused') throw new GateError(`${id} refused ${kind}: ${told.reason}`);
    const { remarkId, heard } = told;
    const done = heard === undefined ? STEERING[kind].done : HEARD[heard];
    const said = { id, kind, author, remarkId, ...(heard === undefined ? {} : { heard }) };
    io.out(flags.json ? `${JSON.stringify(said)}\n` : `${id}: ${done}\n`);
    return true;
  });
}

/** `work` gives false when the workflow ended meanwhile. */
export async function onRunning(
  wanted: string,
  io: Io,
  work: (session: TemporalSession, id: string) => Promise<boolean>,
): Promise<void> {
  const { openServices, findSearch } = await import('../app/services');
  const services = openServices(io);
  const id = await findSearch(services.store, wanted);
  const session = await openSession(services, id, io);
  try {
    const isRunning = session !== null && (await session.describe(id))?.status === 'RUNNING';
    if (!isRunning || !(await work(session, id))) throw await notRunning(services, id);
  } finally {
    await session?.close();
  }
}

/** null: no server runs. */
async function openSession({ config }: Services, id: string, io: Io): Promise<TemporalSession | null> {
  const { openRunning } = await import('../app/temporal-session');
  return openRunning(config, io.env, ({ what, fix }) => {
    throw new GateError(`${what}: the command cannot reach ${id}; ${fix}`);
  });
}

async function notRunning({ store }: Services, id: string): Promise<GateError> {
  const { inputOf, recordOf } = await import('../app/services');
  if ((await recordOf(store, id)) !== null)
    return new GateError(`${id} has finished; gate fork starts a new search from it`);
  const { howToGoOn } = await import('./search-status');
  return new GateError(`${id} is not running; ${howToGoOn(await inputOf(store, id))}`);
}

const ANSWER_WITHIN_MS = 15_000;

/** An update waits for a worker; without one the command would wait as long. */
async function inTime<T>(session: TemporalSession, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await session.gate.client.connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, work);
  } catch (error) {
    const { isDeadline } = await import('../app/temporal-session');
    if (!isDeadline(error)) throw error;
    const seconds = ANSWER_WITHIN_MS / 1_000;
    const line = `${id} did not confirm within ${seconds} s: see with gate status ${id} whether a worker answers; the command may still arrive`;
    throw new GateError(line, undefined, { cause: error });
  }
}

export function authorOf({ author }: Pick<SteerFlags, 'author'>, io: Pick<Io, 'env'>): string {
  const name = (author ?? io.env['USER'] ?? io.env['LOGNAME'] ?? systemUser()).trim();
  if (name === '' || name.length > 100) throw new UsageError('--author: give a name of 1 to 100 characters');
  return name;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no user list knows.
    return 'unknown';
  }
}
