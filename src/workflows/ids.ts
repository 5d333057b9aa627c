/** Workflow ids are made from search and batch ids, so that asking again joins a running workflow (design D4). */
export const questionWorkflowId = (searchId: string): string => QUESTION + searchId;
export const searchIdIn = (workflowId: string): string => workflowId.slice(QUESTION.length);
const QUESTION = 'question-';
/** Of what reads and keeps what a search proved. */
export const keepWorkflowId = (searchId: string): string => `keep-${searchId}`;
export const batchWorkflowId = (batchId: string): string => `batch-${batchId}`;
/** Of the schedule of a question, by the search that it began with. */
export const REPEAT_PREFIX = 'repeat-';
export const repeatScheduleId = (searchId: string): string => REPEAT_PREFIX + searchId;
/** Of the schedule that watches a layer, by the identity of its database. */
export const WATCH_PREFIX = 'layer-watch-';
export const watchScheduleId = (identity: string): string => WATCH_PREFIX + identity;
