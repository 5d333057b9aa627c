/**
 * The ranking of a schema that does not fit its budget, where an embedding model is configured: how near the tables are to
 * the question in meaning. Where the model fails, the search goes on with the ranking by words and says so.
 */
import type { DatabaseDescription } from '../domain';
import { ModelError, type Embedder } from '../ports';
import { fitsWhole, type SchemaContext } from '../search/schema-context';
import type { Nearness } from '../search/schema-ranking';
import type { UsageDelta } from '../search/steps';
import { addDeltas, type StepContext } from './context';
import type { Contents } from './contents';
import { questionVector } from './question-vector';
import { nearnessOf, type Paid } from './table-vectors';

export interface MeaningRank {
  readonly nearness: Nearness | null;
  readonly usage: UsageDelta;
  /** For the record, once it is known what is shown. */
  readonly told: (context: SchemaContext, description: DatabaseDescription) => Contents['ranking'];
}

/** Null where nothing is configured, or nothing has to be left out. */
export async function rankByMeaning(
  context: StepContext,
  description: DatabaseDescription,
  maxChars: number,
): Promise<MeaningRank | null> {
  const { embedder } = context.deps;
  if (embedder === undefined || fitsWhole(description, maxChars)) return null;
  const { model, open } = embedder;
  const { nearness, error, usage, paid } = await near(context, description, open);
  const warning = error === null ? null : `tables were ranked by the question's words alone: ${error.message}`;
  return {
    nearness,
    usage,
    told: ({ ranks }, { tables }) => ({
      schemaVersion: 1,
      by: nearness === null ? 'words' : 'words-and-meaning',
      model,
      tables: tables.length,
      shown: ranks.map(({ table, byWords, byMeaning }) => ({ table: table.name, byWords, byMeaning })),
      embeddedTables: paid.texts,
      tokens: usage.promptTokens ?? 0,
      costUsd: usage.costUsd ?? 0,
      warning,
    }),
  };
}

interface Ranked {
  readonly nearness: Nearness | null;
  readonly error: ModelError | null;
  readonly usage: UsageDelta;
  readonly paid: Paid;
}

const NOTHING: Paid = { texts: 0, tokens: 0, costUsd: 0 };

async function near(
  context: StepContext,
  description: DatabaseDescription,
  open: () => Promise<Embedder>,
): Promise<Ranked> {
  const { deps, input, signal } = context;
  let usage: UsageDelta = {};
  try {
    const embedder = await open();
    const question = await questionVector(context, embedder);
    usage = question.usage;
    const { database } = input.question;
    const found = await nearnessOf({ ...deps, embedder }, { database, description, question: question.vector, signal });
    const { tokens: promptTokens, costUsd } = found.paid;
    usage = addDeltas(usage, { promptTokens, costUsd });
    if (found.kind === 'ok') return { nearness: found.nearness, error: null, usage, paid: found.paid };
    return { nearness: null, error: found.error, usage, paid: found.paid };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    return { nearness: null, error, usage, paid: NOTHING };
  }
}
