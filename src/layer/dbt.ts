/**
 * A layer as files of a dbt project: its tables as sources with what is proved of them, and each check as a singular test,
 * which returns a row when the claim no longer holds, by the same rules as `gate layer verify` (`sql/agreement.ts`).
 *
 * 1. Text of a model or a database is data: YAML is written by its library, a comment is one line, and every brace that could
 *    begin Jinja is written as an expression that gives that brace.
 * 2. A check is one SELECT that the database's parser has read; it stands between brackets of its own.
 */
import { stringify } from 'yaml';
import { FLOOR, POINTS_APART } from '../sql/agreement';
import { normaliseSql } from '../sql/body';
import { visibleLine } from '../clip';
import type { Dialect } from '../domain';
import { DIALECTS } from '../sql/dialects';
import type { Held, HeldEntry } from './state';
import { factText, refutedText, tablesOfLayer } from './tables';

export interface DbtFile {
  /** Inside the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface CountedEntry {
  readonly held: HeldEntry;
  /** How many columns its check gives. */
  readonly width: number;
}

/** `schema`: where names without one are looked up; `facts`: active ones; `entries`: those of them whose checks run. */
export function dbtFiles(
  database: string,
  dialect: Dialect,
  schema: string,
  facts: readonly Held[],
  entries: readonly CountedEntry[],
): readonly DbtFile[] {
  const source = fileName(database);
  const tests = entries.flatMap(({ held, width }) => {
    const text = testOf(held, width, database, dialect);
    return text === null ? [] : [{ path: `tests/${held.entry.entryId}.sql`, text }];
  });
  return [{ path: `models/${source}/sources.yml`, text: sourcesOf(source, schema, facts) }, ...tests];
}

/** A name that every file system and dbt take. */
export function fileName(database: string): string {
  return database.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '') || 'database';
}

function sourcesOf(source: string, schema: string, facts: readonly Held[]): string {
  const tables = tablesOfLayer(facts).map((table) => ({ ...table, ...partsOf(table.name, schema) }));
  const schemas = [...new Set(tables.map((table) => table.schema))].sort();
  const sources = schemas.map((each) => ({
    name: each === schema ? source : `${source}_${fileName(each)}`,
    ...describedBy(each === schema ? facts.filter(({ entry }) => entry.tables.length === 0) : []),
    schema: plainJinja(each),
    tables: tables
      .filter((table) => table.schema === each)
      .map(({ table, facts: own, columns }) => ({
        ...{ name: plainJinja(table), ...describedBy(own) },
        ...(columns.length === 0
          ? {}
          : {
              columns: columns.map(({ name, facts: said }) => ({ name: plainJinja(name), ...describedBy(said) })),
            }),
      })),
  }));
  return `# Written by gate layer export --format dbt.\n${stringify({ version: 2, sources }, AS_DBT_READS)}`;
}

/** dbt reads YAML 1.1, where `no` and `on` are no text unless they are quoted. */
const AS_DBT_READS = { lineWidth: 0, compat: 'yaml-1.1' } as const;

function partsOf(name: string, schema: string): { readonly schema: string; readonly table: string } {
  const dot = name.indexOf('.');
  return dot <= 0 ? { schema, table: name } : { schema: name.slice(0, dot), table: name.slice(dot + 1) };
}

function describedBy(facts: readonly Held[]): { readonly description?: string } {
  return facts.length === 0
    ? {}
    : { description: plainJinja(facts.map((held) => visibleLine(factText(held))).join('\n')) };
}

/** Null for a check that counts its rivals in no way that is known: it is not one of `sql/claims.ts`. */
function testOf({ entry, statement }: HeldEntry, width: number, database: string, dialect: Dialect): string | null {
  const { entryId, rivals, check } = entry;
  const isRepeated = rivals.length > 0 && width === 2 + 2 * rivals.length;
  if (!isRepeated && width !== 2 + rivals.length) return null;
  const columns = [
    ...['examined', 'matching'],
    ...rivals.flatMap((_, at) => [...(isRepeated ? [`rival_${at + 1}_examined`] : []), `rival_${at + 1}`]),
  ];
  const { strictNames, fromNothing } = DIALECTS[dialect];
  const names = columns.map((column) => `null as ${column}`).join(', ');
  const [open, close] =
    strictNames === true
      ? [`with gate_check as (\nselect ${names}${fromNothing} where false union all (`, ')),']
      : [`with gate_check (${columns.join(', ')}) as (`, '),'];
  const { matching, examined } = entry;
  const isWhole = matching === examined;
  const fails = [
    '(select count(*) from gate_check) <> 1',
    `examined < ${FLOOR}`,
    isWhole
      ? 'matching <> examined'
      : `matching > examined or 1.0 * matching * ${examined} < 1.0 * ${matching} * examined`,
    ...rivals.flatMap(({ refuted }, at) => (refuted ? [`not (${losing(at + 1, isRepeated, isWhole)})`] : [])),
  ];
  return `${[
    comment(`gate layer ${entryId} of ${database}: a row here says that it no longer holds.`),
    comment(statement),
    comment(
      `${matching} of ${examined} ${entry.rows || 'rows'}; not ${refutedText({ entry })}; proved ${entry.provedAt}`,
    ),
    open,
    plainJinja(normaliseSql(check)),
    close,
    'gate_counts as (',
    `  select ${columns.map((column) => `coalesce(${column}, 0) as ${column}`).join(', ')}`,
    '  from (select 1 as one) as gate_one left join gate_check on 1 = 1',
    ')',
    'select * from gate_counts',
    `where ${fails.join('\n   or ')}`,
  ].join('\n')}\n`;
}

/** As `loses` says of counts that `repeatedCounts` read. Decimal factors: products of large counts stay in range. */
function losing(rival: number, isRepeated: boolean, isWhole: boolean): string {
  const own = `rival_${rival}`;
  const examined = isRepeated
    ? `(case when ${own} < ${own}_examined and ${own}_examined < examined then examined else ${own}_examined end)`
    : 'examined';
  const [lower, higher] = [`1.0 * ${own} * examined`, `1.0 * matching * ${examined}`];
  const counted = `${own} <= ${examined} and ${examined} > 0`;
  const fewer = `${own} < matching and ${lower} < ${higher}`;
  // Where a row that does not match is a failure by itself, nothing else is to be compared.
  if (isWhole) return `${counted} and ${fewer}`;
  const apart = `100 * (${higher} - ${lower}) >= ${POINTS_APART}.0 * ${examined} * examined`;
  return `${counted} and ((matching = examined and ${fewer}) or (matching <> examined and ${apart}))`;
}

/** Nothing in it ends the line. */
function comment(text: string): string {
  return `-- ${plainJinja(visibleLine(text))}`;
}

/** Text that Jinja renders to itself. */
export function plainJinja(text: string): string {
  return text.replace(/\{(?=[{%#])/g, "{{ '{' }}");
}
