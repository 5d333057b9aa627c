/**
 * The search attributes by which the Temporal UI lists and filters searches and batches (docs/temporal-ui.md). Temporal
 * never encrypts them: with encryption on, only counters and states are set.
 * A server refuses attributes that its namespace does not know. So the starter of a workflow asks the server first, and says
 * in the input which ones to set (`workers/search-attributes.ts`).
 */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';

const { TEXT, KEYWORD, INT, DOUBLE } = SearchAttributeType;

export const GATE_ATTRIBUTES = {
  question: defineSearchAttributeKey('GateQuestion', TEXT),
  database: defineSearchAttributeKey('GateDatabase', KEYWORD),
  method: defineSearchAttributeKey('GateMethod', KEYWORD),
  status: defineSearchAttributeKey('GateStatus', KEYWORD),
  /** Progress of a batch: `12 of 30`. */
  progress: defineSearchAttributeKey('GateProgress', KEYWORD),
  iteration: defineSearchAttributeKey('GateIteration', INT),
  calls: defineSearchAttributeKey('GateCalls', INT),
  costUsd: defineSearchAttributeKey('GateCostUsd', DOUBLE),
} as const;

/** `counters`: encryption is on, so neither the question nor the database is shown. */
export type ShownAttributes = 'all' | 'counters';

/** The attributes at the start. The database is cut off the label, because it has a column of its own. */
export function startAttributes(
  shown: ShownAttributes,
  { label, database, method }: { readonly label: string; readonly database?: string; readonly method: string },
): SearchAttributePair[] {
  const { question, ...keys } = GATE_ATTRIBUTES;
  const prefix = `${database ?? ''}: `;
  const title = label.startsWith(prefix) ? label.slice(prefix.length) : label;
  return [
    ...(shown === 'all' ? [{ key: question, value: title }] : []),
    ...(shown === 'all' && database !== undefined ? [{ key: keys.database, value: database }] : []),
    { key: keys.method, value: method },
    { key: keys.status, value: 'running' },
  ];
}

export function searchCounters(state: {
  readonly iteration: number;
  readonly usage: { readonly llmCalls: number; readonly costUsd: number };
}): SearchAttributePair[] {
  const { iteration, calls, costUsd } = GATE_ATTRIBUTES;
  return [
    { key: iteration, value: state.iteration - 1 },
    { key: calls, value: state.usage.llmCalls },
    { key: costUsd, value: Math.round(state.usage.costUsd * 1e6) / 1e6 },
  ];
}
