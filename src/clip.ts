/** Texts made short, and safe to show. */

/** The first characters of a text, none of them half of a pair: endpoints refuse a text that holds one. */
export function clip(text: string, chars: number): string {
  const isSplit = text.length > chars && /[\ud800-\udbff]/.test(text.charAt(chars - 1));
  return text.slice(0, Math.max(0, isSplit ? chars - 1 : chars));
}

/** A text with an ellipsis where something is missing. */
export function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${clip(text, maxChars - 1)}…`;
}

/** Runs of white space become one space, and the line is cut. */
export function oneLine(text: string, maxChars = Infinity): string {
  return cut(text.replace(/\s+/g, ' ').trim(), maxChars);
}

// C0 and C1 controls except tab and line feed; zero-width, direction and isolate marks; line and paragraph separators; the
// byte order mark.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text from a database or a model made safe to show: no terminal escape, no invisible or reordering character. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

export const visibleLine = (text: string): string => oneLine(visible(text));
