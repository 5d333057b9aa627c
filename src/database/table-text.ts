/**
 * One table as text for a prompt: columns, keys, comments, sample values. Each column is one line, whatever its name, type
 * or comment contains. Names that SQL must quote are quoted. A table that is too wide is abridged: keys and the columns that
 * the question is about are shown in full, the others with name and type only.
 */
import type { ColumnDescription, Dialect, TableDescription } from '../domain';
import { oneLine } from '../clip';
import { isPlain, nameParts, quoted } from '../sql/dialects';
import { relevanceTo } from './relevance';

export interface Detail {
  readonly samples: number;
  readonly comments: boolean;
  /** Set beside a profile, which tells where values are missing; the length of a text says little. */
  readonly terse?: boolean;
  /** A type that goes without saying. */
  readonly unsaid?: string | undefined;
}

/** Names, types, comments and keys alone. */
export const BARE: Detail = { samples: 0, comments: true };
export const NAMES: Detail = { samples: 0, comments: false };
/** Details, the richest first: the first that fits is used. */
export const DETAILS: readonly Detail[] = [{ samples: 5, comments: true }, { samples: 2, comments: true }, BARE, NAMES];

const COMMENT_CHARS = 300;
const TYPE_CHARS = 80;
/** The least room in which an abridged table is useful. */
const LEAST_CHARS = 300;

export function tableText(table: TableDescription, detail: Detail, dialect: Dialect): string {
  return [
    headOf(table, detail, dialect),
    ...table.columns.map((column) => columnText(column, table, detail, dialect)),
    ...keyLines(table, dialect),
    ')',
  ].join('\n');
}

/** The columns of the primary key and of the foreign keys. */
export function keyColumns({ primaryKey, foreignKeys }: TableDescription): ReadonlySet<string> {
  return new Set([...primaryKey, ...foreignKeys.flatMap(({ columns }) => columns)]);
}

/** Keys of several columns, and unique ones. */
export function keyLines(table: TableDescription, dialect: Dialect, { terse = false }: Partial<Detail> = {}): string[] {
  const names = (columns: readonly string[]): string => columns.map((name) => identifier(name, dialect)).join(', ');
  return [
    ...(table.primaryKey.length > 1 ? [`  PRIMARY KEY (${names(table.primaryKey)})`] : []),
    ...table.uniqueKeys.filter((key) => !terse || key.length > 1).map((key) => `  UNIQUE (${names(key)})`),
    ...table.foreignKeys
      .filter(({ columns }) => columns.length > 1)
      .map((key) => `  FOREIGN KEY (${names(key.columns)}) REFERENCES ${target(key, dialect)}`),
  ];
}

