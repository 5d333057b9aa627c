import type { ResultLine } from '../../src/questions';

export const USAGE: NonNullable<ResultLine['usage']> = {
  ...{ llmCalls: 2, possiblyBilledCalls: 0, promptTokens: 90, completionTokens: 10, costUsd: 0.01 },
  ...{ sqlExecutions: 3, sqlMs: 5, sqlRows: 10 },
};

/** A right and proved answer to question `id` unless `more` says otherwise. */
export function answerLine(id: string, more: Partial<ResultLine> = {}): ResultLine {
  return {
    ...{ set: 's', method: 'm', seed: 0, id, searchId: `q-${id}`, question: `How many ${id}?`, database: 'a' },
    ...{ difficulty: null, status: 'answered', endedBy: 'agreement', sql: 'SELECT 1', answer: null },
    ...{ standing: 'proved', proved: 1, verdict: 'correct', verdictReason: '', execution: true, official: null },
    ...{ usage: USAGE, wallMs: 10, error: null },
    ...more,
  };
}

/** The parts of `summary.json` that other commands read. */
export const summaryText = (file: string, batchId = 'b-0'): string =>
  JSON.stringify({ sets: [{ comparison: { file }, figures: [{ bySeed: [{ batchId }] }] }] });
