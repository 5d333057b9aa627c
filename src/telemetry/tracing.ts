/**
 * Traces: what the rest of the program knows of them. Off unless the standard variables of OpenTelemetry name a collector;
 * only then is OpenTelemetry loaded (`opentelemetry.ts`).
 *
 * No attribute holds a question, SQL, a row, a prompt or a message of an error: any of them may quote data.
 */
import type { WorkflowSpan } from '../workflows/tracing';
import { telemetry } from './active';

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

type Environment = Readonly<Record<string, string | undefined>>;

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
