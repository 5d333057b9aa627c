/** Texts made short. */

/** The first characters of a text, none of them half of a pair: endpoints refuse a text that holds one. */
export function clip(text: string, chars: number): string {
  const isSplit = text.length > chars && /[\ud800-\udbff]/.test(text.charAt(chars - 1));
  return text.slice(0, Math.max(0, isSplit ? chars - 1 : chars));
}

/** With an ellipsis where something is missing. */
export function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${clip(text, maxChars - 1)}…`;
}

/** Runs of white space become one space, and the line is cut. */
export function oneLine(text: string, maxChars = Infinity): string {
  return cut(text.replace(/\s+/g, ' ').trim(), maxChars);
}
