/** Text from a database or a model made safe to show, cut and wrapped; counts, money and durations as words. */
import type { SteeringNote, Usage } from '../domain';
import { counted } from '../counted';
import { size } from '../size';
import { cell } from '../text/result-text';
import { visible, visibleLine } from '../clip';

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

/** Prompt and completion together, and how many of them a provider read from its cache. */
export function tokensText(usage: Pick<Usage, 'promptTokens' | 'completionTokens' | 'cachedTokens'>): string {
  const all = counted(Math.round(usage.promptTokens + usage.completionTokens), 'token');
  return usage.cachedTokens === undefined
    ? all
    : `${all} (${counted(Math.round(usage.cachedTokens), 'cached', 'cached')})`;
}

/** `8 SQL statements`, and what the database bills for them where it bills by bytes. */
export function statementsText(usage: Pick<Usage, 'sqlExecutions' | Bill>): string {
  const bill = billText(usage);
  return `${counted(usage.sqlExecutions, 'SQL statement')}${bill === null ? '' : ` (${bill})`}`;
}

type Bill = 'sqlBytes' | 'sqlUsd';

/** Null: the database bills nothing by bytes. */
export function billText({ sqlBytes, sqlUsd = 0 }: Pick<Usage, Bill>): string | null {
  return sqlBytes === undefined ? null : `${size(sqlBytes)} billed, about ${dollars(sqlUsd)}`;
}

export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = whole - minutes * 60;
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
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
