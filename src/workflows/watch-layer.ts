/**
 * One run of `gate layer watch`, started by a schedule: all checks of a database's layer. The history holds names and counts;
 * what broke is in the layer.
 */
import { isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { WatchFound, WatchRun } from '../domain/ports/steps';
import type { ScheduledActivities } from './activities';
import { asWorkflowFailure } from './ending';
import { tell } from './tell-receivers';

export type WatchLayerInput = Omit<WatchRun, 'at'>;

export async function watchLayer(input: WatchLayerInput): Promise<WatchFound> {
  const { verifyLayer } = proxyActivities<Pick<ScheduledActivities, 'verifyLayer'>>({
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5 minutes' },
    startToCloseTimeout: '1 hour',
    scheduleToCloseTimeout: '2 hours',
    summary: 'run all checks',
  });
  try {
    const { tells, ...found } = await verifyLayer({ ...input, at: new Date(Date.now()).toISOString() });
    setCurrentDetails(markdownOf(found));
    if (tells === true) await tell({ type: 'layer.drift', database: input.database, found });
    return found;
  } catch (error) {
    if (isCancellation(error)) throw error;
    throw asWorkflowFailure(error, 'WatchFailed');
  }
}

function markdownOf({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
  return [
    `**${String(checked)} checked**, ${String(broken)} do not hold, ${String(lower)} hold for fewer rows than is kept`,
    `${String(broke)} broke, ${String(fell)} fell, ${String(heldAgain)} hold again, ${String(unseen)} could not be checked`,
  ].join('\n\n');
}
