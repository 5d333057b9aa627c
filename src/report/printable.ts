/** Text from a database or a model made safe to show, cut and wrapped; and the words for counts, money and durations. */
import type { SteeringNote } from '../domain';
import { counted } from '../counted';
import { cell } from '../text/result-text';
import { visible, visibleLine } from '../clip';

export { billText, dollars, duration, statementsText, tokensText, usageText } from '../text/usage-text';
export { cell, counted, visible };

/** A text on one line, cut with an ellipsis. */
export function cut(text: string, length: number): string {
  const line = visibleLine(text);
  return line.length <= length ? line : `${line.slice(0, Math.max(0, length - 1))}…`;
}

/** A text on several lines of at most `width`, broken between words where there are any; `lines` of them, cut like `cut`. */
export function wrapped(text: string, width: number, lines: number): readonly string[] {
  const room = Math.max(10, width);
  const done: string[] = [];
  let rest = visibleLine(text);
  while (rest.length > room && done.length < lines - 1) {
    const space = rest.lastIndexOf(' ', room);
    const end = space > room / 2 ? space : room;
    done.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...done, cut(rest, room)];
}

/** `2026-11-22 09:30 UTC`. */
export function utc(iso: string, chars = 16): string {
  return `${iso.slice(0, chars).replace('T', ' ')} UTC`;
}

/** A person's remark to the search, in words. */
export function noteText(note: Pick<SteeringNote, 'kind' | 'author' | 'text' | 'at' | 'shown'>): string {
  const late = note.shown === false ? ' (too late: no prompt showed it)' : '';
  return `${note.kind} by ${note.author}${late}, ${utc(note.at)}: ${note.text}`;
}

/** A text with a capital at the beginning, unless it begins with a name such as `final_position`. */
export function capital(text: string): string {
  return /^[a-z]+[^\sa-z]*[\s,.:;]/.test(`${text} `) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
}

/** Orders ids such as `i2.t10` and `i10.t1` as a person does. */
export function compareIds(a: string, b: string): number {
  const parts = (id: string): string[] => id.split(/(\d+)/);
  const [left, right] = [parts(a), parts(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const x = left[index] ?? '';
    const y = right[index] ?? '';
    if (x === y) continue;
    return /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : x < y ? -1 : 1;
  }
  return 0;
}
