/** Words of the control view that are no schemas: apart from those, because a workflow's bundle has no zod. */
import type { CandidateView, EndedBy, SearchState, Usage } from './state';

/** The trajectory that every plan made from nothing descends from. */
export const ROOT = 't0';

export const NO_USAGE: Usage = {
  llmCalls: 0,
  possiblyBilledCalls: 0,
  promptTokens: 0,
  completionTokens: 0,
  costUsd: 0,
  sqlExecutions: 0,
  sqlMs: 0,
  sqlRows: 0,
};

/** A person or a limit ended it before it was done. Nothing is spent after that (D6). */
export function isCutShort(endedBy: EndedBy): boolean {
  return endedBy === 'cancel' || endedBy === 'stop' || endedBy.startsWith('budget:');
}

/** Whether something is proved, and so is every body that reads data or rests on an assumption. */
export function isProved({ kind, bodies }: CandidateView): boolean {
  return kind === 'rows' && bodies.some(({ updateId }) => updateId !== null) && !bodies.some(({ counts }) => counts);
}

/** Tool calls of an agent of the methods redel-…, with those of its helpers; undefined for other methods. */
export function toolCallsOf({ trajectories, redel }: SearchState): number | undefined {
  return redel && (trajectories[0]?.attempts.length ?? 0) - redel.actions + redel.calls;
}

/** Where the reading of what a turn of a lesson proved has its position. */
export function readingOf(turnId: string): string {
  return `keep.${turnId}`;
}
