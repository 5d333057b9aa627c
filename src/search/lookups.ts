/**
 * Lookups on the web (docs/web.md), for replies that ask for information before they plan or propose, as in the paper's
 * tool loop (App. B.1). Control runs the lookups and asks the model again with the results.
 *
 * 1. A lookup is evidence from outside: it is shown to every later prompt and proves nothing (rule S1).
 * 2. Their number is limited per search. A failed lookup counts, and the search continues.
 * 3. Without a limit in the settings there are no lookups, and the inputs of steps do not change.
 */
import type { ExpansionContext } from './expansion';
import type { Findings } from './findings';
import type { Tried } from './try-model';
import { DISTANCE } from './select-plan';
import type { Lookup } from '../ports/search-steps';

/** Asks, runs the lookups that the reply wants, and asks again at a new position, until a reply wants none. */
export async function lookingUp<T>(
  context: ExpansionContext,
  findings: Findings,
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
    for (const lookup of wanted) await look(context, findings, lookup);
  }
}

/** The part of a step's input about the limit; empty if the search has no lookups. */
export function mayLookUp(findings: Findings): { readonly lookupsLeft?: number } {
  const left = findings.lookupsLeft();
  return left === null ? {} : { lookupsLeft: left };
}

/** The error for a reply that wants more lookups than are left; else null. */
export function tooManyLookups(findings: Findings, wanted: readonly Lookup[]): string | null {
  const left = findings.lookupsLeft() ?? 0;
  if (wanted.length <= left) return null;
  return left === 0 ? 'no lookups are left: do without' : `only ${left} lookups are left`;
}

async function look(context: ExpansionContext, findings: Findings, { actionId, tool }: Lookup): Promise<void> {
  // If no model call may follow, nobody would read the result.
  findings.checkpoint('model');
  const { searchId, steps } = context;
  const run = await steps.web({
    purpose: 'web',
    searchId,
    position: `${context.position}.w${findings.lookups.length + 1}`,
    actionId,
    tool,
    turns: findings.memory().web ?? [],
    mayFail: true,
  });
  findings.lookups.push(run.observationId);
  findings.charge({ ...run.usage, lookups: 1 });
  findings.distanceDelta += DISTANCE.otherTool;
}
