/** Text from outside, fit to be stored, shown and sent on: no control characters, no half of a character of two units. */

export function cleaned(text: string): string {
  // A terminal would obey some of them.
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Not within a character of two code units. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars);
  return /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept;
}

export function oneLine(text: string, maxChars: number): string {
  return cutText(cleaned(text.replace(/\s+/g, ' ')).trim(), maxChars);
}
