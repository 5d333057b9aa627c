export { createOpenAiEmbedder, EMBEDDING_PRICES, type OpenAiEmbedderConfig } from './embedder';
