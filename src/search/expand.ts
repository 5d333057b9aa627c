/** Expands one selected trajectory: gets its plan, applies the memory, attempts its bottlenecks (design §3, steps 3 to 5). */
import type { PlanView } from '../domain';
import { attemptTargets, stepPosition, type PendingProposal } from './attempt';
import { Draft, SearchStopped, type Expansion, type ExpansionContext } from './expansion';
import { ROOT } from '../domain/control-view';
import { makePlan, type NewPlan } from './plan';
import { chooseTargets, findOperator, isTestable, needsWork } from './state/plan-view';
import { applyMemory } from './remember/reuse';

export async function expand(context: ExpansionContext): Promise<Expansion> {
  const { trajectory } = context;
  const draft = new Draft(context);
  const isNew = trajectory.id === ROOT || trajectory.status === 'replan';
  const via = trajectory.id === ROOT ? 'plan' : trajectory.status === 'replan' ? 'replan' : 'ground';
  try {
    await work(context, draft, isNew);
  } catch (error) {
    // After a budget, a cancellation or a failure, findings and charges so far are kept. A step that is cancelled in flight
    // throws the error of its runtime.
    if (!(error instanceof SearchStopped) && !context.cancelled()) return draft.result(via, { error });
    draft.stoppedEarly();
  }
  return draft.result(via);
}

async function work(context: ExpansionContext, draft: Draft, isNew: boolean): Promise<void> {
  const { trajectory, settings } = context;
  let pending: PendingProposal | null = null;
  if (isNew) {
    const made = await makePlan(context, draft);
    if (made === null) return;
    takePlan(context, draft, made.plan);
    if (made.proposalId !== null) pending = { proposalId: made.proposalId, operators: made.proposed };
  } else if (trajectory.plan !== null) {
    draft.bottleneck = trajectory.bottleneck;
    takePlan(context, draft, trajectory.plan);
  }
  // One step per operator and one more; further follow-on work belongs to the next iteration.
  const stepsFrom = (step: number) => step + (settings.followOn ? (draft.plan?.operators.length ?? 0) : 0);
  let maxSteps = stepsFrom(1);
  let before = draft.plan;
  let revised = false;
  const attempted = new Set<string>();
  const decided = new Set<string>();
  for (let step = 1; step <= maxSteps; step++) {
    const { targets, proposal } = chooseWork(context, draft, pending, attempted);
    if (targets.length === 0 || draft.impossible !== null) break;
    draft.bottleneck = targets[0] ?? null;
    context.report(draft.bottleneck, null, draft.usage, draft.plan);
    const position = stepPosition(context.iteration, context.lane, step);
    const result = await attemptTargets(context, draft, position, targets, proposal);
    for (const name of targets) attempted.add(name);
    for (const name of result.decided) decided.add(name);
    pending = result.next;
    if (draft.refit !== null) {
      // Once an expansion: a plan whose revision does not fit either goes on in the next iteration.
      const made: NewPlan | null = revised ? null : await refit(context, draft, step);
      if (made === null) break;
      revised = true;
      pending = made.proposalId === null ? null : { proposalId: made.proposalId, operators: made.proposed };
      [before, maxSteps] = [draft.plan, stepsFrom(step + 1)];
      for (const seen of [attempted, decided, draft.failing]) seen.clear();
      continue;
    }
    if (result.decided.size === 0) break;
  }
  for (const name of draft.failing) decided.delete(name);
  draft.plan = countBarren(before, draft.plan, attempted, decided, settings.proof);
}

/** The plan with other columns or grain, for the same question and with all that was proved; null: it stays as it was. */
async function refit(context: ExpansionContext, draft: Draft, step: number): Promise<NewPlan | null> {
  const made = await makePlan(context, draft, { step });
  const operators = draft.refit?.operators.join(', ') ?? '';
  draft.refit = null;
  if (made === null) return null;
  draft.note('plan-revised', operators, 'its columns or grain did not fit the rows');
  takePlan(context, draft, made.plan);
  return made;
}

/** Applies all compatible updates first; conflicting ones make rival plans (rule S3). */
function takePlan(context: ExpansionContext, draft: Draft, plan: PlanView): void {
  const applied = applyMemory(plan, draft.allUpdates());
  draft.plan = applied.plans[0] ?? plan;
  draft.rivals = applied.plans.slice(1);
  draft.reused.push(...applied.reused);
  for (const conflict of applied.conflicts)
    draft.note('reuse-conflict', conflict.operator, conflict.updates.join(', '));
}

/**
 * Uses the proposal that came with the last reply, if its operators still need work; else the best targets without attempts
 * in this iteration.
 */
function chooseWork(
  context: ExpansionContext,
  draft: Draft,
  pending: PendingProposal | null,
  attempted: ReadonlySet<string>,
): { readonly targets: readonly string[]; readonly proposal: PendingProposal | null } {
  const plan = draft.plan;
  if (plan === null) return { targets: [], proposal: null };
  const { breadth, proof } = context.settings;
  const useful = (pending?.operators ?? []).filter((name) => {
    const operator = findOperator(plan, name);
    return (
      operator !== undefined &&
      operator.state !== 'grounded' &&
      operator.immaterial === null &&
      isTestable(plan, operator)
    );
  });
  const wanted = useful.some((name) => {
    const operator = findOperator(plan, name);
    return operator !== undefined && needsWork(operator, proof) && !attempted.has(name);
  });
  if (pending !== null && wanted) return { targets: useful, proposal: pending };
  const targets = chooseTargets(plan, { breadth, preferred: draft.bottleneck, proof, except: attempted });
  return { targets, proposal: null };
}

/**
 * Counts iterations without new evidence on an operator, each once; new evidence resets the count (rule S7). If the operator
 * already has a body, a verdict is new evidence only if it changes the body, its risk, or whether it is immaterial.
 */
function countBarren(
  before: PlanView | null,
  plan: PlanView | null,
  attempted: ReadonlySet<string>,
  decided: ReadonlySet<string>,
  proof: 'execution' | 'model',
): PlanView | null {
  if (plan === null) return null;
  return {
    ...plan,
    operators: plan.operators.map((operator) => {
      if (!attempted.has(operator.name)) return operator;
      const was = before?.operators.find(({ name }) => name === operator.name) ?? null;
      const isNews = operator.bodyId === null || operator.bodyId !== was?.bodyId || operator.risk !== was.risk;
      const moved = (decided.has(operator.name) && isNews) || !needsWork(operator, proof);
      return { ...operator, barren: moved ? 0 : operator.barren + 1 };
    }),
  };
}
