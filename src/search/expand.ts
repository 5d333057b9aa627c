/** Expands one selected trajectory: gets its plan, applies the memory, attempts its bottlenecks (design §3, steps 3 to 5). */
import type { PlanView } from '../domain';
import { ROOT } from '../domain/control-view';
import { type Expansion, type ExpansionContext, Findings, SearchStopped } from './findings';
import { ground } from './ground';
import { applyMemory } from './memory';
import { chooseBottlenecks, findOperator, isTestable, needsWork } from './plan-view';
import { makePlan, type NewPlan, type PendingProposal, probe, propose, takeImmaterial } from './propose';
import type { Gives } from '../domain/ports/steps';

export async function expand(context: ExpansionContext): Promise<Expansion> {
  const { trajectory } = context;
  const findings = new Findings(context);
  const isNew = trajectory.id === ROOT || trajectory.status === 'replan';
  const via = trajectory.id === ROOT ? 'plan' : trajectory.status === 'replan' ? 'replan' : 'ground';
  try {
    await work(context, findings, isNew);
  } catch (error) {
    // After a budget, a cancellation or a failure, findings and charges so far are kept. A step that is cancelled in flight
    // throws the error of its runtime.
    if (!(error instanceof SearchStopped) && !context.cancelled()) return findings.result(via, { error });
    findings.stoppedEarly();
  }
  return findings.result(via);
}

async function work(context: ExpansionContext, findings: Findings, isNew: boolean): Promise<void> {
  const { trajectory, settings } = context;
  let pending: PendingProposal | null = null;
  if (isNew) {
    const made = await makePlan(context, findings);
    if (made === null) return;
    takePlan(findings, made.plan);
    pending = made.pending;
  } else if (trajectory.plan !== null) {
    findings.bottleneck = trajectory.bottleneck;
    takePlan(findings, trajectory.plan);
  }
  // One step per operator and one more; further follow-on work belongs to the next iteration.
  const stepsFrom = (step: number) => step + (settings.followOn ? (findings.plan?.operators.length ?? 0) : 0);
  let maxSteps = stepsFrom(1);
  let before = findings.plan;
  let revised = false;
  const attempted = new Set<string>();
  const decided = new Set<string>();
  for (let step = 1; step <= maxSteps; step++) {
    const { targets, proposal } = chooseWork(context, findings, pending, attempted);
    if (targets.length === 0 || findings.impossible !== null) break;
    findings.bottleneck = targets[0] ?? null;
    context.report(findings.bottleneck, null, findings.usage, findings.plan);
    const result = await attemptTargets(context, findings, `${context.position}.s${step}`, targets, proposal);
    for (const name of targets) attempted.add(name);
    for (const name of result.decided) decided.add(name);
    pending = result.next;
    if (findings.refit !== null) {
      // Once an expansion: a plan whose revision does not fit either goes on in the next iteration.
      const made: NewPlan | null = revised ? null : await refit(context, findings, step);
      if (made === null) break;
      revised = true;
      pending = made.pending;
      [before, maxSteps] = [findings.plan, stepsFrom(step + 1)];
      for (const seen of [attempted, decided, findings.failing]) seen.clear();
      continue;
    }
    if (result.decided.size === 0) break;
  }
  for (const name of findings.failing) decided.delete(name);
  findings.plan = countWithoutEvidence(before, findings.plan, attempted, decided, settings.proof);
}

/** The plan with other columns or grain, for the same question and with all that was proved; null: it stays as it was. */
async function refit(context: ExpansionContext, findings: Findings, step: number): Promise<NewPlan | null> {
  const made = await makePlan(context, findings, { step });
  const operators = findings.refit?.operators.join(', ') ?? '';
  findings.refit = null;
  if (made === null) return null;
  findings.note('plan-revised', operators, 'its columns or grain did not fit the rows');
  takePlan(findings, made.plan);
  return made;
}

/** Applies all compatible updates first; conflicting ones make rival plans (rule S3). */
function takePlan(findings: Findings, plan: PlanView): void {
  const applied = applyMemory(plan, findings.allUpdates());
  findings.plan = applied.plans[0] ?? plan;
  findings.rivals = applied.plans.slice(1);
  findings.reused.push(...applied.reused);
  for (const conflict of applied.conflicts)
    findings.note('reuse-conflict', conflict.operator, conflict.updates.join(', '));
}

