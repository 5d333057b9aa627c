/**
 * Lookups on the web (docs/web.md), for replies that say what they want to know before they plan or propose, as in the
 * paper's tool loop (App. B.1). Control runs them, and asks again with what came of them.
 *
 * 1. A lookup is evidence from outside: it is shown to every later prompt and proves nothing (rule S1).
 * 2. Their number is limited per search; one that fails counts, and the search goes on.
 * 3. Without a limit in the settings nothing here happens, and no input of a step differs.
 */
import type { Draft, ExpansionContext, Tried } from './expansion';
import { DISTANCE } from './select';
import type { Lookup } from './steps';

/** Asks, looks up what the reply wants, and asks again at a position of its own, until a reply wants nothing more. */
export function lookingUp<T>(
  context: ExpansionContext,
  draft: Draft,
  position: string,
  ask: (position: string) => Promise<Tried<T> | null>,
  wantedBy: (reply: T) => readonly Lookup[],
): Promise<Tried<T> | null> {
  // Not even a turn of the event loop more: concurrent expansions of a recorded search keep their order (design D8).
  return draft.lookupsLeft() === null ? ask(position) : askInRounds(context, draft, position, ask, wantedBy);
}

/** What a step is told of the limit; nothing where the search has none. */
export function mayLookUp(draft: Draft): { readonly lookupsLeft?: number } {
  const left = draft.lookupsLeft();
  return left === null ? {} : { lookupsLeft: left };
}

/** The error for a reply that wants more than is left; null when it does not. */
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
    // To the last try it wanted more than there was.
    if (tried.error !== null) return null;
    for (const lookup of wanted) await look(context, draft, lookup);
  }
}

async function look(context: ExpansionContext, draft: Draft, { actionId, tool }: Lookup): Promise<void> {
  // Nobody could read the result if no model call may follow.
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
