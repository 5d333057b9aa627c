/**
 * dbt property files (`schema.yml`): descriptions of models, sources, seeds and snapshots and of their columns, and the
 * tests that say what values or keys a column has. A test that dbt runs is still only stated here: nobody ran it now.
 */
import { isMap, LineCounter, parseDocument, type Document } from 'yaml';
import { z } from 'zod';
import type { DocumentNote } from '../../domain';
import { DocumentationError } from './error';

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

/** Of the innermost part that exists. */
function lineAt(document: Document, path: readonly (string | number)[], lines: LineCounter): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
    if (Array.isArray(range)) return lines.linePos(Number(range[0])).line;
  }
  return null;
}

const firstLine = (message: string): string => message.split('\n')[0] ?? message;
