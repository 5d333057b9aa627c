/**
 * What this process tells of its work. Nothing, until a composition root turns it on, once for the process: like Temporal's
 * runtime and OpenTelemetry's provider, there is one. Adapters and interceptors look here at each call.
 *
 * No attribute of a span holds a question, SQL, a row, a prompt or a message of an error: any of them may quote data.
 */
import type { WorkflowSpan } from '../../workflows/tracing';
import type { Metrics } from './metrics';

export const telemetry: { metrics: Metrics | null; tracing: Tracing | null } = { metrics: null, tracing: null };

export type Environment = Readonly<Record<string, string | undefined>>;

export type Attributes = Record<string, string | number | undefined>;

export interface NewSpan {
  readonly name: string;
  /** `client`: it asks another system. */
  readonly kind: 'internal' | 'client' | 'producer' | 'consumer';
  readonly attributes: Attributes;
}

export interface OpenSpan {
  readonly traceparent: string;
  readonly traceId: string;
  readonly sampled: boolean;
  set(attributes: Attributes): void;
}

export interface Tracing {
  /** `parent`: null begins a trace. It fails as `work` does, and the span says with what kind of error. */
  span<T>(span: NewSpan, parent: string | null, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Below the span that is open here; without one there is no span. */
  child<T>(span: NewSpan, work: (span: OpenSpan | null) => Promise<T>): Promise<T>;
  /** A workflow's span, which may have begun in another process. */
  workflowEnded(name: string, span: WorkflowSpan, attributes: Attributes): void;
  /** Sends what has ended, for at most a few seconds. */
  flush(): Promise<void>;
}
