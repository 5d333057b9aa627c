/**
 * Steering a running search: find it, send the command to its workflow, say what came of it. A command that makes no sense is
 * refused by the search itself; nothing of it is kept.
 */
import * as z from 'zod';
import { BudgetLimits, type Steering } from '../domain';
import { steerQuestion } from '../workers/steer-question';
import { cancelWorkflow, signalBatch } from '../workers/client';
import { runningWorkflow } from '../workers/workflow-views';
import { batchWorkflowId } from '../workflows/ids';
import type { App } from './app';
import { GateError, UsageError } from './errors';
import { words } from './question-input';
import { howToGoOn } from './read';
import { findBatch } from './run/stored-batches';
import { findSearch } from './searches';
import { inputOf, recordOf } from './services';
import { withRunning } from './open-temporal';
import { authorOf } from './surroundings';
import { isDeadline, type TemporalSession } from './temporal-session';

const by = {
  /** Who says it, at most 100 characters; left out: the user of this process. */
  author: z.string().optional(),
};
const reason = z.string();

/** A command of a person to a running search; `pause`, `resume` and `cancel` also to a batch. */
export const SteerCommand = z.discriminatedUnion('kind', [
  /**
   * Something that the data does not show, in at most 2,000 characters. `byProgram`: no person stands behind it, so the layer
   * keeps nothing of the search.
   */
  z.strictObject({ kind: z.literal('hint'), text: z.string(), byProgram: z.literal(true).optional(), ...by }),
  /** `now`, of a batch: its questions in flight pause, too. */
  z.strictObject({ kind: z.literal('pause'), now: z.boolean().optional(), ...by }),
  z.strictObject({ kind: z.literal('resume'), ...by }),
  /** New limits; those that are not given stay as they are, and null lifts one. */
  z.strictObject({ kind: z.literal('budget'), budgets: BudgetLimits, ...by }),
  /** Withdraws an update and all that rests on it. */
  z.strictObject({ kind: z.literal('veto'), update: z.string(), reason, ...by }),
  /** Keeps the reading of an update or an operator, and withdraws its rivals. */
  z.strictObject({ kind: z.literal('pin'), target: z.string(), reason, ...by }),
  /** Ends it now, with its best answer so far. */
  z.strictObject({ kind: z.literal('stop'), ...by }),
  /** The same question asked again goes on. */
  z.strictObject({ kind: z.literal('cancel'), ...by }),
]);
export type SteerCommand = z.infer<typeof SteerCommand>;

/** What a search or a batch was told. */
export const Steered = z
  .object({
    id: z.string(),
    kind: z.enum(SteerCommand.options.map(({ shape }) => shape.kind.value)),
    author: z.string(),
    remarkId: z.string().nullable().describe('under which the search keeps it, if it does'),
    heard: z.enum(['next-call', 'call-after', 'any-call-after']).optional().describe('when a model hears a hint'),
  })
  .readonly();
export type Steered = z.infer<typeof Steered>;

/** To a search or a batch. `wanted`: an id, the beginning of one, or `last`, which is a search. */
export async function command(wanted: string, given: SteerCommand, app: App): Promise<Steered> {
  const { kind } = given;
  const author = authorOf(given.author, app);
  const { now, ...told } = { now: undefined, ...given, author };
  if (wanted.startsWith('b-')) {
    if (kind !== 'pause' && kind !== 'resume' && kind !== 'cancel')
      throw new UsageError(`gate ${kind} takes a search: batches take gate pause, resume and cancel`);
    return { id: await steerBatch(wanted, { kind, author, now }, app), kind, author, remarkId: null };
  }
  if (now) throw new UsageError('--now is for batches: a search pauses at once');
  if (told.kind === 'cancel') return { id: await cancel(wanted, app), kind, author, remarkId: null };
  return steer(wanted, told, app);
}

async function steer(wanted: string, steering: Steering, app: App): Promise<Steered> {
  const { kind, author } = steering;
  const told = inWords(steering);
  return onRunning(wanted, app, async (session, id) => {
    const reply = await inTime(session, id, () => steerQuestion(session.gate, id, told));
    if (reply.kind === 'not-running') return null;
    if (reply.kind === 'refused') throw new GateError(`${id} refused ${kind}: ${reply.reason}`, 'conflict');
    const { remarkId, heard } = reply;
    return { id, kind, author, remarkId, ...(heard && { heard }) };
  });
}

function inWords(steering: Steering): Steering {
  if (steering.kind === 'hint') return { ...steering, text: words(steering.text, 'hint') };
  if (steering.kind === 'veto' || steering.kind === 'pin')
    return { ...steering, reason: words(steering.reason, 'reason') };
  return steering;
}

/** No command to the search: Temporal cancels its workflow. Gives its id. */
async function cancel(wanted: string, app: App): Promise<string> {
  return onRunning(wanted, app, async (session, id) => ((await session.cancel(id)) ? id : null));
}

interface BatchCommand {
  readonly kind: 'pause' | 'resume' | 'cancel';
  readonly author: string;
  /** Of a pause: the questions in flight pause, too. */
  readonly now?: boolean;
}

/** A pause and its end are signals: they wait for a worker if none works on the batch. Gives its id. */
async function steerBatch(wanted: string, { kind, author, now = false }: BatchCommand, app: App): Promise<string> {
  const { id: batchId } = await findBatch(app.store, wanted);
  const workflowId = batchWorkflowId(batchId);
  const told = kind === 'pause' ? { author, now } : { author };
  const heard = await withReachable(batchId, app, async (session) => {
    const running = session && (await runningWorkflow(session.gate, workflowId)) && session.gate;
    if (running === null) return false;
    return kind === 'cancel' ? cancelWorkflow(running, workflowId) : signalBatch(running, batchId, kind, told);
  });
  if (heard) return batchId;
  throw new GateError(`${batchId} is not running`, 'conflict');
}

/** `work` gives null when the workflow ended meanwhile. */
async function onRunning<T>(
  wanted: string,
  app: App,
  work: (session: TemporalSession, id: string) => Promise<T | null>,
): Promise<T> {
  const id = await findSearch(app.store, wanted);
  const done = await withReachable(id, app, async (session) => {
    const isRunning = session !== null && (await session.describe(id))?.status === 'RUNNING';
    return isRunning ? work(session, id) : null;
  });
  if (done !== null) return done;
  if ((await recordOf(app.store, id)) !== null)
    throw new GateError(`${id} has finished; gate fork starts a new search from it`, 'conflict');
  throw new GateError(`${id} is not running; ${howToGoOn(await inputOf(app.store, id))}`, 'conflict');
}

/** Null: no server runs. */
function withReachable<T>(id: string, app: App, work: (session: TemporalSession | null) => Promise<T>): Promise<T> {
  return withRunning(app, work, ({ what, fix }) => {
    throw new GateError(`${what}: the command cannot reach ${id}; ${fix}`);
  });
}

const ANSWER_WITHIN_MS = 15_000;

/** An update waits for a worker; without one the command would wait as long. */
async function inTime<T>(session: TemporalSession, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await session.gate.client.connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, work);
  } catch (error) {
    if (!isDeadline(error)) throw error;
    const seconds = ANSWER_WITHIN_MS / 1_000;
    const line = `${id} did not confirm within ${seconds} s: see with gate show ${id} whether a worker answers; the command may still arrive`;
    throw new GateError(line, undefined, { cause: error });
  }
}
