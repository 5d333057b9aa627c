/**
 * Makes a plan with the model: for the root, or the revision of a blocked trajectory (design §3, step 3). Written bodies are
 * run over their inputs at once. One that fails goes back to the planner with the exact error; if it still fails after the
 * last try, it becomes unresolved.
 */
import type { PlanView } from '../domain';
import { removeBody } from './remember/update';
import type { Draft, ExpansionContext } from './expansion';
import { tryModel } from './expansion';
import { lookingUp, mayLookUp, tooManyLookups } from './lookups';
import { chooseTargets, isBlocked, isComplete, planRef } from './state/plan-view';
import type { Checked, FollowUp, Planned } from '../ports/search-steps';
import { firstAttempt, probeInput, stepPosition } from './attempt';

export interface NewPlan {
  readonly plan: PlanView;
  readonly proposalId: string | null;
  readonly proposed: readonly string[];
}

/**
 * Null when the model gave no usable plan or says that the question cannot be answered (then `draft.impossible`). `refit`: the
 * draft's plan is revised after this step of the expansion, because an interface does not fit the rows.
 */
export async function makePlan(
  context: ExpansionContext,
  draft: Draft,
  refit: { readonly step: number } | null = null,
): Promise<NewPlan | null> {
  const { searchId, settings, steps, iteration, lane, variant } = context;
  const first = refit === null ? `i${iteration}.${lane}.plan` : `${stepPosition(iteration, lane, refit.step)}.refit`;
  const nextStep = refit === null ? 1 : refit.step + 1;
  let checked: Checked = { failures: [], usage: {} };
  const ask = (position: string) =>
    tryModel<Planned>(
      draft,
      settings.parseRetries,
      (tryNumber, executionError) =>
        steps.plan({
          role: 'plan',
          searchId,
          position,
          tryNumber,
          ...(executionError === undefined ? {} : { executionError }),
          memory: draft.memory(),
          ...mayLookUp(draft),
          otherPlans: context.otherPlans,
          ...(context.unanswerable.length === 0 ? {} : { unanswerable: context.unanswerable }),
          ...(variant === null ? {} : { variant }),
          revise: refit === null ? revision(context) : refitting(context, draft),
          ...(context.trajectory.plan === null && context.looked.length > 0 ? { seen: context.looked } : {}),
        }),
      async (planned, tryNumber) => {
        if (planned.kind === 'lookup') return tooManyLookups(draft, planned.lookups);
        checked = await checkWritten(context, draft, `${position}.check${tryNumber}`, planned, nextStep);
        return checked.failures.length === 0
          ? null
          : checked.failures.map((f) => `${f.operator}: ${f.error}`).join('\n');
      },
    );
  const tried = await lookingUp(context, draft, first, ask, (planned) =>
    planned.kind === 'lookup' ? planned.lookups : [],
  );
  if (tried === null || tried.value.kind === 'lookup') {
    draft.giveUp(first, 'plan');
    draft.distanceDelta += 1;
    return null;
  }
  const planned = tried.value;
  draft.potential = planned.potential;
  if (planned.kind === 'unanswerable') {
    draft.impossible = planned.reason;
    return null;
  }
  const plan = checked.failures.reduce((at, failure) => removeBody(at, failure.operator), planned.plan);
  draft.bottleneck = checked.failures[0]?.operator ?? planned.bottleneck;
  return { plan, proposalId: planned.proposalId, proposed: planned.proposed };
}

async function checkWritten(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  planned: Planned,
  nextStep: number,
): Promise<Checked> {
  const written = planned.kind === 'plan' ? planned.plan.operators.filter((o) => o.bodyId !== null) : [];
  if (planned.kind !== 'plan' || written.length === 0) return { failures: [], usage: {} };
  draft.checkpoint('sql');
  const next = followUp(context, planned, nextStep);
  const checked = await context.steps.check({
    purpose: 'check',
    searchId: context.searchId,
    position,
    plan: planRef(planned.plan),
    operators: written.map((operator) => operator.name),
    ...(next === null ? {} : { next }),
  });
  draft.charge(checked.usage);
  draft.ahead = next === null || checked.next === undefined ? null : { input: next, output: checked.next };
  return checked;
}

/** The step to run along with the check: the tests that came with the plan, or the whole plan if it has no doubts. */
function followUp(
  context: ExpansionContext,
  planned: Extract<Planned, { kind: 'plan' }>,
  step: number,
): FollowUp | null {
  const { plan, proposalId } = planned;
  if (proposalId !== null) return probeInput(context, `${firstAttempt(context, step)}.r1`, plan, proposalId);
  const targets = chooseTargets(plan, { breadth: 1, preferred: null, proof: context.settings.proof });
  return isComplete(plan) && targets.length === 0 ? context.candidateOf(plan) : null;
}

function revision({ trajectory }: ExpansionContext) {
  if (trajectory.plan === null) return null;
  return {
    plan: planRef(trajectory.plan),
    blocked: trajectory.plan.operators.filter(isBlocked).map((operator) => operator.name),
    attempts: trajectory.attempts,
  };
}

function refitting({ trajectory }: ExpansionContext, { plan, refit, attempts }: Draft) {
  if (plan === null || refit === null) return null;
  return {
    plan: planRef(plan),
    blocked: [],
    attempts: [...trajectory.attempts, ...attempts],
    refit: refit.groundingId,
  };
}
