/** Tells a running search something, and what came of it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Steering } from '../domain';
import { questionWorkflowId } from '../workflows/ids';
import type { SteeringReply } from '../workflows/steering';
import type { GateClient } from './client';
import { GRPC, grpcCode, isInChain } from './grpc-status';

export type Steered =
  | ({ readonly kind: 'applied' } & SteeringReply)
  /** `reason` says why the command makes no sense now. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-running' };

/** Tells a running search something (design: hint, pause, resume, budget, veto, pin, stop). */
export async function steerQuestion({ client }: GateClient, searchId: string, steering: Steering): Promise<Steered> {
  const { kind, ...args } = steering;
  const updateId = randomUUID();
  const handle = client.workflow.getHandle(questionWorkflowId(searchId));
  for (let tries = 1; ; tries += 1) {
    try {
      return {
        kind: 'applied',
        ...(await handle.executeUpdate<SteeringReply, [object]>(kind, { updateId, args: [args] })),
      };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { kind: 'not-running' };
      if (error instanceof WorkflowUpdateFailedError)
        return { kind: 'refused', reason: (error.cause?.message ?? error.message).replace(`${kind} refused: `, '') };
      if (!wasTaskLost(error) || tries >= TASKS_LOST) throw error;
      await sleep(tries * 100);
    }
  }
}

const TASKS_LOST = 10;

/**
 * The server drops an update whose workflow task it discards, as it does when a step ends while the search is being ended.
 * Sent again under the same id it is applied once.
 */
function wasTaskLost(error: unknown): boolean {
  const isLost = (one: Error): boolean =>
    grpcCode(one) === GRPC.failedPrecondition && /workflow task (failure|in failed state)/i.test(one.message);
  return isInChain(error, isLost);
}
