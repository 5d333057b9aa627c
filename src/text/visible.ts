/** Text from a database or a model made safe to show: no terminal escape, no invisible or reordering character. */
import { oneLine } from './clip';

// C0 and C1 controls except tab and line feed; zero-width, direction and isolate marks; line and paragraph separators; the
// byte order mark.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

export const visibleLine = (text: string): string => oneLine(visible(text));
