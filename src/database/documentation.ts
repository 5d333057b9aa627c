/**
 * Files of documentation as texts and notes on tables and columns: CSV of column descriptions, dbt property files, and the
 * meanings and knowledge that LiveSQLBench gives with a database.
 */
import { CsvError, parse } from 'csv-parse/sync';
import { type Document, isMap, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import type { DocumentNote } from '../domain';

/** A fault in a file of documentation, with its place. */
export class DocumentationError extends Error {
  override readonly name = 'DocumentationError';
  constructor(
    readonly file: string,
    /** The line, from 1; null where the whole file is meant. */
    readonly line: number | null,
    readonly problem: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${file}${line === null ? '' : `:${line}`}: ${problem}`, options);
  }
}

/**
 * Column descriptions as CSV, one file per table as BIRD keeps them (`original_column_name`, `column_description`,
 * `data_format`, `value_description`), or one file for all with a column `table`. Quoted fields may hold line breaks.
 */
const NAMES = {
  table: ['table', 'table_name', 'original_table_name'],
  column: ['original_column_name', 'column', 'column_name'],
  readable: ['column_name'],
  description: ['column_description', 'description'],
  format: ['data_format'],
  values: ['value_description', 'values'],
} as const;
type Part = keyof typeof NAMES;

/** `file`: its name without folders; without a column `table` it names the table. */
export function notesOfCsv(file: string, text: string): DocumentNote[] {
  const [head, ...rows] = csvRows(file, text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'));
  const names = (head?.record ?? []).map((name) => name.trim().toLowerCase());
  const at = (part: Part): number => names.findIndex((name) => (NAMES[part] as readonly string[]).includes(name));
  const first = (part: Part): number => {
    const [wanted] = NAMES[part].map((name) => names.indexOf(name)).filter((index) => index >= 0);
    return wanted ?? -1;
  };
  if (head === undefined || first('column') < 0 || at('description') < 0) {
    throw new DocumentationError(
      file,
      head?.info.lines ?? 1,
      'no column descriptions: the first line must name original_column_name (or column) and column_description',
    );
  }
  const ofFile = file.replace(/^.*[/\\]/, '').replace(/\.csv$/i, '');
  return rows.flatMap(({ info, record: fields }): DocumentNote[] => {
    const extra = fields.slice(names.length).filter((field) => field.trim() !== '');
    if (extra.length > 0)
      throw new DocumentationError(
        file,
        info.lines,
        `${fields.length} fields where the first line has ${names.length}: put a field that holds the separator in quotes`,
      );
    const value = (index: number): string => (index < 0 ? '' : (fields[index] ?? '').trim());
    const column = value(first('column'));
    const readable = first('column') === at('readable') ? '' : value(at('readable'));
    const text = [
      value(at('description')) || readable,
      ...(value(at('format')) === '' ? [] : [`stated format: ${value(at('format'))}`]),
      ...(value(at('values')) === '' ? [] : [`values: ${value(at('values'))}`]),
    ].filter((part) => part !== '');
    if (column === '' || text.length === 0) return [];
    return [{ table: value(at('table')) || ofFile, column, text: text.join('; '), source: file }];
  });
}

interface Row {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

/** The rows that are not blank. The separator is told by the first line: some spreadsheets write others than commas. */
function csvRows(file: string, text: string): Row[] {
  const [head = ''] = text.split('\n', 1);
  const delimiter = [',', ';', '\t'].find((each) => head.includes(each)) ?? ',';
  let read = 0;
  try {
    // The types of csv-parse leave out what `info` adds.
    return parse(text, {
      delimiter,
      info: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_records_with_empty_values: true,
      on_record: (record: string[], { lines }) => {
        read = lines;
        return record;
      },
    }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new DocumentationError(file, read + 1, 'a quoted field begins here and never ends: close it with "');
  }
}

/**
 * LiveSQLBench gives `DB_column_meaning_base.json` with a database, from `DB|table|column` to what the column means (or each
 * field of a column that holds JSON), and `DB_kb.jsonl`, its knowledge base, one entry a line.
 */
const Meanings = z.record(z.string(), z.union([z.string(), z.record(z.string(), z.unknown())]));
const Entry = z.object({
  knowledge: z.string(),
  description: z.string().default(''),
  definition: z.string().default(''),
});

export const isColumnMeanings = (file: string): boolean => file.endsWith('_column_meaning_base.json');
export const isKnowledgeBase = (file: string): boolean => file.endsWith('_kb.jsonl');

export function notesOfColumnMeanings(file: string, text: string): DocumentNote[] {
  return Object.entries(meaningsIn(file, text)).flatMap(([key, meaning]) => {
    const [table, column] = key.split('|').slice(-2);
    const note = typeof meaning === 'string' ? meaning : JSON.stringify(meaning);
    return table === undefined || column === undefined || note === ''
      ? []
      : [{ table, column, text: note, source: file }];
  });
}

function meaningsIn(file: string, text: string): z.infer<typeof Meanings> {
  try {
    return Meanings.parse(JSON.parse(text));
  } catch (error) {
    const problem = 'no column meanings: one object is expected, from DB|table|column';
    throw new DocumentationError(file, 1, problem, { cause: error });
  }
}

/** A knowledge base as Markdown; a file that only has such a name stays as it is. */
export function textOfKnowledgeBase(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    const entries = lines.map((line) => Entry.parse(JSON.parse(line)));
    return entries.map((entry) => `## ${entry.knowledge}\n\n${entry.description}\n\n${entry.definition}\n`).join('\n');
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError) return text;
    throw error;
  }
}

