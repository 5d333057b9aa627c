/**
 * Makes a plan with the model: for the root, or the revision of a blocked trajectory (design §3, step 3). Written bodies are
 * run over their inputs at once. One that fails goes back to the planner with the exact error; if it still fails after the
 * last try, it becomes unresolved.
 */
import type { PlanView } from '../domain';
import { isBlocked, planRef, removeBody } from './plan-view';
import { type ExpansionContext, type Findings, tryModel } from './findings';
import { lookingUp, mayLookUp, type PendingProposal, tooManyLookups } from './propose';
import type { Checked, Planned } from '../domain/ports/steps';

export interface NewPlan {
  readonly plan: PlanView;
  /** The first tests, if the reply brought them along. */
  readonly pending: PendingProposal | null;
}

/**
 * Null when the model gave no usable plan or says that the question cannot be answered (then `findings.impossible`). `refit`: the
 * plan so far is revised after this step of the expansion, because an interface does not fit the rows.
 */
export async function makePlan(
  context: ExpansionContext,
  findings: Findings,
  refit: { readonly step: number } | null = null,
): Promise<NewPlan | null> {
  const { searchId, steps } = context;
  const first = refit === null ? `${context.position}.plan` : `${context.position}.s${refit.step}.refit`;
  let checked: Checked = { failures: [], usage: {} };
  const ask = (position: string) =>
    tryModel<Planned>(
      findings,
      (thisTry) =>
        steps.plan(
          {
            role: 'plan',
            searchId,
            position,
            ...thisTry,
            ...mayLookUp(findings),
            otherPlans: context.otherPlans,
            ...(context.unanswerable.length === 0 ? {} : { unanswerable: context.unanswerable }),
            revise: refit === null ? revision(context) : refitting(context, findings),
            ...(context.trajectory.plan === null && context.looked.length > 0 ? { seen: context.looked } : {}),
          },
          { label: context.trajectory.plan === null && refit === null ? 'plan' : 'revise the plan' },
        ),
      async (planned, tryNumber) => {
        if (planned.kind === 'lookup') return tooManyLookups(findings, planned.lookups);
        checked = await checkWritten(context, findings, `${position}.check${tryNumber}`, planned);
        return checked.failures.length === 0
          ? null
          : checked.failures.map((f) => `${f.operator}: ${f.error}`).join('\n');
      },
    );
  const tried = await lookingUp(context, findings, first, ask, (planned) =>
    planned.kind === 'lookup' ? planned.lookups : [],
  );
  if (tried === null || tried.value.kind === 'lookup') {
    findings.giveUp(first, 'plan');
    findings.distanceDelta += 1;
    return null;
  }
  const planned = tried.value;
  findings.potential = planned.potential;
  if (planned.kind === 'unanswerable') {
    findings.impossible = planned.reason;
    return null;
  }
  const plan = checked.failures.reduce((at, failure) => removeBody(at, failure.operator), planned.plan);
  findings.bottleneck = checked.failures[0]?.operator ?? planned.bottleneck;
  const { proposalId, proposed: operators } = planned;
  return { plan, pending: proposalId === null ? null : { proposalId, operators } };
}

async function checkWritten(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  planned: Planned,
): Promise<Checked> {
  const written = planned.kind === 'plan' ? planned.plan.operators.filter((o) => o.bodyId !== null) : [];
  if (planned.kind !== 'plan' || written.length === 0) return { failures: [], usage: {} };
  findings.checkpoint('sql');
  const operators = written.map((operator) => operator.name);
  const checked = await context.steps.check(
    {
      purpose: 'check',
      searchId: context.searchId,
      position,
      plan: planRef(planned.plan),
      operators,
    },
    { label: `check ${operators.join(', ')}` },
  );
  findings.charge(checked.usage);
  return checked;
}

function revision({ trajectory }: ExpansionContext) {
  if (trajectory.plan === null) return null;
  return {
    plan: planRef(trajectory.plan),
    blocked: trajectory.plan.operators.filter(isBlocked).map((operator) => operator.name),
    attempts: trajectory.attempts,
  };
}

function refitting({ trajectory }: ExpansionContext, { plan, refit, attempts }: Findings) {
  if (plan === null || refit === null) return null;
  return {
    plan: planRef(plan),
    blocked: [],
    attempts: [...trajectory.attempts, ...attempts],
    refit: refit.groundingId,
  };
}
