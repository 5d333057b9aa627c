/**
 * Where a batch runs: on queues of its own, which the process that follows it serves; or detached, each question on the queue of
 * its database and the batch's own workflow on that of the first one, which every worker with this configuration serves.
 *
 * An earlier run may have left questions or the batch's own workflow running elsewhere. What nobody works on is ended in
 * Temporal and begun again where it is asked for now, and the store has all that it paid for. Where a process works on it, the
 * command ends with what is different.
 */
import { deploymentOf } from '../config';
import { startedQueues } from '../workers/deployments';
import { batchQueue, type ModelQueue, modelQueues, type QuestionQueues, queuesByModel } from '../workers/task-queues';
import { isPolled, whereItRuns, type Asked, type Elsewhere } from '../workers/running-elsewhere';
import { servingOf, type Serving } from '../workers/serving';
import {
  asksOnly,
  runningBatches,
  runningQuestions,
  runningWorkflow,
  type RunningWorkflow,
} from '../workers/workflow-views';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import { announcedFor } from '../app/start-search';
import type { ToServe } from '../app/background';
import type { ReadyBatch } from './batch-preflight';
import { GateError } from '../app/errors';
import { each } from '../limiter';
import { listBatches, searchesOfBatch } from '../app/run/stored-batches';
import type { TemporalSession } from '../app/temporal-session';

export interface BatchQueues {
  /** Of the batch's own workflow. */
  readonly batch: string;
  readonly questionOn: (database: string) => QuestionQueues;
  /** What the batch is asked for with. */
  readonly serving: Serving;
}

export function ownQueues(ready: ReadyBatch): BatchQueues & { readonly limited: readonly ModelQueue[] } {
  const { services, composition, databases, batch } = ready;
  // A recording is written and read by this process alone.
  const limited =
    composition.recording === null
      ? modelQueues(services.config, composition, Object.values(batch.settings.models))
      : [];
  const serving = servingOf(services.config, composition, databases);
  const models = queuesByModel(limited);
  const question = { workflow: batchQueue(batch.scope, serving), ...(models && { models }) };
  return { batch: batchQueue(batch.batchId, serving), questionOn: () => question, serving, limited };
}

/** `toServe`: what has to be served for these queues, by the name of the database. */
export function databaseQueues(ready: ReadyBatch): BatchQueues & { readonly toServe: ReadonlyMap<string, ToServe> } {
  const { services, composition, databases, batch } = ready;
  const toServe = new Map(
    batch.questions.map(({ database }): [string, ToServe] => [
      database.name,
      { database, announced: announcedFor(services.config, composition, database, batch) },
    ]),
  );
  const questionOn = (database: string): QuestionQueues => {
    const served = toServe.get(database);
    if (served === undefined) throw new TypeError(`no question is on ${database}`);
    return served.announced.queues;
  };
  const first = questionOn(batch.questions[0]?.database.name ?? '');
  const serving = servingOf(services.config, composition, databases);
  return { batch: first.workflow, questionOn, serving, toServe };
}

/** Whether the batch runs on these queues of its databases, and somebody works there or will. */
export async function runsDetached(
  ready: ReadyBatch,
  session: TemporalSession,
  { batch: queue }: BatchQueues,
): Promise<boolean> {
  const own = await runningWorkflow(session.gate, batchWorkflowId(ready.batch.batchId));
  return own?.taskQueue === queue && isServed(ready, session, queue);
}

/** Somebody works there or will. */
export async function isServed(
  { services, io }: Pick<ReadyBatch, 'services' | 'io'>,
  { gate }: TemporalSession,
  queue: string,
): Promise<boolean> {
  if (await isPolled(gate, queue, io.now())) return true;
  return (await startedQueues(gate.client, deploymentOf(services.config.temporal.versioning))).has(queue);
}

/** Searches of batches under way, which begin when a place is free. Those that have begun or ended are among them. */
export async function waitingSearches(
  at: Pick<ReadyBatch, 'services' | 'io'>,
  session: TemporalSession,
): Promise<ReadonlySet<string>> {
  const { store } = at.services;
  const stored = new Map((await listBatches(store)).map(({ id }) => [batchWorkflowId(id), id]));
  const found = await each(await runningBatches(session.gate), async ({ workflowId, taskQueue }) => {
    const id = stored.get(workflowId);
    // A retry asks only questions that have a record.
    if (id === undefined || (await asksOnly(session.gate, id)) || !(await isServed(at, session, taskQueue))) return [];
    return searchesOfBatch(store, id);
  });
  return new Set(found.flat());
}

interface TakeOver {
  readonly ready: ReadyBatch;
  readonly session: TemporalSession;
  /** Positions of the searches that have not ended well. */
  readonly pending: ReadonlySet<number>;
  readonly queues: BatchQueues;
  /** Where this configuration runs batches besides; `joins`: what is worked on there may stay there. */
  readonly other: BatchQueues & { readonly difference: string; readonly joins: boolean };
  readonly note: (line: string) => void;
}

export async function takeOverBatch(take: TakeOver): Promise<void> {
  const { ready, session, note } = take;
  const { batchId } = ready.batch;
  const places = placesOf(take);
  const own = await runningWorkflow(session.gate, batchWorkflowId(batchId));
  const questions = await runningQuestions(session.gate);
  const looked = new Map<string, Elsewhere>();
  const left: RunningWorkflow[] = [];
  for (const running of [...(own === null ? [] : [own]), ...questions]) {
    const place = places.get(running.workflowId);
    if (place === undefined) continue;
    const found = looked.get(running.taskQueue) ?? (await look(take, running, place));
    looked.set(running.taskQueue, found);
    if (found.kind === 'served')
      throw new GateError(`${batchId} runs ${found.difference}: interrupt it there, then run this again`);
    if (found.kind === 'abandoned') left.push(running);
  }
  // The batch first, so that it starts none of its questions again.
  for (const { workflowId, runId } of left)
    await session.gate.client.workflow.getHandle(workflowId, runId).terminate('run again with another configuration');
  const abandoned = [...looked.values()].find(({ kind }) => kind === 'abandoned');
  if (abandoned?.kind === 'abandoned')
    note(
      `${batchId} ran ${abandoned.difference}. No process works on it any more, so it goes on here; nothing is paid twice.`,
    );
}

interface Place {
  readonly asked: Asked;
  readonly other: string;
}

/** Of the batch's own workflow and of its open questions, by their ids. */
function placesOf({ ready, pending, queues, other }: TakeOver): ReadonlyMap<string, Place> {
  const { batchId, searches } = ready.batch;
  const place = (on: (queues: BatchQueues) => string): Place => ({
    asked: { serving: queues.serving, taskQueue: on(queues) },
    other: on(other),
  });
  const questions = searches.filter((_, n) => pending.has(n));
  return new Map([
    [batchWorkflowId(batchId), place(({ batch }) => batch)],
    ...questions.map(({ searchId, question }): [string, Place] => [
      questionWorkflowId(searchId),
      place(({ questionOn }) => questionOn(question.database).workflow),
    ]),
  ]);
}

async function look({ ready, session, other }: TakeOver, running: RunningWorkflow, place: Place): Promise<Elsewhere> {
  if (running.taskQueue !== place.other) return whereItRuns(session.gate, running, place.asked, ready.io.now());
  const { difference, joins } = other;
  if (!(await isServed(ready, session, running.taskQueue))) return { kind: 'abandoned', difference };
  return joins ? { kind: 'here' } : { kind: 'served', difference };
}
