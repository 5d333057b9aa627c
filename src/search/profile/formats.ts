/** Text formats: digits as 9, letters as a or A, long runs shortened: `2020-01-31` is `9999-99-99`, `Ann Lee` is `Aaa Aaa`. */

export interface Format {
  readonly pattern: string;
  readonly count: number;
}

export function formatOf(text: string): string {
  return text
    .slice(0, 60)
    .replace(/\p{Nd}/gu, '9')
    .replace(/\p{L}/gu, (letter) => (/\p{Lu}/u.test(letter) ? 'A' : 'a'))
    .replace(/9{9,}/g, '9+')
    .replace(/A{4,}/g, 'A+')
    .replace(/a{4,}/g, 'a+');
}

/** Merges values or digit masks that have the same format; most frequent first. */
export function formatsOf(values: readonly { readonly value: string; readonly count: number }[]): Format[] {
  const counts = new Map<string, number>();
  for (const { value, count } of values) counts.set(formatOf(value), (counts.get(formatOf(value)) ?? 0) + count);
  return [...counts]
    .map(([pattern, count]) => ({ pattern, count }))
    .sort((a, b) => b.count - a.count || (a.pattern < b.pattern ? -1 : 1));
}

/** Only digits and the signs of a number. */
export const isNumberFormat = (pattern: string): boolean => /^[+-]?(9+\+?([.,]9+\+?)?|[.,]9+\+?)$/.test(pattern);

/** Digits and few signs: times, dates, amounts. Several such formats in one column mean several conventions. */
export const isCodeFormat = (pattern: string): boolean =>
  pattern.includes('9') && !/a\+.* .*a/i.test(pattern) && pattern.length <= 30;
