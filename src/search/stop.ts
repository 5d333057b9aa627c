/** When a search ends, and why (design §3, step 8). A search always ends: iterations and plans of the root are bounded. */
import type { CandidateView, EndedBy, SearchState, Settings } from '../domain';
import { exhaustedBudget } from './budgets';
import { isProved } from '../domain/control-view';
import { isSound } from './select-answer';
import { selectable } from './select-plan';
import { agrees, derivations, independentSupport, resultClasses } from './candidate';
import { perObject } from './plan-view';

export function stopReason(state: SearchState, settings: Settings, nowMs: number): EndedBy | null {
  const budget = exhaustedBudget(state.usage, nowMs - state.startedAtMs, settings.budgets);
  const made = derivations(state.candidates).length;
  if (made >= settings.cMin && hasAgreement(state.candidates)) return 'agreement';
  if (settings.secondDerivation === 'when-doubtful' && isBeyondDoubt(state.candidates)) return 'settled';
  if (made >= settings.cMax) return 'candidates';
  if (budget !== null) return `budget:${budget}`;
  if (state.iteration > settings.iterations) return 'iterations';
  if (selectable(state.trajectories).length === 0) return 'exhausted';
  return null;
}

/** Whether one class of equal results has independent support, and more of it than any other class. */
export const hasAgreement = perObject((candidates: readonly CandidateView[]): boolean => {
  const classes = resultClasses(candidates).map((members) => ({ members, support: independentSupport(members) }));
  const most = Math.max(0, ...classes.map(({ support }) => support));
  const [winner, ...ties] = classes.filter(({ support }) => support === most);
  return winner !== undefined && ties.length === 0 && agrees(winner.members);
});

/**
 * Whether no doubt is left: a second derivation of a proved reading only says it in other words. Another result, or a reply
 * that the question is unanswerable, is a doubt, unless the data proved this one and no other. Of plans that find nothing to
 * plan with, the second has seen the reason of the first; a third was never seen to differ.
 */
const isBeyondDoubt = perObject((candidates: readonly CandidateView[]): boolean => {
  const classes = resultClasses(candidates);
  const sound = classes.filter((members) => members.some(isSound));
  if (classes.length === 1) return sound.length === 1 || isTwiceUnanswerable(classes[0] ?? []);
  const isShown = (member: CandidateView) => isSound(member) && (member.absenceShown === true || isProved(member));
  return sound.length === 1 && sound.some((members) => members.some(isShown));
});

function isTwiceUnanswerable(members: readonly CandidateView[]): boolean {
  return members.length > 1 && members.every(({ kind }) => kind === 'unanswerable');
}
