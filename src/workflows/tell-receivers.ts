/**
 * Tells the configured webhooks of one event: a workflow of its own, so that nothing waits for a receiver that is down. It is
 * tried again for a day, with the same id each time, then given up.
 */
import {
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  uuid4,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import type { Notice } from '../domain/ports/notices';
import { reasonOf } from '../search/findings';
import type { ScheduledActivities } from './activities';

type WithoutHead<T> = T extends unknown ? Omit<T, 'id' | 'at'> : never;

export async function tellReceivers(notice: Notice): Promise<void> {
  const { notify } = proxyActivities<Pick<ScheduledActivities, 'notify'>>({
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 hour' },
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout: '1 day',
    summary: notice.type,
  });
  try {
    for (const why of await notify(notice)) log.warn(`not told of ${notice.type} ${notice.id}: ${why}`);
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn(`given up telling of ${notice.type} ${notice.id}: ${reasonOf(error)}`);
  }
}

/** Goes on when its parent has ended. */
export async function tell(event: WithoutHead<Notice>): Promise<ChildWorkflowHandle<typeof tellReceivers>> {
  const id = uuid4();
  return startChild(tellReceivers, {
    args: [{ ...event, id, at: new Date(Date.now()).toISOString() }],
    workflowId: `told-${id}`,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    staticSummary: event.type,
  });
}
