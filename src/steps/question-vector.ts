/**
 * The question's vector, paid once per search: an intent is stored before the request and the vector after it, as for every
 * model call (`record/journal.ts`). After a crash in between, the request is repeated, and the lost one counts as possibly billed.
 * If a step times out, the request continues, and the next try of the step joins it.
 */
import { ModelError, type Embedder } from '../ports';
import { unitVector } from '../schema/ranking';
import type { UsageDelta } from '../ports/search-steps';
import type { StepContext } from './context';
import { embedded, mayBeBilled } from './embed';
import { shareWork } from '../record/shared-work';
import { fromBase64, toBase64 } from '../record/vector-store';

/** The most characters of the question that are embedded; more do not help to rank tables. */
const QUESTION_CHARS = 4_000;

export interface QuestionVector {
  readonly vector: Float32Array;
  readonly usage: UsageDelta;
}

export function questionVector(context: StepContext, embedder: Embedder): Promise<QuestionVector> {
  const { run, position, input, deps, signal } = context;
  const text = input.question.text.slice(0, QUESTION_CHARS);
  const key = `question ${run.searchId} ${position} ${deps.hash(JSON.stringify([embedder.model, text]))}`;
  return shareWork(deps.store, key, signal, () => askOnce(context, embedder, text));
}

async function askOnce(
  { run, position, deps }: StepContext,
  embedder: Embedder,
  text: string,
): Promise<QuestionVector> {
  const inputHash = deps.hash(JSON.stringify([embedder.model, text]));
  const before = await run.find('embedding', position);
  const known = before?.inputHash === inputHash ? before : null;
  if (known !== null && known.reply !== null) return asked(known.reply, known.unanswered);
  const unanswered = known?.unanswered ?? 0;
  const intent = {
    schemaVersion: 1 as const,
    model: embedder.model,
    inputHash,
    unanswered: unanswered + 1,
    reply: null,
  };
  await run.put('embedding', position, intent);
  // No abort signal: every request has its own time limit, and there are few tries.
  const unlimited = new AbortController().signal;
  const { vectors, tokens, costUsd } = await embedded(embedder, [text], unlimited).catch(async (error: unknown) => {
    if (error instanceof ModelError && !mayBeBilled(error))
      await run.put('embedding', position, { ...intent, unanswered });
    throw error;
  });
  const reply = { vector: toBase64(unitVector(vectors[0] ?? [])), tokens, costUsd };
  await run.put('embedding', position, { ...intent, unanswered, reply });
  return asked(reply, unanswered);
}

/** Usage of requests for the vector that may have been billed without a reply. */
export async function unanswered({ run, position }: StepContext): Promise<UsageDelta> {
  return billed((await run.find('embedding', position))?.unanswered ?? 0);
}

function asked(
  reply: { readonly vector: string; readonly tokens: number; readonly costUsd: number },
  possiblyBilledCalls: number,
): QuestionVector {
  const { vector, tokens, costUsd } = reply;
  return { vector: fromBase64(vector), usage: { promptTokens: tokens, costUsd, ...billed(possiblyBilledCalls) } };
}

function billed(possiblyBilledCalls: number): UsageDelta {
  return possiblyBilledCalls === 0 ? {} : { possiblyBilledCalls };
}
