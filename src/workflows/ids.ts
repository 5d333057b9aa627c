/** Workflow ids follow from the ids of what they run, so that asking again joins what runs (design D4). */
export const questionWorkflowId = (searchId: string): string => `question-${searchId}`;
export const batchWorkflowId = (batchId: string): string => `batch-${batchId}`;
