/** Counts in words, for people and models: `1 row`, `2,000 rows`. Uses no locale: the same on every machine. */

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** What stands behind the noun of a phrase such as `orders with a date`. */
const AFTER_NOUN =
  /^(.*?)(\s*[,;:(].*|\s+(?:with(?:out)?|of|that|which|whose|who|where|in|on|at|by|for|from|as|to|per)\s.*)?$/is;

/** A model's words for many things, where there is one: `laps with both clocks` gives `lap with both clocks`. */
export function singular(phrase: string): string {
  const [, noun = phrase, rest = ''] = AFTER_NOUN.exec(phrase) ?? [];
  return `${oneOf(noun)}${rest}`;
}

function oneOf(word: string): string {
  if (/(?:ss|us|is|series|species|news)$/i.test(word)) return word;
  if (/[^aeiou]ies$/i.test(word) && !/\b(?:mov|cook|calor|t|p|l|d)ies$/i.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/i.test(word)) return word.slice(0, -2);
  return word.replace(/s$/i, '');
}

/** A few of many ids, for a message. */
export function someOf(ids: readonly string[]): string {
  const shown = ids.slice(0, 3).map((id) => `"${id}"`);
  return `${shown.join(', ')}${ids.length > 3 ? ` and ${String(ids.length - 3)} more` : ''}`;
}
