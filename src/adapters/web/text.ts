/** Makes text from outside safe to store, show and send: no control characters, no unpaired surrogates. */
import { clip } from '../../text/clip';

export function cleaned(text: string): string {
  // A terminal would execute some control characters.
  const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
  return shown.replace(/\p{Surrogate}/gu, '\ufffd');
}

export function oneLine(text: string, maxChars: number): string {
  return clip(cleaned(text.replace(/\s+/g, ' ')).trim(), maxChars);
}
