/**
 * Carries a trace through a workflow. Only where the workflow was started with one; else nothing is different.
 *
 * 1. Replay is not touched: headers are no part of what is compared, no interceptor waits, and the ids of spans come from
 *    the run id. A sink, which is silent in a replay, tells the worker when the workflow's span has ended.
 * 2. A question of a batch has a trace of its own, which names the batch's by a link: a batch may have thousands.
 */
import { ContinueAsNew, proxySinks, uuid4, workflowInfo } from '@temporalio/workflow';
import type { Sinks, WorkflowInterceptors } from '@temporalio/workflow';
import { isSampled, partsOf, traceIn, withTrace, type TraceHeader } from './trace-context';

export interface WorkflowSpan {
  /** Its own ids. */
  readonly traceparent: string;
  /** null: it begins the trace. */
  readonly parent: string | null;
  readonly link: string | null;
  readonly startMs: number;
  readonly outcome: 'completed' | 'failed' | 'continued-as-new';
}

export interface TraceSinks extends Sinks {
  readonly traces: { ended(span: WorkflowSpan): void };
}

export function interceptors(): WorkflowInterceptors {
  let given: TraceHeader | null = null;
  let own = '';
  const below = <Input extends { readonly headers: Parameters<typeof withTrace>[0] }>(input: Input): Input =>
    given === null ? input : { ...input, headers: withTrace(input.headers, { traceparent: own }) };
  return {
    inbound: [
      {
        execute(input, next) {
          const trace = traceIn(input.headers);
          if (trace === null) return next(input);
          given = trace;
          const { traceId, flags } = partsOf(trace.traceparent);
          own = `00-${traceId}-${hexOf(workflowInfo().runId).slice(16)}-${flags}`;
          const startMs = Date.now();
          const ended = (outcome: WorkflowSpan['outcome']): void => {
            const { link = null, traceparent } = trace;
            const parent = link === null ? traceparent : null;
            proxySinks<TraceSinks>().traces.ended({ traceparent: own, parent, link, startMs, outcome });
          };
          const running = next(input);
          void running.then(
            () => ended('completed'),
            (error: unknown) => ended(error instanceof ContinueAsNew ? 'continued-as-new' : 'failed'),
          );
          return running;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(below(input)),
        scheduleLocalActivity: (input, next) => next(below(input)),
        continueAsNew: (input, next) =>
          next(given === null ? input : { ...input, headers: withTrace(input.headers, given) }),
        startChildWorkflowExecution(input, next) {
          if (given === null) return next(input);
          const traceId = hexOf(uuid4());
          const trace = { traceparent: `00-${traceId}-${own.slice(36)}`, link: own };
          const memo = { ...input.options.memo, ...(isSampled(own) && { traceId }) };
          return next({ ...input, headers: withTrace(input.headers, trace), options: { ...input.options, memo } });
        },
      },
    ],
  };
}

const hexOf = (uuid: string): string => uuid.replaceAll('-', '');
