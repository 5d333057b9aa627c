import type { PlanView, UpdateView } from '../domain';
import type { Grounded, Settled } from '../ports/search-steps';
import type { ExpansionContext } from './expansion';
import type { Findings } from './findings';
import { applyBody, assumedBody, holdBeside } from './remember/update';
import { ancestors, DOUBT, findOperator, planRef } from './state/plan-view';

type SettledResult = Settled['results'][number];

/** Runs the SQL of the winners over the plan. Not async, like `probe`. */
export function settle(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  grounded: Grounded,
): Promise<Settled> {
  findings.checkpoint('sql');
  return context.steps.settle({
    purpose: 'settle',
    searchId: context.searchId,
    position,
    plan: planRef(findings.currentPlan()),
    groundingId: grounded.groundingId,
    memory: findings.memory(),
  });
}

export function keepSettled(findings: Findings, { results }: Settled): void {
  const observed = findings.currentPlan();
  const made: UpdateView[] = [];
  for (const settled of results) {
    const result = readsWhatChanged(settled, results, observed) ? { ...settled, update: null, assumed: true } : settled;
    if (result.error === null) findings.failing.delete(result.operator);
    else findings.failing.add(result.operator);
    if (result.update !== null) {
      const before = findOperator(findings.currentPlan(), result.operator);
      const isAblated = findings.context.settings.without === 'update-reuse';
      findings.updates.push(isAblated ? { ...result.update, reusable: false } : result.update);
      made.push(result.update);
      const body = { bodyId: result.update.bodyId, updateId: result.update.id, risk: 0, assumptions: 0 };
      const plan = applyBody(findings.currentPlan(), result.operator, body, findings.allUpdates());
      if (before?.state === 'grounded' && before.bodyId !== body.bodyId) {
        // A second proof of this operator in the same iteration: both stay, as rival plans (rule S3).
        findings.rivals = [...findings.rivals, holdBeside(plan, [result.update], findings.allUpdates())];
        findings.note('reuse-conflict', result.operator, `${before.updateId ?? ''}, ${body.updateId}`);
      } else findings.plan = plan;
    } else if (result.assumed && result.bodyId !== null) {
      const before = findOperator(findings.currentPlan(), result.operator);
      // Supported and running, but not proved: less doubtful than before, still open.
      const body = assumedBody(result.bodyId, before?.state === 'assumed' ? judgedRisk(before.risk) : undefined);
      if (before?.state !== 'grounded')
        findings.plan = applyBody(findings.currentPlan(), result.operator, body, findings.allUpdates());
    }
  }
  findings.plan = holdBeside(findings.currentPlan(), made, findings.allUpdates());
}

/** Whether an operator that it reads gets a new body in the same settlement: its proof was observed over the old one (S1). */
function readsWhatChanged(proved: SettledResult, results: readonly SettledResult[], observed: PlanView): boolean {
  const below = ancestors(observed, proved.operator);
  const isNew = ({ operator, bodyId }: SettledResult) =>
    below.has(operator) && bodyId !== null && bodyId !== findOperator(observed, operator)?.bodyId;
  return proved.update !== null && results.some(isNew);
}

/** Less doubtful than before, but never below doubt: only proof settles a doubtful reading (S1). */
function judgedRisk(before: number): number {
  return Math.min(before, Math.max(DOUBT, before / 2));
}
