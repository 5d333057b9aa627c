import type { Grounded, Probed, Settled } from '../ports/search-steps';
import { evidence, type ExpansionContext } from './expansion';
import type { Findings } from './findings';
import { distanceOf } from './probe';
import type { PendingProposal } from './propose';
import { applyBody, assumedBody } from './remember/update';
import { keepSettled, settle } from './settle';
import { findOperator, planRef } from './state/plan-view';
import { tryModel } from './try-model';

/**
 * One judgement of the attempt's observations (Algorithm 1, SummarizeAndGround). Its SQL is then run; a body that fails is
 * sent back with its error.
 */
export async function ground(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  probes: readonly Probed[],
  decided: Set<string>,
): Promise<PendingProposal | null> {
  const { searchId, steps } = context;
  let settled: Settled = { results: [], usage: {} };
  const tried = await tryModel<Grounded>(
    findings,
    (thisTry) =>
      steps.ground({
        role: 'ground',
        searchId,
        position: `${position}.ground`,
        ...thisTry,
        plan: planRef(findings.currentPlan()),
        observations: probes.map((probed) => probed.observationId),
        ...evidence(context, findings, thisTry.memory),
      }),
    async (grounded, tryNumber) => {
      settled = { results: [], usage: {} };
      if (grounded.operators.every((o) => o.winner === null)) return null;
      const at = `${position}.settle${tryNumber}`;
      settled = await settle(context, findings, at, grounded);
      findings.charge(settled.usage);
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
  probes: readonly Probed[],
  grounded: Grounded,
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
  grounded: Grounded,
): Promise<void> {
  const before = findings.currentPlan();
  const written = grounded.written.filter((w) => findOperator(before, w.operator)?.state !== 'grounded');
  if (written.length === 0) return;
  const taking = (bodies: typeof written) =>
    bodies.reduce(
      (at, w) => applyBody(at, w.operator, assumedBody(w.bodyId, w.risk, w.assumptions), findings.allUpdates()),
      before,
    );
  findings.checkpoint('sql');
  const checked = await context.steps.check({
    purpose: 'check',
    searchId: context.searchId,
    position,
    plan: planRef(taking(written)),
    operators: written.map((w) => w.operator),
  });
  findings.charge(checked.usage);
  findings.plan = taking(written.filter((w) => !checked.failures.some((failure) => failure.operator === w.operator)));
}
