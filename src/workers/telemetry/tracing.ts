/**
 * What this process tells of its work. Nothing, until a composition root turns it on, once for the process: like Temporal's
 * runtime and OpenTelemetry's provider, there is one. Adapters and interceptors look here at each call.
 *
 * No attribute of a span holds a question, SQL, a row, a prompt or a message of an error: any of them may quote data.
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Metrics } from './metrics';
import type { NewSpan, OpenSpan, Tracing } from './opentelemetry';
import type { Environment } from '../../config/folders';
import { traceIn, withTrace } from '../../workflows/trace-context';
import type { TraceSinks } from '../../workflows/tracing';
import type { FinishInput } from '../../domain/ports/steps';

export const telemetry: { metrics: Metrics | null; tracing: Tracing | null } = { metrics: null, tracing: null };

/**
 * Turns tracing on. It is off unless the standard variables of OpenTelemetry name a collector; only then is OpenTelemetry
 * loaded (`opentelemetry.ts`). `say`: told when spans cannot be delivered.
 */
export async function startTracing(env: Environment, say: (line: string) => void): Promise<void> {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const off = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!endpoint || off || telemetry.tracing !== null) return;
  const { openTelemetry } = await import('./opentelemetry');
  telemetry.tracing ??= await openTelemetry(env, say);
}

/** `work` in a span below the open one, where this process traces. */
export function traced<T>(span: () => NewSpan, work: (span: OpenSpan | null) => Promise<T>): Promise<T> {
  return telemetry.tracing === null ? work(null) : telemetry.tracing.child(span(), work);
}

/** Begins the trace of what a client starts, and writes its id where people look: the workflow's memo. */
export const tracedClient: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    const { tracing } = telemetry;
    if (tracing === null) return next(input);
    const { workflowType, headers, options } = input;
    const attributes = { temporalWorkflowId: options.workflowId };
    const span = { name: `StartWorkflow:${workflowType}`, kind: 'producer', attributes } as const;
    return tracing.span(span, null, ({ traceparent, traceId, sampled }) => {
      const memo = { ...options.memo, ...(sampled && { traceId }) };
      return next({ ...input, headers: withTrace(headers, { traceparent }), options: { ...options, memo } });
    });
  },
};

/** The activity that writes the final record (`activities/store.ts`). */
const FINISH = 'finishSearch';
/** Its retries are how it waits (`activities/batch.ts`). */
const FOLLOW = 'followQuestion';

/** Counts searches that ended, and steps that are tried again. */
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
