import type { Probed, Proposed } from '../ports/search-steps';
import { evidence, type ExpansionContext } from './expansion';
import type { Findings } from './findings';
import { lookingUp, mayLookUp, tooManyLookups } from './lookups';
import { planRef } from './state/plan-view';
import { tryModel } from './try-model';

export interface PendingProposal {
  readonly proposalId: string;
  readonly operators: readonly string[];
}

/** Rival hypotheses for the targets, each with a probe that could refute it (Algorithm 1, ProposeGrounding). */
export async function propose(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  targets: readonly string[],
  probes: readonly Probed[],
): Promise<Proposed | null> {
  const { searchId, settings, steps } = context;
  context.report(targets.join(', '), null, findings.usage, findings.plan);
  const ask = (where: string) =>
    tryModel<Proposed>(
      findings,
      (thisTry) =>
        steps.propose({
          role: 'propose',
          searchId,
          position: where,
          ...thisTry,
          ...mayLookUp(findings),
          plan: planRef(findings.currentPlan()),
          targets,
          ...evidence(context, findings, thisTry.memory),
          rollout: probes.map((probed) => probed.observationId),
          callsLeft: Math.min(settings.rounds - probes.length, findings.callsLeft() ?? Infinity),
        }),
      (proposed) => Promise.resolve(tooManyLookups(findings, proposed.lookups ?? [])),
    );
  const tried = await lookingUp(context, findings, position, ask, ({ lookups }) => lookups ?? []);
  if (tried === null) findings.giveUp(position, 'proposal');
  return tried?.value ?? null;
}
