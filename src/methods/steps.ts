/**
 * The table of all steps (design D1): what is asked of a model in a role, of the database for a purpose, and of the store. Each
 * is a function of a context and an input; `createSteps` gives it the ports. A composition root does that once; activities and
 * in-process runs call the same functions. A new role or purpose is a file, its name in `domain/role-names.ts`, and a line here.
 */
import { act, final, tool } from './agent/steps';
import * as reforce from './reforce/steps';
import type { StepBase, StepOptions } from '../domain/ports/step-parts';
import type { ModelSteps, OtherSteps, RemarkStep, SqlSteps, StoredSteps } from '../domain/ports/steps';
import { createRunStore } from '../record/run-store';
import { adopt, openChild } from '../roles/answer/children';
import { amend, finish } from '../roles/answer/finish';
import { evaluate } from '../roles/evaluate';
import { ground } from '../roles/ground/step';
import { keep, recount } from '../roles/keep';
import { learn, prove } from '../roles/learn';
import { look } from '../roles/look';
import { plan } from '../roles/plan/step';
import { propose } from '../roles/propose';
import { select } from '../roles/select';
import { once, openStep, type StepContext, type StepDeps } from '../roles/shared/context';
import { candidate } from '../roles/sql/candidate';
import { check } from '../roles/sql/check';
import { commit } from '../roles/sql/commit';
import { prepare } from '../roles/sql/prepare';
import { probe } from '../roles/sql/probe';
import { queries } from '../roles/sql/queries';
import { restate } from '../roles/sql/restate';
import { settle } from '../roles/sql/settle';
import { web } from '../roles/web';

type Table<Steps> = {
  readonly [Name in keyof Steps]: Steps[Name] extends (input: infer Input, options?: StepOptions) => infer Output
    ? (context: StepContext, input: Input, options: StepOptions) => Output
    : never;
};

const OF_MODELS: Table<ModelSteps> = {
  look,
  evaluate,
  plan,
  propose,
  ground,
  select,
  keep,
  learn,
  react: act,
  redel: act,
  'reforce-link': reforce.link,
  'reforce-format': reforce.format,
  'reforce-explore': reforce.explore,
  'reforce-generate': reforce.generate,
  'reforce-choose': reforce.choose,
  'reforce-answer': reforce.phrase,
};

/** Once each (`once`). */
const STORED: Table<Omit<SqlSteps, 'prepare'> & Pick<OtherSteps, 'web' | 'adopt'>> = {
  web,
  adopt,
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
};

const OTHERS: Table<Pick<SqlSteps, 'prepare'> & Omit<OtherSteps, 'web' | 'adopt'>> = {
  prepare,
  openChild,
  finish,
  amend,
};

export function createSteps(deps: StepDeps): StoredSteps & RemarkStep {
  type Step = (context: StepContext, input: never, options: StepOptions) => Promise<unknown>;
  const stored = Object.entries(STORED as Record<string, Step>).map(([name, step]): [string, Step] => [
    name,
    (context, input, options) => once(context, input, (within) => step(within, input, options)),
  ]);
  const table = Object.entries({ ...OF_MODELS, ...Object.fromEntries(stored), ...OTHERS } as Record<string, Step>);
  const steps = table.map(([name, step]) => [
    name,
    async (input: Pick<StepBase, 'searchId'>, options: StepOptions = {}) =>
      step(await openStep(deps, { position: name, ...input }, options), input as never, options),
  ]);
  return {
    ...(Object.fromEntries(steps) as StoredSteps),
    keepRemark: (searchId, remark) => {
      const at = new Date(deps.clock.now()).toISOString();
      const run = createRunStore(deps.store, searchId);
      return run.put('remark', remark.remarkId, { ...remark, at });
    },
  };
}
