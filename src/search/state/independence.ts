/**
 * Independence of derivations and agreement of candidates (rules S4 and S5).
 *
 * 1. A derivation is the set of its body ids. Names of operators do not matter.
 * 2. Two derivations are independent when they share no unproved body. Bodies that read only operators and rest on no
 *    assumption do not count: they are arithmetic, and two plans may well write the same final sum.
 * 3. Agreement on an empty, NULL or zero result counts only with a control count above zero of rows examined. A candidate
 *    that examined no rows agrees with nothing.
 */
import type { CandidateView, PlanView } from '../../domain';
import { textOf } from '../../sql/body';
import { compareText } from '../../domain/canonical';
import { ROOT } from '../../domain/control-view';
import { perObject } from './memo';

export const derivationKey = perObject((bodies: readonly { readonly bodyId: string }[]): string =>
  // No `canonical` needed: an array of strings has one JSON form.
  JSON.stringify([...new Set(bodies.map((body) => body.bodyId))].sort(compareText)),
);

const texts = perObject((bodies: CandidateView['bodies']): CandidateView['bodies'] =>
  bodies.map((body) => ({ ...body, bodyId: textOf(body.bodyId) })),
);

export const candidateBodies = perObject((plan: PlanView): CandidateView['bodies'] =>
  plan.operators.map((operator) => ({
    operator: operator.name,
    bodyId: operator.bodyId ?? '',
    updateId: operator.updateId,
    counts: operator.state !== 'grounded' && (operator.readsBase || operator.assumptions > 0),
  })),
);

export function areIndependent(a: CandidateView, b: CandidateView): boolean {
  // Two unanswerable replies are independent, unless they are about the same plan; the root has none.
  if (a.kind === 'unanswerable' || b.kind === 'unanswerable')
    return a.id !== b.id && (a.trajectory !== b.trajectory || a.trajectory === ROOT);
  const [one, two] = [texts(a.bodies), texts(b.bodies)];
  if (derivationKey(one) === derivationKey(two)) return false;
  const unproved = new Set(one.filter((body) => body.counts).map((body) => body.bodyId));
  return !two.some((body) => body.counts && unproved.has(body.bodyId));
}

/** Distinct derivations with a usable result; `cMin` and `cMax` count these. */
export const derivations = perObject((candidates: readonly CandidateView[]): readonly CandidateView[] => {
  const seen = new Set<string>();
  return usable(candidates).filter(({ kind, bodies }) => {
    if (kind === 'unanswerable') return true;
    const isNew = !seen.has(derivationKey(bodies));
    seen.add(derivationKey(bodies));
    return isNew;
  });
});

export function usable(candidates: readonly CandidateView[]): readonly CandidateView[] {
  return candidates.filter((candidate) => candidate.status === 'active' && candidate.outcome === 'rows');
}

/** Members of one result class, grouped, oldest class first. */
export function resultClasses(candidates: readonly CandidateView[]): readonly (readonly CandidateView[])[] {
  const classes = new Map<string, CandidateView[]>();
  for (const candidate of usable(candidates)) {
    const members = classes.get(candidate.resultClass);
    if (members === undefined) classes.set(candidate.resultClass, [candidate]);
    else members.push(candidate);
  }
  return [...classes.values()];
}

/** Finding the largest set takes exponential time. With more members than this, a set found greedily is used. */
const EXACT = 16;

/** Size of the largest set of pairwise independent members. With very many members it may be too small, never too large. */
export function independentSupport(members: readonly CandidateView[]): number {
  if (members.length > EXACT) return firstIndependent(members).length;
  const [first, ...rest] = members;
  if (first === undefined) return 0;
  const others = rest.filter((other) => areIndependent(first, other));
  const withFirst = 1 + independentSupport(others);
  // If the first conflicts with none, it is in a largest set; else try with and without it.
  return others.length === rest.length ? withFirst : Math.max(withFirst, independentSupport(rest));
}

function firstIndependent(members: readonly CandidateView[]): readonly CandidateView[] {
  const chosen: CandidateView[] = [];
  for (const member of members) if (chosen.every((other) => areIndependent(other, member))) chosen.push(member);
  return chosen;
}

/** Whether a class of equal results may stop a search: it has independent support that is not only empty results. */
export function agrees(members: readonly CandidateView[]): boolean {
  const grounded = members.some((m) => m.kind === 'unanswerable' || !m.trivial || (m.control ?? 0) > 0);
  // An empty result from no examined rows supports nothing.
  const telling = members.filter((m) => m.kind === 'unanswerable' || !m.trivial || m.control !== 0);
  return grounded && independentSupport(telling) >= 2;
}
