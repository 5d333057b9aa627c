/**
 * The setting `schema.embeddings`: a model that ranks the tables of a large schema by meaning. Its endpoint is that of
 * `models` unless it has an address of its own; then the key of `models` is not sent there.
 */
import { z } from 'zod';
import { checkKey, endpointKey, holdsLogin, Secret } from './secrets';
import type { Place } from './folders';

const name = z.string().min(1);

export const SchemaEntry = z.strictObject({
  /** Whether models are shown values of rows before they ask for any; default: yes. */
  values: z.boolean().optional(),
  embeddings: z
    .strictObject({
      model: name,
      baseUrl: z.url({ protocol: /^https?$/ }).optional(),
      apiKeyEnv: name.optional(),
      apiKeyFile: name.optional(),
      /** Asks for shorter vectors, of models that have them. */
      dimensions: z.number().int().positive().max(8192).optional(),
      /** Texts of one request at most. */
      batchSize: z.number().int().positive().max(2048).optional(),
      requestTimeoutMs: z.number().int().positive().max(600_000, 'is too large; allowed: at most 600000').optional(),
    })
    .optional(),
});

export interface EmbeddingsConfig {
  readonly model: string;
  /** null: the endpoint of `models`, with its key. */
  readonly own: { readonly baseUrl: string; readonly apiKey: Secret | null } | null;
  /** Where the key is looked for, to name it in messages. */
  readonly apiKeySource: string;
  readonly dimensions: number | null;
  readonly batchSize: number;
  readonly requestTimeoutMs: number;
}

/** Below what gateways in front of hosted models take (Google's and Cohere's about a hundred). */
const BATCH_SIZE = 96;
/** A batch is answered within seconds; what hangs would only hold up the question. */
const REQUEST_TIMEOUT_MS = 30_000;

/** `modelKeySource`: where `models` has its key from. */
export function embeddingsOf(
  entry: z.infer<typeof SchemaEntry> | undefined,
  modelKeySource: string,
  at: Place,
): EmbeddingsConfig | null {
  const given = entry?.embeddings;
  if (given === undefined) return null;
  const { model, baseUrl, apiKeyEnv, apiKeyFile } = given;
  const place = `${at.where}: schema.embeddings`;
  if (baseUrl === undefined && (apiKeyEnv !== undefined || apiKeyFile !== undefined))
    at.problems.push(`${place}: has a key but no baseUrl; without one the endpoint and the key of "models" are used`);
  if (holdsLogin(given)) at.problems.push(`${place}.baseUrl: holds a password; name a key in apiKeyEnv or apiKeyFile`);
  const key = (apiKeyEnv === undefined ? null : at.env[apiKeyEnv]?.trim()) || endpointKey(given, place, at);
  if (key) checkKey(key, `${place}: the key`, at.problems);
  const sources = [apiKeyEnv, apiKeyFile].filter((source) => source !== undefined);
  return {
    model,
    own: baseUrl === undefined ? null : { baseUrl, apiKey: key ? new Secret(key) : null },
    apiKeySource:
      baseUrl === undefined ? modelKeySource : sources.join(' or ') || 'schema.embeddings.apiKeyEnv or apiKeyFile',
    dimensions: given.dimensions ?? null,
    batchSize: given.batchSize ?? BATCH_SIZE,
    requestTimeoutMs: given.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
  };
}
