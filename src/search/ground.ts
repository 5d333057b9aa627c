import type { PlanView, UpdateView } from '../domain';
import { evidence, type ExpansionContext, type Findings, tryModel } from './findings';
import { ancestors, applyBody, assumedBody, DOUBT, findOperator, holdBeside, planRef } from './plan-view';
import { check, distanceOf, type PendingProposal } from './propose';
import type { Gives } from '../domain/ports/steps';

/**
 * One judgement of the attempt's observations (Algorithm 1, SummarizeAndGround). Its SQL is then run; a body that fails is
 * sent back with its error.
 */
export async function ground(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  probes: readonly Gives<'probe'>[],
  decided: Set<string>,
): Promise<PendingProposal | null> {
  const { searchId, steps } = context;
  let settled: Gives<'settle'> = { results: [], usage: {} };
  const tried = await tryModel(
    findings,
    (thisTry) =>
      steps.ground(
        {
          role: 'ground',
          searchId,
          position: `${position}.ground`,
          ...thisTry,
          plan: planRef(findings.currentPlan()),
          observations: probes.map((probed) => probed.observationId),
          ...evidence(context, findings, thisTry.memory),
        },
        {
          label: `ground ${[...new Set(probes.flatMap(({ tests }) => tests.map(({ operator }) => operator)))].join(', ')}`,
        },
      ),
    async (grounded, tryNumber) => {
      settled = { results: [], usage: {} };
      if (grounded.operators.every((o) => o.winner === null)) return null;
      const at = `${position}.settle${tryNumber}`;
      const { groundingId } = grounded;
      const [plan, memory] = [planRef(findings.currentPlan()), findings.memory()];
      settled = await findings.sql(() =>
        steps.settle(
          { purpose: 'settle', searchId, position: at, plan, groundingId, memory },
          { label: `settle ${grounded.operators.map(({ operator }) => operator).join(', ')}` },
        ),
      );
      const errors = settled.results.filter((result) => result.error !== null);
      return errors.length === 0 ? null : errors.map((r) => `${r.operator}: ${r.error ?? ''}`).join('\n');
    },
  );
  if (tried === null) {
    findings.giveUp(`${position}.ground`, 'judgement');
    return null;
  }
  const grounded = tried.value;
  keepGrounded(context, findings, probes, grounded, decided);
  keepSettled(findings, settled);
  await keepWritten(context, findings, `${position}.written`, grounded);
  const next = grounded.nextProposalId;
  return next === null ? null : { proposalId: next, operators: grounded.nextOperators };
}

function keepGrounded(
  context: ExpansionContext,
  findings: Findings,
  probes: readonly Gives<'probe'>[],
  grounded: Gives<'ground'>,
  decided: Set<string>,
): void {
  findings.attempts.push(grounded.groundingId);
  findings.facts.push(...grounded.facts);
  findings.impossible = grounded.impossible;
  findings.absenceShown = grounded.absenceShown === true;
  const { groundingId, refit: operators = [] } = grounded;
  if (operators.length > 0) findings.refit = { groundingId, operators };
  for (const operator of grounded.operators) if (operator.decided) decided.add(operator.operator);
  if (grounded.delta !== null) {
    // The summariser's own delta replaces the arithmetic one of this attempt (rule S6).
    findings.distanceDelta += grounded.delta - distanceOf(probes.flatMap(({ tests }) => tests));
  }
  context.report(grounded.operators[0]?.operator ?? null, grounded.learned, findings.usage, findings.plan);
}

/** Bodies that the reply wrote for other operators: assumed if they run, else dropped, and the old body stays. */
async function keepWritten(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  grounded: Gives<'ground'>,
): Promise<void> {
  const before = findings.currentPlan();
  const written = grounded.written.filter((w) => findOperator(before, w.operator)?.state !== 'grounded');
  if (written.length === 0) return;
  const taking = (bodies: typeof written) =>
    bodies.reduce(
      (at, w) => applyBody(at, w.operator, assumedBody(w.bodyId, w.risk, w.assumptions), findings.allUpdates()),
      before,
    );
  const operators = written.map((w) => w.operator);
  const { failures } = await check(context, findings, position, taking(written), operators);
  findings.plan = taking(written.filter((w) => !failures.some((failure) => failure.operator === w.operator)));
}

type SettledResult = Gives<'settle'>['results'][number];

function keepSettled(findings: Findings, { results }: Gives<'settle'>): void {
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