/** The abridged table; undefined if there is too little room. */
export function abridgedText(
  table: TableDescription,
  dialect: Dialect,
  { maxChars, question }: { readonly maxChars: number; readonly question: string },
): string | undefined {
  if (maxChars < LEAST_CHARS) return undefined;
  const detail = BARE;
  const head = headOf(table, detail, dialect);
  const relevance = relevanceTo(question, [table]);
  const keys = keyColumns(table);
  const ranked = table.columns
    .map((column, order) => ({ column, order, score: (keys.has(column.name) ? 1_000 : 0) + relevance.column(column) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.order - b.order);
  const full = new Map<string, string>();
  let left = Math.floor(maxChars / 2) - head.length;
  for (const { column } of ranked) {
    const line = columnText(column, table, detail, dialect);
    if (line.length + 1 > left) break;
    full.set(column.name, line);
    left -= line.length + 1;
  }
  const lines = [head, ...table.columns.flatMap(({ name }) => full.get(name) ?? [])];
  const rest = table.columns.filter(({ name }) => !full.has(name));
  const room = maxChars - lines.join('\n').length - 100;
  return [...lines, `  -- ${rest.length} more columns:`, ...byType(rest, dialect, room), ')'].join('\n');
}

/** A table name as in SQL, quoted where necessary. */
export function tableName(name: string, dialect: Dialect): string {
  return nameParts(name, dialect)
    .map((part) => identifier(part, dialect))
    .join('.');
}

export function identifier(name: string, dialect: Dialect): string {
  return isPlain(name, dialect) ? name : quoted(withEscapedBreaks(name), dialect);
}

/** Line ends written out as other hidden characters are (`plain` of the prompts). */
export function withEscapedBreaks(name: string): string {
  return name.replace(/[\t\n\r]/g, (end) => `\\u{${(end.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The type on one line and shortened: SQLite accepts any words as a type. */
function typeText(type: string): string {
  const line = oneLine(type, TYPE_CHARS);
  return /^[\p{L}\p{N}_ ,.()[\]"]*$/u.test(line) ? line : `"${line.replaceAll('"', '""')}"`;
}

export function headOf(table: TableDescription, detail: Detail, dialect: Dialect): string {
  const comment = detail.comments && table.comment !== null ? ` -- ${oneLine(table.comment, COMMENT_CHARS)}` : '';
  const rows =
    table.rowEstimate === null
      ? ''
      : ` -- ${Math.round(table.rowEstimate)} ${Math.round(table.rowEstimate) === 1 ? 'row' : 'rows'}`;
  return `${table.kind.toUpperCase()} ${tableName(table.name, dialect)} (${rows}${comment}`;
}

export function columnText(
  { name, type, nullable, comment, samples }: ColumnDescription,
  table: TableDescription,
  detail: Detail,
  dialect: Dialect,
): string {
  const isKey = table.primaryKey.length === 1 && table.primaryKey[0] === name;
  const references = table.foreignKeys
    .filter(({ columns }) => columns.length === 1 && columns[0] === name)
    .map((key) => (detail.terse ? ` -> ${arrow(key, dialect)}` : ` REFERENCES ${target(key, dialect)}`));
  const notes = [
    ...(detail.comments && comment !== null ? [oneLine(comment, COMMENT_CHARS)] : []),
    ...(samples.length > 0 && detail.samples > 0
      ? [`e.g. ${samples.slice(0, detail.samples).map(sample).join(' | ')}`]
      : []),
  ];
  const said = notes.length > 0 ? ` -- ${notes.join('; ')}` : '';
  const isUnique = detail.terse && table.uniqueKeys.some((key) => key.length === 1 && key[0] === name);
  const key = isKey ? ' PRIMARY KEY' : isUnique ? ' UNIQUE' : nullable || detail.terse ? '' : ' NOT NULL';
  const kind = detail.terse ? terseType(type) : typeText(type);
  return `  ${identifier(name, dialect)}${kind === detail.unsaid ? '' : ` ${kind}`}${key}${references.join('')}${said}`;
}

/** The type of texts and times without its length; the digits of a number behind the point say something. */
export function terseType(type: string): string {
  return typeText(type)
    .replace(/^(character varying|n?varchar2?|text|timestamp(?:_[a-z]+)?|datetime) *\(\d+\)/i, '$1')
    .replace(/^timestamp without time zone$/i, 'timestamp');
}

function arrow(key: TableDescription['foreignKeys'][number], dialect: Dialect): string {
  const [column] = key.references;
  return column === undefined
    ? tableName(key.table, dialect)
    : `${tableName(key.table, dialect)}.${identifier(column, dialect)}`;
}

function target(key: TableDescription['foreignKeys'][number], dialect: Dialect): string {
  const columns = key.references.map((name) => identifier(name, dialect)).join(', ');
  return `${tableName(key.table, dialect)}${columns === '' ? '' : ` (${columns})`}`;
}

function byType(columns: readonly ColumnDescription[], dialect: Dialect, room: number): string[] {
  const names = new Map<string, string[]>();
  let left = room;
  let unnamed = 0;
  for (const { name, type } of columns) {
    const shown = identifier(name, dialect);
    const kind = typeText(type);
    const cost = shown.length + 2 + (names.has(kind) ? 0 : kind.length + 8);
    if (cost > left) {
      unnamed += 1;
      continue;
    }
    left -= cost;
    names.set(kind, [...(names.get(kind) ?? []), shown]);
  }
  return [
    ...[...names].map(([type, shown]) => `  -- ${type}: ${shown.join(', ')}`),
    ...(unnamed > 0 ? [`  -- and ${unnamed} whose names do not fit here: SELECT * with a small LIMIT shows them`] : []),
  ];
}

/** A sample value; quoted if it is empty or has outer spaces. */
function sample(value: string): string {
  const line = value.replace(/\s/g, ' ');
  return line === '' || line.trim() !== line ? `'${line}'` : line.replace(/ +/g, ' ');
}
