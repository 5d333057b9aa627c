/**
 * What a turn proved by claims, or the search by probes, is read, kept in the layer of the database (docs/layer.md), and told
 * apart from what was kept before.
 */
import type { Budgets, EndedBy, SearchState, Settings, Usage } from '../domain';
import { isCutShort, ROOT } from '../domain/control-view';
import { askModel, Findings, reasonOf, SearchStopped } from './findings';
import { addUsage } from './budgets';
import type { Decision } from './select-answer';
import type { KeepSteps, KeptAfter, Given } from '../domain/ports/steps';

/** What a search proved, to be read once its answer is stored. */
export interface Keeping {
  readonly searchId: string;
  readonly iteration: number;
  /** The search as it ended: the reading counts as a part of it. */
  readonly usage: Usage;
  readonly budgets: Budgets;
  /** The turn whose claims hold, or the candidate that rests on groundings. */
  readonly of: { readonly turnId: string } | { readonly candidateId: string };
}

interface Reading {
  readonly searchId: string;
  /** Of the reading. */
  readonly position: string;
}

/** Adds to the record what was kept, or why nothing was. The answer stands whatever comes of it. */
export async function keepAfter(
  { searchId, iteration, usage, budgets, of }: Keeping,
  settings: Settings,
  steps: KeepSteps,
): Promise<KeptAfter> {
  const findings = new Findings({
    ...{ settings, iteration, trajectoryId: ROOT, updates: [], facts: [], usageBefore: usage },
    ...{ budgets: () => budgets, remarks: () => [], heard: () => undefined, paused: () => null },
    // It has a limit of its own in time, and nobody waits for it.
    ...{ elapsedMs: () => 0, cancelled: () => false },
  });
  let notKept: string | null = null;
  try {
    if ('turnId' in of) await keepProved(steps, findings, { searchId, position: 'keep', ...of });
    else await keepGroundings(steps, findings, { searchId, position: 'keep', ...of });
    notKept = findings.events.at(-1)?.detail ?? null;
  } catch (error) {
    notKept = error instanceof SearchStopped ? 'the limits of the search left no call for it' : reasonOf(error);
  }
  return steps.amend({ searchId, usage: addUsage(usage, findings.usage), notKept });
}

/** Whether a usable reply came. */
export async function keepProved(
  steps: Pick<KeepSteps, 'keep' | 'recount'>,
  findings: Findings,
  { searchId, position, ...turns }: Reading & Pick<Given<'keep'>, 'turnId' | 'before'>,
): Promise<boolean> {
  findings.showsRemarks = false;
  const kept = await askModel(findings, { position, what: 'reading of what was proved' }, (thisTry) =>
    steps.keep({ role: 'keep', searchId, position, ...thisTry, ...turns }, { label: 'read what was proved' }),
  );
  if (kept === null || kept.contradicted.length === 0) return kept !== null;
  const input = { searchId, position: `${position}.recount`, entries: kept.contradicted };
  await findings.sql(() =>
    steps.recount({ purpose: 'recount', ...input }, { label: 'count again what was kept before' }),
  );
  return true;
}

/** The groundings that the candidate rests on. The database counts them once more before any model reads them. */
async function keepGroundings(
  steps: KeepSteps,
  findings: Findings,
  { searchId, position, candidateId }: Reading & { readonly candidateId: string },
): Promise<void> {
  // Without a call left, nothing could be read.
  findings.checkpoint('model');
  const at = { searchId, position: `${position}.restate` };
  const restated = await findings.sql(() =>
    steps.restate({ purpose: 'restate', ...at, candidateId }, { label: 'count what was proved once more' }),
  );
  if (restated.proved > 0) await keepProved(steps, findings, { searchId, position, turnId: at.position });
}

/** The answer, if it rests on something proved. Nothing is spent where a person or a budget ended the search (D6). */
export function provedAnswer(
  { candidates }: SearchState,
  { layer }: Settings,
  { status, candidate }: Decision,
  endedBy: EndedBy,
): string | null {
  if (layer !== 'on' || status !== 'answered' || candidate === null) return null;
  if (isCutShort(endedBy)) return null;
  const chosen = candidates.find(({ id }) => id === candidate);
  return chosen?.bodies.some(({ updateId }) => updateId !== null) === true ? candidate : null;
}
