export { createPacedModel, LONGEST_WAIT_MS, type PacedModelOptions } from './model';
export type { PaceLimits } from './pace';
