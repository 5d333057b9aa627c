/**
 * Attempts on bottlenecks (design §3, steps 4 and 5; Algorithm 1, the inner loop): propose rival hypotheses with a probe,
 * run it, judge, and settle what the data proves. Evidence of earlier attempts, failures included, goes into the next.
 */
import type { PlanView, UpdateView } from '../domain';
import { applyBody, assumedBody, holdBeside, markImmaterial } from './remember/update';
import type { Draft, ExpansionContext } from './expansion';
import { ranAhead, tryModel } from './expansion';
import { lookingUp, mayLookUp, tooManyLookups } from './lookups';
import { ancestors, chooseTargets, DOUBT, findOperator, isComplete, needsWork, planRef } from './state/plan-view';
import { DISTANCE } from './rank-trajectories';
import {
  updateIdOf,
  type Grounded,
  type Probed,
  type ProbeInput,
  type Proposed,
  type Settled,
} from '../ports/search-steps';

export interface PendingProposal {
  readonly proposalId: string;
  readonly operators: readonly string[];
}

/** Which operators were attempted, which gained new evidence (rule S7), and a proposal that came with the last judgement. */
export interface AttemptsResult {
  readonly decided: ReadonlySet<string>;
  readonly next: PendingProposal | null;
}

type SettledResult = Settled['results'][number];

const RAN: ReadonlySet<Probed['tests'][number]['outcome']> = new Set(['rows', 'empty']);

/** Up to J attempts on the targets, fewer once all of them are resolved. */
export async function attemptTargets(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  targets: readonly string[],
  pending: PendingProposal | null,
): Promise<AttemptsResult> {
  const { settings } = context;
  // The paper runs all J attempts on the bottleneck, whatever the first one found.
  const runsAll = settings.preset === 'paper';
  const decided = new Set<string>();
  let proposal = pending;
  let next: PendingProposal | null = null;
  for (let attempt = 1; attempt <= settings.attempts && isUnderWay(draft); attempt++) {
    const open = runsAll ? targets : targets.filter((name) => !isResolved(draft, name, settings.proof));
    if (open.length === 0) break;
    // A proposal that came with the last judgement saves a model call.
    if (proposal === null && next?.operators.some((name) => open.includes(name)) === true)
      [proposal, next] = [next, null];
    const at = `${position}.a${attempt}`;
    const probes = await rollout(context, draft, at, open, proposal);
    proposal = null;
    // No probe, or no usable reply after all retries: asking the same again would hardly help.
    if (probes.length === 0) break;
    const judged = probes.flatMap((probed) => takeImmaterial(draft, probed, decided));
    if (judged.length === 0) continue;
    // If no probe ran, there is nothing to judge: the next proposal gets the errors as evidence.
    if (!runsAll && probes.every(({ tests }) => tests.every(({ outcome }) => !RAN.has(outcome)))) continue;
    next = (await judge(context, draft, at, probes, decided)) ?? next;
  }
  return { decided, next };
}

/** Not if the rows show that it is not stored, or that the plan has to be another. */
export function isUnderWay({ impossible, refit }: Draft): boolean {
  return impossible === null && refit === null;
}

