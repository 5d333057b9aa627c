/**
 * The part of a question's documents that a prompt shows: everything, or the parts that share most words with the question,
 * in their order. Documents may have a thousand pages, but every call pays for what its prompt shows.
 */
import type { Question } from '../domain';
import { fitting } from './fitting';
import { textRelevance } from './lexical';

/** The most characters that documents take in a prompt; our own value: about 10,000 tokens. */
export const DOCUMENTS_CHARS = 40_000;
const PART_CHARS = 1_500;

type Document = Question['documents'][number];

interface Part {
  readonly document: number;
  readonly text: string;
  /** The heading above it. */
  readonly title: string;
}

export function shownDocuments(
  documents: readonly Document[],
  question: string,
  maxChars = DOCUMENTS_CHARS,
): readonly Document[] {
  if (documents.reduce((sum, { text }) => sum + text.length, 0) <= maxChars) return documents;
  const parts = documents.flatMap(({ text }, document) => partsOf(text, document));
  const scores = textRelevance(
    question,
    parts.map(({ title, text }) => `${title}\n${text}`),
  );
  const ranked = parts.map((_, at) => at).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const kept = fitting(ranked, maxChars, (at) => parts[at]?.text.length ?? 0);
  return documents.map(({ name, text }, document) => ({ name, text: excerpt(text, document, parts, kept) }));
}

function excerpt(text: string, document: number, parts: readonly Part[], kept: ReadonlySet<number>): string {
  const lines: string[] = [];
  let shown = 0;
  let last: number | null = null;
  for (const [at, part] of parts.entries()) {
    if (part.document !== document || !kept.has(at)) continue;
    const follows = last === at - 1;
    if (!follows) lines.push('[…]', ...(part.title === '' || part.text.startsWith(part.title) ? [] : [part.title]));
    lines.push(part.text);
    shown += part.text.length;
    last = at;
  }
  if (shown === text.length) return text;
  return [`(${shown} of ${text.length} characters, chosen by the question's words)`, ...lines].join('\n');
}

/** Paragraphs, joined up to a length. A heading begins a new part. A paragraph that is too long is cut. */
function partsOf(text: string, document: number): Part[] {
  const parts: Part[] = [];
  let title = '';
  let gathered = '';
  const end = (): void => {
    if (gathered !== '') parts.push({ document, text: gathered, title });
    gathered = '';
  };
  for (const block of text.split(/(?<=\n[^\S\n]*\n)|(?=^#{1,6} )/m)) {
    const heading = /^#{1,6} .{0,200}/.exec(block)?.[0];
    if (heading !== undefined || gathered.length + block.length > PART_CHARS) end();
    title = heading ?? title;
    if (block.length <= PART_CHARS) gathered += block;
    else
      for (let from = 0; from < block.length; from += PART_CHARS)
        parts.push({ document, text: block.slice(from, from + PART_CHARS), title });
  }
  end();
  return parts;
}
