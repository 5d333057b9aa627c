/**
 * The steps of a search as functions of the ports (design D1). A composition root builds them once; activities and
 * in-process runs call the same functions.
 */
import type { Remark } from '../domain';
import type { AllSteps, OpenChildStep, StepOptions } from '../ports/search-steps';
import { candidate } from './sql/candidate';
import { check } from './sql/check';
import { adopt, openChild } from './answer/children';
import { commit } from './sql/commit';
import { openStep, type StepContext, type StepDeps } from './shared/context';
import { evaluate } from './evaluate';
import { amend, finish } from './answer/finish';
import { ground } from './ground/step';
import { keep, recount } from './keep';
import { learn, prove } from './learn';
import { look, queries } from './look';
import { plan } from './plan/step';
import { prepare } from './sql/prepare';
import { probe } from './sql/probe';
import { propose } from './propose';
import { final, react, tool } from '../methods/react/steps';
import { readHelpers, redel } from '../methods/redel/steps';
import * as reforce from '../methods/reforce/steps';
import { restate } from './sql/restate';
import { createRunStore } from '../record/run-store';
import { selectAnswer } from './select';
import { settle } from './sql/settle';
import { web } from './web';

export type { StepDeps } from './shared/context';
export type { CandidateContent, Contents, Kind, SchemaContent } from '../record/contents';
export { openStep } from './shared/context';
export { refresh } from './answer/refresh';
export {
  createRunStore,
  readEnvelope,
  referenceIn,
  storeInput,
  writeEnvelope,
  type RunStore,
} from '../record/run-store';

/** Stores a person's remark for later prompts. */
export interface RemarkStep {
  keepRemark(searchId: string, remark: Omit<Remark, 'at'>): Promise<void>;
}

export function createSteps(deps: StepDeps): AllSteps & OpenChildStep & RemarkStep {
  return {
    look: step(deps, look),
    evaluate: step(deps, evaluate),
    plan: step(deps, plan),
    propose: step(deps, propose),
    ground: step(deps, ground),
    select: step(deps, selectAnswer),
    keep: step(deps, keep),
    learn: step(deps, learn),
    react: step(deps, react),
    redel: step(deps, redel),
    prepare: step(deps, prepare),
    queries: step(deps, queries),
    commit: step(deps, commit),
    prove: step(deps, prove),
    restate: step(deps, restate),
    recount: step(deps, recount),
    check: step(deps, check),
    probe: step(deps, probe),
    settle: step(deps, settle),
    candidate: step(deps, candidate),
    tool: step(deps, (context, input) =>
      input.helpers === undefined ? tool(context, input) : readHelpers(context, input, input.helpers),
    ),
    final: step(deps, final),
    openChild: step(deps, openChild),
    adopt: step(deps, adopt),
    'reforce-link': step(deps, reforce.link),
    'reforce-format': step(deps, reforce.format),
    'reforce-explore': step(deps, reforce.explore),
    'reforce-generate': step(deps, reforce.generate),
    'reforce-choose': step(deps, reforce.choose),
    'reforce-answer': step(deps, reforce.phrase),
    compress: step(deps, reforce.compress),
    explore: step(deps, reforce.runExploration),
    refine: step(deps, reforce.refine),
    agree: step(deps, reforce.agree),
    web: async (input, options) => web(await openStep(deps, input, options), input, options?.mayRetry ?? false),
    keepRemark: (searchId, remark) => {
      const at = new Date(deps.clock.now()).toISOString();
      const run = createRunStore(deps.store, searchId, deps.hash);
      return run.put('remark', remark.remarkId, { ...remark, at });
    },
    checkpoint: async (state) => {
      await createRunStore(deps.store, state.searchId, deps.hash).put('checkpoint', `i${state.iteration}`, state);
    },
    amend: async (input, options) =>
      amend(await openStep(deps, { searchId: input.searchId, position: 'amend' }, options), input),
    finish: async (input, options) =>
      finish(await openStep(deps, { searchId: input.searchId, position: 'finish' }, options), input),
  };
}

function step<Input extends { readonly searchId: string; readonly position: string }, Output>(
  deps: StepDeps,
  run: (context: StepContext, input: Input) => Promise<Output>,
): (input: Input, options?: StepOptions) => Promise<Output> {
  return async (input, options) => run(await openStep(deps, input, options), input);
}
