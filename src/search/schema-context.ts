/**
 * The schema as compact text for a prompt: one block per table with columns, keys, comments and sample values. When it
 * does not fit, tables are ranked by the question's words and by foreign keys, and by nearness in meaning where vectors are
 * given (`schema-ranking.ts`), and the best get their block; what is left of each of the others is its name in the list,
 * which is always complete.
 */
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../domain';
import { relevanceTo } from './profile/lexical';
import { fuseRanks, type FusedTable, type Nearness } from './schema-ranking';

/** What of a prompt the schema may take; ours: about 15,000 tokens. */
export const SCHEMA_CHARS = 60_000;

export interface SchemaContextOptions {
  readonly maxChars: number;
  readonly question?: string;
  /** What documentation says, by the name of the table that it is about. */
  readonly notes?: readonly { readonly table: string; readonly text: string }[];
  /** How near each table is to the question in meaning; left out: words alone decide. */
  readonly nearness?: Nearness;
}

/** From rich to bare: the richest that fits all tables is taken. */
const DETAILS = [
  { samples: 5, comments: true },
  { samples: 2, comments: true },
  { samples: 0, comments: true },
  { samples: 0, comments: false },
] as const;
type Detail = (typeof DETAILS)[number];

export interface SchemaContext {
  readonly text: string;
  /** Tables whose columns stand in the text; null: all of them. */
  readonly shown: readonly string[] | null;
  /** The ranks of those that are shown, best first; empty where all are. */
  readonly ranks: readonly Pick<FusedTable, 'byWords' | 'byMeaning' | 'table'>[];
}

export function renderSchemaContext(description: DatabaseDescription, options: SchemaContextOptions): string {
  return schemaContext(description, options).text;
}

export function schemaContext(description: DatabaseDescription, options: SchemaContextOptions): SchemaContext {
  const { version, tables } = description;
  const { maxChars } = options;
  const heading = headingOf(version, tables);
  const all = wholeText(heading, tables, maxChars);
  if (all !== null) return { text: all, shown: null, ranks: [] };
  const names = `-- all tables: ${nameList(tables, maxChars / 3)}`;
  let left = maxChars - heading.length - names.length - NOTICE_LENGTH;
  const kept: { order: number; name: string; text: string }[] = [];
  const ranks: FusedTable[] = [];
  for (const [rank, ranked] of orderOf(description, options).entries()) {
    const { table, order, score } = ranked;
    // The likeliest tables keep their samples as long as half of the space remains for others.
    const generous = rank < 8 && score > 0 && left > maxChars / 2;
    const text = firstFitting(table, generous ? DETAILS : DETAILS.slice(2), left - 2);
    if (text === undefined) continue;
    kept.push({ order, name: table.name, text });
    ranks.push(ranked);
    left -= text.length + 2;
  }
  kept.sort((a, b) => a.order - b.order);
  const how = options.nearness === undefined ? 'words' : 'words and meaning';
  const notice = `-- columns of ${kept.length} of ${tables.length} tables are shown, chosen by the question's ${how}`;
  return {
    text: [heading, names, notice, ...kept.map(({ text }) => text)].join('\n\n'),
    shown: kept.map(({ name }) => name),
    ranks,
  };
}

/** Nothing has to be left out, so nothing has to be ranked. */
export function fitsWhole({ version, tables }: DatabaseDescription, maxChars: number): boolean {
  return wholeText(headingOf(version, tables), tables, maxChars) !== null;
}

function headingOf(version: string, tables: readonly TableDescription[]): string {
  return `-- ${version}, ${tables.length} ${tables.length === 1 ? 'table' : 'tables'}`;
}

/** In the richest detail that fits. */
function wholeText(heading: string, tables: readonly TableDescription[], maxChars: number): string | null {
  for (const detail of DETAILS) {
    const text = whole(heading, tables, detail, maxChars);
    if (text !== null) return text;
  }
  return null;
}

function orderOf(description: DatabaseDescription, options: SchemaContextOptions): readonly FusedTable[] {
  const lexical = rankedTables(description, options);
  if (options.nearness !== undefined) return fuseRanks(lexical, options.nearness);
  return lexical.map((ranked, at) => ({ ...ranked, byWords: ranked.score > 0 ? at + 1 : null, byMeaning: null }));
}

/** Null as soon as it is too long. */
function whole(heading: string, tables: readonly TableDescription[], detail: Detail, maxChars: number): string | null {
  const parts = [heading];
  let length = heading.length;
  for (const table of tables) {
    const text = block(table, detail);
    length += text.length + 2;
    if (length > maxChars) return null;
    parts.push(text);
  }
  return parts.join('\n\n');
}

