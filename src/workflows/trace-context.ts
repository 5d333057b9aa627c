/**
 * Where a trace stands, as a W3C traceparent in a Temporal header. Name and form are those of Temporal's own OpenTelemetry
 * interceptors, so a client with those begins a trace that goes on here. Headers are not encrypted; they hold ids only.
 */
import { defaultPayloadConverter, type Headers } from '@temporalio/common';

const HEADER = '_tracer-data';
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface TraceHeader {
  readonly traceparent: string;
  /** The span of a batch, in the trace of the batch: a question of a batch has a trace of its own. */
  readonly link?: string;
}

/** null: whoever started this traces nothing. */
export function traceIn(headers: Headers): TraceHeader | null {
  const payload = headers[HEADER];
  if (payload === undefined) return null;
  const { traceparent, link } = defaultPayloadConverter.fromPayload<Partial<TraceHeader>>(payload);
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return null;
  return { traceparent, ...(link !== undefined && TRACEPARENT.test(link) && { link }) };
}

export function withTrace(headers: Headers, trace: TraceHeader): Headers {
  return { ...headers, [HEADER]: defaultPayloadConverter.toPayload(trace) };
}

export function partsOf(traceparent: string): { traceId: string; spanId: string; flags: string } {
  const [, traceId = '', spanId = '', flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
  return { traceId, spanId, flags };
}

export const isSampled = (traceparent: string): boolean => traceparent.endsWith('1');
