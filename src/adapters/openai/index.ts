export { createOpenAiModel, OPENAI_BASE_URL, type OpenAiConfig } from './model';
export { detectOllama, type LocalOllama } from './ollama';
export { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf, type Price, type PriceTable } from './prices';
