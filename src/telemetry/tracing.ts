/**
 * Turns tracing on. It is off unless the standard variables of OpenTelemetry name a collector; only then is OpenTelemetry
 * loaded (`opentelemetry.ts`).
 */
import { telemetry } from './active';
import type { Environment, NewSpan, OpenSpan } from './spans';

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
