/**
 * What rows tell of a database as a whole, without a question and without a model: of each table its columns, gaps,
 * domains, formats and documents; what goes with what; what is computed from what; which tables control which.
 */
import * as z from 'zod';
import { keyColumns } from '../table-text';
import { fillPieces, magnitudePieces, ownGroupings, type Grouping } from './categories';
import { Controls } from './controls';
import { columnFacts, isCategory, type ColumnFacts } from './column-facts';
import { derivedPieces } from './derived';
import { columnPieces, type ColumnOptions, Flag, flagsOf } from './describe-column';
import { doubtsOf, RowDoubt, repeatedPieces, repeatedRows, type Profiled } from './row-doubts';
import { joinPieces, joinsOf, type Join } from './joins';
import { pieceOf, ProfilePiece, shown } from './pieces';
import { keyOf, type TableRows } from './table-rows';

/**
 * The version of profiles. A change of what a profile says raises it (tests/unit/roles/profiles.test.ts), so that no search is
 * shown a profile that other code made.
 */
export const PROFILE_VERSION = 3;

export const TableProfile = z.object({
  table: z.string(),
  /** Rows that the figures are of. */
  read: z.number(),
  /** All rows of the table. */
  whole: z.boolean(),
  pieces: z.array(ProfilePiece),
  doubts: z.array(RowDoubt),
  flags: z.array(Flag),
});
export { RowDoubt } from './row-doubts';
export { Flag } from './describe-column';
export type TableProfile = Readonly<z.infer<typeof TableProfile>>;

/** `pause` is awaited between pieces of work: all of it together takes seconds. */
export async function profileTables(
  tables: readonly TableRows[],
  options: ColumnOptions,
  pause: () => Promise<void>,
): Promise<TableProfile[]> {
  const all: Profiled[] = [];
  for (const rows of tables) {
    const facts = rows.columns.map(columnFacts);
    all.push({ rows, facts, repeated: repeatedRows(rows, facts) });
    await pause();
  }
  const profiles: TableProfile[] = [];
  for (const each of all) {
    const { table, read, whole } = each.rows;
    const pieces: ProfilePiece[] = [];
    for (const part of partsOf(each, all, options)) {
      pieces.push(...part());
      await pause();
    }
    profiles.push({
      table: table.name,
      read,
      whole,
      pieces,
      doubts: doubtsOf(each, options),
      flags: flagsOf(each.rows, each.facts),
    });
  }
  return profiles;
}

function partsOf(each: Profiled, all: readonly Profiled[], options: ColumnOptions): (() => ProfilePiece[])[] {
  const { rows, facts } = each;
  const joins = joinsOf(each, all);
  const controls = new Controls(each);
  const surroundings = (fact: ColumnFacts) => ({ table: rows.table, leadsAway: leadsAway(fact, joins) });
  const described = [
    () => rowPieces(each, options),
    // The rows of a tiny table are shown whole and need no words.
    () =>
      options.values && isTiny(each) ? [] : facts.flatMap((fact) => columnPieces(fact, surroundings(fact), options)),
    () => repeatedPieces(each.repeated, options),
    () => joinPieces(joins),
    () => derivedPieces(facts, reachedNumbers(each, joins, all)),
  ];
  if (!options.values) return described;
  return [
    ...described,
    () => {
      const groupings = [...ownGroupings(rows, facts), ...reachedGroupings(each, joins, all)];
      return [...fillPieces(facts, groupings), ...magnitudePieces(rows, facts, groupings)];
    },
    ...all.map((large) => () => controls.of(large)),
    ...all.map((large) => () => controls.shiftedOf(large)),
  ];
}

