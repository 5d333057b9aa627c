/** Text formats: digits as 9, letters as a or A, long runs shortened: `2020-01-31` is `9999-99-99`, `Ann Lee` is `Aaa Aaa`. */

export function formatOf(text: string): string {
  return text
    .slice(0, 60)
    .replace(/\p{Nd}/gu, '9')
    .replace(/\p{L}/gu, (letter) => (/\p{Lu}/u.test(letter) ? 'A' : 'a'))
    .replace(/9{9,}/g, '9+')
    .replace(/A{4,}/g, 'A+')
    .replace(/a{4,}/g, 'a+');
}

/** Digits and few signs: times, dates, amounts. Several such formats in one column mean several conventions. */
export const isCodeFormat = (pattern: string): boolean =>
  pattern.includes('9') && !/a\+.* .*a/i.test(pattern) && pattern.length <= 30;
