/**
 * Where a batch runs: on a queue of its own, which the process that follows it serves; or detached, each question on the queue of
 * its database and the batch's own workflow on that of the first one, which every worker with this configuration serves.
 *
 * An earlier run may have left questions or the batch's own workflow running elsewhere. What nobody works on is ended in
 * Temporal and begun again where it is asked for now, and the store has all that it paid for. Where a process works on it, the
 * run ends with what is different.
 */
import { deploymentOf } from '../../config';
import { each } from '../../limiter';
import { startedQueues } from '../../workers/deployments';
import { unlessGone } from '../../workers/grpc-status';
import { isPolled, whereItRuns, type Elsewhere } from '../../workers/running-elsewhere';
import { servingOf, type Serving } from '../../workers/serving';
import {
  batchOf,
  batchQueue,
  type ModelQueue,
  modelQueues,
  type QuestionQueues,
  queuesByModel,
} from '../../workers/task-queues';
import {
  asksOnly,
  runningBatches,
  runningQuestions,
  runningWorkflow,
  type RunningWorkflow,
} from '../../workers/workflow-views';
import { batchWorkflowId, questionWorkflowId } from '../../workflows/ids';
import type { ToServe } from '../background';
import { GateError } from '../errors';
import type { Services } from '../services';
import { announcedFor } from '../start-search';
import type { TemporalSession } from '../temporal-session';
import type { ReadyArm } from './arms';
import { listBatches, searchesOfBatch } from './stored-batches';

export interface BatchQueues {
  /** Queue of the batch's own workflow. */
  readonly batch: string;
  readonly questionOn: (database: string) => QuestionQueues;
  /** What the batch is asked for with. */
  readonly serving: Serving;
}

export function ownQueues({ run, arm, composition }: ReadyArm) {
  const { config } = run.services;
  const { batchId, settings } = arm.batch;
  // A recording is written and read by this process alone.
  const limited: readonly ModelQueue[] =
    composition.recording === null ? modelQueues(config, composition, Object.values(settings.models)) : [];
  const serving = servingOf(config, composition, arm.set.databases.all);
  const models = queuesByModel(limited);
  const batch = batchQueue(batchId, serving);
  const question = { workflow: batch, ...(models && { models }) };
  return { batch, questionOn: () => question, serving, limited };
}

/** `toServe`: what has to be served for these queues, by the name of the database. */
export function databaseQueues({ run, arm, composition }: ReadyArm) {
  const { config } = run.services;
  const { batch, set } = arm;
  const toServe = new Map(
    batch.questions.map(({ database }): [string, ToServe] => [
      database.name,
      { database, announced: announcedFor(config, composition, database, batch) },
    ]),
  );
  const questionOn = (database: string): QuestionQueues => {
    const served = toServe.get(database);
    if (served === undefined) throw new TypeError(`no question asks ${database}`);
    return served.announced.queues;
  };
  const first = questionOn(batch.questions[0]?.database.name ?? '');
  return { batch: first.workflow, questionOn, serving: servingOf(config, composition, set.databases.all), toServe };
}

interface Asker {
  readonly services: Services;
  readonly now: () => number;
}

/** Somebody works on the queue or will. */
export async function isServed({ services, now }: Asker, { gate }: TemporalSession, queue: string): Promise<boolean> {
  if (await isPolled(gate, queue, now())) return true;
  return (await startedQueues(gate.client, deploymentOf(services.config.temporal.versioning))).has(queue);
}

/** Searches of batches under way, which begin when a place is free. Those that have begun or ended are among them. */
export async function waitingSearches(at: Asker, session: TemporalSession): Promise<ReadonlySet<string>> {
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
  readonly ready: ReadyArm;
  readonly session: TemporalSession;
  /** Positions of the searches that have not ended well. */
  readonly pending: ReadonlySet<number>;
  readonly queues: BatchQueues;
  /** Where this configuration runs batches besides; `joins`: what is worked on there may stay there. */
  readonly other: BatchQueues & { readonly difference: string; readonly joins: boolean };
}

export async function takeOverBatch(take: TakeOver): Promise<void> {
  const { ready, session, pending, queues, other } = take;
  const { batchId, searches } = ready.arm.batch;
  const own = await runningWorkflow(session.gate, batchWorkflowId(batchId));
  const databases = new Map(
    searches.flatMap(({ searchId, question }, n) =>
      pending.has(n) ? [[questionWorkflowId(searchId), question.database] as const] : [],
    ),
  );
  const running = [
    ...(own === null ? [] : [{ ...own, on: queues.batch, otherwise: other.batch }]),
    ...(await runningQuestions(session.gate)).flatMap((one) => {
      const database = databases.get(one.workflowId);
      if (database === undefined) return [];
      return [{ ...one, on: queues.questionOn(database).workflow, otherwise: other.questionOn(database).workflow }];
    }),
  ];
  const looked = new Map<string, Elsewhere>();
  for (const one of running) {
    if (looked.has(one.taskQueue)) continue;
    const found = await lookAt(take, one);
    if (found.kind === 'served')
      throw new GateError(`${batchId} runs ${found.difference}: interrupt it there, then run this again`);
    looked.set(one.taskQueue, found);
  }
  const left = running.filter(({ taskQueue }) => looked.get(taskQueue)?.kind === 'abandoned');
  // Batches first, so that they start none of their questions again: this one, and others that share questions with it.
  const others = new Set(left.flatMap(({ taskQueue }) => batchOf(taskQueue) ?? []).filter((id) => id !== batchId));
  const ended = [...[...others].map((id) => ({ workflowId: batchWorkflowId(id), runId: undefined })), ...left];
  for (const { workflowId, runId } of ended)
    await unlessGone(session.gate.client.workflow.getHandle(workflowId, runId).terminate('run again elsewhere'));
  const abandoned = [...looked.values()].find((one) => one.kind === 'abandoned');
  if (abandoned !== undefined)
    ready.note(
      `${batchId} ran ${abandoned.difference}. No process works on it any more, so it goes on here; nothing is paid twice.`,
    );
}

async function lookAt(
  { ready, session, queues, other }: TakeOver,
  running: RunningWorkflow & { readonly on: string; readonly otherwise: string },
): Promise<Elsewhere> {
  const { services, surroundings } = ready.run;
  const now = (): number => surroundings.now();
  if (running.taskQueue !== running.otherwise)
    return whereItRuns(session.gate, running, { serving: queues.serving, taskQueue: running.on }, now());
  const { difference, joins } = other;
  if (!(await isServed({ services, now }, session, running.taskQueue))) return { kind: 'abandoned', difference };
  return joins ? { kind: 'here' } : { kind: 'served', difference };
}
