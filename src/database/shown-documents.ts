/**
 * The documentation and documents that a prompt shows: evidence, not truth. A note stands under the table's name in the
 * database; notes on hidden or unknown tables and columns are left out. Documents may have a thousand pages, but every call
 * pays for what its prompt shows.
 */
import type { DatabaseDescription, DocumentNote, Question, TableDescription } from '../domain';
import { sameRelation } from '../sql/validate';
import { oneLine } from '../clip';
import { groupBy } from '../group-by';
import { fitting, rankedTables, remembered, textRelevance } from './relevance';
import { withEscapedBreaks } from './table-text';

/** The most characters that notes take in a prompt; our own value: about 5,000 tokens. */
export const DOCUMENTATION_CHARS = 20_000;
/** The most characters of one note, if not all notes fit. */
const SHORT_NOTE = 240;
const LONG_NOTE = 2_000;

export interface PlacedNote {
  readonly table: string;
  /** null: about the table. */
  readonly column: string | null;
  readonly text: string;
  readonly source: string;
}

/** Notes under the database's own names. Notes on tables and columns that the description does not have are left out. */
export function placeNotes({ tables }: DatabaseDescription, notes: readonly DocumentNote[]): PlacedNote[] {
  const named = remembered((wanted: string) => tableNamed(tables, wanted) ?? null);
  return notes.flatMap((note): PlacedNote[] => {
    const table = named(note.table.toLowerCase());
    if (table === null) return [];
    const { text, source } = note;
    if (note.column === null) return [{ table: table.name, column: null, text, source }];
    const column = columnNamed(table, note.column);
    if (column !== undefined) return [{ table: table.name, column, text, source }];
    // `address.city` is a field of what the column `address` holds.
    const outer = columnNamed(table, note.column.replace(/\..*$/s, ''));
    return outer === undefined ? [] : [{ table: table.name, column: outer, text: `${note.column}: ${text}`, source }];
  });
}

/** Null if no note is about this database. If not all notes fit, tables that the question likely needs come first. */
export function renderDocumentation(
  description: DatabaseDescription,
  notes: readonly DocumentNote[],
  { question, maxChars = DOCUMENTATION_CHARS }: { readonly question: string; readonly maxChars?: number },
): string | null {
  const placed = placeNotes(description, notes);
  if (placed.length === 0) return null;
  const byTable = groupBy(placed, ({ table }) => table);
  const ofTable = (table: TableDescription, longest: number): string | null => {
    const own = byTable.get(table.name);
    return own === undefined ? null : noteBlock(table, own, longest);
  };
  const strangers = notes.length - placed.length;
  const footer = strangers === 0 ? [] : [`(${strangers} notes on what this database does not have are left out)`];
  const whole = [...description.tables.flatMap((table) => ofTable(table, LONG_NOTE) ?? []), ...footer].join('\n');
  if (whole.length <= maxChars) return whole;
  const ranked = rankedTables(description, { question, notes: placed }).flatMap(({ table }) => {
    const text = ofTable(table, SHORT_NOTE);
    return text === null ? [] : [{ name: table.name, text }];
  });
  const kept = new Map(
    [...fitting(ranked, maxChars - 200, ({ text }) => text.length + 1)].map((each) => [each.name, each.text]),
  );
  const more = byTable.size - kept.size;
  return [
    ...description.tables.flatMap(({ name }) => kept.get(name) ?? []),
    ...(more === 0 ? [] : [`(what is said of ${more} more tables does not fit here)`]),
    ...footer,
  ].join('\n');
}

function noteBlock(table: TableDescription, notes: readonly PlacedNote[], longest: number): string {
  const sources = [...new Set(notes.map(({ source }) => source))].join(', ');
  const about = notes.filter(({ column }) => column === null).map(({ text }) => oneLine(text, longest));
  const columns = table.columns.flatMap(({ name }) => {
    const own = notes.filter(({ column }) => column === name).map(({ text }) => oneLine(text, longest));
    return own.length === 0 ? [] : [`  ${withEscapedBreaks(name)}: ${own.join('; ')}`];
  });
  return [
    `${withEscapedBreaks(`${table.name} (${sources})`)}${about.length === 0 ? '' : `: ${about.join('; ')}`}`,
    ...columns,
  ].join('\n');
}

function tableNamed(tables: readonly TableDescription[], wanted: string): TableDescription | undefined {
  return (
    tables.find(({ name }) => name.toLowerCase() === wanted) ??
    tables.find(({ name }) => sameRelation(name, wanted)) ??
    tables.find(({ name }) => plainName(name) === plainName(wanted))
  );
}

function columnNamed({ columns }: TableDescription, wanted: string): string | undefined {
  const plain = plainName(wanted);
  return columns.find(({ name }) => plainName(name) === plain)?.name;
}

const plainName = (name: string): string => name.toLowerCase().replace(/[\s_"`[\]]+/g, '');

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

/** Documents whole, or the parts that share most words with the question, in their order. */
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
