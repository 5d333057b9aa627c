/**
 * What a turn proved by claims, or the search by probes, is read, kept in the layer of the database (docs/layer.md), and told
 * apart from what was kept before.
 */
import type { EndedBy, SearchState } from '../domain';
import { isCutShort } from '../domain/control-view';
import type { KeepSteps, Kept } from '../ports/search-steps';
import type { Findings } from './findings';
import type { Decision } from './select-answer';
import type { ControlSettings } from './state/control-settings';
import { tryModel } from './try-model';

/** The patch by which a search keeps what its probes proved; before it, only claims were kept. */
export const KEEP_GROUNDINGS = '2026-11-keep-groundings';

interface Keeping {
  readonly searchId: string;
  /** Of the reading. */
  readonly position: string;
}

export async function keepProved(
  steps: Pick<KeepSteps, 'keep' | 'recount'>,
  findings: Findings,
  { searchId, position, turnId }: Keeping & { readonly turnId: string },
): Promise<void> {
  findings.showsRemarks = false;
  const tried = await tryModel<Kept>(findings, (thisTry) =>
    steps.keep({ role: 'keep', searchId, position, ...thisTry, turnId }),
  );
  if (tried === null) {
    findings.giveUp(position, 'reading of what was proved');
    return;
  }
  const { contradicted } = tried.value;
  if (contradicted.length === 0) return;
  findings.checkpoint('sql');
  const recounted = { purpose: 'recount' as const, searchId, position: `${position}.recount`, entries: contradicted };
  findings.charge((await steps.recount(recounted)).usage);
}

/** The groundings that the candidate rests on. The database counts them once more before any model reads them. */
export async function keepGroundings(
  steps: KeepSteps,
  findings: Findings,
  { searchId, position, candidateId }: Keeping & { readonly candidateId: string },
): Promise<void> {
  // Without a call left, nothing could be read.
  findings.checkpoint('model');
  findings.checkpoint('sql');
  const at = { searchId, position: `${position}.restate` };
  const restated = await steps.restate({ purpose: 'restate', ...at, candidateId });
  findings.charge(restated.usage);
  if (restated.proved > 0) await keepProved(steps, findings, { searchId, position, turnId: at.position });
}

/** The answer, if it rests on something proved. Nothing is spent where a person or a budget ended the search (D6). */
export function provedAnswer(
  { candidates }: SearchState,
  { layer }: ControlSettings,
  { status, candidate }: Decision,
  endedBy: EndedBy,
): string | null {
  if (layer !== 'on' || status !== 'answered' || candidate === null) return null;
  if (isCutShort(endedBy)) return null;
  const chosen = candidates.find(({ id }) => id === candidate);
  return chosen?.bodies.some(({ updateId }) => updateId !== null) === true ? candidate : null;
}
