/**
 * What a worker counts (docs/telemetry.md). Temporal's runtime keeps the figures and answers Prometheus; this file says which
 * there are.
 *
 * 1. Labels have few values: names of the configuration, roles, outcomes. No id, question, SQL or address is among them.
 * 2. Activities and adapters count, never workflow code, so a replay counts nothing.
 * 3. Temporal's counters are whole numbers. What is not (seconds, dollars) is a histogram, whose sum is the counter.
 */
import type { MetricMeter, MetricTags } from '@temporalio/common';

interface Definition {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const CALL_SECONDS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
const SQL_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30, 60];
const SEARCH_SECONDS = [1, 2, 5, 10, 20, 40, 60, 120, 300, 900, 3_600];
const DOLLARS = [0.0001, 0.001, 0.01, 0.1, 1];

function counter<L extends string>(help: string, labels: readonly L[]) {
  return { kind: 'counter' as const, help, labels };
}

function histogram<L extends string>(help: string, labels: readonly L[], buckets: readonly number[]) {
  return { kind: 'histogram' as const, help, labels, buckets };
}

export const METRICS = {
  gate_searches_total: counter('Searches that ended here, by their status and by what ended them', ['status', 'ended_by']),
  gate_search_duration_seconds: histogram('From the start of a search to its final record, pauses included', ['status'], SEARCH_SECONDS),
  gate_model_calls_total: counter('Requests to a model, by outcome: ok, cancelled, or the kind of error', ['role', 'model', 'outcome']),
  gate_model_call_duration_seconds: histogram('Time of a request to a model, answered or not', ['role', 'model'], CALL_SECONDS),
  gate_model_tokens_total: counter('Tokens of answered requests; direction is input, cached (a part of input) or output', ['role', 'model', 'direction']),
  gate_model_call_cost_dollars: histogram('US dollars of an answered request, by the price table', ['role', 'model'], DOLLARS),
  gate_journal_hits_total: counter('Model calls that were not made because their reply was in the journal', ['role', 'model']),
  gate_sql_statements_total: counter('Statements by database and outcome: rows, sql-error, timeout, refused, or failed (the database did not answer)', ['database', 'outcome']),
  gate_sql_duration_seconds: histogram('Time of a statement that was executed', ['database'], SQL_SECONDS),
  gate_step_retries_total: counter('Second and later attempts of a step, by activity type', ['step']),
  gate_cold_starts_total: counter<never>('Starts of this process: 1 once it asks for work', []),
  gate_cold_start_seconds: { kind: 'gauge' as const, help: 'From the start of this process until it asked for work', labels: [] as const },
} satisfies Readonly<Record<string, Definition>>; // prettier-ignore

export type MetricName = keyof typeof METRICS;
type LabelsOf<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>;

export interface Metrics {
  /** Adds to a counter, or records a value of a histogram or gauge. */
  add<N extends MetricName>(name: N, labels: LabelsOf<N>, value?: number): void;
}

/** For the exporter. */
export const BUCKETS: Readonly<Record<string, number[]>> = Object.fromEntries(
  Object.entries<Definition>(METRICS).flatMap(([name, { buckets }]) =>
    buckets === undefined ? [] : [[name, [...buckets]]],
  ),
);

export function createMetrics(meter: MetricMeter): Metrics {
  const recorders = new Map(
    Object.entries<Definition>(METRICS).map(([name, definition]) => [name, recorder(meter, name, definition)]),
  );
  const bounded = boundedLabels();
  return { add: (name, labels, value = 1) => recorders.get(name)?.(value, bounded(labels)) };
}

function recorder(
  meter: MetricMeter,
  name: string,
  { kind, help }: Definition,
): (value: number, tags: MetricTags) => void {
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, undefined, help);
      return (value, tags) => counter.add(value, tags);
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'float', undefined, help);
      return (value, tags) => histogram.record(value, tags);
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'float', undefined, help);
      return (value, tags) => gauge.set(value, tags);
    }
    default:
      return kind satisfies never;
  }
}

/** Whoever asks may name any model: beyond this many values of a label the others are one. */
const MOST_VALUES = 100;

function boundedLabels(): (labels: Readonly<Record<string, string>>) => MetricTags {
  const seen = new Map<string, Set<string>>();
  const bounded = (label: string, value: string): string => {
    const known = seen.get(label) ?? new Set();
    seen.set(label, known);
    if (known.size < MOST_VALUES) known.add(value);
    return known.has(value) ? value : 'other';
  };
  return (labels) => Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, bounded(label, value)]));
}
