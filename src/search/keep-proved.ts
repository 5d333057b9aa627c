/** What a turn proved is read, kept in the layer of the database, and told apart from what was kept before. */
import type { KeepSteps, Kept } from '../ports/search-steps';
import type { Findings } from '../search/findings';
import { tryModel } from '../search/try-model';

/** `position`: of the reading. */
export async function keepProved(
  steps: KeepSteps,
  findings: Findings,
  { searchId, position, turnId }: { readonly searchId: string; readonly position: string; readonly turnId: string },
): Promise<void> {
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
