/** Ports whose calls are counted and traced (docs/telemetry.md): the same ports to whoever uses them. */
import type { SqlResult } from '../../domain';
import {
  ModelError,
  type LanguageModel,
  type ModelReply,
  type ModelRequest,
  type SqlEngine,
  type SqlOptions,
} from '../../domain/ports';
import type { NewSpan } from './opentelemetry';
import { telemetry, traced } from './tracing';

export function observedModel(model: LanguageModel): LanguageModel {
  return {
    ...model,
    complete: (request, options) =>
      traced(
        () => callSpan(model, request),
        async (span) => {
          const began = performance.now();
          try {
            const reply = await model.complete(request, options);
            countCall(request, 'ok', began, reply);
            span?.set({
              'gen_ai.usage.input_tokens': reply.promptTokens,
              'gen_ai.usage.output_tokens': reply.completionTokens,
              'gate.cost_usd': reply.costUsd,
            });
            return reply;
          } catch (error) {
            const outcome = options.signal.aborted ? 'cancelled' : error instanceof ModelError ? error.code : 'failed';
            countCall(request, outcome, began);
            throw error;
          }
        },
      ),
  };
}

function callSpan({ endpoint }: LanguageModel, { role, model }: ModelRequest): NewSpan {
  const asked = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model };
  return {
    name: `chat ${model}`,
    kind: 'client',
    attributes: { ...asked, 'gate.role': role, 'server.address': endpoint },
  };
}

function countCall({ role, model }: ModelRequest, outcome: string, began: number, reply?: ModelReply): void {
  const { metrics } = telemetry;
  if (metrics === null) return;
  const labels = { role, model };
  metrics.add('gate_model_calls_total', { ...labels, outcome });
  metrics.add('gate_model_call_duration_seconds', labels, (performance.now() - began) / 1000);
  if (reply === undefined) return;
  metrics.add('gate_model_tokens_total', { ...labels, direction: 'input' }, reply.promptTokens);
  metrics.add('gate_model_tokens_total', { ...labels, direction: 'cached' }, reply.cachedTokens ?? 0);
  metrics.add('gate_model_tokens_total', { ...labels, direction: 'output' }, reply.completionTokens);
  metrics.add('gate_model_call_cost_dollars', labels, reply.costUsd);
}

/**
 * `database`: the configured name; one that is not configured is given by its path or URL, which no label shows. A span is a
 * round trip; statements carry it as their comment (`SqlOptions.traceparent`).
 */
export function observedEngine(engine: SqlEngine, database: string): SqlEngine {
  const counted = async <T>(work: Promise<T>, ends: (value: T, elapsedMs: number) => readonly End[]): Promise<T> => {
    const began = performance.now();
    const value = await work.catch((error: unknown) => {
      countStatement(database, { kind: 'failed' });
      throw error;
    });
    for (const end of ends(value, performance.now() - began)) countStatement(database, end);
    return value;
  };
  const below = <T>(options: SqlOptions, statements: number, work: (options: SqlOptions) => Promise<T>): Promise<T> =>
    traced(
      () => ({
        name: `SELECT ${database}`,
        kind: 'client',
        attributes: {
          'db.system.name': engine.dialect,
          'db.namespace': database,
          'gate.step': options.tag,
          'gate.statements': statements,
        },
      }),
      (span) => work(span?.sampled === true ? { ...options, traceparent: span.traceparent } : options),
    );
  return {
    ...engine,
    run: (statements, options) =>
      below(options, statements.length, (asked) => counted(engine.run(statements, asked), ({ results }) => results)),
    digest: (sql, options) =>
      below(options, 1, (asked) =>
        counted(engine.digest(sql, asked), (value, elapsedMs) => [
          'kind' in value ? value : { kind: 'rows', elapsedMs },
        ]),
      ),
  };
}

type End = SqlResult | { readonly kind: 'rows'; readonly elapsedMs: number } | { readonly kind: 'failed' };

function countStatement(database: string, end: End): void {
  const { metrics } = telemetry;
  if (metrics === null) return;
  metrics.add('gate_sql_statements_total', { database, outcome: end.kind });
  if (end.kind === 'refused' || end.kind === 'failed') return;
  const ms = end.kind === 'timeout' ? end.afterMs : end.elapsedMs;
  metrics.add('gate_sql_duration_seconds', { database }, ms / 1000);
}
