/**
 * The time by which a workflow decides something: that of the last news from the server. `Date.now()` also moves with each local
 * activity that ends. Of several under way a replay gives all results at once, at the time of the last one, so what is decided by
 * it after the first one could differ.
 */
import type { ActivateInput, WorkflowInterceptors } from '@temporalio/workflow';

/** Modules are shared by all workflows of a worker (`scripts/workflow-bundle.ts`); globals are the workflow's own. */
const own = globalThis as { gateNewsMs?: number };

/** In milliseconds. */
export function newsTime(): number {
  return own.gateNewsMs ?? Date.now();
}

export function interceptors(): WorkflowInterceptors {
  return {
    internals: [
      {
        activate(input, next) {
          if ((input.activation.jobs ?? []).some(isNews)) own.gateNewsMs = Date.now();
          next(input);
        },
      },
    ],
  };
}

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

function isNews({ resolveActivity, queryWorkflow, removeFromCache }: Job): boolean {
  return resolveActivity?.isLocal !== true && !queryWorkflow && !removeFromCache;
}
