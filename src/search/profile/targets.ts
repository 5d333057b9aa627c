/** Which columns to profile for a question, and which joins between tables to try: by names and keys, without a model. */
import type { ColumnDescription, DatabaseDescription, TableDescription } from '../../domain';
import { relevanceTo, wordsOf } from './lexical';
import { classOf, type ProfileJoin } from './queries';

export interface ProfileTarget {
  readonly table: TableDescription;
  readonly columns: readonly string[];
}

/** The most relevant tables with the columns worth a look; ties keep the order of the description. */
export function selectProfileTargets(
  { tables }: DatabaseDescription,
  question: string,
  maxColumns: number,
): ProfileTarget[] {
  const relevance = relevanceTo(question, tables);
  const ranked = tables
    .map((table, order) => ({ table, order, score: relevance.table(table) }))
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .filter(({ score }, rank) => score > 0 || rank < 3);
  const targets: ProfileTarget[] = [];
  let left = maxColumns;
  for (const { table } of ranked) {
    if (left <= 0) break;
    const columns = table.columns
      .map((column, order) => ({ name: column.name, order, score: relevance.column(column) + unseen(column) }))
      .sort((a, b) => b.score - a.score || a.order - b.order)
      .slice(0, Math.min(left, Math.max(8, Math.ceil(maxColumns / 3))))
      .sort((a, b) => a.order - b.order)
      .map(({ name }) => name);
    if (columns.length > 0) targets.push({ table, columns });
    left -= columns.length;
  }
  return targets;
}

/** JSON columns first: their names do not say what they hold, only a profile does. */
const unseen = (column: ColumnDescription): number => (classOf(column) === 'json' ? 4 : 0);

/** Too many rows to compare in text form within a profile's time. */
const MAX_TARGET_ROWS = 500_000;
const JOINS_PER_COLUMN = 2;

/**
 * Declared foreign keys first, then columns named like another table's key (`ward_id`, `ward.id`). A column that identifies
 * the rows of its own table is usually the target of joins, so only its declared references are tried.
 */
export function joinCandidates(
  { tables }: DatabaseDescription,
  table: TableDescription,
  columns: readonly string[],
): ProfileJoin[] {
  const filled = tables.filter(({ rowEstimate }) => rowEstimate !== 0 && (rowEstimate ?? 0) <= MAX_TARGET_ROWS);
  return columns.flatMap((column) => {
    const declared = table.foreignKeys.flatMap((key): ProfileJoin[] =>
      key.columns.length === 1 && key.columns[0] === column && key.references[0] !== undefined
        ? [{ column, table: key.table, references: key.references[0] }]
        : [],
    );
    const targets = isUnique(table, column) ? [] : filled.filter(({ name }) => name !== table.name);
    const named = targets
      .flatMap((other) => {
        const references = other.columns.find(({ name }) => isKeyFor(column, other, name))?.name;
        return references === undefined ? [] : [{ other, references, unique: isUnique(other, references) }];
      })
      .sort((a, b) => Number(b.unique) - Number(a.unique))
      .filter(({ unique }, _, all) => unique || !(all[0]?.unique ?? false))
      .map(({ other, references }): ProfileJoin => ({ column, table: other.name, references }));
    const known = declared.filter((join) => filled.some(({ name }) => name === join.table));
    return [...known, ...named.filter((join) => !declared.some((one) => one.table === join.table))].slice(
      0,
      JOINS_PER_COLUMN,
    );
  });
}

const isUnique = (table: TableDescription, column: string): boolean =>
  [table.primaryKey, ...table.uniqueKeys].some((key) => key.length === 1 && key[0] === column);

function isKeyFor(column: string, other: TableDescription, key: string): boolean {
  const looksLikeKey = /(id|code|key|number|no)$/i.test(key);
  if (key.toLowerCase() === column.toLowerCase())
    return (isUnique(other, key) || looksLikeKey) && !/^(id|name|code|key)$/i.test(key);
  const bare = other.name.slice(other.name.indexOf('.') + 1);
  return (
    isUnique(other, key) &&
    /^(id|code|key)$/i.test(key) &&
    wordsOf(column.replace(/_?(id|code|key)$/i, '')).join() === wordsOf(bare).join()
  );
}
