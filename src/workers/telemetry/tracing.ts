/**
 * Turns tracing on. It is off unless the standard variables of OpenTelemetry name a collector; only then is OpenTelemetry
 * loaded (`opentelemetry.ts`).
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { withTrace } from '../../workflows/trace-context';
import { telemetry, type Environment, type NewSpan, type OpenSpan } from './active';

/** `say`: told when spans cannot be delivered. */
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
