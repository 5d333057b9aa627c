/** The steering commands: one table of what each takes, tells a running search, and prints. Batches take some of them. */
import type { Command } from 'commander';
import type { SteeringKind } from '../domain';
import type { Heard } from '../workflows/steering';
import { UsageError } from '../app/errors';
import type { SteerCommand } from '../app/steer';
import type { Io } from './io';
import { addLimitOptions, limitsOf, commandOf, type CommandFactory, type LimitFlags } from './options';

interface Flags extends LimitFlags {
  readonly author?: string;
  readonly json?: boolean;
  readonly reason?: string;
  readonly now?: boolean;
}

interface SteeringCommand {
  readonly description: string;
  readonly example: string;
  /** Adds its own argument and options. */
  readonly takes?: (command: Command) => Command;
  /** What the search is told, from its argument and options. */
  readonly tells?: (argument: string, flags: Flags) => object;
  /** Printed once the search has accepted it. */
  readonly done: string;
  /** Printed once a batch has been told; left out: batches do not take it. */
  readonly batch?: string;
}

const reasoned = (argument: string, help: string, why: string) => (command: Command) =>
  command.argument(argument, help).requiredOption('--reason <text>', why);

const STEERING: Readonly<Record<SteeringKind | 'cancel', SteeringCommand>> = {
  hint: {
    description: 'tell a running search something that the data does not show',
    example: 'gate hint last "gaps are in seconds, not in milliseconds"',
    takes: (command) => command.argument('<text>', 'in plain language'),
    tells: (text) => ({ text }),
    done: 'noted',
  },
  pause: {
    description: 'pause a running search or batch: no model call is made, no question begun, until gate resume',
    example: 'gate pause last',
    takes: (command) => command.option('--now', 'of a batch: pause its questions in flight, too'),
    done: 'paused; no model call is made until gate resume',
    batch: 'starts no further question until gate resume; those in flight finish',
  },
  resume: {
    description: 'continue a paused search or batch',
    example: 'gate resume last',
    done: 'continues',
    batch: 'goes on',
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
    takes: reasoned('<update>', 'id of the update (see gate show ID --plan)', 'why it is wrong; the model sees this'),
    tells: (update, { reason }) => ({ update, reason }),
    done: 'withdrawn, with everything that rested on it',
  },
  pin: {
    description: 'keep the reading of an update or an operator, and withdraw its rivals',
    example: 'gate pin last op_gap --reason "the timekeeper confirmed it"',
    takes: reasoned(
      '<target>',
      'an update or an operator (see gate show ID --plan)',
      'why it is right; the model sees this',
    ),
    tells: (target, { reason }) => ({ target, reason }),
    done: 'kept; rival readings are withdrawn',
  },
  stop: {
    description: 'end a running search now, with its best answer so far',
    example: 'gate stop last',
    done: 'ends with the best answer so far',
  },
  cancel: {
    description: 'cancel a running search or batch; the same command as before continues it',
    example: 'gate cancel last',
    done: 'is being cancelled',
    batch: 'is being cancelled',
  },
};

/** When a hint is heard, as the search itself says. */
const HEARD: Readonly<Record<Heard, string>> = {
  'next-call': 'noted; the next prompt shows it',
  'call-after':
    'noted; the model call under way was sent without it. The next prompt shows it; one is made for it unless a limit or a stop ends the search first',
  'any-call-after':
    'noted; the prompts of later model calls show it. None is made for it alone; the record says whether one showed it',
};

export const STEERING_COMMANDS: readonly CommandFactory[] = (Object.keys(STEERING) as (keyof typeof STEERING)[]).map(
  (kind) => (io) => {
    const { description, example, takes, batch } = STEERING[kind];
    const id =
      batch === undefined ? 'search id, its beginning, or last' : 'id of a search or batch, or last (a search)';
    const named = commandOf(kind, description, example).argument('<id>', id);
    const command = addSteerOptions(takes?.(named) ?? named).action(async () => {
      const [wanted = '', argument = ''] = command.args;
      await send(kind, wanted, argument, command.opts<Flags>(), io);
    });
    return command;
  },
);

export function addSteerOptions(command: Command): Command {
  return command.option('--author <name>', 'who says it (default: your user name)').option('--json', 'print JSON');
}

async function send(
  kind: keyof typeof STEERING,
  wanted: string,
  argument: string,
  flags: Flags,
  io: Io,
): Promise<void> {
  const { tells, done, batch } = STEERING[kind];
  const args = tells?.(argument, flags) ?? {};
  const { command } = await import('../app/steer');
  const { openApp } = await import('../app/app');
  const { author, now } = flags;
  const told = await command(wanted, { kind, author, ...args, ...(now && { now }) } as SteerCommand, openApp(io));
  const ofBatch = now ? NOW : (batch ?? done);
  const ofSearch = told.heard === undefined ? done : HEARD[told.heard];
  const line = told.id.startsWith('b-') ? ofBatch : ofSearch;
  io.out(flags.json ? `${JSON.stringify(told)}\n` : `${told.id}: ${line}\n`);
}

const NOW = 'is paused, with its questions in flight, until gate resume';
