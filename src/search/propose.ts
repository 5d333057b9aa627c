import type { PlanView } from '../domain';
import type { Lookup } from '../domain/ports/step-parts';
import { evidence, type ExpansionContext, type Findings, type Tried, tryModel } from './findings';
import { markImmaterial, planRef } from './plan-view';
import { DISTANCE } from './select-plan';
import type { ProbeInput, Probed, Proposed } from '../domain/ports/steps';

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
        steps.propose(
          {
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
          },
          { label: `propose a probe for ${targets.join(', ')}` },
        ),
      (proposed) => Promise.resolve(tooManyLookups(findings, proposed.lookups ?? [])),
    );
  const tried = await lookingUp(context, findings, position, ask, ({ lookups }) => lookups ?? []);
  if (tried === null) findings.giveUp(position, 'proposal');
  return tried?.value ?? null;
}

/** Runs the probes of a proposal (Algorithm 1, Exec). Not async: one more tick would reorder recorded concurrent steps (D8). */
export function probe(
  context: ExpansionContext,
  findings: Findings,
  input: ProbeInput,
  operators: readonly string[],
): Promise<Probed> {
  findings.checkpoint('sql');
  return context.steps.probe(input, { label: `probe ${operators.join(', ')}` });
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

/**
 * Lookups on the web (docs/web.md), for replies that ask for information before they plan or propose, as in the paper's
 * tool loop (App. B.1). Control runs the lookups and asks the model again with the results.
 *
 * 1. A lookup is evidence from outside: it is shown to every later prompt and proves nothing (rule S1).
 * 2. Their number is limited per search. A failed lookup counts, and the search continues.
 * 3. Without a limit in the settings there are no lookups, and the inputs of steps do not change.
 */

/** Asks, runs the lookups that the reply wants, and asks again at a new position, until a reply wants none. */
export async function lookingUp<T>(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  ask: (position: string) => Promise<Tried<T> | null>,
  wantedBy: (reply: T) => readonly Lookup[],
): Promise<Tried<T> | null> {
  for (let round = 0; ; round++) {
    const tried = await ask(round === 0 ? position : `${position}.w${round}`);
    const wanted = tried === null ? [] : wantedBy(tried.value);
    if (tried === null || wanted.length === 0) return tried;
    // Even the last try wanted more lookups than are left.
    if (tried.error !== null) return null;
    for (const lookup of wanted) await look(context, findings, lookup);
  }
}

/** The part of a step's input about the limit; empty if the search has no lookups. */
export function mayLookUp(findings: Findings): { readonly lookupsLeft?: number } {
  const left = findings.lookupsLeft();
  return left === null ? {} : { lookupsLeft: left };
}

/** The error for a reply that wants more lookups than are left; else null. */
export function tooManyLookups(findings: Findings, wanted: readonly Lookup[]): string | null {
  const left = findings.lookupsLeft() ?? 0;
  if (wanted.length <= left) return null;
  return left === 0 ? 'no lookups are left: do without' : `only ${left} lookups are left`;
}

async function look(context: ExpansionContext, findings: Findings, { actionId, tool }: Lookup): Promise<void> {
  // If no model call may follow, nobody would read the result.
  findings.checkpoint('model');
  const { searchId, steps } = context;
  const run = await steps.web({
    purpose: 'web',
    searchId,
    position: `${context.position}.w${findings.lookups.length + 1}`,
    actionId,
    tool,
    turns: findings.memory().web ?? [],
    mayFail: true,
  });
  findings.lookups.push(run.observationId);
  findings.charge({ ...run.usage, lookups: 1 });
  findings.distanceDelta += DISTANCE.otherTool;
}
