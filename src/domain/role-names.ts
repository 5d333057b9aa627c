/**
 * The names of what a step may ask: a model in a role, or the database for a purpose. `src/methods/steps.ts` says what each is.
 * Without zod: the help of a command names the roles, and the workflow bundle the steps.
 */
export const STEP_ROLES = [
  'look',
  'evaluate',
  'plan',
  'propose',
  'ground',
  'select',
  'react',
  'redel',
  'keep',
  'learn',
  'reforce-link',
  'reforce-format',
  'reforce-explore',
  'reforce-generate',
  'reforce-choose',
  'reforce-answer',
] as const;
export type StepRole = (typeof STEP_ROLES)[number];

/** The judge takes no part in a search. */
export const ROLES = [...STEP_ROLES, 'judge'] as const;

export const SQL_PURPOSES = [
  'prepare',
  'queries',
  'commit',
  'prove',
  'restate',
  'recount',
  'check',
  'probe',
  'settle',
  'candidate',
  'tool',
  'final',
  'compress',
  'explore',
  'refine',
  'agree',
] as const;
export type SqlPurpose = (typeof SQL_PURPOSES)[number];
