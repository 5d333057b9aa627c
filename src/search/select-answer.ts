/**
 * Selects the answer (design §3, step 9; Algorithm 1, SelectAnswer): by execution first, then by the model with the evidence in view. A single distinct
 * and verified result needs no model call. A search that may not spend any more makes none (D6).
 */
import type { AnswerStatus, CandidateView, EndedBy, SearchState } from '../domain';
import { isCutShort, isProved } from '../domain/control-view';
import { agrees, independentSupport, resultClasses, unanswerableReason, usable } from './candidate';
import { type Findings, type Tried, tryModel } from './findings';
import { compareText } from '../domain/canonical';
import { DOUBT } from './plan-view';
import type { SearchSteps, Gives } from '../domain/ports/steps';

/** The paper shows its judge at most 10 distinct candidates. */
const SELECTOR_CAP = 10;

interface RankedClass {
  readonly representative: CandidateView;
  readonly support: number;
  readonly verified: boolean;
}

export interface Decision {
  readonly kind: 'decided';
  readonly status: AnswerStatus;
  readonly candidate: string | null;
  readonly reason: string | null;
}

/** By execution; `ask`: that leaves a choice, which the judge makes. */
type Choice = Decision | Question;

interface Question {
  readonly kind: 'ask';
  readonly classes: readonly RankedClass[];
  /** As the paper's selector: merged by what they say, and chosen by number. */
  readonly byNumber?: true;
}

/** Distinct results, best first: proved before assumed, doubtful last; then by support, non-trivial rows, and open risk. */
export function rankClasses(state: SearchState): readonly RankedClass[] {
  return resultClasses(state.candidates)
    .map((members): RankedClass => {
      const representative = [...members].sort(byProof)[0] as CandidateView;
      return {
        representative,
        support: independentSupport(members),
        verified: agrees(members) || isSound(representative),
      };
    })
    .sort(
      (a, b) =>
        Number(isProved(b.representative)) - Number(isProved(a.representative)) ||
        Number(isSound(b.representative)) - Number(isSound(a.representative)) ||
        b.support - a.support ||
        weight(a.representative) - weight(b.representative) ||
        byProof(a.representative, b.representative),
    )
    .slice(0, SELECTOR_CAP);
}

export function chooseAnswer(state: SearchState, endedBy: EndedBy): Choice {
  const classes = rankClasses(state);
  const best = classes[0];
  if (best === undefined) return { kind: 'decided', status: 'abstained', candidate: null, reason: nothingFound(state) };
  if (!isCutShort(endedBy) && (classes.length > 1 || !best.verified)) return { kind: 'ask', classes };
  return decided(state, best.representative);
}

/** As the paper's selector: every candidate, as found; the model is asked even about a single one. */
export function chooseByNumber(state: SearchState, endedBy: EndedBy): Choice {
  const candidates = usable(state.candidates);
  if (candidates.length === 0 || isCutShort(endedBy)) return chooseAnswer(state, 'stop');
  const classes = candidates.map((representative) => ({ representative, support: 1, verified: false }));
  return { kind: 'ask', classes, byNumber: true };
}

/** One model call chooses among distinct results, with their evidence in view. */
export function judge(
  steps: Pick<SearchSteps, 'select'>,
  state: SearchState,
  { classes, byNumber }: Question,
  findings: Findings,
  position = 'select',
): Promise<Tried<Gives<'select'>> | null> {
  findings.showsRemarks = byNumber !== true;
  return tryModel(findings, (thisTry) =>
    steps.select(
      {
        role: 'select',
        searchId: state.searchId,
        position,
        ...thisTry,
        candidates: classes.map(({ representative, support }) => ({
          id: representative.id,
          agreesWith: support,
          unanswerable: unanswerableReason(state, representative.id),
          ...(byNumber && depthOf(state, representative)),
        })),
        ...(byNumber && { byNumber }),
      },
      { label: `select among ${classes.length} answers` },
    ),
  );
}

