/**
 * Stored rows that say what the literals of an answer's SQL stand for, such as those of its code tables: told with the answer,
 * so that a reader sees what no claim proves.
 */
import type { DatabaseDescription, Defined, Dialect, SqlResult, SqlValue, TableDescription } from '../../domain';
import { kindOf, isNumber, rowsWith } from '../../database/profile/table-rows';
import { isWide } from '../../database/wide/overview';
import { endOf, type Everywhere } from '../../database/wide/table-kinds';
import { groupBy } from '../../group-by';
import { SCHEMA_ID } from '../../record/contents';
import { definingRow, isWords } from '../../sql/defining-row';
import { isNamedIn } from '../../sql/literal-cover';
import type { Code } from '../../sql/literal-uses';
import { wordsAsked } from '../layer/earlier';
import type { StepContext } from '../shared/context';
import { single, together, type Statements } from '../shared/statements';
import { overviewShown, profileShown, type Profiled } from './profiles';
import type { Used } from './unsaid';

/** Of a column the tables that may define its values, and rows that are read of each. */
const MOST_TARGETS = 3;
const MOST_ROWS = 200;
/** Values of one column, such as those of an IN. */
const MOST_VALUES = 12;

export async function definedIn(
  context: StepContext,
  { used, tables }: Used,
  dialect: Dialect,
): Promise<Statements<Defined[]> & Pick<Profiled, 'usage'>> {
  const asked = await wordsAsked(context);
  const codes = used
    .flatMap(({ operator, text: sql, codes: own }) => own.map((code) => ({ operator, sql, ...code })))
    .filter(({ value }) => value.trim() !== '' && !isNamedIn(asked, value));
  if (codes.length === 0) return { statements: [], read: () => [], usage: {} };
  const { targets, everywhere, usage } = await targetsOf(context, tables);
  const chosen = valuesBy(used.flatMap((use) => use.codes));
  const byColumn = [...groupBy(codes, ({ column }) => column)];
  const asides = (table: TableDescription) => asideOf(table, everywhere);
  const parts = byColumn.map(([column, own]) => {
    const values = [...new Set(own.map(({ value }) => value))].slice(0, MOST_VALUES);
    const reads = targets(column).flatMap(({ table, key, isOwn }): Statements<Found>[] => {
      const at = table.columns.findIndex(({ name }) => name === key);
      const isNumeric = kindOf(table.columns[at]?.type ?? '', []) === 'number';
      const tried = values.filter((value) => (!isNumeric || isNumber(value)) && !(isOwn && isWords(value)));
      if (at < 0 || tried.length === 0) return [];
      const { statements, read } = single(rowsWith(table, { column: key, values: tried }, dialect, MOST_ROWS));
      return [{ statements, read: (results) => foundIn(read(results), at, asides(table), chosen) }];
    });
    return together(reads);
  });
  const { statements, read } = together(parts);
  return {
    statements,
    usage,
    read: (results) => {
      const found = read(results);
      return byColumn.flatMap(([, own], nth) =>
        own.flatMap(({ operator, sql, value }) => {
          const rows = (found[nth] ?? []).map((row) => row(value));
          const row = rows.find((each) => each !== null);
          return row === undefined ? [] : [{ operator, sql, row }];
        }),
      );
    },
  };
}

/** The row that defines a value. */
type Found = (value: string) => string | null;

interface Target {
  readonly table: TableDescription;
  readonly key: string;
  /** The column's own table. */
  readonly isOwn: boolean;
}

