import type { PlanView } from '../domain';
import type { Probed, ProbeInput } from '../ports/search-steps';
import type { ExpansionContext } from './expansion';
import type { Findings } from './findings';
import { DISTANCE } from './select-plan';
import { markImmaterial } from './remember/update';
import { planRef } from './state/plan-view';

/** Runs the probes of a proposal (Algorithm 1, Exec). Not async: one more tick would reorder recorded concurrent steps (D8). */
export function probe(context: ExpansionContext, findings: Findings, input: ProbeInput): Promise<Probed> {
  findings.checkpoint('sql');
  return context.steps.probe(input);
}

export function probeInput(context: ExpansionContext, at: string, plan: PlanView, proposalId: string): ProbeInput {
  return {
    purpose: 'probe',
    searchId: context.searchId,
    position: `${at}.probe`,
    plan: planRef(plan),
    proposalId,
  };
}

export function takeProbe(findings: Findings, probed: Probed): void {
  findings.charge(probed.usage);
  findings.attempts.push(probed.observationId);
  findings.distanceDelta += distanceOf(probed.tests);
}

/** Records immaterial readings (rule S9), which need no verdict. Returns the operators left to judge. */
export function takeImmaterial(findings: Findings, probed: Probed, decided: Set<string>): readonly string[] {
  const readings = probed.tests.flatMap(({ operator, immaterial }) =>
    immaterial === null ? [] : [{ operator, ...immaterial }],
  );
  const { plan, marked } = markImmaterial(findings.currentPlan(), readings, findings.allUpdates());
  findings.plan = plan;
  for (const operator of marked) {
    findings.note('immaterial', operator, 'the rival readings give the same answer');
    decided.add(operator);
  }
  return probed.tests.map((test) => test.operator).filter((operator) => !marked.includes(operator));
}

export function distanceOf(tests: Probed['tests']): number {
  return tests.reduce((sum, { outcome }) => sum + OUTCOME_DISTANCE[outcome], 0);
}

const OUTCOME_DISTANCE: Record<Probed['tests'][number]['outcome'], number> = {
  rows: DISTANCE.usefulRows,
  empty: DISTANCE.empty,
  'sql-error': DISTANCE.sqlError,
  timeout: DISTANCE.sqlError,
  refused: DISTANCE.sqlError,
};
