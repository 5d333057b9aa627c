/**
 * The schema as compact text for a prompt: one block per table with columns, keys, comments and sample values. If it does
 * not fit, tables are ranked by the question's words and by keys (`relevance.ts`). The best get a block. The others
 * appear only in the list of names, which is complete.
 */
import type { DatabaseDescription, Dialect, TableDescription } from '../domain';
import { abridgedText, BARE, DETAILS, NAMES, identifier, tableName, tableText, type Detail } from './table-text';
import { rankedTables, type AskedOf } from './relevance';
import { counted } from '../counted';
import { nameParts, schemaOf } from '../sql/dialects';
import { groupBy } from '../group-by';

/** The most characters that the schema takes in a prompt; our own value: about 15,000 tokens. */
export const SCHEMA_CHARS = 60_000;

export interface SchemaContext {
  readonly text: string;
  /** The text before the tables. */
  readonly frame: string;
  /** Tables whose columns are in the text; null: all. */
  readonly shown: readonly string[] | null;
  /** Of a wide database: what the question adds to the frame, which is the same for all questions. */
  readonly chosen?: ChosenTables;
}

export interface ChosenTables {
  /** Where the question's words stand. */
  readonly places: string;
  /** Those of which all rows are shown. */
  readonly whole: readonly string[];
  /** Of each shown table, in order. */
  readonly blocks: readonly string[];
}

type Schema = Pick<DatabaseDescription, 'dialect' | 'tables' | 'version'>;

const NOTICE_LENGTH = 120;
/** The most tables that may show samples, of the best. */
const GENEROUS = 8;
/** The best tables whose columns are shown before any table shows samples. */
const LIKELY = 16;

export function schemaContext(
  description: DatabaseDescription,
  options: AskedOf & { readonly maxChars: number },
): SchemaContext {
  const { tables, dialect } = description;
  const { maxChars, question = '' } = options;
  const heading = headingOf(description);
  for (const detail of DETAILS) {
    const all = whole(description, detail, maxChars);
    if (all !== null) return { text: all, frame: heading, shown: null };
  }
  const names = `-- all tables: ${nameList(description, maxChars / 3)}`;
  let left = maxChars - heading.length - names.length - NOTICE_LENGTH;
  const widest = tables.length === 1 ? left : maxChars / 3;
  const ordered = rankedTables(description, options);
  const reserved = ordered
    .slice(0, LIKELY)
    .map(({ table, score }) => (score > 0 ? Math.min(widest, tableText(table, BARE, dialect).length + 2) : 0));
  const kept: { order: number; name: string; text: string }[] = [];
  for (const [rank, { table, order, score }] of ordered.entries()) {
    const room = Math.min(left - 2, widest);
    // Keep space for the columns of the next tables, rather than use it for samples.
    const others = reserved.slice(rank + 1).reduce((sum, chars) => sum + chars, 0);
    const rich =
      rank < GENEROUS && score > 0
        ? firstFitting(table, DETAILS.slice(0, 2), dialect, Math.min(room, left - others))
        : undefined;
    const text = rich ?? fitted(table, DETAILS.slice(2), { dialect, room, widest, question });
    if (text === undefined) continue;
    kept.push({ order, name: table.name, text });
    left -= text.length + 2;
  }
  kept.sort((a, b) => a.order - b.order);
  const notice = `-- columns of ${kept.length} of ${counted(tables.length, 'table')} are shown, chosen by the question's words`;
  const frame = [heading, names, notice];
  return {
    text: [...frame, ...kept.map(({ text }) => text)].join('\n\n'),
    frame: frame.join('\n\n'),
    shown: kept.map(({ name }) => name),
  };
}

function headingOf({ version, tables }: Schema): string {
  return `-- ${version}, ${counted(tables.length, 'table')}`;
}

/** All tables in one detail; null if that is too long. */
function whole(schema: Schema, detail: Detail, maxChars: number): string | null {
  const parts = [headingOf(schema)];
  let length = parts[0]?.length ?? 0;
  for (const table of schema.tables) {
    const text = tableText(table, detail, schema.dialect);
    length += text.length + 2;
    if (length > maxChars) return null;
    parts.push(text);
  }
  return parts.join('\n\n');
}

/**
 * Given tables in detail, in their order: for tables that the context only lists by name. The question decides which columns
 * of a table that is too wide are shown.
 */
export function renderTables(
  tables: readonly TableDescription[],
  { dialect, maxChars, question }: Pick<Room, 'dialect' | 'question'> & { readonly maxChars: number },
): string {
  let left = maxChars;
  const blocks = tables.flatMap((table) => {
    const details = left >= maxChars / 2 ? DETAILS : DETAILS.slice(2);
    const text = fitted(table, details, { dialect, room: left, widest: maxChars / 2, question });
    left -= text === undefined ? 0 : text.length + 2;
    return text === undefined ? [] : [text];
  });
  return blocks.join('\n\n');
}

interface Room {
  readonly dialect: Dialect;
  readonly room: number;
  /** A table that is longer than this in every detail is abridged, if there is room for half of it. */
  readonly widest: number;
  readonly question: string;
}

/** A table of ordinary width is shown in full or not at all: a table that is only listed can be requested later. */
function fitted(
  table: TableDescription,
  details: readonly Detail[],
  { dialect, room, widest, question }: Room,
): string | undefined {
  const text = firstFitting(table, details, dialect, room);
  if (text !== undefined || room <= widest / 2 || tableText(table, NAMES, dialect).length <= widest) return text;
  return abridgedText(table, dialect, { maxChars: Math.min(room, widest), question });
}

function firstFitting(
  table: TableDescription,
  details: readonly Detail[],
  dialect: Dialect,
  left: number,
): string | undefined {
  return details.map((detail) => tableText(table, detail, dialect)).find(({ length }) => length <= left);
}

/** The names of all tables; grouped by schema (`sales.{a, b}`) if the plain list is too long. */
function nameList({ tables, dialect }: Schema, maxChars: number): string {
  const full = tables.map(({ name }) => tableName(name, dialect));
  const plain = full.join(', ');
  if (plain.length <= maxChars) return plain;
  return [...groupBy(tables, ({ name }) => schemaOf(name, dialect))]
    .map(([schema, own]) => {
      const names = own.map(({ name }) => identifier(nameParts(name, dialect).at(-1) ?? name, dialect)).join(', ');
      return schema === '' ? names : `${tableName(schema, dialect)}.{${names}}`;
    })
    .join('; ');
}
