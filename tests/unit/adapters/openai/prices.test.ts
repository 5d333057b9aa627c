import { costUsd, DEFAULT_PRICES, DEFAULT_PRICES_DATE, priceOf } from '../../../../src/adapters/openai/prices';

const TABLE = {
  'gpt-5': { inputPerMillion: 1, outputPerMillion: 10 },
  'gpt-5-mini': { inputPerMillion: 2, outputPerMillion: 20 },
  'acme/gpt-5': { inputPerMillion: 3, outputPerMillion: 30 },
};

test('a cost is tokens times the price per million', () => {
  expect(costUsd('gpt-5', 1_000_000, 100_000, TABLE)).toBeCloseTo(2, 12);
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
  expect(costUsd(model, 1000, 1000, TABLE)).toBe(0);
});

test('the default table names its date and holds positive prices only', () => {
  expect(DEFAULT_PRICES_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const price of Object.values(DEFAULT_PRICES))
    expect(Math.min(price.inputPerMillion, price.outputPerMillion)).toBeGreaterThan(0);
});
