/**
 * Attempts on bottlenecks (design §3, steps 4 and 5; Algorithm 1, the inner loop): propose rival hypotheses with a probe,
 * run it, judge, and settle what the data proves. Evidence of earlier attempts, failures included, goes into the next.
 */
import type { Probed } from '../ports/search-steps';
import type { ExpansionContext } from './expansion';
import type { Findings } from './findings';
import { ground } from './ground';
import { probe, probeInput, takeImmaterial, takeProbe } from './probe';
import { propose, type PendingProposal } from './propose';
import { findOperator, needsWork } from './state/plan-view';

/** Which operators were attempted, which gained new evidence (rule S7), and a proposal that came with the last judgement. */
export interface AttemptsResult {
  readonly decided: ReadonlySet<string>;
  readonly next: PendingProposal | null;
}

const RAN: ReadonlySet<Probed['tests'][number]['outcome']> = new Set(['rows', 'empty']);

/** Up to J attempts on the targets, fewer once all of them are resolved. */
export async function attemptTargets(
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
export function isUnderWay({ impossible, refit }: Findings): boolean {
  return impossible === null && refit === null;
}

/** The probes of one attempt: one round, or several with `rounds` > 1 (method `paper`). */
async function probeInRounds(
  context: ExpansionContext,
  findings: Findings,
  position: string,
  targets: readonly string[],
  pending: PendingProposal | null,
): Promise<readonly Probed[]> {
  const { settings } = context;
  const probes: Probed[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const at = `${position}.r${round}`;
    const proposed =
      round === 1 && pending !== null
        ? { ...pending, done: false }
        : await propose(context, findings, `${at}.propose`, targets, probes);
    if (proposed === null || proposed.operators.length === 0) break;
    const input = probeInput(context, at, findings.currentPlan(), proposed.proposalId);
    const probed = await probe(context, findings, input);
    takeProbe(findings, probed);
    probes.push(probed);
    if (proposed.done) break;
  }
  return probes;
}

function isResolved(findings: Findings, name: string, proof: 'execution' | 'model'): boolean {
  const operator = findOperator(findings.currentPlan(), name);
  return operator === undefined || !needsWork(operator, proof);
}