/** The named tables in detail, in the order of the description: for those that a context only lists. */
export function renderTables(tables: readonly TableDescription[], maxChars: number): string {
  let left = maxChars;
  const blocks = tables.flatMap((table) => {
    const text = firstFitting(table, left >= maxChars / 2 ? DETAILS : DETAILS.slice(2), left);
    left -= text === undefined ? 0 : text.length + 2;
    return text === undefined ? [] : [text];
  });
  return blocks.join('\n\n');
}

function firstFitting(table: TableDescription, details: readonly Detail[], left: number): string | undefined {
  return details.map((detail) => block(table, detail)).find(({ length }) => length <= left);
}

/** By schema (`sales: a, b`) where the plain list would take too much of the space. */
function nameList(tables: readonly TableDescription[], maxChars: number): string {
  const plain = tables.map(({ name }) => name).join(', ');
  if (plain.length <= maxChars) return plain;
  const bySchema = new Map<string, string[]>();
  for (const { name } of tables) {
    const dot = name.indexOf('.');
    const schema = name.slice(0, Math.max(0, dot));
    bySchema.set(schema, [...(bySchema.get(schema) ?? []), name.slice(dot + 1)]);
  }
  return [...bySchema]
    .map(([schema, names]) => (schema === '' ? names.join(', ') : `${schema}.{${names.join(', ')}}`))
    .join('; ');
}

export interface RankedTable {
  readonly table: TableDescription;
  readonly order: number;
  readonly score: number;
}

/** How much of its best neighbour's score a table gets by a foreign key between them. */
const BY_NEIGHBOUR = 0.4;

/** By the question's words in names, comments, samples and documentation; then by foreign keys to what has such words. */
export function rankedTables(
  { tables }: DatabaseDescription,
  { question = '', notes = [] }: Pick<SchemaContextOptions, 'question' | 'notes'>,
): readonly RankedTable[] {
  const relevance = relevanceTo(question);
  const said = new Map<string, string[]>();
  for (const { table, text } of notes) said.set(table, [...(said.get(table) ?? []), text]);
  const own = new Map(
    tables.map((table) => [
      table.name,
      relevance.table(table) + relevance.text((said.get(table.name) ?? []).join(' ')),
    ]),
  );
  const near = new Map<string, number>();
  const reach = (from: string, to: string): void => {
    near.set(to, Math.max(near.get(to) ?? 0, own.get(from) ?? 0));
  };
  for (const { name, foreignKeys } of tables)
    for (const key of foreignKeys) {
      reach(name, key.table);
      reach(key.table, name);
    }
  return tables
    .map((table, order) => ({
      table,
      order,
      score: (own.get(table.name) ?? 0) + BY_NEIGHBOUR * (near.get(table.name) ?? 0),
    }))
    .sort((a, b) => b.score - a.score || a.order - b.order);
}

const NOTICE_LENGTH = 120;

function block(table: TableDescription, detail: Detail): string {
  const comment = detail.comments && table.comment !== null ? ` -- ${oneLine(table.comment)}` : '';
  const rows = table.rowEstimate === null ? '' : ` -- ${Math.round(table.rowEstimate)} rows`;
  const single = table.primaryKey.length === 1 ? table.primaryKey[0] : undefined;
  const lines = [
    ...table.columns.map((column) => columnText(column, table, column.name === single, detail)),
    ...(table.primaryKey.length > 1 ? [`  PRIMARY KEY (${table.primaryKey.join(', ')})`] : []),
    ...table.uniqueKeys.map((key) => `  UNIQUE (${key.join(', ')})`),
    ...table.foreignKeys
      .filter(({ columns }) => columns.length > 1)
      .map((key) => `  FOREIGN KEY (${key.columns.join(', ')}) REFERENCES ${key.table} (${key.references.join(', ')})`),
  ];
  return [`${table.kind.toUpperCase()} ${table.name} (${rows}${comment}`, ...lines, ')'].join('\n');
}

function columnText(
  { name, type, nullable, comment, samples }: ColumnDescription,
  table: TableDescription,
  primary: boolean,
  detail: Detail,
): string {
  const references = table.foreignKeys
    .filter(({ columns }) => columns.length === 1 && columns[0] === name)
    .map((key) => ` REFERENCES ${key.table}${key.references.length > 0 ? ` (${key.references.join(', ')})` : ''}`);
  const notes = [
    ...(detail.comments && comment !== null ? [oneLine(comment)] : []),
    ...(samples.length > 0 && detail.samples > 0
      ? [`e.g. ${samples.slice(0, detail.samples).map(oneLine).join(' | ')}`]
      : []),
  ];
  return `  ${name} ${type}${primary ? ' PRIMARY KEY' : nullable ? '' : ' NOT NULL'}${references.join('')}${notes.length > 0 ? ` -- ${notes.join('; ')}` : ''}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
