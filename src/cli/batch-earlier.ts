/**
 * What an earlier run of a batch left running in Temporal under another configuration. The batch runs wholly with what this
 * command announces: questions and the batch's own workflow that nobody works on are ended in Temporal and begun again here,
 * and the store has all that they paid for. Where a process works on them, the command ends with what is different.
 */
import { runningQuestions, runningWorkflow, type RunningWorkflow } from '../workers/workflow-views';
import { whereItRuns, type Elsewhere } from '../workers/running-elsewhere';
import type { Serving } from '../workers/serving';
import { batchQueue } from '../workers/task-queues';
import { batchWorkflowId, questionWorkflowId } from '../workflows/ids';
import type { Batch } from './batch-plan';
import { CommandFailed } from './errors';
import type { TemporalSession } from './temporal-session';

interface TakeOver {
  readonly session: TemporalSession;
  readonly batch: Batch;
  /** Positions of the searches that have not ended well. */
  readonly pending: ReadonlySet<number>;
  readonly serving: Serving;
  readonly note: (line: string) => void;
  readonly nowMs: number;
}

/** Returns the queues of an earlier version that this process must serve as well, so that what runs there ends. */
export async function takeOverBatch({ session, batch, pending, serving, note, nowMs }: TakeOver): Promise<string[]> {
  const { gate } = session;
  const { batchId, scope, searches } = batch;
  const asked = (id: string) => ({ serving, taskQueue: batchQueue(id, serving), earlierQueue: batchQueue(id) });
  const own = await runningWorkflow(gate, batchWorkflowId(batchId));
  const ids = new Set([...pending].map((n) => questionWorkflowId(searches[n]?.searchId ?? '')));
  const questions = (await runningQuestions(gate)).filter(({ workflowId }) => ids.has(workflowId));
  const looked = new Map<string, Elsewhere>();
  const look = async (running: RunningWorkflow, id: string): Promise<Elsewhere> => {
    const known = looked.get(running.taskQueue) ?? (await whereItRuns(gate, running, asked(id), nowMs));
    looked.set(running.taskQueue, known);
    return known;
  };
  const left: RunningWorkflow[] = [];
  let isEarlier = false;
  for (const running of [...(own === null ? [] : [own]), ...questions]) {
    const found = await look(running, running === own ? batchId : scope);
    if (found.kind === 'served')
      throw new CommandFailed(`${batchId} runs ${found.difference}: interrupt it there, then run this again`);
    if (found.kind === 'abandoned') left.push(running);
    isEarlier ||= found.kind === 'earlier-version';
  }
  // The batch first, so that it starts none of its questions again.
  for (const { workflowId, runId } of left)
    await gate.client.workflow.getHandle(workflowId, runId).terminate('run again with another configuration');
  const abandoned = [...looked.values()].find(({ kind }) => kind === 'abandoned');
  if (abandoned?.kind === 'abandoned')
    note(
      `${batchId} ran ${abandoned.difference}. No process works on it any more, so it goes on here; nothing is paid twice.`,
    );
  return isEarlier ? [batchQueue(batchId), batchQueue(scope)] : [];
}
