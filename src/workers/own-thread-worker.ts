/**
 * A worker that runs its workflows in the thread of its process, in the SDK's sandbox. The SDK's own choice is a thread for each
 * worker: it loads the SDK again (0.4 s of processor time), every activation is copied to it and back, and around the sandbox
 * stand two things that cost three quarters of a workflow's processor time (34 of 46 ms for a question of two turns):
 *
 * 1. A stack trace at the birth of each promise, for the query `__stack_trace`. Without it the query says that it is off.
 * 2. A limit on computing time, which begins a thread at each of some six calls for an activation. Nothing is lost by its
 *    absence: where it ends a workflow inside a promise, Node aborts the process (its stack of async hooks no longer fits).
 */
import { Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';

/** `node:vm` then takes no time; the SDK has no word for it. */
const NO_LIMIT = undefined as unknown as number;

export class OwnThreadWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    { activities }: Pick<CompiledWorkerOptions, 'activities'>,
  ): Promise<ReusableVMWorkflowCreator> {
    globalHandlers.installed = true;
    return ReusableVMWorkflowCreator.create(bundle, NO_LIMIT, new Set(activities.keys()));
  }
}
