/**
 * What is known of a wide database as a whole, once for all questions: the profile of each table with rows, how they hang
 * together, and the texts that they hold. Tables that hold most together are compared first, so that no order of names
 * decides what the time is spent on.
 */
import type { DatabaseDescription, TableDescription } from '../../domain';
import { profilesOf, readFacts, type TableProfile } from '../profile';
import type { Profiled } from '../profile/row-doubts';
import type { TableRows } from '../profile/table-rows';
import { centrality, neighbours } from './choose';
import { pieceOf, shown } from '../profile/pieces';
import { linksOf, type Link } from './links';
import { everywhereIn, kindsOf, type Everywhere, type TableKind } from './table-kinds';
import { indexedColumns, type IndexedColumn } from './value-index';

/** Of more tables than this a prompt shows in full what the question needs. */
export const WIDE_TABLES = 40;

export const isWide = ({ tables }: Pick<DatabaseDescription, 'tables'>): boolean => tables.length > WIDE_TABLES;

export interface OverviewContent {
  readonly profiles: readonly TableProfile[];
  readonly links: readonly Link[];
  readonly kinds: readonly TableKind[];
  readonly everywhere: readonly Everywhere[];
  /** Empty where values may not be shown. */
  readonly columns: readonly IndexedColumn[];
}

/** Short tables first: code tables are many and cheap, and a log that takes long keeps none of them from being read. */
export function readingOrder(tables: readonly TableDescription[]): TableDescription[] {
  const rows = ({ rowEstimate }: TableDescription): number => rowEstimate ?? Infinity;
  return [...tables].sort((a, b) => (rows(a) === rows(b) ? 0 : rows(a) - rows(b)));
}

/** Values of all tables that are read whole, if the database says that it has no more. */
const ALL_CELLS = 6_000_000;

export const isSmall = (tables: readonly TableDescription[]): boolean =>
  tables.reduce((sum, { rowEstimate, columns }) => sum + (rowEstimate ?? Infinity) * columns.length, 0) <= ALL_CELLS;

/** Tables that a table is compared with in any case. */
const MOST_NEAR = 8;

export async function overviewOf(
  description: Pick<DatabaseDescription, 'tables'>,
  tables: readonly TableRows[],
  { values, isLate }: { readonly values: boolean; readonly isLate: () => boolean },
  pause: () => Promise<void>,
): Promise<OverviewContent> {
  const facts = await readFacts(tables, pause);
  const links = linksOf(facts);
  const everywhere = everywhereIn(facts);
  const kinds = kindsOf(facts, links, everywhere);
  await pause();
  const read = new Map(facts.map(({ rows }) => [rows.table.name, rows.read]));
  const near = neighbours(description, links, new Set(read.keys()));
  const central = centrality([...read.keys()], near, read);
  const byName = new Map(facts.map((each) => [each.rows.table.name, each]));
  const ordered = [...facts].sort((a, b) => centralOf(b) - centralOf(a));
  const made = await profilesOf(ordered, { values }, pause, { near: nearest, isLate });
  const profiles = values ? made.map((profile) => withCodes(profile, byName.get(profile.table))) : made;
  const told = values ? everywhere : everywhere.map(({ columns }) => ({ values: [], columns, copies: [] }));
  return { profiles, links, kinds, everywhere: told, columns: values ? indexedColumns(facts) : [] };

  function centralOf({ rows }: Profiled): number {
    return central.get(rows.table.name) ?? 0;
  }

  function nearest(of: Profiled): readonly Profiled[] {
    const own = [...(near.get(of.rows.table.name) ?? [])].sort((a, b) => b[1] - a[1]).slice(0, MOST_NEAR);
    return [of, ...own.flatMap(([name]) => byName.get(name) ?? [])];
  }
}

/** A code list of so many rows is shown whole, if they are short. */
const CODE_ROWS = 25;
const CODE_CHARS = 800;

function withCodes(profile: TableProfile, of: Profiled | undefined): TableProfile {
  if (of === undefined || !of.rows.whole || of.rows.read > CODE_ROWS || isShownWhole(profile)) return profile;
  const rows = Array.from({ length: of.rows.read }, (_, row) =>
    of.rows.columns.map(({ values }) => shown(values[row] ?? null)).join(' | '),
  );
  if (rows.join('\n').length > CODE_CHARS) return profile;
  const led = profile.pieces.filter(({ text }) => /^(-> |written otherwise)/.test(text));
  return { ...profile, pieces: [...led, pieceOf(null, 'smallTable', rows.join('\n'))] };
}

export const isShownWhole = ({ pieces, read }: TableProfile): boolean =>
  pieces.some(({ column, text }) => column === null && text.split('\n').length >= read);
