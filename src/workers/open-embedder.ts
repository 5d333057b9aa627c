/**
 * The embedding model of the configuration, opened at its first use. Unless it has its own endpoint, it uses the one of
 * `models`, or a local Ollama if that has none. Recordings hold no vectors, so recorded and replayed searches request none:
 * they rank tables by words.
 */
import type { Config } from '../config';
import { ModelError, type Embedder } from '../ports';
import type { StepDeps } from '../steps';

export interface OpenedEmbedder {
  readonly embedder: NonNullable<StepDeps['embedder']>;
  /** Ends what is under way. */
  readonly close: () => void;
}

/** Null where none is configured. */
export function openEmbedder(config: Pick<Config, 'embeddings' | 'models' | 'prices'>): OpenedEmbedder | null {
  const { embeddings } = config;
  if (embeddings === null) return null;
  const closing = new AbortController();
  let opened: Promise<Embedder> | null = null;
  const open = (): Promise<Embedder> => {
    opened ??= create(config, embeddings, closing.signal);
    // Not configured yet, or no Ollama up yet: the next question looks again.
    opened.catch(() => (opened = null));
    return opened;
  };
  return {
    embedder: { model: embeddings.model, open },
    close: () => closing.abort(new ModelError('connection', 'this process was stopped')),
  };
}

async function create(
  { models, prices }: Pick<Config, 'models' | 'prices'>,
  { model, own, apiKeySource, dimensions, batchSize, requestTimeoutMs }: NonNullable<Config['embeddings']>,
  closing: AbortSignal,
): Promise<Embedder> {
  const [{ createOpenAiEmbedder }, { detectOllama }] = await Promise.all([
    import('../adapters/openai-embeddings/embedder'),
    import('../adapters/openai'),
  ]);
  const isUnset = own === null && models.apiKey === null && models.baseUrl === null;
  const ollama = isUnset ? await detectOllama() : null;
  if (isUnset && ollama === null) {
    const fix = `set ${apiKeySource}, or OPENAI_BASE_URL, or schema.embeddings.baseUrl, or start an Ollama`;
    throw new ModelError('not-configured', `no endpoint to ask for embeddings: ${fix}`);
  }
  const embedder = createOpenAiEmbedder({
    model,
    apiKey: (own === null ? models.apiKey : own.apiKey)?.reveal() ?? null,
    baseUrl: own?.baseUrl ?? ollama?.baseUrl ?? models.baseUrl,
    timeoutMs: requestTimeoutMs,
    ...{ batchSize, dimensions, prices },
    settings: { key: apiKeySource, url: own === null ? 'OPENAI_BASE_URL' : 'schema.embeddings.baseUrl' },
  });
  return {
    ...embedder,
    embed: (texts, { signal }) => whileOpen(signal, closing, (either) => embedder.embed(texts, { signal: either })),
  };
}

/** `AbortSignal.any` would leave something behind on both signals, which outlive the call. */
async function whileOpen<T>(
  signal: AbortSignal,
  closing: AbortSignal,
  call: (either: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  closing.throwIfAborted();
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  const end = (): void => controller.abort(closing.reason);
  signal.addEventListener('abort', stop);
  closing.addEventListener('abort', end);
  try {
    return await call(controller.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    closing.removeEventListener('abort', end);
  }
}
