/**
 * The embedding model in `gate doctor`: is its endpoint there, does it take the key, does it list the model; with `--call`
 * one word is embedded. Never more than a note, because every search goes on without it.
 */
import { detectOllama, OPENAI_BASE_URL, priceOf } from '../adapters/openai';
import { EMBEDDING_PRICES } from '../adapters/openai-embeddings/embedder';
import type { Config } from '../config';
import { ModelError } from '../ports';
import { counted } from '../report/printable';
import { openEmbedder } from '../workers/open-embedder';
import { note, ok, type Finding } from './doctor-finding';
import { checkEndpoint, isOffered } from './preflight';

const WHAT = 'embedding model';

/** No findings when no embedding model is configured. */
export async function checkEmbeddings(
  config: Pick<Config, 'embeddings' | 'models' | 'prices'>,
  call: boolean,
): Promise<Finding[]> {
  const { embeddings } = config;
  if (embeddings === null) return [];
  const prices = { ...EMBEDDING_PRICES, ...config.prices };
  const unpriced =
    priceOf(embeddings.model, prices) === null
      ? [note(`${WHAT}'s price`, `none known for ${embeddings.model}: it counts as free`, 'set "prices"')]
      : [];
  return [call ? await tried(config) : await looked(config, embeddings), ...unpriced];
}

async function looked(
  { models }: Pick<Config, 'models'>,
  { model, own, apiKeySource }: NonNullable<Config['embeddings']>,
): Promise<Finding> {
  const isUnset = own === null && models.apiKey === null && models.baseUrl === null;
  const ollama = isUnset ? await detectOllama() : null;
  if (isUnset && ollama === null)
    return note(WHAT, `${model}: no endpoint to ask`, `set ${apiKeySource}, or schema.embeddings.baseUrl`);
  const baseUrl = own?.baseUrl ?? ollama?.baseUrl ?? models.baseUrl;
  const apiKey = own === null ? models.apiKey : own.apiKey;
  const check = await checkEndpoint({ baseUrl, apiKey, apiKeySource }, OPENAI_BASE_URL);
  const url = own === null ? 'OPENAI_BASE_URL' : 'schema.embeddings.baseUrl';
  switch (check.kind) {
    case 'unreachable':
      return note(WHAT, `${model}: ${check.url} does not answer`, `start it, or correct ${url}`);
    case 'refused': {
      const fix =
        apiKey === null ? `it wants a key: set ${apiKeySource}` : `it refuses the key: correct ${apiKeySource}`;
      return note(WHAT, `${model}: ${check.url} refuses access`, fix);
    }
    case 'ok':
      return isOffered(model, check.models) || isOffered(`${model}:latest`, check.models)
        ? ok(WHAT, `${model} at ${check.url}`)
        : note(WHAT, `${check.url} does not list ${model}`, 'set schema.embeddings.model to a model that it lists');
  }
}

async function tried(config: Pick<Config, 'embeddings' | 'models' | 'prices'>): Promise<Finding> {
  const opened = openEmbedder(config);
  if (opened === null) return ok(WHAT, 'none');
  try {
    const embedder = await opened.embedder.open();
    const { vectors, tokens } = await embedder.embed(['table'], { signal: new AbortController().signal });
    const numbers = counted(vectors[0]?.length ?? 0, 'number');
    return ok(WHAT, `${embedder.model} at ${embedder.endpoint}: vectors of ${numbers} (${counted(tokens, 'token')})`);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return note(WHAT, error.message, null);
  } finally {
    opened.close();
  }
}