/** Categories of the row that a key leads to: `probe.model` for the readings of a probe. */
function reachedGroupings({ rows }: Profiled, joins: readonly Join[], all: readonly Profiled[]): Grouping[] {
  return joins.flatMap((join): Grouping[] => {
    const found = follow({ rows }, join, all);
    if (found === null || join.exact < join.distinct * 0.5) return [];
    const { target, rowOf } = found;
    return target.facts
      .filter((fact) => isCategory({ ...fact, filled: Infinity }))
      .map(({ column }) => ({
        name: `${join.table}.${column.name}${sharing(joins, join) ? ` via ${join.column}` : ''}`,
        column: null,
        labels: rowOf.map((row) => (row === null ? null : keyOf(column.values[row] ?? null))),
      }));
  });
}

const leadsAway = ({ column }: ColumnFacts, joins: readonly Join[]): boolean =>
  joins.some((join) => join.column === column.name && join.exact >= join.distinct * 0.9);

/** The numbers of the row that a key leads to: `pk.eur` for the lines that name an item of `pk`. */
function reachedNumbers({ rows }: Profiled, joins: readonly Join[], all: readonly Profiled[]): ColumnFacts[] {
  return joins.flatMap((join) => {
    const found = follow({ rows }, join, all);
    if (found === null || join.exact < join.distinct * 0.9) return [];
    const { target, rowOf } = found;
    const keys = new Set([join.key, ...keyColumns(target.rows.table)]);
    return target.facts
      .filter(({ column, distinct }) => column.kind === 'number' && !keys.has(column.name) && distinct > 2)
      .map(({ column }) => {
        const values = rowOf.map((row) => (row === null ? null : (column.values[row] ?? null)));
        return columnFacts({ ...column, name: `${join.table}.${column.name}`, values });
      });
  });
}

/** Which row of the other table each row leads to. */
function follow(
  { rows }: Pick<Profiled, 'rows'>,
  join: Join,
  all: readonly Profiled[],
): { readonly target: Profiled; readonly rowOf: readonly (number | null)[] } | null {
  const target = all.find((each) => each.rows.table.name === join.table);
  const key = target?.facts.find(({ column }) => column.name === join.key);
  const from = rows.columns.find(({ name }) => name === join.column);
  if (target === undefined || key === undefined || from === undefined) return null;
  const at = new Map(key.column.values.map((value, row) => [keyOf(value), row]));
  return { target, rowOf: from.values.map((value) => at.get(keyOf(value)) ?? null) };
}

const sharing = (joins: readonly Join[], { table }: Join): boolean =>
  joins.filter((join) => join.table === table).length > 1;

/** The most rows that are shown whole, if they are short. */
const TINY_ROWS = 15;
const TINY_CHARS = 900;
const ROW_CHARS = 400;

function isTiny({ rows }: Profiled): boolean {
  if (!rows.whole || rows.read === 0 || rows.read > TINY_ROWS) return false;
  return allRows({ rows }).join('\n').length < TINY_CHARS;
}

function allRows({ rows }: Pick<Profiled, 'rows'>): string[] {
  return Array.from({ length: rows.read }, (_, at) => rowText({ rows }, at));
}

/** Rows as they stand: all of a tiny table, else three spread over the rows that were read. */
function rowPieces(profiled: Profiled, { values }: ColumnOptions): ProfilePiece[] {
  const { read } = profiled.rows;
  if (!values || read === 0) return [];
  if (isTiny(profiled)) return [pieceOf(null, 'smallTable', allRows(profiled).join('\n'))];
  return [
    pieceOf(null, 'firstRow', rowText(profiled, 0)),
    pieceOf(null, 'secondRow', rowText(profiled, Math.floor(read / 2))),
    pieceOf(null, 'thirdRow', rowText(profiled, read - 1)),
  ];
}

function rowText({ rows }: Pick<Profiled, 'rows'>, at: number): string {
  const text = rows.columns.map(({ values }) => shown(values[at] ?? null, 24)).join(' | ');
  return text.length > ROW_CHARS ? `${text.slice(0, ROW_CHARS - 1)}…` : text;
}