/**
 * Uses the proposal that came with the last reply, if its operators still need work; else the best targets without attempts
 * in this iteration.
 */
function chooseWork(
  context: ExpansionContext,
  findings: Findings,
  pending: PendingProposal | null,
  attempted: ReadonlySet<string>,
): { readonly targets: readonly string[]; readonly proposal: PendingProposal | null } {
  const plan = findings.plan;
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
  const targets = chooseBottlenecks(plan, { breadth, preferred: findings.bottleneck, proof, except: attempted });
  return { targets, proposal: null };
}

/**
 * Counts iterations without new evidence on an operator, each once; new evidence resets the count (rule S7). If the operator
 * already has a body, a verdict is new evidence only if it changes the body, its risk, or whether it is immaterial.
 */
function countWithoutEvidence(
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

/**
 * Attempts on bottlenecks (design §3, steps 4 and 5; Algorithm 1, the inner loop): propose rival hypotheses with a probe,
 * run it, judge, and settle what the data proves. Evidence of earlier attempts, failures included, goes into the next.
 */

/** Which operators were attempted, which gained new evidence (rule S7), and a proposal that came with the last judgement. */
interface AttemptsResult {
  readonly decided: ReadonlySet<string>;
  readonly next: PendingProposal | null;
}

const RAN: ReadonlySet<Gives<'probe'>['tests'][number]['outcome']> = new Set(['rows', 'empty']);

/** Up to J attempts on the targets, fewer once all of them are resolved. */
async function attemptTargets(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  targets: readonly string[],
  pending: PendingProposal | null,
): Promise<AttemptsResult> {
  const { settings } = context;
  // The paper runs all J attempts on the bottleneck, whatever the first one found.
  const runsAll = settings.method === 'paper';
  const decided = new Set<string>();
  let proposal = pending;
  let next: PendingProposal | null = null;
  for (let attempt = 1; attempt <= settings.attempts && isUnderWay(findings); attempt++) {
    const open = runsAll ? targets : targets.filter((name) => !isResolved(findings, name, settings.proof));
    if (open.length === 0) break;
    // A proposal that came with the last judgement saves a model call.
    if (proposal === null && next?.operators.some((name) => open.includes(name)) === true)
      [proposal, next] = [next, null];
    const at = `${position}.a${attempt}`;
    const probes = await probeInRounds(context, findings, at, open, proposal);
    proposal = null;
    // No probe, or no usable reply after all retries: asking the same again would hardly help.
    if (probes.length === 0) break;
    const judged = probes.flatMap((probed) => takeImmaterial(findings, probed, decided));
    if (judged.length === 0) continue;
    // If no probe ran, there is nothing to judge: the next proposal gets the errors as evidence.
    if (!runsAll && probes.every(({ tests }) => tests.every(({ outcome }) => !RAN.has(outcome)))) continue;
    next = (await ground(context, findings, at, probes, decided)) ?? next;
  }
  return { decided, next };
}

/** Not if the rows show that it is not stored, or that the plan has to be another. */
function isUnderWay({ impossible, refit }: Findings): boolean {
  return impossible === null && refit === null;
}

/** The probes of one attempt: one round, or several with `rounds` > 1 (method `paper`). */
async function probeInRounds(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  targets: readonly string[],
  pending: PendingProposal | null,
): Promise<readonly Gives<'probe'>[]> {
  const { settings } = context;
  const probes: Gives<'probe'>[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const at = `${position}.r${round}`;
    const proposed =
      round === 1 && pending !== null
        ? { ...pending, done: false }
        : await propose(context, findings, `${at}.propose`, targets, probes);
    if (proposed === null || proposed.operators.length === 0) break;
    probes.push(await probe(context, findings, at, proposed));
    if (proposed.done) break;
  }
  return probes;
}

function isResolved(findings: Findings, name: string, proof: 'execution' | 'model'): boolean {
  const operator = findOperator(findings.currentPlan(), name);
  return operator === undefined || !needsWork(operator, proof);
}
