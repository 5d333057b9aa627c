/**
 * What this process tells of its work. Nothing, until a composition root turns it on, once for the process: like Temporal's
 * runtime and OpenTelemetry's provider, there is one. Adapters and interceptors look here at each call.
 */
import type { Metrics } from './metrics';
import type { Tracing } from './spans';

export const telemetry: { metrics: Metrics | null; tracing: Tracing | null } = { metrics: null, tracing: null };