/** The tables that columns of these tables lead to, by the names of the columns. */
async function targetsOf(context: StepContext, tables: readonly TableDescription[]) {
  const { description, shown } = await context.run.get('schema', SCHEMA_ID);
  const named = new Map(description.tables.map((table) => [table.name, table]));
  const { links, everywhere, usage } = await linksOf(context, description, shown);
  const led = new Set(links.map(({ to, key }) => `${to}\n${key}`));
  const same = (table: string, column: string) =>
    everywhere.find(({ columns }) => columns.some(([own, name]) => own === table && name === column))?.columns ?? [];
  const targets = (name: string): readonly Target[] => {
    const all = tables.flatMap((table) => {
      const { name: column } = table.columns.find((each) => each.name.toLowerCase() === name) ?? {};
      if (column === undefined) return [];
      const keys = [table.primaryKey, ...table.uniqueKeys].filter(({ length }) => length === 1).flat();
      const declared = table.foreignKeys.flatMap(({ columns, table: to, references }) =>
        columns.flatMap((each, at) => (each === column ? [{ to, key: references[at] ?? '', isOwn: false }] : [])),
      );
      const from = [[table.name, column], ...same(table.name, column)];
      const found = links.filter((link) => from.some(([own, each]) => link.table === own && link.column === each));
      const isKey = keys.includes(column) || led.has(`${table.name}\n${column}`);
      return [
        ...declared,
        ...mostLedTo(found).map(({ to, key }) => ({ to, key, isOwn: false })),
        ...(isKey ? [{ to: table.name, key: column, isOwn: true }] : []),
      ];
    });
    const once = new Map(all.map((each) => [`${each.to}\n${each.key}`, each]));
    return [...once.values()].slice(0, MOST_TARGETS).flatMap(({ to, ...target }) => {
      const table = named.get(to);
      return table === undefined ? [] : [{ table, ...target }];
    });
  };
  return { targets, everywhere, usage };
}

/** Of columns with the same values, most lead to the table that defines these. */
function mostLedTo(links: readonly Lead[]): readonly Lead[] {
  const groups = [...groupBy(links, ({ to, key }) => `${to}\n${key}`).values()];
  return groups.sort((a, b) => b.length - a.length).flatMap(([first]) => first ?? []);
}

interface Lead {
  readonly table: string;
  readonly column: string;
  readonly to: string;
  readonly key: string;
}

/** What the rows show of the database: which columns lead where. Read before, for the prompts, unless it changed since. */
async function linksOf(
  context: StepContext,
  description: DatabaseDescription,
  shown: readonly string[] = description.tables.map(({ name }) => name),
): Promise<{
  readonly links: readonly Lead[];
  readonly everywhere: readonly Everywhere[];
  readonly usage: Profiled['usage'];
}> {
  if (context.settings.profiles && isWide(description)) {
    const { overview, usage } = await overviewShown(context, description);
    const { links, everywhere } = overview;
    return { links: [...links].sort((a, b) => b.weight - a.weight), everywhere, usage };
  }
  const { profiles, usage } = await profileShown(context, description, shown);
  const links = profiles.flatMap(({ table, pieces }) =>
    pieces.flatMap(({ column, text }): Lead[] => {
      const target = /^-> (.+?)(?: \(|: )/.exec(text)?.[1] ?? '';
      const dot = target.lastIndexOf('.');
      return column === null || dot < 0
        ? []
        : [{ table, column, to: target.slice(0, dot), key: target.slice(dot + 1) }];
    }),
  );
  return { links, everywhere: [], usage };
}

/** Where the table has a column that most tables have, such as that of the client; with its ending. */
function asideOf({ name, columns }: TableDescription, everywhere: readonly Everywhere[]): ReadonlyMap<number, string> {
  const own = everywhere.flatMap((each) =>
    each.columns.filter(([table]) => table === name).map(([, column]) => column),
  );
  return new Map(
    columns.flatMap((column, at) => (own.includes(column.name) ? [[at, endOf(column.name)] as const] : [])),
  );
}

/** The values of the SQL by the ending of their column. */
function valuesBy(codes: readonly Code[]): ReadonlyMap<string, readonly string[]> {
  const groups = groupBy(codes, ({ column }) => endOf(column));
  return new Map([...groups].map(([end, own]) => [end, own.map(({ value }) => value)]));
}

function foundIn(
  result: SqlResult,
  key: number,
  aside: ReadonlyMap<number, string>,
  chosen: ReadonlyMap<string, readonly string[]>,
): Found {
  // Of more rows some are not here.
  if (result.kind !== 'rows' || result.truncated || result.rows.length >= MOST_ROWS) return () => null;
  return (value) => {
    const rows = result.rows.filter((row) => isValue(row[key], value));
    // Of the client that the SQL reads, where it names one.
    const own = rows.filter((row) =>
      [...aside].every(([at, end]) => (chosen.get(end) ?? [String(row[at])]).includes(String(row[at]))),
    );
    return definingRow(own.length === 0 ? rows : own, key, new Set(aside.keys()));
  };
}

function isValue(cell: SqlValue | undefined, value: string): boolean {
  if (cell === null || cell === undefined) return false;
  return (
    String(cell).trim() === value.trim() || (typeof cell === 'number' && isNumber(value) && cell === Number(value))
  );
}
