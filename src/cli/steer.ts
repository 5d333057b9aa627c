/**
 * What the steering commands share: find the search, send the command to its workflow, say what came of it. A command
 * that makes no sense is refused by the search itself; nothing of it is kept.
 */
import { userInfo } from 'node:os';
import { Command } from 'commander';
import type { Steering, SteeringKind, SteeringOf } from '../domain';
import { textProblem } from '../input-limits';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';
import type { Services } from './services';
import type { TemporalSession } from './temporal-session';

export interface SteerFlags {
  readonly author?: string;
  readonly json?: boolean;
}

/** In the help, under the commands that ask and show. */
export const STEERING_GROUP = 'Steering a running search:';

export function steeringCommand(name: string, description: string): Command {
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

export async function sendSteering<K extends SteeringKind>(
  wanted: string,
  kind: K,
  args: Omit<SteeringOf<K>, 'kind' | 'author'>,
  flags: SteerFlags,
  io: Io,
): Promise<void> {
  const author = authorOf(flags, io);
  await onRunning(wanted, io, async (session, id) => {
    const { steerQuestion } = await import('../workers/client');
    const told = await inTime(session, id, () =>
      steerQuestion(session.gate, id, { kind, author, ...args } as unknown as Steering),
    );
    if (told.kind === 'not-running') return false;
    if (told.kind === 'refused') throw new CommandFailed(`${id} refused ${kind}: ${told.reason}`);
    const { remarkId } = told;
    io.out(flags.json ? `${JSON.stringify({ id, kind, author, remarkId })}\n` : `${id}: ${DONE[kind]}\n`);
    return true;
  });
}

const DONE: Readonly<Record<SteeringKind, string>> = {
  hint: 'noted; every prompt from now on shows it',
  pause: 'paused; no model call is made until gate resume',
  resume: 'continues',
  budget: 'has new limits',
  veto: 'withdrawn, with everything that rested on it',
  pin: 'kept; rival readings are withdrawn',
  stop: 'ends with the best answer so far',
};

/** `work` gives false when the workflow ended meanwhile. */
export async function onRunning(
  wanted: string,
  io: Io,
  work: (session: TemporalSession, id: string) => Promise<boolean>,
): Promise<void> {
  const { openServices, findSearch } = await import('./services');
  const services = openServices(io);
  const id = await findSearch(services.store, wanted);
  const { openRunning } = await import('./temporal-session');
  const session = await openRunning(services.config, io.env, (address) => {
    throw new CommandFailed(
      `no Temporal answers at ${address}: the command cannot reach ${id}; start Temporal, or correct TEMPORAL_ADDRESS`,
    );
  });
  try {
    const isRunning = session !== null && (await session.describe(id))?.status === 'RUNNING';
    if (!isRunning || !(await work(session, id))) throw await notRunning(services, id);
  } finally {
    await session?.close();
  }
}

async function notRunning({ store }: Services, id: string): Promise<CommandFailed> {
  const { inputOf, recordOf } = await import('./services');
  if ((await recordOf(store, id)) !== null)
    return new CommandFailed(`${id} has finished; gate fork starts a new search from it`);
  const { howToGoOn } = await import('./search-status');
  return new CommandFailed(`${id} is not running; ${howToGoOn(await inputOf(store, id))}`);
}

const ANSWER_WITHIN_MS = 15_000;

/** An update waits for a worker; without one the command would wait as long. */
async function inTime<T>(session: TemporalSession, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await session.gate.client.connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, work);
  } catch (error) {
    const { isDeadline } = await import('./temporal-session');
    if (!isDeadline(error)) throw error;
    const seconds = ANSWER_WITHIN_MS / 1_000;
    const line = `${id} did not confirm within ${seconds} s: see with gate status ${id} whether a worker answers; the command may still arrive`;
    throw new CommandFailed(line, undefined, { cause: error });
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
