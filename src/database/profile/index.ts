/**
 * What rows tell of a database as a whole, without a question and without a model: of each table its columns, gaps,
 * domains, formats and documents; what goes with what; what is computed from what; which tables control which.
 */
import * as z from 'zod';
import { keyColumns } from '../table-text';
import { fillPieces, magnitudePieces, ownGroupings, type Grouping } from './categories';
import { figuresPieces } from './control-table';
import { Controls } from './controls';
import { columnFacts, isCategory, type ColumnFacts } from './column-facts';
import { derivedPieces } from './derived';
import { columnPieces, type ColumnOptions, Flag, flagsOf } from './describe-column';
import { doubtsOf, RowDoubt, repeatedPieces, repeatedRows, type Profiled } from './row-doubts';
import { groupBy } from '../../group-by';
import { remembered } from '../relevance';
import { joinPieces, joinsOf, otherwisePieces, type Join, type Way } from './joins';
import { pieceOf, ProfilePiece, shown } from './pieces';
import { keyOf, type TableRows } from './table-rows';

/**
 * The version of profiles. A change of what a profile says raises it (tests/unit/roles/profiles.test.ts), so that no search is
 * shown a profile that other code made.
 */
export const PROFILE_VERSION = 5;

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
  return profilesOf(await readFacts(tables, pause), options, pause);
}

export async function readFacts(tables: readonly TableRows[], pause: () => Promise<void>): Promise<Profiled[]> {
  const all: Profiled[] = [];
  for (const rows of tables) {
    const facts = rows.columns.map(columnFacts);
    all.push({ rows, facts, repeated: repeatedRows(rows, facts) });
    await pause();
  }
  return all;
}

/** Of a wide database: the tables that a table is compared with first, and until when it is compared with the others. */
export interface Compared {
  readonly near: (of: Profiled) => readonly Profiled[];
  readonly isLate: () => boolean;
}

export async function profilesOf(
  all: readonly Profiled[],
  options: ColumnOptions,
  pause: () => Promise<void>,
  compared?: Compared,
): Promise<TableProfile[]> {
  const near = (of: Profiled): readonly Profiled[] => compared?.near(of) ?? all;
  const found: { readonly each: Profiled; readonly pieces: ProfilePiece[]; readonly controls: Controls }[] = [];
  const joins = new Map<Profiled, readonly Join[]>();
  for (const each of all) {
    joins.set(each, joinsOf(each, near(each)));
    await pause();
  }
  const ways = groupBy(
    [...joins].flatMap(([from, own]) => own.map((join) => ({ from: from.rows.table.name, join }))),
    ({ join }) => join.table,
  );
  for (const each of all) {
    const pieces: ProfilePiece[] = [];
    const relations = { joins: joins.get(each) ?? [], ways: ways.get(each.rows.table.name) ?? [] };
    for (const part of partsOf(each, near(each), options, relations)) {
      pieces.push(...part());
      await pause();
    }
    found.push({ each, pieces, controls: new Controls(each) });
  }
  const reached = remembered((of: Profiled) => reachedColumns(of, joins.get(of) ?? [], near(of), isShared));
  for (const { tables, compare, isLate } of options.values ? comparisons(all, reached, near, compared) : [])
    for (const { each, controls } of found)
      for (const large of controls.isControl ? tables(each) : []) {
        if (isLate()) break;
        compare(controls, large);
        await pause();
      }
  return found.map(({ each, pieces, controls }) => ({
    table: each.rows.table.name,
    read: each.rows.read,
    whole: each.rows.whole,
    pieces: [...pieces, ...controls.pieces()],
    doubts: doubtsOf(each, options),
    flags: flagsOf(each.rows, each.facts),
  }));
}

interface Comparison {
  readonly tables: (of: Profiled) => readonly Profiled[];
  readonly compare: (controls: Controls, large: Profiled) => void;
  readonly isLate: () => boolean;
}

/** How totals are compared, one after the other: each only with what the ones before it have left unmet. */
function comparisons(
  all: readonly Profiled[],
  reached: (of: Profiled) => readonly ColumnFacts[],
  near: (of: Profiled) => readonly Profiled[],
  compared: Compared | undefined,
): Comparison[] {
  const far = (of: Profiled): readonly Profiled[] => {
    const own = new Set(near(of));
    return all.filter((each) => !own.has(each));
  };
  const nearby = { tables: near, isLate: () => false };
  const others = { tables: far, isLate: compared?.isLate ?? (() => true) };
  const plain: Comparison['compare'] = (controls, large) => controls.compare(large);
  const filtered: Comparison['compare'] = (controls, large) => controls.compareFiltered(large, reached);
  const shifted: Comparison['compare'] = (controls, large) => controls.compareShifted(large);
  return [
    { ...nearby, compare: plain },
    { ...others, compare: plain },
    { ...nearby, compare: filtered },
    { ...others, compare: filtered },
    { ...nearby, compare: shifted },
  ];
}

