/** What is told of activities: a span each, searches that ended, and steps that are tried again. */
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { FinishInput } from '../../roles';
import { traceIn } from '../../workflows/trace-context';
import type { TraceSinks } from '../../workflows/tracing';
import { telemetry } from './active';

/** The activity that writes the final record (`activities/store.ts`). */
const FINISH = 'finishSearch';
/** Its retries are how it waits (`activities/batch.ts`). */
const FOLLOW = 'followQuestion';

export const countedActivities: ActivityInterceptorsFactory = ({ info: { activityType, attempt } }) => ({
  inbound: {
    execute: async (input, next) => {
      const { metrics } = telemetry;
      if (attempt > 1 && activityType !== FOLLOW) metrics?.add('gate_step_retries_total', { step: activityType });
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

/** Only below a workflow that is traced: a trace begins where something is asked. */
export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const { tracing } = telemetry;
      const trace = tracing === null ? null : traceIn(input.headers);
      if (tracing === null || trace === null) return next(input);
      const [asked] = input.args as ({ readonly role?: unknown } | undefined)[];
      const attributes = {
        temporalWorkflowId: info.workflowExecution?.workflowId,
        temporalActivityId: info.activityId,
        'gate.attempt': info.attempt,
        ...(typeof asked?.role === 'string' && { 'gate.role': asked.role }),
      };
      const span = { name: `RunActivity:${info.activityType}`, kind: 'consumer', attributes } as const;
      return tracing.span(span, trace.traceparent, () => next(input));
    },
  },
});

/** Silent in a replay. It is there without tracing too: a workflow that is traced may be worked on anywhere. */
export const traceSinks: InjectedSinks<TraceSinks> = {
  traces: {
    ended: {
      fn: ({ workflowType, workflowId, runId }, span) =>
        telemetry.tracing?.workflowEnded(`RunWorkflow:${workflowType}`, span, {
          temporalWorkflowId: workflowId,
          run_id: runId,
        }),
    },
  },
};
