export { OPENAI_BASE_URL } from './endpoint';
export { createOpenAiModel, type OpenAiConfig } from './model';
export { detectOllama, type LocalOllama } from './endpoint';
export { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf, type Price, type PriceTable } from './prices';
