/**
 * What a request tells a model, apart from how the model is instructed: the same for two versions of this program that order
 * or word their instructions otherwise. The journal compares by it (design D2).
 *
 * 1. System messages and rules are instructions; until 2026-11-22 all rules stood in the system message.
 * 2. Sections count by name and text, wherever they stand; sections of one name in their order, because replies name them.
 * 3. Text inside a section is never read as rules or as another section.
 */
import type { ChatMessage } from '../ports';

/** Until 2026-11-22 they stood at the end of the section `schema`. */
export const FURTHER_TABLES = 'schema of further tables';

const SECTION = /<data name="([^"\n]*)">\n([\s\S]*?)\n<\/data>/g;
const RULES = /<rules>\n[\s\S]*?\n<\/rules>/;

export function told(messages: readonly ChatMessage[]): string {
  return JSON.stringify(messages.filter(({ role }) => role !== 'system').map(toldByOne));
}

export function sectionsOf(text: string): { readonly name: string; readonly text: string }[] {
  return [...text.matchAll(SECTION)].map(([, name = '', inner = '']) => ({ name, text: inner }));
}

/** What a message says outside its sections: the rules, and all else. */
export function outsideOf(text: string): { readonly rules: string; readonly rest: string } {
  const outside = text.replace(SECTION, '');
  return { rules: RULES.exec(outside)?.[0] ?? '', rest: outside.replace(RULES, '').trim() };
}

function toldByOne({ role, content }: ChatMessage): unknown {
  if (role !== 'user') return [role, content];
  const sections = new Map<string, string>();
  for (const { name, text } of sectionsOf(content)) {
    const key = name === FURTHER_TABLES ? 'schema' : name;
    const before = sections.get(key);
    sections.set(key, before === undefined ? text : `${before}\n\n${text}`);
  }
  const lines = outsideOf(content)
    .rest.split('\n')
    .filter((line) => line.trim() !== '');
  return [role, [...sections].sort(byName), lines.sort()];
}

function byName([one]: [string, string], [other]: [string, string]): number {
  return one < other ? -1 : 1;
}
