/**
 * What a call costs. Prices are US dollars per million tokens, list prices without batch or cache discounts, so a cost
 * ceiling errs on the safe side; a cache discount counts where the configuration names it. Configured prices win over the table below; an unpriced model costs 0, and whoever
 * shows a cost says so (`priceOf` is null).
 */
import type { ModelReply } from '../../domain/ports';

export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Of prompt tokens that the provider read from its cache; left out: the input price. */
  readonly cachedInputPerMillion?: number;
}
export type PriceTable = Readonly<Record<string, Price>>;

/** The day on which `DEFAULT_PRICES` was written down; prices change, so `prices` in the configuration overrides it. */
export const DEFAULT_PRICES_DATE = '2026-06-30';

const price = (inputPerMillion: number, outputPerMillion: number): Price => ({ inputPerMillion, outputPerMillion });

export const DEFAULT_PRICES: PriceTable = {
  'gpt-4o': price(2.5, 10),
  'gpt-4o-mini': price(0.15, 0.6),
  'gpt-4.1': price(2, 8),
  'gpt-4.1-mini': price(0.4, 1.6),
  'gpt-4.1-nano': price(0.1, 0.4),
  o3: price(2, 8),
  'o3-mini': price(1.1, 4.4),
  'o3-pro': price(20, 80),
  'o4-mini': price(1.1, 4.4),
  'gpt-5': price(1.25, 10),
  'gpt-5-mini': price(0.25, 2),
  'gpt-5-nano': price(0.05, 0.4),
  'gpt-5-pro': price(15, 120),
  'gpt-5.1': price(1.25, 10),
  'gpt-5.2': price(1.75, 14),
  'gpt-5.2-pro': price(21, 168),
  'gpt-5.4': price(2.5, 15),
  'gpt-5.4-mini': price(0.75, 4.5),
  'gpt-5.4-nano': price(0.2, 1.25),
  'gpt-5.5': price(5, 30),
};

/**
 * The entry with the longest name that the model's name starts with, at a boundary: `gpt-4o` covers
 * `gpt-4o-2024-08-06` but neither `gpt-4omni` nor, as a shorter name, `gpt-4.1`. A gateway's own prefix
 * (`openai/gpt-4o`) is looked up as it stands first, then without.
 */
export function priceOf(model: string, prices: PriceTable): Price | null {
  const bare = model.slice(model.lastIndexOf('/') + 1);
  return longestPrefix(model, prices) ?? (bare === model ? null : longestPrefix(bare, prices));
}

/** `cachedTokens`: of the prompt tokens. */
export function costUsd(
  model: string,
  tokens: Pick<ModelReply, 'promptTokens' | 'completionTokens' | 'cachedTokens'>,
  prices: PriceTable,
): number {
  const { promptTokens, completionTokens, cachedTokens = 0 } = tokens;
  const found = priceOf(model, prices);
  if (found === null) return 0;
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = found;
  const input = (promptTokens - cachedTokens) * inputPerMillion + cachedTokens * cachedInputPerMillion;
  return (input + completionTokens * outputPerMillion) / 1_000_000;
}

function longestPrefix(model: string, prices: PriceTable): Price | null {
  const names = Object.keys(prices).filter(
    (name) => name !== '' && model.startsWith(name) && /^($|[-:@/])/.test(model.slice(name.length)),
  );
  const [best] = names.sort((a, b) => b.length - a.length);
  return best === undefined ? null : (prices[best] ?? null);
}