/** The probes of one attempt: one round, or several with `rounds` > 1 (preset `paper`). */
async function rollout(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  targets: readonly string[],
  pending: PendingProposal | null,
): Promise<readonly Probed[]> {
  const { searchId, settings, steps, trajectory } = context;
  const probes: Probed[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const at = `${position}.r${round}`;
    const proposed = round === 1 && pending !== null ? { ...pending, done: false } : await propose(at);
    if (proposed === null || proposed.operators.length === 0) break;
    const input = probeInput(context, at, currentPlan(draft), proposed.proposalId);
    let probed = ranAhead(draft.ahead, input);
    if (probed === null) {
      draft.checkpoint('sql');
      probed = await steps.probe(input);
    }
    draft.charge(probed.usage);
    draft.attempts.push(probed.observationId);
    draft.distanceDelta += probed.tests.reduce((sum, test) => sum + distanceOf(test.outcome), 0);
    probes.push(probed);
    if (proposed.done) break;
  }
  return probes;

  async function propose(at: string): Promise<Proposed | null> {
    context.report(targets.join(', '), null, draft.usage, draft.plan);
    const ask = (where: string) =>
      tryModel<Proposed>(
        draft,
        settings.parseRetries,
        (tryNumber, executionError) =>
          steps.propose({
            role: 'propose',
            searchId,
            position: where,
            tryNumber,
            ...(executionError === undefined ? {} : { executionError }),
            memory: draft.memory(),
            ...mayLookUp(draft),
            plan: planRef(currentPlan(draft)),
            targets,
            attempts: [...trajectory.attempts, ...draft.attempts],
            rollout: probes.map((probed) => probed.observationId),
            callsLeft: Math.min(settings.rounds - probes.length, draft.callsLeft() ?? Infinity),
          }),
        (proposed) => Promise.resolve(tooManyLookups(draft, proposed.lookups ?? [])),
      );
    const tried = await lookingUp(context, draft, `${at}.propose`, ask, ({ lookups }) => lookups ?? []);
    if (tried === null) draft.giveUp(`${at}.propose`, 'proposal');
    return tried?.value ?? null;
  }
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

/** Position of the first attempt of an expansion, or of one of its later steps. */
export function firstAttempt({ iteration, lane }: ExpansionContext, step = 1): string {
  return `${stepPosition(iteration, lane, step)}.a1`;
}

export function stepPosition(iteration: number, lane: string, step: number): string {
  return `i${iteration}.${lane}.s${step}`;
}

/** Records immaterial readings (rule S9), which need no verdict. Returns the operators left to judge. */
function takeImmaterial(draft: Draft, probed: Probed, decided: Set<string>): readonly string[] {
  const readings = probed.tests.flatMap(({ operator, immaterial }) =>
    immaterial === null ? [] : [{ operator, ...immaterial }],
  );
  const { plan, marked } = markImmaterial(currentPlan(draft), readings, draft.allUpdates());
  draft.plan = plan;
  for (const operator of marked) {
    draft.note('immaterial', operator, 'the rival readings give the same answer');
    decided.add(operator);
  }
  return probed.tests.map((test) => test.operator).filter((operator) => !marked.includes(operator));
}

/** One judgement of the attempt's observations. Its SQL is then run; a body that fails is sent back with its error. */
async function judge(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  probes: readonly Probed[],
  decided: Set<string>,
): Promise<PendingProposal | null> {
  const { searchId, settings, steps, trajectory } = context;
  let settled: Settled = { results: [], usage: {} };
  const evidence = [...trajectory.attempts, ...draft.attempts];
  const tried = await tryModel<Grounded>(
    draft,
    settings.parseRetries,
    (tryNumber, executionError) =>
      steps.ground({
        role: 'ground',
        searchId,
        position: `${position}.ground`,
        tryNumber,
        ...(executionError === undefined ? {} : { executionError }),
        memory: draft.memory(),
        plan: planRef(currentPlan(draft)),
        observations: probes.map((probed) => probed.observationId),
        attempts: evidence,
      }),
    async (grounded, tryNumber) => {
      settled = { results: [], usage: {} };
      if (grounded.operators.every((o) => o.winner === null)) return null;
      draft.checkpoint('sql');
      const at = `${position}.settle${tryNumber}`;
      const next = candidateAfter(context, draft, at, grounded);
      settled = await steps.settle({
        purpose: 'settle',
        searchId,
        position: at,
        plan: planRef(currentPlan(draft)),
        groundingId: grounded.groundingId,
        memory: draft.memory(),
        ...(next === null ? {} : { next }),
      });
      draft.charge(settled.usage);
      if (next !== null && settled.next !== undefined) draft.ahead = { input: next, output: settled.next };
      const errors = settled.results.filter((result) => result.error !== null);
      return errors.length === 0 ? null : errors.map((r) => `${r.operator}: ${r.error ?? ''}`).join('\n');
    },
  );
  if (tried === null) {
    draft.giveUp(`${position}.ground`, 'judgement');
    return null;
  }
  const grounded = tried.value;
  keepGrounded(context, draft, probes, grounded, decided);
  keepSettled(draft, settled);
  await keepWritten(context, draft, `${position}.written`, grounded);
  const next = grounded.nextProposalId;
  return next === null ? null : { proposalId: next, operators: grounded.nextOperators };
}

/** The candidate to run along, if every winner is proved and the plan has no further doubts; null otherwise. */
function candidateAfter(context: ExpansionContext, draft: Draft, position: string, grounded: Grounded) {
  if (grounded.written.length > 0 || grounded.impossible !== null || grounded.nextProposalId !== null) return null;
  const plan = grounded.operators.reduce((at, { operator, winner, bodyId }) => {
    if (winner === null || bodyId === null) return at;
    const body = { bodyId, updateId: updateIdOf(position, operator), risk: 0, assumptions: 0 };
    return applyBody(at, operator, body, draft.allUpdates());
  }, currentPlan(draft));
  const targets = chooseTargets(plan, { breadth: 1, preferred: null, proof: context.settings.proof });
  return isComplete(plan) && targets.length === 0 ? context.candidateOf(plan) : null;
}

function keepGrounded(
  context: ExpansionContext,
  draft: Draft,
  probes: readonly Probed[],
  grounded: Grounded,
  decided: Set<string>,
): void {
  draft.attempts.push(grounded.groundingId);
  draft.facts.push(...grounded.facts);
  draft.impossible = grounded.impossible;
  draft.absenceShown = grounded.absenceShown === true;
  const { groundingId, refit: operators = [] } = grounded;
  if (operators.length > 0) draft.refit = { groundingId, operators };
  for (const operator of grounded.operators) if (operator.decided) decided.add(operator.operator);
  if (grounded.delta !== null) {
    // The summariser's own delta replaces the arithmetic one of this attempt (rule S6).
    const arithmetic = probes.flatMap((p) => p.tests).reduce((sum, test) => sum + distanceOf(test.outcome), 0);
    draft.distanceDelta += grounded.delta - arithmetic;
  }
  context.report(grounded.operators[0]?.operator ?? null, grounded.learned, draft.usage, draft.plan);
}

function keepSettled(draft: Draft, { results }: Settled): void {
  const observed = currentPlan(draft);
  const made: UpdateView[] = [];
  for (const settled of results) {
    const result = readsWhatChanged(settled, results, observed) ? { ...settled, update: null, assumed: true } : settled;
    if (result.error === null) draft.failing.delete(result.operator);
    else draft.failing.add(result.operator);
    if (result.update !== null) {
      const before = findOperator(currentPlan(draft), result.operator);
      draft.updates.push(result.update);
      made.push(result.update);
      const body = { bodyId: result.update.bodyId, updateId: result.update.id, risk: 0, assumptions: 0 };
      const plan = applyBody(currentPlan(draft), result.operator, body, draft.allUpdates());
      if (before?.state === 'grounded' && before.bodyId !== body.bodyId) {
        // A second proof of this operator in the same iteration: both stay, as rival plans (rule S3).
        draft.rivals = [...draft.rivals, holdBeside(plan, [result.update], draft.allUpdates())];
        draft.note('reuse-conflict', result.operator, `${before.updateId ?? ''}, ${body.updateId}`);
      } else draft.plan = plan;
    } else if (result.assumed && result.bodyId !== null) {
      const before = findOperator(currentPlan(draft), result.operator);
      // Supported and running, but not proved: less doubtful than before, still open.
      const body = assumedBody(result.bodyId, before?.state === 'assumed' ? judgedRisk(before.risk) : undefined);
      if (before?.state !== 'grounded')
        draft.plan = applyBody(currentPlan(draft), result.operator, body, draft.allUpdates());
    }
  }
  draft.plan = holdBeside(currentPlan(draft), made, draft.allUpdates());
}

/** Whether an operator that it reads gets a new body in the same settlement: its proof was observed over the old one (S1). */
function readsWhatChanged(proved: SettledResult, results: readonly SettledResult[], observed: PlanView): boolean {
  const below = ancestors(observed, proved.operator);
  const isNew = ({ operator, bodyId }: SettledResult) =>
    below.has(operator) && bodyId !== null && bodyId !== findOperator(observed, operator)?.bodyId;
  return proved.update !== null && results.some(isNew);
}

/** Bodies that the reply wrote for other operators: assumed if they run, else dropped, and the old body stays. */
async function keepWritten(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  grounded: Grounded,
): Promise<void> {
  const before = currentPlan(draft);
  const written = grounded.written.filter((w) => findOperator(before, w.operator)?.state !== 'grounded');
  if (written.length === 0) return;
  const taking = (bodies: typeof written) =>
    bodies.reduce(
      (at, w) => applyBody(at, w.operator, assumedBody(w.bodyId, w.risk, w.assumptions), draft.allUpdates()),
      before,
    );
  draft.checkpoint('sql');
  const checked = await context.steps.check({
    purpose: 'check',
    searchId: context.searchId,
    position,
    plan: planRef(taking(written)),
    operators: written.map((w) => w.operator),
  });
  draft.charge(checked.usage);
  draft.plan = taking(written.filter((w) => !checked.failures.some((failure) => failure.operator === w.operator)));
}

/** Less doubtful than before, but never below doubt: only proof settles a doubtful reading (S1). */
function judgedRisk(before: number): number {
  return Math.min(before, Math.max(DOUBT, before / 2));
}

function isResolved(draft: Draft, name: string, proof: 'execution' | 'model'): boolean {
  const operator = findOperator(currentPlan(draft), name);
  return operator === undefined || !needsWork(operator, proof);
}

function currentPlan(draft: Draft) {
  if (draft.plan === null) throw new Error('an attempt needs a plan');
  return draft.plan;
}

function distanceOf(outcome: Probed['tests'][number]['outcome']): number {
  switch (outcome) {
    case 'rows':
      return DISTANCE.usefulRows;
    case 'empty':
      return DISTANCE.empty;
    case 'sql-error':
    case 'timeout':
    case 'refused':
      return DISTANCE.sqlError;
    default:
      return outcome satisfies never;
  }
}
