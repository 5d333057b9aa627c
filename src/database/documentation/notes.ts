/**
 * Notes from documentation on tables and columns, as text for a prompt: evidence, not truth. Each note stands under the
 * table's name in the database. Notes on hidden or unknown tables and columns are left out.
 */
import type { DatabaseDescription, DocumentNote, TableDescription } from '../../domain';
import { oneLine } from '../../text/clip';
import { fitting } from '../fitting';
import { withEscapedBreaks } from '../table-text';
import { rankedTables } from '../table-relevance';
import { sameRelation } from '../../sql/validate';

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
  const found = new Map<string, TableDescription | undefined>();
  return notes.flatMap((note): PlacedNote[] => {
    const wanted = note.table.toLowerCase();
    if (!found.has(wanted)) found.set(wanted, tableNamed(tables, wanted));
    const table = found.get(wanted);
    if (table === undefined) return [];
    const { text, source } = note;
    if (note.column === null) return [{ table: table.name, column: null, text, source }];
    const column = columnNamed(table, note.column);
    if (column !== undefined) return [{ table: table.name, column, text, source }];
    // `address.city` is a field of what the column `address` holds.
    const outer = columnNamed(table, note.column.replace(/\..*$/s, ''));
    return outer === undefined ? [] : [{ table: table.name, column: outer, text: `${note.column}: ${text}`, source }];
  });
}

export interface DocumentationOptions {
  readonly question: string;
  readonly maxChars?: number;
}

/** Null if no note is about this database. If not all notes fit, tables that the question likely needs come first. */
export function renderDocumentation(
  description: DatabaseDescription,
  notes: readonly DocumentNote[],
  { question, maxChars = DOCUMENTATION_CHARS }: DocumentationOptions,
): string | null {
  const placed = placeNotes(description, notes);
  if (placed.length === 0) return null;
  const byTable = new Map<string, PlacedNote[]>();
  for (const note of placed) byTable.set(note.table, [...(byTable.get(note.table) ?? []), note]);
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
