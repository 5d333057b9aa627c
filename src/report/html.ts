/**
 * HTML that cannot be broken by what it shows: every value put into a `markup` template is escaped, unless it is itself
 * the result of one. Control and direction-override characters become visible, so that a cell cannot rearrange a page.
 */
import { visible } from './printable';

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => (text += show(value) + (strings[index + 1] ?? '')));
  return new Html(text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** A fragment identifier for anything: letters, digits, `_`, `-` and `.`; the rest as code points. */
export function anchor(kind: string, id: string): string {
  return `${kind}-${id.replace(/[^A-Za-z0-9_.-]/gu, (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}`)}`;
}

function show(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'object') return part.map(show).join('');
  return escapeHtml(String(part));
}
