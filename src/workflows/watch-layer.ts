/**
 * One run of `gate layer watch`, started by a schedule: all checks of a database's layer, and what changed is told outside.
 *
 * 1. The history holds names and counts. What broke is in the layer, and the URL of a webhook in the worker's environment.
 * 2. A run whose report cannot be delivered goes on trying for a day. The schedule starts no other one meanwhile, so no drift
 *    is left out.
 */
import { isCancellation, proxyActivities, setCurrentDetails, type ActivityOptions } from '@temporalio/workflow';
import type { WatchActivities } from '../activities/watch';
import type { Outlet, WatchFound } from '../ports/drift';
import { asWorkflowFailure } from './failures';

export interface WatchLayerInput {
  readonly database: string;
  readonly identity: string;
  readonly to: readonly Outlet[];
  /** Of one check. */
  readonly timeoutMs: number;
}

export interface WatchedLayer extends WatchFound {
  /** When the run began. */
  readonly at: string;
}

const COMMON: ActivityOptions = {
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5 minutes' },
};

export async function watchLayer({ to, timeoutMs, ...of }: WatchLayerInput): Promise<WatchedLayer> {
  const run = { ...of, at: new Date(Date.now()).toISOString() };
  try {
    const { verifyLayer } = proxyActivities<WatchActivities>({
      ...COMMON,
      ...{ startToCloseTimeout: '1 hour', scheduleToCloseTimeout: '2 hours' },
      summary: 'run all checks',
    });
    const found = await verifyLayer({ ...run, timeoutMs });
    setCurrentDetails(markdownOf(found));
    if (found.broke + found.fell + found.heldAgain > 0) await report(to, (outlet) => ({ ...run, found, to: outlet }));
    return { at: run.at, ...found };
  } catch (error) {
    if (isCancellation(error)) throw error;
    throw asWorkflowFailure(error, 'WatchFailed');
  }
}

/** Each on its own: one that cannot be reached holds up no other. */
async function report(
  to: readonly Outlet[],
  input: (outlet: Outlet) => Parameters<WatchActivities['reportDrift']>[0],
): Promise<void> {
  const told = await Promise.allSettled(
    to.map((outlet) => {
      const { reportDrift } = proxyActivities<WatchActivities>({
        ...COMMON,
        ...{ startToCloseTimeout: '1 minute', scheduleToCloseTimeout: '24 hours' },
        summary: `tell the ${outlet.kind}`,
      });
      return reportDrift(input(outlet));
    }),
  );
  const failed = told.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

function markdownOf({ checked, unseen, broken, lower, broke, fell, heldAgain }: WatchFound): string {
  return [
    `**${String(checked)} checked**, ${String(broken)} do not hold, ${String(lower)} hold for fewer rows than is kept`,
    `${String(broke)} broke, ${String(fell)} fell, ${String(heldAgain)} hold again, ${String(unseen)} could not be checked`,
  ].join('\n\n');
}
