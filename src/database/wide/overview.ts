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
import { linksOf, type Link } from './links';
import { indexedColumns, type IndexedColumn } from './value-index';

/** Of more tables than this a prompt shows in full what the question needs. */
export const WIDE_TABLES = 40;

export const isWide = ({ tables }: Pick<DatabaseDescription, 'tables'>): boolean => tables.length > WIDE_TABLES;

export interface OverviewContent {
  readonly profiles: readonly TableProfile[];
  readonly links: readonly Link[];
  /** Empty where values may not be shown. */
  readonly columns: readonly IndexedColumn[];
}

/** Short tables first: code tables are many and cheap, and a log that takes long keeps none of them from being read. */
export function readingOrder(tables: readonly TableDescription[]): TableDescription[] {
  const rows = ({ rowEstimate }: TableDescription): number => rowEstimate ?? Infinity;
  return [...tables].sort((a, b) => (rows(a) === rows(b) ? 0 : rows(a) - rows(b)));
}

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
  await pause();
  const read = new Map(facts.map(({ rows }) => [rows.table.name, rows.read]));
  const near = neighbours(description, links, new Set(read.keys()));
  const central = centrality([...read.keys()], near, read);
  const byName = new Map(facts.map((each) => [each.rows.table.name, each]));
  const ordered = [...facts].sort((a, b) => centralOf(b) - centralOf(a));
  const profiles = await profilesOf(ordered, { values }, pause, { near: nearest, isLate });
  return { profiles, links, columns: values ? indexedColumns(facts) : [] };

  function centralOf({ rows }: Profiled): number {
    return central.get(rows.table.name) ?? 0;
  }

  function nearest(of: Profiled): readonly Profiled[] {
    const own = [...(near.get(of.rows.table.name) ?? [])].sort((a, b) => b[1] - a[1]).slice(0, MOST_NEAR);
    return [of, ...own.flatMap(([name]) => byName.get(name) ?? [])];
  }
}
