/**
 * Lookups on the web (docs/web.md), for replies that ask for information before they plan or propose, as in the paper's
 * tool loop (App. B.1). Control runs the lookups and asks the model again with the results.
 *
 * 1. A lookup is evidence from outside: it is shown to every later prompt and proves nothing (rule S1).
 * 2. Their number is limited per search. A failed lookup counts, and the search continues.
 * 3. Without a limit in the settings there are no lookups, and the inputs of steps do not change.
 */
import type { Draft, ExpansionContext, Tried } from './expansion';
import { DISTANCE } from './rank-trajectories';
import type { Lookup } from '../ports/search-steps';

/** Asks, runs the lookups that the reply wants, and asks again at a new position, until a reply wants none. */
export function lookingUp<T>(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  ask: (position: string) => Promise<Tried<T> | null>,
  wantedBy: (reply: T) => readonly Lookup[],
): Promise<Tried<T> | null> {
  // Without lookups, return the promise itself: one more tick would reorder the concurrent steps of recorded searches (D8).
  return draft.lookupsLeft() === null ? ask(position) : askInRounds(context, draft, position, ask, wantedBy);
}

/** The part of a step's input about the limit; empty if the search has no lookups. */
export function mayLookUp(draft: Draft): { readonly lookupsLeft?: number } {
  const left = draft.lookupsLeft();
  return left === null ? {} : { lookupsLeft: left };
}

/** The error for a reply that wants more lookups than are left; else null. */
export function tooManyLookups(draft: Draft, wanted: readonly Lookup[]): string | null {
  const left = draft.lookupsLeft() ?? 0;
  if (wanted.length <= left) return null;
  return left === 0 ? 'no lookups are left: do without' : `only ${left} lookups are left`;
}

async function askInRounds<T>(
  context: ExpansionContext,
  draft: Draft,
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
    for (const lookup of wanted) await look(context, draft, lookup);
  }
}

async function look(context: ExpansionContext, draft: Draft, { actionId, tool }: Lookup): Promise<void> {
  // If no model call may follow, nobody would read the result.
  draft.checkpoint('model');
  const { searchId, iteration, lane, steps } = context;
  const run = await steps.web({
    purpose: 'web',
    searchId,
    position: `i${iteration}.${lane}.w${draft.lookups.length + 1}`,
    actionId,
    tool,
    turns: draft.memory().web ?? [],
    mayFail: true,
  });
  draft.lookups.push(run.observationId);
  draft.charge({ ...run.usage, lookups: 1 });
  draft.distanceDelta += DISTANCE.otherTool;
}
