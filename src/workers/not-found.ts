import { WorkflowNotFoundError } from '@temporalio/client';

/** gRPC's status. */
const NOT_FOUND = 5;

/** null: what Temporal was asked about is there no longer. */
export async function unlessGone<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || (error as { code?: unknown }).code === NOT_FOUND) return null;
    throw error;
  }
}
