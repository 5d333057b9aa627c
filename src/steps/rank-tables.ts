/**
 * Ranks the tables of a schema that does not fit its budget by nearness in meaning to the question, if an embedding model is
 * configured. If that model fails, the search continues with the ranking by words and warns.
 */
import type { DatabaseDescription } from '../domain';
import { ModelError, type Embedder } from '../ports';
import { fitsWhole, type SchemaContext } from '../schema/context';
import type { Nearness } from '../schema/ranking';
import type { UsageDelta } from '../ports/search-steps';
import { databaseKey } from '../record/search-id';
import { addDeltas, type StepContext } from './context';
import { SCHEMA_ID, type Contents } from '../record/contents';
import { questionVector, unanswered } from './question-vector';
import { nearnessOf, NOTHING, type Paid } from './table-vectors';

export interface MeaningRank {
  readonly nearness: Nearness | null;
  readonly usage: UsageDelta;
  /** The ranking for the record, made once the shown tables are known. */
  readonly told: (context: SchemaContext, description: DatabaseDescription) => Contents['ranking'];
}

/** Null if no embedding model is configured, or the whole schema fits. */
export async function rankByMeaning(
  context: StepContext,
  description: DatabaseDescription,
  maxChars: number,
): Promise<MeaningRank | null> {
  const { embedder } = context.deps;
  if (embedder === undefined || fitsWhole(description, maxChars)) return null;
  const { model, open } = embedder;
  const { nearness, error, usage, paid } = afterAll(
    await context.run.find('ranking', SCHEMA_ID),
    await near(context, description, open),
  );
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

/** Includes the cost of an earlier try of this step that ranked the tables but did not finish. */
function afterAll(before: Contents['ranking'] | null, ranked: Ranked): Ranked {
  // `before.tokens` includes the question's tokens, which the journal returns to each try: do not add them twice.
  if (before === null || before.tokens === 0) return ranked;
  const { usage, paid } = ranked;
  return {
    ...ranked,
    usage: { ...usage, promptTokens: before.tokens + paid.tokens, costUsd: before.costUsd + paid.costUsd },
    paid: { ...paid, texts: before.embeddedTables + paid.texts },
  };
}

async function near(
  context: StepContext,
  description: DatabaseDescription,
  open: () => Promise<Embedder>,
): Promise<Ranked> {
  const { deps, input, signal } = context;
  try {
    const embedder = await open();
    const question = await questionVector(context, embedder);
    const asked = { database: databaseKey(input), description, question: question.vector, signal };
    const found = await nearnessOf({ ...deps, embedder }, asked);
    const { texts: _, tokens: promptTokens, ...rest } = found.paid;
    const usage = addDeltas(question.usage, { promptTokens, ...rest });
    if (found.kind === 'ok') return { nearness: found.nearness, error: null, usage, paid: found.paid };
    return { nearness: null, error: found.error, usage, paid: found.paid };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    return { nearness: null, error, usage: await unanswered(context), paid: NOTHING };
  }
}
