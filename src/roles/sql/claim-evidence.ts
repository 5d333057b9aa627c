/**
 * Stores what was seen of a commit's claims in the form that the search keeps (proposal, observation, grounding), so that
 * evidence, freshness, forks and the search proper read them like any test. An operator becomes an update when all its
 * claims are proved and nothing else is assumed of it.
 */
import type { Claim, HypothesisVerdict, Proof, Test, TestOutcome, UpdateView } from '../../domain';
import { countsText } from '../../sql/claims';
import type { ReadProbe } from './claim-probe';
import type { StepContext } from '../shared/context';
import { findLoaded, type LoadedPlan } from '../shared/load-plan';
import { dependencies, storeUpdate } from '../shared/attempts';

export interface Seen {
  readonly position: string;
  readonly plan: LoadedPlan;
  readonly probes: readonly ReadProbe[];
  /** Those of one operator in the order of its probe. */
  readonly claims: readonly Claim[];
  readonly assumed: readonly { readonly operator: string }[];
  readonly takenAt: string;
}

/** `id`: of proposal, observation and grounding; null without claims. */
export async function storeEvidence(
  context: StepContext,
  seen: Seen,
): Promise<{ readonly id: string | null; readonly updates: readonly UpdateView[] }> {
  const { position: id, plan, probes, takenAt } = seen;
  if (probes.length === 0) return { id: null, updates: [] };
  const { run } = context;
  const judged = probes.map((read) => judge(read, seen));
  await run.put('proposal', id, {
    proposalId: id,
    tests: judged.map(({ test }) => test),
    done: false,
  });
  const observation = {
    ...{ observationId: id, proposalId: id, takenAt },
    tests: judged.map(({ outcome }) => outcome),
  };
  await run.put('observation', id, observation);
  await run.put('grounding', id, {
    ...{ groundingId: id, observations: [id], facts: [], tryNext: [], avoid: [] },
    groundings: judged.map(({ operator, isProved, verdicts, bodyId, summary }) => ({
      ...{ operator, observationId: id, verdicts, summary },
      winner: isProved ? 'h1' : null,
      bodyId: isProved ? bodyId : null,
    })),
    delta: null,
    impossible: null,
  });
  const updates: UpdateView[] = [];
  for (const { operator: name, isProved, verdicts, bodyId, summary, proof, mapping } of judged) {
    const operator = findLoaded(plan, name)?.operator;
    if (!isProved || operator === undefined || bodyId === null) continue;
    const dependsOn = await dependencies(context, plan, observation, operator.inputs);
    const seenIn = { position: id, proposalId: id, observationId: id, groundingId: id };
    const proved = { bodyId, mapping, summary, proof, verdicts, dependsOn };
    updates.push(await storeUpdate(context, plan, operator, { ...seenIn, ...proved }));
  }
  return { id, updates };
}

/** What the claims of one operator counted, as its evidence tells it. */
export function countsSummary(claims: readonly Claim[]): string {
  return claims.map((claim) => countsText(claim) ?? claim.reason ?? '').join('; ');
}

/** Why a rival was rejected, as the evidence tells it. */
export function rivalCounts({ matching, examined }: Claim['rivals'][number]): string {
  return `${String(matching)} of ${String(examined)} match`;
}

interface Judged {
  readonly operator: string;
  readonly test: Test;
  readonly outcome: TestOutcome;
  readonly verdicts: HypothesisVerdict[];
  readonly isProved: boolean;
  readonly bodyId: string | null;
  readonly mapping: string;
  readonly summary: string;
  readonly proof: Proof;
}

/** Rivals that give the same answer are left out of the test: they were not refuted, and need not be. */
function judge({ test, result, hypotheses }: ReadProbe, { claims, assumed }: Seen): Judged {
  const { operator } = test;
  const own = claims.filter((claim) => claim.operator === operator);
  const rivals = own.flatMap((claim) => claim.rivals);
  const kept = test.hypotheses.filter((_, at) => at === 0 || rivals[at - 1]?.verdict !== 'same-answer');
  const isProved = own.every(({ state }) => state === 'proved') && !assumed.some((each) => each.operator === operator);
  const verdicts = kept.map((hypothesis): HypothesisVerdict => {
    const rival = rivals[test.hypotheses.indexOf(hypothesis) - 1];
    const seen = rival === undefined ? countsSummary(own) : rivalCounts(rival);
    const verdict =
      rival === undefined ? (isProved ? 'supported' : 'open') : rival.verdict === 'refuted' ? 'refuted' : 'open';
    return { hypothesis: hypothesis.id, verdict, reason: seen, overruled: null };
  });
  return {
    operator,
    test: { ...test, hypotheses: kept },
    outcome: {
      ...{ operator, probeSql: test.probe, result, materiality: null },
      hypotheses: hypotheses.filter(({ id }) => kept.some((hypothesis) => hypothesis.id === id)),
    },
    verdicts,
    isProved,
    bodyId: test.hypotheses[0]?.bodyId ?? null,
    mapping: own.map(({ statement }) => statement).join(' '),
    summary: countsSummary(own),
    proof: {
      proved: isProved,
      checks: [
        ...own.map((claim) => ({
          requirement: 'all examined rows match the claim',
          met: claim.state === 'proved',
          seen: countsText(claim) ?? claim.reason ?? 'not counted',
        })),
        ...rivals.map(({ reading, matching, examined, verdict }) => ({
          requirement: `the rival "${reading}" has a lower agreement, or gives the same answer`,
          met: verdict !== 'open',
          seen: verdict === 'same-answer' ? 'the same answer' : `${String(matching)} of ${String(examined)}`,
        })),
        { requirement: 'the body runs over its inputs', met: true, seen: 'it ran' },
        {
          requirement: 'nothing else is assumed of it',
          met: !assumed.some((each) => each.operator === operator),
          seen: '',
        },
      ],
    },
  };
}
