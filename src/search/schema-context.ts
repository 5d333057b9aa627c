/**
 * The schema as compact text for a prompt: one block per table with columns, keys, comments and sample values. When it
 * does not fit, tables are ranked by the question's words and the best get their block; what is left of each of the
 * others is its line in the list of names, which is always complete.
 */
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../domain';
import { relevanceTo } from './profile/lexical';

/** What of a prompt the schema may take; ours: about 15,000 tokens. */
export const SCHEMA_CHARS = 60_000;

export interface SchemaContextOptions {
  readonly maxChars: number;
  readonly question?: string;
}

/** From rich to bare: the richest that fits all tables is taken. */
const DETAILS = [
  { samples: 5, comments: true },
  { samples: 2, comments: true },
  { samples: 0, comments: true },
  { samples: 0, comments: false },
] as const;
type Detail = (typeof DETAILS)[number];

export function renderSchemaContext(
  { version, tables }: DatabaseDescription,
  { maxChars, question = '' }: SchemaContextOptions,
): string {
  const heading = `-- ${version}, ${tables.length} ${tables.length === 1 ? 'table' : 'tables'}`;
  for (const detail of DETAILS) {
    const text = [heading, ...tables.map((table) => block(table, detail))].join('\n\n');
    if (text.length <= maxChars) return text;
  }
  const names = `-- all tables: ${tables.map(({ name }) => name).join(', ')}`;
  const relevance = relevanceTo(question);
  const ranked = tables
    .map((table, order) => ({ table, order, score: relevance.table(table) }))
    .sort((a, b) => b.score - a.score || a.order - b.order);
  let left = maxChars - heading.length - names.length - NOTICE_LENGTH;
  const kept: { order: number; text: string }[] = [];
  for (const [rank, { table, order, score }] of ranked.entries()) {
    // The likeliest tables keep their samples as long as half of the space remains for others.
    const generous = rank < 8 && score > 0 && left > maxChars / 2;
    const wanted = generous ? DETAILS : DETAILS.slice(2);
    const text = wanted.map((detail) => block(table, detail)).find((one) => one.length + 2 <= left);
    if (text === undefined) continue;
    kept.push({ order, text });
    left -= text.length + 2;
  }
  const blocks = kept.sort((a, b) => a.order - b.order).map(({ text }) => text);
  const notice = `-- columns of ${blocks.length} of ${tables.length} tables are shown, chosen by the question's words`;
  return [heading, names, notice, ...blocks].join('\n\n');
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
