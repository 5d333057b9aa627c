/**
 * The schema as a model reads it: tables with types, keys, comments and sample values, within a budget of characters.
 * A large schema loses detail step by step, samples first and columns last, and says what it lost.
 */
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../domain';
import { cut } from '../search/preview';

export const SCHEMA_CHARS = 60_000;

interface Detail {
  readonly samples: number;
  readonly comments: boolean;
  readonly columns: boolean;
  readonly lost: string | null;
}

const DETAILS: readonly Detail[] = [
  { samples: 5, comments: true, columns: true, lost: null },
  { samples: 2, comments: true, columns: true, lost: null },
  { samples: 0, comments: true, columns: true, lost: 'sample values are left out: the schema is large' },
  { samples: 0, comments: false, columns: true, lost: 'samples and comments are left out: the schema is large' },
  { samples: 0, comments: false, columns: false, lost: 'only names are shown: the schema is very large' },
];

export function schemaText(description: DatabaseDescription, maxChars = SCHEMA_CHARS): string {
  const texts = DETAILS.map((detail) => () => render(description, detail));
  for (const text of texts) if (text().length <= maxChars) return text();
  return `${(texts.at(-1)?.() ?? '').slice(0, maxChars)}\n-- further tables are not shown`;
}

function render({ version, tables }: DatabaseDescription, detail: Detail): string {
  const notice = detail.lost === null ? [] : [`-- ${detail.lost}`];
  return [`-- ${version}`, ...notice, ...tables.map((table) => tableText(table, detail))].join('\n\n');
}

function tableText(table: TableDescription, detail: Detail): string {
  if (!detail.columns) return `${table.name}(${table.columns.map((column) => column.name).join(', ')})`;
  const rows = table.rowEstimate === null ? '' : ` -- about ${Math.round(table.rowEstimate)} rows`;
  const comment = detail.comments && table.comment !== null ? [`  -- ${oneLine(table.comment, 300)}`] : [];
  const keys = [
    ...(table.primaryKey.length === 0 ? [] : [`  primary key (${table.primaryKey.join(', ')})`]),
    ...table.uniqueKeys.map((key) => `  unique (${key.join(', ')})`),
    ...table.foreignKeys.map(
      (key) => `  (${key.columns.join(', ')}) references ${key.table} (${key.references.join(', ')})`,
    ),
  ];
  const columns = table.columns.map((column) => `  ${columnText(column, detail)}`);
  return [`${table.kind} ${table.name}${rows}`, ...comment, ...columns, ...keys].join('\n');
}

function columnText(column: ColumnDescription, { samples, comments }: Detail): string {
  const shown = column.samples.slice(0, samples).map((sample) => cut(oneLine(sample, 200), 120));
  const notes = [
    ...(comments && column.comment !== null ? [oneLine(column.comment, 300)] : []),
    ...(shown.length === 0 ? [] : [`e.g. ${shown.join(' | ')}`]),
  ];
  return `${column.name} ${column.type}${column.nullable ? '' : ' not null'}${notes.length === 0 ? '' : ` -- ${notes.join('; ')}`}`;
}

function oneLine(text: string, maxChars: number): string {
  return cut(text.replace(/\s+/g, ' ').trim(), maxChars);
}
