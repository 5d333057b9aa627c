/**
 * The table of all steps (design D1): what is asked of a model in a role, of the database for a purpose, and of the store. Each
 * is a function of a context and an input; `createSteps` gives it the ports. A composition root does that once; activities and
 * in-process runs call the same functions. A new role or purpose is a file, its name in `domain/roles.ts`, and a line here.
 */
import type { Remark, SearchState } from '../domain';
import type { SqlPurpose, StepRole } from '../domain/roles';
import { final, react } from '../methods/react/steps';
import { redel, tool } from '../methods/redel/steps';
import * as reforce from '../methods/reforce/steps';
import type { ChildSteps, ModelOutcome, StepOptions, UsageDelta } from '../domain/ports/step-parts';
import { createRunStore } from '../record/run-store';
import { adopt, openChild } from './answer/children';
import { amend, finish } from './answer/finish';
import { evaluate } from './evaluate';
import { ground } from './ground/step';
import { keep, recount } from './keep';
import { learn, prove } from './learn';
import { look } from './look';
import { plan } from './plan/step';
import { propose } from './propose';
import { select } from './select';
import { openStep, type StepContext, type StepDeps } from './shared/context';
import { candidate } from './sql/candidate';
import { check } from './sql/check';
import { commit } from './sql/commit';
import { prepare } from './sql/prepare';
import { probe } from './sql/probe';
import { queries } from './sql/queries';
import { restate } from './sql/restate';
import { settle } from './sql/settle';
import { web } from './web';

export type * from '../methods/react/steps';
export type * from '../methods/redel/steps';
export type * from '../methods/reforce/steps';
export type * from './answer/children';
export type * from './answer/finish';
export type * from './evaluate';
export type * from './ground/step';
export type * from './keep';
export type * from './learn';
export type * from './look';
export type * from './plan/step';
export type * from './propose';
export type * from './select';
export type * from './sql/candidate';
export type * from './sql/check';
export type * from './sql/commit';
export type * from './sql/prepare';
export type * from './sql/probe';
export type * from './sql/queries';
export type * from './sql/restate';
export type * from './sql/settle';
export type * from './web';

type Step<Output> = (context: StepContext, input: never, options: StepOptions) => Promise<Output>;

const OF_MODELS = {
  look,
  evaluate,
  plan,
  propose,
  ground,
  select,
  keep,
  learn,
  react,
  redel,
  'reforce-link': reforce.link,
  'reforce-format': reforce.format,
  'reforce-explore': reforce.explore,
  'reforce-generate': reforce.generate,
  'reforce-choose': reforce.choose,
  'reforce-answer': reforce.phrase,
} satisfies Record<StepRole, Step<ModelOutcome<unknown>>>;

const OF_DATABASES = {
  prepare,
  queries,
  commit,
  prove,
  restate,
  recount,
  check,
  probe,
  settle,
  candidate,
  tool,
  final,
  compress: reforce.compress,
  explore: reforce.runExploration,
  refine: reforce.refine,
  agree: reforce.agree,
} satisfies Record<SqlPurpose, Step<{ readonly usage: UsageDelta }>>;

const OTHERS = { web, openChild, adopt, finish, amend };

type Steps<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends (
    context: StepContext,
    input: infer Input,
    options: never,
  ) => infer Output
    ? (input: Input, options?: StepOptions) => Output
    : never;
};
export type ModelSteps = Steps<typeof OF_MODELS>;
export type SqlSteps = Steps<typeof OF_DATABASES>;

export interface AllSteps extends ModelSteps, SqlSteps, Steps<typeof OTHERS> {
  checkpoint(state: SearchState, options?: StepOptions): Promise<void>;
}

/** With the one that the caller runs: as a workflow of its own, or within this process. */
export type MethodSteps = AllSteps & ChildSteps;

/** What every way of searching asks for. */
type Common = 'prepare' | 'web' | 'checkpoint' | 'finish';
type Judging = 'evaluate' | 'plan' | 'propose' | 'ground' | 'select';
/** The search (Algorithm 1). */
export type SearchSteps = Pick<AllSteps, Common | Judging | 'check' | 'probe' | 'settle' | 'candidate'>;
/** The conversation with which a search by `look-then-prove` begins. */
export type LookSteps = Pick<AllSteps, 'look' | 'queries' | 'commit'>;
/** Learning a database without a question. */
export type LearnSteps = Pick<AllSteps, Common | 'learn' | 'prove' | 'keep' | 'recount'>;
/** Keeping what was proved. */
export type KeepSteps = Pick<AllSteps, 'keep' | 'recount' | 'restate' | 'amend'>;
/** The ReAct agent. */
export type ReactSteps = Pick<AllSteps, Common | 'react' | 'tool' | 'final'>;
/** An agent that may have helpers. */
export type RedelSteps = Pick<AllSteps, Common | 'redel' | 'tool' | 'final'> & ChildSteps;
/** The votes of `reforce`. */
export type ReforceSteps = Pick<
  AllSteps,
  Common | (`reforce-${string}` & StepRole) | 'compress' | 'explore' | 'refine' | 'agree'
>;

/** A person's remark, without its time. */
export type NewRemark = Omit<Remark, 'at'>;
/** Stores a remark for later prompts. */
export interface RemarkStep {
  keepRemark(searchId: string, remark: NewRemark): Promise<void>;
}

export function createSteps(deps: StepDeps): AllSteps & RemarkStep {
  const table: Record<string, Step<unknown>> = { ...OF_MODELS, ...OF_DATABASES, ...OTHERS };
  const steps = Object.entries(table).map(([name, step]) => [
    name,
    async (input: { readonly searchId: string; readonly position?: string }, options: StepOptions = {}) =>
      step(await openStep(deps, { position: name, ...input }, options), input as never, options),
  ]);
  return {
    ...(Object.fromEntries(steps) as Omit<AllSteps, 'checkpoint'>),
    checkpoint: async (state) => {
      await createRunStore(deps.store, state.searchId, deps.hash).put('checkpoint', `i${state.iteration}`, state);
    },
    keepRemark: (searchId, remark) => {
      const at = new Date(deps.clock.now()).toISOString();
      const run = createRunStore(deps.store, searchId, deps.hash);
      return run.put('remark', remark.remarkId, { ...remark, at });
    },
  };
}
