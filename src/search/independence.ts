/**
 * Independence of derivations and agreement of candidates (rules S4 and S5).
 *
 * 1. A derivation is the set of its body ids; which names the operators have makes no two of them independent.
 * 2. Two derivations are independent when they share no unproved body. Bodies that read only operators and rest on no
 *    assumption are arithmetic: two plans may well write the same final sum, so sharing one means nothing.
 * 3. Agreement on an empty, NULL or zero result counts only with a control count of rows examined above zero, and one that
 *    examined no row agrees with nothing.
 */
import type { CandidateView, PlanView } from '../domain';
import { textOf } from './body';
import { compareText } from './canonical';
import { ROOT } from './frontier';
import { perObject } from './memo';

export const derivationKey = perObject((bodies: readonly { readonly bodyId: string }[]): string =>
  // A list of texts is its own canonical form.
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
  // Two replies from the root are two looks at the question; two about the same plan are one.
  if (a.kind === 'unanswerable' || b.kind === 'unanswerable')
    return a.id !== b.id && (a.trajectory !== b.trajectory || a.trajectory === ROOT);
  const [one, two] = [texts(a.bodies), texts(b.bodies)];
  if (derivationKey(one) === derivationKey(two)) return false;
  const unproved = new Set(one.filter((body) => body.counts).map((body) => body.bodyId));
  return !two.some((body) => body.counts && unproved.has(body.bodyId));
}

/** Distinct derivations that ended well; what cMin and cMax count. */
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

/** The search for a largest set takes exponential time; with more members than this, one that is found at once has to do. */
const EXACT = 16;

/** Size of the largest set of pairwise independent members; of very many, of a set of such, and never too many. */
export function independentSupport(members: readonly CandidateView[]): number {
  if (members.length > EXACT) return firstIndependent(members).length;
  const [first, ...rest] = members;
  if (first === undefined) return 0;
  const others = rest.filter((other) => areIndependent(first, other));
  const withFirst = 1 + independentSupport(others);
  // Without conflicts the first belongs into a largest set; else it is tried both ways.
  return others.length === rest.length ? withFirst : Math.max(withFirst, independentSupport(rest));
}

function firstIndependent(members: readonly CandidateView[]): readonly CandidateView[] {
  const chosen: CandidateView[] = [];
  for (const member of members) if (chosen.every((other) => areIndependent(other, member))) chosen.push(member);
  return chosen;
}

/** Whether a class of equal results may stop a search: independent support, and not empty agreement. */
export function agrees(members: readonly CandidateView[]): boolean {
  const grounded = members.some((m) => m.kind === 'unanswerable' || !m.trivial || (m.control ?? 0) > 0);
  // Nothing found among no rows says nothing of what was found among some.
  const telling = members.filter((m) => m.kind === 'unanswerable' || !m.trivial || m.control !== 0);
  return grounded && independentSupport(telling) >= 2;
}