/** Absent for a method without plans. */
function depthOf({ trajectories }: SearchState, { trajectory, bodies }: CandidateView): { readonly depth?: number } {
  const depth = trajectories.find(({ id }) => id === trajectory)?.depth;
  return bodies.length === 0 || depth === undefined ? {} : { depth };
}

/** Without a usable reply of the judge, the first of them, which but by number is the best by execution. */
export function judged(
  state: SearchState,
  classes: readonly RankedClass[],
  tried: Tried<Gives<'select'>> | null,
): Decision {
  const shown = classes.map(({ representative }) => representative);
  const selected = tried === null ? shown[0] : shown.find(({ id }) => id === tried.value.candidate);
  if (selected !== undefined) return decided(state, selected);
  const reason = tried?.value.reason ?? 'no candidate was reliable enough';
  return { kind: 'decided', status: 'abstained', candidate: null, reason };
}

/** The type of a question's failure where its model gave no usable reply. */
export const UNUSABLE_REPLIES = 'UnusableReplies';

export class BrokenModelError extends Error {
  override readonly name = 'BrokenModelError';
}

/**
 * Steps that a search can do without: arithmetic replaces `evaluate`, ranking by execution replaces `select`, and a plan that
 * is not revised in its middle (`refit`) goes on as it was.
 */
const DISPENSABLE = /(^|\.)(evaluate|select|refit)(\.try\d+\.seed-?\d+)?$/;

/**
 * The error of a search that fails instead of abstaining: it found nothing, and in its last iteration the model gave no
 * usable reply for a necessary step. If something was found before, that is the answer (D6), and the record names the steps
 * that were given up.
 */
export function brokenModel(state: SearchState, endedBy: EndedBy): BrokenModelError | null {
  if (endedBy === 'cancel' || endedBy === 'stop' || usable(state.candidates).length > 0) return null;
  const last = state.events
    .filter(
      ({ iteration, reply, subject }) =>
        reply !== undefined && iteration >= state.iteration - 1 && !DISPENSABLE.test(subject),
    )
    .at(-1);
  return last === undefined ? null : new BrokenModelError(`the model gave ${last.detail}`);
}

export function decided(state: SearchState, candidate: CandidateView): Decision {
  return candidate.kind === 'unanswerable'
    ? {
        kind: 'decided',
        status: 'unanswerable',
        candidate: candidate.id,
        reason: unanswerableReason(state, candidate.id),
      }
    : { kind: 'decided', status: 'answered', candidate: candidate.id, reason: null };
}

/** Whether no doubt is left, and an empty result, or that nothing is stored, has its control. */
export function isSound(candidate: CandidateView): boolean {
  if (candidate.kind === 'unanswerable') return candidate.absenceShown === true;
  return candidate.openRisk < DOUBT && (!candidate.trivial || (candidate.control ?? 0) > 0);
}

function byProof(a: CandidateView, b: CandidateView): number {
  const proofs = (c: CandidateView) => c.bodies.filter((body) => body.updateId !== null).length;
  return a.openRisk - b.openRisk || proofs(b) - proofs(a) || order(a.id) - order(b.id) || compareText(a.id, b.id);
}

/** A single reply that the question is unanswerable weighs less than rows found, and more than an empty result. */
function weight(candidate: CandidateView): number {
  return candidate.kind === 'unanswerable' ? 1 : candidate.trivial ? 2 : 0;
}

function order(id: string): number {
  return Number(id.slice(1));
}

function nothingFound(state: SearchState): string {
  const failed = state.candidates.length - usable(state.candidates).length;
  if (failed > 0) return `no candidate query ran to an end (${failed} failed)`;
  const lastFailure = state.events.filter((event) => event.kind === 'step-failed').at(-1);
  return lastFailure === undefined ? 'no plan was completed' : `no plan was completed; last: ${lastFailure.detail}`;
}
