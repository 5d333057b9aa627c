/** What is counted of activities: searches that ended, and steps that are tried again. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { FinishInput } from '../ports/search-steps';
import { telemetry } from './active';

/** The activity that writes the final record (`activities/store.ts`). */
const FINISH = 'finishSearch';

export const countedActivities: ActivityInterceptorsFactory = ({ info: { activityType, attempt } }) => ({
  inbound: {
    execute: async (input, next) => {
      const { metrics } = telemetry;
      if (attempt > 1) metrics?.add('gate_step_retries_total', { step: activityType });
      const result = await next(input);
      if (activityType === FINISH && metrics !== null) {
        const { status, endedBy, state } = input.args[0] as FinishInput;
        metrics.add('gate_searches_total', { status, ended_by: endedBy });
        metrics.add('gate_search_duration_seconds', { status }, (Date.now() - state.startedAtMs) / 1000);
      }
      return result;
    },
  },
});
