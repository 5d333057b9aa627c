/** What is said to a model and what it replied, as the journal and recordings hold it. */
import * as z from 'zod';

export const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
  /** How many characters of its beginning other questions on the database have as well: they are stored once. */
  common: z.number().int().optional(),
});
export type ChatMessage = Readonly<z.infer<typeof ChatMessage>>;

export const ModelReply = z.object({
  text: z.string(),
  model: z.string(),
  promptTokens: z.number(),
  /** Those of them that the provider read from its cache; left out where the endpoint does not say. */
  cachedTokens: z.number().optional(),
  completionTokens: z.number(),
  /** US dollars by the price table; 0 for an unpriced model, which `doctor` and the first run point out. */
  costUsd: z.number(),
  finishReason: z.string(),
});
export type ModelReply = Readonly<z.infer<typeof ModelReply>>;
