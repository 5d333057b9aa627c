/** A workflow may only fail with an ApplicationFailure: after any other error Temporal retries the workflow task for ever. */
import { ApplicationFailure } from '@temporalio/workflow';
import { reasonOf } from '../search/findings';
import { BrokenModelError, UNUSABLE_REPLIES } from '../search/select-answer';

/** Keeps the innermost message and type: the line that says what to change, and its kind. */
export function asWorkflowFailure(error: unknown, fallbackType: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: reasonOf(error),
    type: failureType(error, fallbackType),
    nonRetryable: true,
  });
}

export function failureType(error: unknown, fallback: string): string {
  let type = fallback;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof BrokenModelError) type = UNUSABLE_REPLIES;
    if (at instanceof ApplicationFailure && at.type) type = at.type;
  }
  return type;
}