interface Relations {
  readonly joins: readonly Join[];
  /** Joins that lead to the table. */
  readonly ways: readonly Way[];
}

function partsOf(
  each: Profiled,
  all: readonly Profiled[],
  options: ColumnOptions,
  { joins, ways }: Relations,
): (() => ProfilePiece[])[] {
  const { rows, facts } = each;
  const surroundings = (fact: ColumnFacts) => ({ table: rows.table, leadsAway: leadsAway(fact, joins) });
  const described = [
    () => rowPieces(each, options),
    // The rows of a tiny table are shown whole and need no words.
    () =>
      options.values && isTiny(each) ? [] : facts.flatMap((fact) => columnPieces(fact, surroundings(fact), options)),
    () => repeatedPieces(each.repeated, options),
    () => figuresPieces(each),
    () => [...joinPieces(joins), ...otherwisePieces(ways)],
    () => derivedPieces(facts, reachedColumns(each, joins, all, isVaried)),
  ];
  if (!options.values) return described;
  return [
    ...described,
    () => {
      const groupings = [...ownGroupings(rows, facts), ...reachedGroupings(each, joins, all)];
      return [...fillPieces(facts, groupings), ...magnitudePieces(rows, facts, groupings)];
    },
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
        name: reachedName(joins, join, column.name),
        column: null,
        labels: rowOf.map((row) => (row === null ? null : keyOf(column.values[row] ?? null))),
      }));
  });
}

const leadsAway = ({ column }: ColumnFacts, joins: readonly Join[]): boolean =>
  joins.some((join) => join.column === column.name && join.exact >= join.distinct * 0.9);

/** Columns of the row that a key leads to: `pk.eur` for the lines that name an item of `pk`. */
function reachedColumns(
  { rows }: Profiled,
  joins: readonly Join[],
  all: readonly Profiled[],
  isWanted: (fact: ColumnFacts, keys: ReadonlySet<string>) => boolean,
): ColumnFacts[] {
  return joins.flatMap((join) => {
    const found = follow({ rows }, join, all);
    if (found === null || join.exact < join.distinct * 0.9) return [];
    const { target, rowOf } = found;
    const keys = keyColumns(target.rows.table);
    return (
      target.facts
        .filter((fact) => fact.column.name !== join.key && isWanted(fact, keys))
        .map(({ column }) => {
          const values = rowOf.map((row) => (row === null ? null : (column.values[row] ?? null)));
          return columnFacts({ ...column, name: reachedName(joins, join, column.name), values });
        })
        // The rows that are led to may all have one value.
        .filter((fact) => isWanted(fact, keys))
    );
  });
}

const isVaried = ({ column, distinct }: ColumnFacts, keys: ReadonlySet<string>): boolean =>
  column.kind === 'number' && distinct > 2 && !keys.has(column.name);

/** Values that several rows share: dates, codes and states. */
const isShared = ({ column, distinct, rows }: ColumnFacts): boolean =>
  distinct > 0 && distinct < rows && column.kind !== 'json' && column.kind !== 'binary';

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

function reachedName(joins: readonly Join[], { table, column }: Join, name: string): string {
  const isShared = joins.filter((join) => join.table === table).length > 1;
  return `${table}.${name}${isShared ? ` via ${column}` : ''}`;
}

/** The most rows that are shown whole, if they are short. */
const TINY_ROWS = 15;
const TINY_CHARS = 900;
const WHOLE_CHARS = 2_400;
const ROW_CHARS = 400;

function isTiny({ rows }: Profiled): boolean {
  if (!rows.whole || rows.read === 0 || rows.read > TINY_ROWS) return false;
  return allRows({ rows }).join('\n').length < TINY_CHARS;
}

function allRows({ rows }: Pick<Profiled, 'rows'>): string[] {
  return Array.from({ length: rows.read }, (_, at) => rowText({ rows }, at));
}

/** The texts of a tiny table are not cut while there is room: a note may decide in its last word. */
function wholeRows({ rows }: Pick<Profiled, 'rows'>): string[] {
  const whole = Array.from({ length: rows.read }, (_, at) =>
    rows.columns.map(({ values }) => shown(values[at] ?? null, WHOLE_CHARS)).join(' | '),
  );
  return whole.join('\n').length < WHOLE_CHARS ? whole : allRows({ rows });
}

/** Rows as they stand: all of a tiny table, else three spread over the rows that were read. */
function rowPieces(profiled: Profiled, { values }: ColumnOptions): ProfilePiece[] {
  const { read } = profiled.rows;
  if (!values || read === 0) return [];
  if (isTiny(profiled)) return [pieceOf(null, 'smallTable', wholeRows(profiled).join('\n'))];
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
