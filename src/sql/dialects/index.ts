/** The dialects of SQL by their names, and how names are written in them. */
import type { Dialect } from '../../domain';
import type { DialectFacts } from './dialect';
import { bigquery } from './bigquery';
import { duckdb } from './duckdb';
import { mysql } from './mysql';
import { postgresql } from './postgresql';
import { snowflake } from './snowflake';
import { sqlite } from './sqlite';

export const DIALECTS: Readonly<Record<Dialect, DialectFacts>> = {
  postgresql,
  sqlite,
  snowflake,
  duckdb,
  mysql,
  bigquery,
};

/** The name in quotes. */
export function quoted(name: string, dialect: Dialect): string {
  const { quote } = DIALECTS[dialect];
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
}

/** A text as a literal of the dialect. */
export function quotedText(text: string, dialect: Dialect): string {
  if (DIALECTS[dialect].escapes !== true) return `'${text.replaceAll("'", "''")}'`;
  return `'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** Whether a stored name may be written without quotes. */
export function isPlain(name: string, dialect: Dialect): boolean {
  const { plain, reserved } = DIALECTS[dialect];
  const lower = name.toLowerCase();
  return plain.test(name) && !RESERVED.has(lower) && !reserved.includes(lower);
}

/** In quotes where the engine needs them. Where names fold to upper case, one in lower case stands for itself: it is ours. */
export function quoteIdentifier(name: string, dialect: Dialect): string {
  const folded = DIALECTS[dialect].fold === 'upper' && /^[a-z_][a-z0-9_]*$/.test(name) ? name.toUpperCase() : name;
  return isPlain(folded, dialect) ? name : quoted(name, dialect);
}

/** The parts of a described table's name: schema and table, or the table alone. */
export function nameParts(name: string, dialect: Dialect): string[] {
  const parts = name.split('.');
  const most = DIALECTS[dialect].nameParts;
  return parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join('.')];
}

/** What stands before the table in its name; empty: nothing does. */
export function schemaOf(name: string, dialect: Dialect): string {
  return nameParts(name, dialect).slice(0, -1).join('.');
}

/** A described table in quotes, for SQL that nobody reads. */
export function relationOf(name: string, dialect: Dialect): string {
  return nameParts(name, dialect)
    .map((part) => quoted(part, dialect))
    .join('.');
}

/** Reserved words of any engine that people use as names. */
const RESERVED = new Set(
  `add all alter analyse analyze and any array as asc asymmetric authorization autoincrement between binary both by case cast
  check collate collation column commit concurrently connect constraint create cross current current_catalog current_date
  current_role current_schema current_time current_timestamp current_user default deferrable delete desc distinct do drop
  else end escape except exists false fetch for foreign freeze from full grant group having if ilike in increment index
  initially inner insert intersect into is isnull join lateral leading left like limit localtime localtimestamp minus
  natural not nothing notnull null offset on only or order outer overlaps placing primary qualify raise references regexp
  returning revoke right rlike row rows sample select session_user set similar some start symmetric system_user table
  tablesample then to trailing transaction trigger true union unique update user using values variadic verbose when whenever
  where window with`.split(/\s+/),
);
