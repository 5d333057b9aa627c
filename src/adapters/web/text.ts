/** Text from outside, fit to be stored, shown and sent on: no control characters, no half of a character of two units. */
import { clip } from '../../clip';

export function cleaned(text: string): string {
  // A terminal would obey some of them.
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}

export function oneLine(text: string, maxChars: number): string {
  return clip(cleaned(text.replace(/\s+/g, ' ')).trim(), maxChars);
}
