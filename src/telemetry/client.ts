/** Begins the trace of what a client starts, and writes its id where people look: the workflow's memo. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { withTrace } from '../workflows/trace-context';
import { telemetry } from './active';

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
