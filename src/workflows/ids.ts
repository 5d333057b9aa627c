/** Workflow ids are made from search and batch ids, so that asking again joins a running workflow (design D4). */
export const questionWorkflowId = (searchId: string): string => `question-${searchId}`;
export const batchWorkflowId = (batchId: string): string => `batch-${batchId}`;