/**
 * dbt property files (`schema.yml`): descriptions of models, sources, seeds and snapshots and of their columns, and the
 * tests that say what values or keys a column has. A test that dbt runs is still only stated here: nobody ran it now.
 */
const text = z.string().nullish();
const Arguments = z.looseObject({ values: z.array(z.unknown()).nullish(), to: text, field: z.unknown().optional() });
const Test = z.union([
  z.string(),
  z.looseObject({
    accepted_values: Arguments.extend({ arguments: Arguments.nullish() }).nullish(),
    relationships: Arguments.extend({ arguments: Arguments.nullish() }).nullish(),
  }),
]);
const Tests = z.array(Test).nullish();
const Column = z.looseObject({
  name: z.string().min(1),
  description: text,
  data_type: text,
  tests: Tests,
  data_tests: Tests,
});
const Model = z.looseObject({
  name: z.string().min(1),
  identifier: text,
  alias: text,
  description: text,
  columns: z.array(Column).nullish(),
});
const Models = z.array(Model).nullish();
const Properties = z.looseObject({
  models: Models,
  seeds: Models,
  snapshots: Models,
  sources: z.array(z.looseObject({ name: z.string().min(1), schema: text, tables: Models })).nullish(),
});
type Model = z.infer<typeof Model>;
type Test = z.infer<typeof Test>;

const KEYS = ['models', 'seeds', 'snapshots', 'sources'];

/** Whether a YAML file describes tables: a dbt project has others beside those. */
export function describesTables(source: string): boolean {
  return new RegExp(`^(${KEYS.join('|')})\\s*:\\s*(#.*)?$`, 'm').test(source);
}

export function notesOfDbt(file: string, source: string): DocumentNote[] {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error !== undefined) throw new DocumentationError(file, lines.linePos(error.pos[0]).line, problemOf(error));
  if (!isMap(document.contents) || !KEYS.some((key) => document.has(key)))
    throw new DocumentationError(file, 1, `no dbt properties: it needs one of ${KEYS.join(', ')}`);
  const parsed = Properties.safeParse(plain(file, document));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []).filter((part) => typeof part !== 'symbol');
    throw new DocumentationError(
      file,
      lineAt(document, path, lines),
      `${path.join('.')}: ${firstLine(issue?.message ?? 'unexpected')}`,
    );
  }
  const { models, seeds, snapshots, sources } = parsed.data;
  const all = [...(models ?? []), ...(seeds ?? []), ...(snapshots ?? [])].map((model) => ({ model, schema: null }));
  const ofSources = (sources ?? []).flatMap(({ name, schema, tables }) =>
    (tables ?? []).map((model) => ({ model, schema: schema ?? name })),
  );
  return [...all, ...ofSources].flatMap(({ model, schema }) => notesOfModel(file, model, schema));
}

function problemOf({ code, message }: Document['errors'][number]): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here (---): give each its own file';
  return `not YAML: ${firstLine(message)}`;
}

/** An alias that stands for too much is refused by the parser. */
function plain(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new DocumentationError(file, null, `not readable: ${firstLine(error.message)}`, { cause: error });
  }
}

function notesOfModel(file: string, model: Model, schema: string | null): DocumentNote[] {
  const own = model.identifier ?? model.alias ?? model.name;
  const table = schema === null ? own : `${schema}.${own}`;
  const about = model.description?.trim() ?? '';
  return [
    ...(about === '' ? [] : [{ table, column: null, text: about, source: file }]),
    ...(model.columns ?? []).flatMap(({ name, description, data_type, tests, data_tests }): DocumentNote[] => {
      const said = [
        description?.trim() ?? '',
        data_type ? `stated type: ${data_type}` : '',
        ...[...(tests ?? []), ...(data_tests ?? [])].map(testText),
      ].filter((part) => part !== '');
      return said.length === 0 ? [] : [{ table, column: name, text: said.join('; '), source: file }];
    }),
  ];
}

function testText(test: Test): string {
  if (typeof test === 'string') return { unique: 'unique', not_null: 'never null' }[test] ?? '';
  const { accepted_values: accepted, relationships } = test;
  const values = accepted?.arguments?.values ?? accepted?.values;
  if (values) return `accepted values: ${values.map(String).join(', ')}`;
  const to = relationships?.arguments?.to ?? relationships?.to;
  const field = relationships?.arguments?.field ?? relationships?.field;
  if (!to) return '';
  const names = [...to.matchAll(/['"]([^'"]+)['"]/g)].map((match) => match[1]);
  return `refers to ${names.at(-1) ?? to}${typeof field === 'string' ? `.${field}` : ''}`;
}

/** The line of the innermost part of the path that exists. */
function lineAt(document: Document, path: readonly (string | number)[], lines: LineCounter): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
    if (Array.isArray(range)) return lines.linePos(Number(range[0])).line;
  }
  return null;
}

const firstLine = (message: string): string => message.split('\n')[0] ?? message;
