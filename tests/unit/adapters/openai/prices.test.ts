import { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf } from '../../../../src/adapters/openai/prices';

const TABLE = {
  'gpt-5': { inputPerMillion: 1, outputPerMillion: 10 },
  'gpt-5-mini': { inputPerMillion: 2, outputPerMillion: 20 },
  'acme/gpt-5': { inputPerMillion: 3, outputPerMillion: 30 },
};

test('a cost is tokens times the price per million', () => {
  expect(costUsd('gpt-5', { promptTokens: 1_000_000, completionTokens: 100_000 }, TABLE)).toBeCloseTo(2, 12);
});

test('tokens from a cache have a price of their own where one is configured, else the input price', () => {
  const tokens = { promptTokens: 1_000_000, cachedTokens: 800_000, completionTokens: 0 };
  expect(costUsd('gpt-5', tokens, TABLE)).toBeCloseTo(1, 12);
  const cached = { 'gpt-5': { ...TABLE['gpt-5'], cachedInputPerMillion: 0.1 } };
  expect(costUsd('gpt-5', tokens, cached)).toBeCloseTo(0.2 + 0.08, 12);
  const free = { 'gpt-5': { ...TABLE['gpt-5'], cachedInputPerMillion: 0 } };
  expect(costUsd('gpt-5', tokens, free)).toBeCloseTo(0.2, 12);
});

test.each([
  ['gpt-5', 1],
  ['gpt-5-2026-01-01', 1],
  ['gpt-5-mini', 2],
  ['gpt-5-mini-2026-01-01', 2],
  ['gpt-5:free', 1],
  ['openai/gpt-5-mini', 2],
  ['acme/gpt-5', 3],
])('%s gets the entry with the longest name it starts with', (model, inputPerMillion) => {
  expect(priceOf(model, TABLE)?.inputPerMillion).toBe(inputPerMillion);
});

test.each(['gpt-5.4-mini', 'gpt-50', 'llama3', ''])('%p is another model and has no price', (model) => {
  expect(priceOf(model, TABLE)).toBeNull();
  expect(costUsd(model, { promptTokens: 1000, completionTokens: 1000 }, TABLE)).toBe(0);
});

test('the default table names its date and holds positive prices only', () => {
  expect(DEFAULT_PRICES_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const price of Object.values(DEFAULT_PRICES))
    expect(Math.min(price.inputPerMillion, price.outputPerMillion)).toBeGreaterThan(0);
});
