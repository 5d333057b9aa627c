/**
 * Traces by OpenTelemetry's SDK, sent as OTLP over HTTP. Sampling, batching, headers, timeouts and resource are set by its
 * standard variables. Loaded only where tracing is on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Context, Span, SpanContext } from '@opentelemetry/api';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
  type TracerConfig,
} from '@opentelemetry/sdk-trace-base';
import type { Environment } from '../../config/folders';
import { isSampled, partsOf } from '../../workflows/trace-context';
import type { WorkflowSpan } from '../../workflows/tracing';

type Attributes = Record<string, string | number | undefined>;

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

const PROTOCOL = 'OTEL_EXPORTER_OTLP_PROTOCOL';
const KINDS = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
/** The most that a command waits at its end. */
const FLUSH_MS = 2_000;
/** An unreachable collector fails each batch. */
const SAY_EVERY_MS = 60_000;

export async function openTelemetry(
  env: Environment,
  say: (line: string) => void,
  given?: SpanExporter,
): Promise<Tracing> {
  sayFailures(say);
  const exporter = given ?? (await openExporter(env));
  const service = resourceFromAttributes({ 'service.name': 'gate' });
  const resource = defaultResource()
    .merge(service)
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ resource, spanProcessors });
  const tracer = provider.getTracer('gate');
  const endedSpan = spansOfWorkflows({ resource, spanProcessors });
  const current = new AsyncLocalStorage<Span>();
  const begin = ({ name, kind, attributes }: NewSpan, context: Context): Span =>
    tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
  const run = <T>(span: Span, work: (open: OpenSpan) => Promise<T>): Promise<T> =>
    current.run(span, async () => {
      try {
        return await work(openSpan(span));
      } catch (error) {
        markFailed(span, errorType(error));
        throw error;
      } finally {
        span.end();
      }
    });
  return {
    span: (span, parent, work) => run(begin(span, contextOf(parent)), work),
    child(span, work) {
      const parent = current.getStore();
      return parent === undefined ? work(null) : run(begin(span, trace.setSpan(ROOT_CONTEXT, parent)), work);
    },
    workflowEnded(name, ended, attributes) {
      if (isSampled(ended.traceparent)) endedSpan(name, ended, attributes);
    },
    async flush() {
      const timer = new AbortController();
      const late = sleep(FLUSH_MS, undefined, { signal: timer.signal }).then(() =>
        Promise.reject(new Error(`no answer within ${FLUSH_MS / 1000} s`)),
      );
      // The processor does not wait for a batch that is under way already; the exporter does.
      const sent = Promise.all([provider.forceFlush(), exporter.forceFlush?.()]);
      await Promise.race([sent, late]).catch((error: unknown) =>
        diag.error(error instanceof Error ? error.message : String(error)),
      );
      late.catch(() => undefined); // sent before
      timer.abort();
    },
  };
}

async function openExporter(env: Environment): Promise<SpanExporter> {
  const name = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL' : PROTOCOL;
  switch (env[name] || 'http/protobuf') {
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter();
    default: {
      const advice = `give http/protobuf or http/json, and the collector's address for HTTP (often port 4318)`;
      throw Object.assign(new Error(`${name}: '${env[name] ?? ''}' is not offered; ${advice}`), {
        name: 'ConfigError',
      });
    }
  }
}

/** The ids of a workflow's span are known before it is made, and whoever began the trace decided that it is kept. */
function spansOfWorkflows(config: Pick<TracerConfig, 'resource' | 'spanProcessors'>) {
  const random = new RandomIdGenerator();
  let next: { readonly traceId: string; readonly spanId: string } | null = null;
  const idGenerator = {
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
  };
  const tracer = new BasicTracerProvider({ ...config, idGenerator, sampler: new AlwaysOnSampler() }).getTracer('gate');
  return (
    name: string,
    { traceparent, parent, link, startMs, outcome }: WorkflowSpan,
    attributes: Attributes,
  ): void => {
    next = partsOf(traceparent);
    const links = link === null ? [] : [{ context: spanContextOf(link) }];
    const started = { kind: SpanKind.CONSUMER, links, startTime: startMs };
    const span = tracer.startSpan(name, { ...started, attributes }, contextOf(parent));
    next = null;
    span.setAttribute('gate.outcome', outcome);
    if (outcome === 'failed') markFailed(span, 'WorkflowFailed');
    span.end();
  };
}

function openSpan(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    sampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    set: (attributes) => void span.setAttributes(attributes),
  };
}

function contextOf(parent: string | null): Context {
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
}

function spanContextOf(traceparent: string): SpanContext {
  const { traceId, spanId, flags } = partsOf(traceparent);
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}

/** Its kind alone: a message may quote data. */
function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** `ModelError.timeout`, as in histories. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown };
  if (typeof type === 'string' && type !== '') return type;
  return typeof code === 'string' ? `${error.name}.${code}` : error.name;
}

function sayFailures(say: (line: string) => void): void {
  let saidAt = -Infinity;
  const failure = (text: string): void => {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    const [, message] = /"message":"([^"]*)"/.exec(text) ?? [null, text];
    say(`traces are not delivered: ${message.slice(0, 200)}; check OTEL_EXPORTER_OTLP_ENDPOINT`);
  };
  const nothing = (): void => undefined;
  const logger = { error: failure, warn: failure, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
