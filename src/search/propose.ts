/**
 * What an expansion asks of the model before it judges: a plan, and rival hypotheses with a probe; then the probe is run.
 */
import type { PlanView } from '../domain';
import type { Lookup } from '../domain/ports/step-parts';
import { evidence, type ExpansionContext, type Findings, type Tried, tryModel } from './findings';
import { isBlocked, markImmaterial, planRef, removeBody } from './plan-view';
import { DISTANCE } from './select-plan';
import type { Gives } from '../domain/ports/steps';

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
  probes: readonly Gives<'probe'>[],
): Promise<Gives<'propose'> | null> {
  const { searchId, settings, steps } = context;
  context.report(targets.join(', '), null, findings.usage, findings.plan);
  const ask = (where: string) =>
    tryModel(
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

/** Runs the probes of a proposal (Algorithm 1, Exec). */
export async function probe(
  { searchId, steps }: ExpansionContext,
  findings: Findings,
  position: string,
  { proposalId, operators }: PendingProposal,
): Promise<Gives<'probe'>> {
  const plan = planRef(findings.currentPlan());
  const probed = await findings.sql(() =>
    steps.probe(
      { purpose: 'probe', searchId, position: `${position}.probe`, plan, proposalId },
      { label: `probe ${operators.join(', ')}` },
    ),
  );
  findings.attempts.push(probed.observationId);
  findings.distanceDelta += distanceOf(probed.tests);
  return probed;
}

/** Records immaterial readings (rule S9), which need no verdict. Returns the operators left to judge. */
export function takeImmaterial(findings: Findings, probed: Gives<'probe'>, decided: Set<string>): readonly string[] {
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

export function distanceOf(tests: Gives<'probe'>['tests']): number {
  return tests.reduce((sum, { outcome }) => sum + OUTCOME_DISTANCE[outcome], 0);
}

const OUTCOME_DISTANCE: Record<Gives<'probe'>['tests'][number]['outcome'], number> = {
  rows: DISTANCE.usefulRows,
  empty: DISTANCE.empty,
  'sql-error': DISTANCE.sqlError,
  timeout: DISTANCE.sqlError,
  refused: DISTANCE.sqlError,
};

/**
 * Makes a plan with the model: for the root, or the revision of a blocked trajectory (design §3, step 3). Written bodies are
 * run over their inputs at once. One that fails goes back to the planner with the exact error; if it still fails after the
 * last try, it becomes unresolved.
 */

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
  let checked: Gives<'check'> = { failures: [], usage: {} };
  const ask = (position: string) =>
    tryModel(
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
  planned: Gives<'plan'>,
): Promise<Gives<'check'>> {
  const written = planned.kind === 'plan' ? planned.plan.operators.filter((o) => o.bodyId !== null) : [];
  if (planned.kind !== 'plan' || written.length === 0) return { failures: [], usage: {} };
  return check(
    context,
    findings,
    position,
    planned.plan,
    written.map(({ name }) => name),
  );
}

/** Runs bodies that a reply wrote over their inputs. */
export function check(
  { searchId, steps }: ExpansionContext,
  findings: Findings,
  position: string,
  plan: PlanView,
  operators: readonly string[],
): Promise<Gives<'check'>> {
  return findings.sql(() =>
    steps.check(
      { purpose: 'check', searchId, position, plan: planRef(plan), operators: [...operators] },
      { label: `check ${operators.join(', ')}` },
    ),
  );
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
